// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The plain transcription of the paper, compiled by itself with -O2: what the engine is measured
// against.
#pragma once

#include <cstddef>
#include <functional>

#include "vlearn/agent/options.h"
#include "vlearn/game/tabular.h"

namespace vlearn::bench {

/// Plays `episodes` more episodes at each call; something computed from all of them.
[[nodiscard]] std::function<double(std::size_t episodes)> plain_learning(
    const DenseGame& game, const LearnerOptions& options);

}  // namespace vlearn::bench
