// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact values of simple play, by one backward sweep of backup_all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "vlearn/core/table.h"
#include "vlearn/game/concepts.h"

namespace vlearn {

/// V_h(s) of every player when all play uniformly over their legal actions, [player][step][state],
/// in units of [0, 1] rewards. States beyond num_states(h) stay 0.
template <KnownGame G>
[[nodiscard]] Table<double, Player, Step, State> uniform_values(const G& game) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  Table<double, Player, Step, State> values({m, frame.horizon(), frame.max_states()});
  std::vector<double> policies(frame.max_profile_size());
  std::vector<double> q(frame.max_profile_size());
  std::vector<double> next;  // [player][state]
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    const Step step(h);
    const std::size_t next_states = frame.is_last(step) ? 0 : frame.num_states(step.next());
    next.resize(m * next_states);
    for (const Player player : all<Player>(m)) {
      for (const State s : all<State>(next_states)) {
        next[player.index() * next_states + s.index()] = values(player, step.next(), s);
      }
    }
    for (const State s : all<State>(frame.num_states(step))) {
      const PlayerRows<double> profile(frame.action_begins(step, s), policies);
      const ActionValues action_values(frame.action_begins(step, s), q);
      for (const Player player : all<Player>(m)) {
        const std::span<double> policy = profile[player];
        std::fill(policy.begin(), policy.end(), 1.0 / static_cast<double>(policy.size()));
      }
      game.backup_all(step, s, profile, NextValues(next, next_states), action_values, workspace);
      for (const Player player : all<Player>(m)) {
        double sum = 0.0;
        for (const double value : action_values[player]) sum += value;
        values(player, step, s) = sum / static_cast<double>(action_values[player].size());
      }
    }
  }
  return values;
}

/// The value of uniform play from the start, one per player, in units of [0, 1] rewards.
template <KnownGame G>
[[nodiscard]] std::vector<double> uniform_value(const G& game) {
  const Frame& frame = game.frame();
  const Table<double, Player, Step, State> values = uniform_values(game);
  std::vector<double> result;
  for (const Player player : all<Player>(frame.num_players())) {
    double sum = 0.0;
    for (const State s : all<State>(frame.num_states(Step(0)))) {
      sum += frame.initial()[s.index()] * values(player, Step(0), s);
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace vlearn
