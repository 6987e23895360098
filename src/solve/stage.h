// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A stage, and what solving it gives.
#pragma once

#include <cstdint>
#include <vector>

#include "vlearn/game/concepts.h"

namespace vlearn {

/// The one-shot game at a (step, state), given what the next states are worth.
struct StageTask {
  Step h;
  State s;
  NextValues next;  ///< in units of [0, 1] rewards; empty at the last step
};

struct StageSolution {
  std::vector<std::uint64_t> weights;  ///< of each part
  std::vector<double> profiles;        ///< of each part, all players
  std::vector<double> values;          ///< of each player, in units of [0, 1] rewards
  std::uint64_t iterations = 0;
  bool complete = true;

  void add_part(std::uint64_t weight, std::span<const double> profile) {
    weights.push_back(weight);
    profiles.insert(profiles.end(), profile.begin(), profile.end());
  }
};

}  // namespace vlearn
