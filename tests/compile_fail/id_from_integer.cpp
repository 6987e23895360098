// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// An integer is not a state until somebody says so.
// expect: could not convert|no viable conversion
#include "vlearn/core/id.h"

vlearn::State first() {
#ifdef VLEARN_MISUSE
  return 0U;
#else
  return vlearn::State(0U);
#endif
}
