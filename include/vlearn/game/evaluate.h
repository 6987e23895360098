// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Uniform play: its exact value by one backward sweep of backup_all, and its value by playing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/core/running_mean.h"
#include "vlearn/game/concepts.h"

namespace vlearn {

/// The value for every player when all play uniformly over their legal actions, in units of [0, 1]
/// rewards. Keeps the values of two steps only.
template <KnownGame G>
[[nodiscard]] std::vector<double> uniform_value(const G& game) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  std::vector<double> now;   // [player][state] of the step at hand
  std::vector<double> next;  // of the step after it
  std::size_t next_states = 0;
  std::vector<double> policies(frame.max_profile_size());
  std::vector<double> q(frame.max_profile_size());
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    const Step step(h);
    const std::size_t states = frame.num_states(step);
    now.resize(m * states);
    for (const State s : all<State>(states)) {
      const PlayerRows<double> profile(frame.action_begins(step, s), policies);
      const ActionValues action_values(frame.action_begins(step, s), q);
      for (const Player player : all<Player>(m)) {
        const std::span<double> policy = profile[player];
        std::fill(policy.begin(), policy.end(), 1.0 / static_cast<double>(policy.size()));
      }
      game.backup_all({step, s, profile}, NextValues(next, next_states), action_values, workspace);
      for (const Player player : all<Player>(m)) {
        double sum = 0.0;
        for (const double value : action_values[player]) sum += value;
        now[player.index() * states + s.index()] =
            sum / static_cast<double>(action_values[player].size());
      }
    }
    std::swap(now, next);
    next_states = states;
  }
  std::vector<double> value;
  for (const Player player : all<Player>(m)) {
    double sum = 0.0;
    for (std::size_t s = 0; s < next_states; ++s) {
      sum += frame.initial()[s] * next[player.index() * next_states + s];
    }
    value.push_back(sum);
  }
  return value;
}

/// Mean of a player's sum of rewards over episodes, and the standard error of that mean.
struct PlayedValue {
  double mean = 0.0;
  double standard_error = 0.0;
};

/// The same value by playing `episodes` episodes, one entry per player, in units of [0, 1] rewards.
template <SampledGame G>
[[nodiscard]] std::vector<PlayedValue> play_uniformly(G& game,
                                                      std::uint64_t episodes,
                                                      std::uint64_t seed) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  std::vector<RunningMean> returns(m);
  std::vector<double> rewards(m);
  std::vector<double> total(m);
  std::vector<Action> joint(m);
  for (std::uint64_t k = 0; k < episodes; ++k) {
    std::fill(total.begin(), total.end(), 0.0);
    State s = game.start(Nature(seed, Episode(k), Step()));
    for (const Step h : all<Step>(frame.horizon())) {
      for (const Player player : all<Player>(m)) {
        Draws draws({.seed = seed,
                     .purpose = Purpose::action,
                     .player = player,
                     .episode = Episode(k),
                     .step = h});
        joint[player.index()] = Action(draws.below(frame.num_actions(player, h, s)));
      }
      s = game.sample(h, s, joint, Nature(seed, Episode(k), h), rewards);
      for (std::size_t i = 0; i < m; ++i) total[i] += rewards[i];
    }
    for (std::size_t i = 0; i < m; ++i) returns[i].add(total[i]);
  }
  std::vector<PlayedValue> played;
  played.reserve(m);
  for (const RunningMean& of : returns) played.push_back({of.mean(), of.standard_error()});
  return played;
}

}  // namespace vlearn
