// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Learning on a simulator: DiscoveredGame makes a SampledGame of an EpisodicGame. States get their
// numbers when they are first seen, step by step, up to a cap; an episode that ends early goes on
// in an absorbing state that pays the user's 0 until step H. What it cannot do is start anywhere or
// state its law, so such a game can be learned on but not certified exactly.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

template <EpisodicGame Simulator>
class DiscoveredGame {
 public:
  /// At most `max_states` states per step, the absorbing one (number 1) included. The frame has
  /// room for all of them, each with the simulator's largest number of actions.
  DiscoveredGame(Simulator simulator, std::uint32_t max_states)
      : simulator_(std::move(simulator)),
        frame_(make_frame(simulator_, max_states)),
        numbers_(simulator_.horizon()) {}

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  /// How many states of a step have been seen, the absorbing one not counted.
  [[nodiscard]] std::size_t num_discovered(Step h) const { return numbers_[h.index()].size(); }
  [[nodiscard]] const Simulator& simulator() const noexcept { return simulator_; }

  /// How many of the first actions are legal where the simulator stands now; an action beyond them
  /// is taken modulo this number.
  [[nodiscard]] std::uint32_t num_legal(Player player) const {
    return ended_ ? 1 : simulator_.num_actions(player);
  }

  [[nodiscard]] State start(const Nature& nature) {
    Draws draws = nature.start();
    simulator_.reset(draws);
    ended_ = false;
    step_ = Step();
    return state_ = number_of(step_);
  }

  /// Plays on; (h, s) must be where the simulator stands.
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) {
    if (h != step_ || s != state_) {
      throw Error(ErrorKind::usage, fmt::format("step {}, state {}", h.number(), s.number()),
                  "a simulator can only go on from where it stands",
                  "start an episode and play its steps in order");
    }
    if (ended_) {
      std::fill(rewards.begin(), rewards.end(), 0.0);
    } else {
      legal_.assign(joint.begin(), joint.end());
      for (std::size_t i = 0; i < legal_.size(); ++i) {
        legal_[i] = Action(legal_[i].value() % simulator_.num_actions(Player(i)));
      }
      Draws draws = nature.transition();
      ended_ = simulator_.step(legal_, draws, rewards);
    }
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      const RewardRange& range = frame_.range(Player(i));
      if (!(rewards[i] >= range.low && rewards[i] <= range.high)) {
        throw Error(ErrorKind::input,
                    fmt::format("reward of player {} at step {}", i + 1, h.number()),
                    fmt::format("is {}", rewards[i]),
                    fmt::format("the simulator promised {} to {}", range.low, range.high));
      }
      rewards[i] = range.to_unit(rewards[i]);
    }
    if (frame_.is_last(h)) return State();
    step_ = h.next();
    return state_ = ended_ ? State(0) : number_of(step_);
  }

 private:
  static Frame make_frame(const Simulator& simulator, std::uint32_t max_states) {
    FrameOptions options{.num_players = simulator.num_players(),
                         .horizon = simulator.horizon(),
                         .stationary = false,
                         .num_states = {max_states},
                         .num_actions = {},
                         .initial = {},
                         .ranges = {}};
    for (const Player player : all<Player>(options.num_players)) {
      options.num_actions.push_back(simulator.max_actions(player));
      RewardRange range = simulator.reward_range(player);
      range.low = std::min(range.low, 0.0);  // an early end pays 0 from then on
      range.high = std::max(range.high, 0.0);
      options.ranges.push_back(range);
    }
    return Frame(std::move(options));
  }

  State number_of(Step h) {
    std::map<std::string, State>& known = numbers_[h.index()];
    const std::size_t next = known.size() + 1;  // 0 is the absorbing state
    const auto [place, fresh] = known.try_emplace(simulator_.state_key(), State(next));
    if (fresh && next >= frame_.num_states(h)) {
      known.erase(place);
      throw Error(ErrorKind::resource, fmt::format("step {}", h.number()),
                  fmt::format("has more than {} states", frame_.num_states(h) - 1),
                  "raise the cap or merge states in state_key()");
    }
    return place->second;
  }

  Simulator simulator_;
  Frame frame_;
  std::vector<std::map<std::string, State>> numbers_;  // of each step
  std::vector<Action> legal_;
  Step step_{};
  State state_{};
  bool ended_ = false;
};

}  // namespace vlearn
