// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A state is not an integer either: its number comes by name.
// expect: cannot convert|no viable conversion
#include <cstdint>

#include "vlearn/core/id.h"

std::uint32_t number(vlearn::State state) {
#ifdef VLEARN_MISUSE
  return state;
#else
  return state.value();
#endif
}
