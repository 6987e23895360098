// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A step and an episode have no order between them.
// expect: no match for|invalid operands
#include "vlearn/core/id.h"

bool before(vlearn::Step h, vlearn::Step limit, vlearn::Episode k) {
#ifdef VLEARN_MISUSE
  static_cast<void>(limit);
  return h < k;
#else
  static_cast<void>(k);
  return h < limit;
#endif
}
