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
  /// At most `max_states` states per step, the absorbing one (the last) included. The frame has
  /// room for all of them, each with the simulator's largest number of actions; its initial law is
  /// not the simulator's, which is not known.
  DiscoveredGame(Simulator simulator, std::uint32_t max_states)
      : simulator_(std::move(simulator)),
        frame_(make_frame(simulator_, max_states)),
        numbers_(simulator_.horizon()) {}

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  /// How many states of a step have been seen, the absorbing one not counted.
  [[nodiscard]] std::size_t num_discovered(Step h) const { return numbers_[h.index()].size(); }
  [[nodiscard]] const Simulator& simulator() const noexcept { return simulator_; }

  [[nodiscard]] State start(const Nature& nature) {
    Draws draws = nature.start();
    playing_ = false;
    simulator_.reset(draws);
    stand_at(Step(), false);
    playing_ = true;
    return state_;
  }

  /// Plays on; (h, s) must be where the simulator stands. Where a player has fewer actions than its
  /// largest number, an action counts modulo those it has.
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) {
    if (!playing_ || h != step_ || s != state_) {
      throw Error(ErrorKind::usage, fmt::format("step {}, state {}", h.number(), s.number()),
                  "a simulator can only go on from where it stands",
                  "start an episode and play its steps in order");
    }
    bool ended = s == end_state();
    if (ended) {
      std::fill(rewards.begin(), rewards.end(), 0.0);
    } else {
      take_legal(joint);
      Draws draws = nature.transition();
      ended = simulator_.step(legal_, draws, rewards);
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
    if (frame_.is_last(h)) {
      playing_ = false;
      return {};
    }
    stand_at(h.next(), ended);
    return state_;
  }

 private:
  static Frame make_frame(const Simulator& simulator, std::uint32_t max_states) {
    FrameOptions options{.num_players = simulator.num_players(),
                         .horizon = simulator.horizon(),
                         .stationary = false,
                         .num_states = {max_states},
                         .num_actions = {},
                         .initial = {},
                         .start_known = false,
                         .ranges = {},
                         .ends_early = true};
    for (const Player player : all<Player>(options.num_players)) {
      options.num_actions.push_back(simulator.max_actions(player));
      options.ranges.push_back(simulator.reward_range(player));
    }
    return Frame(std::move(options));
  }

  [[nodiscard]] State end_state() const { return State(frame_.num_states(Step()) - 1); }

  void stand_at(Step h, bool ended) {
    state_ = ended ? end_state() : number_of(h);
    step_ = h;
  }

  void take_legal(std::span<const Action> joint) {
    legal_.clear();
    for (std::size_t i = 0; i < joint.size(); ++i) {
      const std::uint32_t count = simulator_.num_actions(Player(i));
      if (count < 1 || count > simulator_.max_actions(Player(i))) {
        throw Error(ErrorKind::input,
                    fmt::format("num_actions of player {} at step {}", i + 1, step_.number()),
                    fmt::format("is {}", count),
                    fmt::format("want 1 to {}", simulator_.max_actions(Player(i))));
      }
      legal_.emplace_back(joint[i].value() % count);
    }
  }

  State number_of(Step h) {
    std::map<std::string, State>& known = numbers_[h.index()];
    const std::string key = simulator_.state_key();
    const auto place = known.find(key);
    if (place != known.end()) return place->second;
    const State fresh(known.size());
    if (fresh >= end_state()) {
      throw Error(ErrorKind::resource, fmt::format("step {}", h.number()),
                  fmt::format("has more than {} states", known.size()),
                  "raise the cap or merge states in state_key()");
    }
    known.emplace(key, fresh);
    return fresh;
  }

  Simulator simulator_;
  Frame frame_;
  std::vector<std::map<std::string, State>> numbers_;  // of each step
  std::vector<Action> legal_;
  Step step_{};
  State state_{};
  bool playing_ = false;
};

}  // namespace vlearn
