// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What every fuzz target implements: take any bytes, throw nothing but vlearn::Error, keep the
// invariants it checks. libFuzzer calls it with bytes it makes up; replay.cpp with the corpora.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace vlearn::fuzz {

/// A finding: the input made the library break one of its promises.
inline void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

}  // namespace vlearn::fuzz
