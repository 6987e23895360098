// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The row of an action table is named by its step and state.
// expect: no matching (member )?function
#include "vlearn/core/table.h"

using Policy = vlearn::Table<double, vlearn::Step, vlearn::State, vlearn::Action>;

double first(const Policy& policy) {
#ifdef VLEARN_MISUSE
  return policy.row(vlearn::Step(0), vlearn::Action(0))[0];
#else
  return policy.row(vlearn::Step(0), vlearn::State(0))[0];
#endif
}
