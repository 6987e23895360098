// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// (s, a) cannot be passed as (a, s).
// expect: could not convert|no matching function
#include "vlearn/core/id.h"

double payoff(vlearn::State, vlearn::Action) { return 0.0; }

double call(vlearn::State s, vlearn::Action a) {
#ifdef VLEARN_MISUSE
  return payoff(a, s);
#else
  return payoff(s, a);
#endif
}
