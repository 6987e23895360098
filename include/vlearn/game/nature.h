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
  /// The same, where block 0 of the transition's key was drawn ahead; it must outlive this.
  Nature(std::uint64_t seed, Episode episode, Step step, const PhiloxBlock& transition) noexcept
      : seed_(seed), episode_(episode), step_(step), ahead_(&transition) {}

  [[nodiscard]] Draws start() const noexcept {
    return Draws(key(Purpose::initial_state, Player()));
  }
  [[nodiscard]] Draws transition() const noexcept {
    const StreamKey key = this->key(Purpose::transition, Player());
    return ahead_ != nullptr ? Draws(key, *ahead_) : Draws(key);
  }
  [[nodiscard]] Draws reward(Player player) const noexcept {
    return Draws(key(Purpose::reward, player));
  }

 private:
  [[nodiscard]] StreamKey key(Purpose purpose, Player player) const noexcept {
    return {
        .seed = seed_, .purpose = purpose, .player = player, .episode = episode_, .step = step_};
  }

  std::uint64_t seed_;
  Episode episode_;
  Step step_;
  const PhiloxBlock* ahead_ = nullptr;
};

}  // namespace vlearn
