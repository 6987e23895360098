// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a random key are typed: an episode is not a step.
// expect: could not convert|cannot convert|no viable conversion
#include "vlearn/core/random.h"

vlearn::StreamKey key(vlearn::Episode k, vlearn::Step h) {
#ifdef VLEARN_MISUSE
  return {.seed = 1, .purpose = vlearn::Purpose::action, .player = {}, .episode = h, .step = k};
#else
  return {.seed = 1, .purpose = vlearn::Purpose::action, .player = {}, .episode = k, .step = h};
#endif
}
