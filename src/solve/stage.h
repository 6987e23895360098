// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A stage, and what solving it gives.
#pragma once

#include <cmath>
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

/// Shares of a whole as weights of parts (policy/markov.h): what is less than 2^-49 of it is left
/// out.
[[nodiscard]] inline std::uint64_t weight_of(double share) noexcept {
  return static_cast<std::uint64_t>(std::llround(share * 0x1p48));
}

}  // namespace vlearn
