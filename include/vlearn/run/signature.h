// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One number for everything that learning computes: the hash of the tables that fixed runs learn,
// every rule with and without control variates, every target, every kind of model. It is the same
// for any number of threads, compiler, optimisation and vector width (docs/determinism.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vlearn {

/// threads: 0 for one per core.
[[nodiscard]] std::uint64_t learning_signature(std::size_t threads = 0);

}  // namespace vlearn
