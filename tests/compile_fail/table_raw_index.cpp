// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A table is indexed by ids, not by integers.
// expect: no match for call|no matching function
#include "vlearn/core/table.h"

double look(const vlearn::Table<double, vlearn::Step, vlearn::State>& values) {
#ifdef VLEARN_MISUSE
  return values(0, 0);
#else
  return values(vlearn::Step(0), vlearn::State(0));
#endif
}
