// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A visit number is never a fraction.
// expect: no matching (function|conversion)
#include "vlearn/core/id.h"

vlearn::Visit half_way(unsigned t) {
#ifdef VLEARN_MISUSE
  return vlearn::Visit(0.5 * t);
#else
  return vlearn::Visit(t / 2);
#endif
}
