// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The random numbers that a game itself needs: where an episode starts, where it goes, what it
// pays. Each is a stream of its own, keyed by (seed, episode, step).
#pragma once

#include "vlearn/core/random.h"

namespace vlearn {

class Nature {
 public:
  Nature(std::uint64_t seed, Episode episode, Step step) noexcept
      : seed_(seed), episode_(episode), step_(step) {}

  [[nodiscard]] Draws start() const noexcept { return stream(Purpose::initial_state, Player()); }
  [[nodiscard]] Draws transition() const noexcept { return stream(Purpose::transition, Player()); }
  [[nodiscard]] Draws reward(Player player) const noexcept {
    return stream(Purpose::reward, player);
  }

 private:
  [[nodiscard]] Draws stream(Purpose purpose, Player player) const noexcept {
    return Draws(
        {.seed = seed_, .purpose = purpose, .player = player, .episode = episode_, .step = step_});
  }

  std::uint64_t seed_;
  Episode episode_;
  Step step_;
};

}  // namespace vlearn
