// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One player's game with a second player who has a single action and earns 1 - r: how the paper
// applies its zero-sum results to a single agent.
#pragma once

#include <utility>
#include <vector>

#include "vlearn/game/game_ref.h"

namespace vlearn {

class WithDummy {
 public:
  explicit WithDummy(GameRef game) : game_(game), frame_(options_of(game.frame())) {}

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] State start(const Nature& nature) const { return game_.start(nature); }
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) const {
    const State next = game_.sample(h, s, joint.first(1), nature, rewards.first(1));
    rewards[1] = 1.0 - rewards[0];
    return next;
  }

 private:
  static FrameOptions options_of(const Frame& frame) {
    FrameOptions options;
    options.num_players = 2;
    options.horizon = frame.horizon();
    options.stationary = frame.stationary();
    options.zero_sum = true;
    options.start_known = frame.start_known();
    options.initial.assign(frame.initial().begin(), frame.initial().end());
    for (const Step h : all<Step>(frame.num_layers())) {
      options.num_states.push_back(static_cast<std::uint32_t>(frame.num_states(h)));
      for (const State s : all<State>(frame.num_states(h))) {
        options.num_actions.push_back(
            static_cast<std::uint32_t>(frame.num_actions(Player(0), h, s)));
        options.num_actions.push_back(1);
      }
    }
    return options;
  }

  GameRef game_;
  Frame frame_;
};

}  // namespace vlearn
