// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What Markov policies are worth, and what one player can get against them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "vlearn/game/concepts.h"

namespace vlearn::test {

/// The average over the law of the first state.
inline double at_start(const Frame& frame, std::span<const double> values) {
  double sum = 0.0;
  for (std::size_t s = 0; s < frame.initial().size(); ++s) sum += frame.initial()[s] * values[s];
  return sum;
}

/// [step][state], and zeros after the last step.
using Values = std::vector<std::vector<double>>;

/// By backward induction: value(stage, V_{h+1}) at every (h, s), the profile of stage made by
/// profile(h, s), all players' policies one after the other.
template <KnownGame G, class ProfileOf, class ValueOf>
Values backward(const G& game, const ProfileOf& profile, const ValueOf& value) {
  const Frame& frame = game.frame();
  Values values(frame.horizon() + 1);
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const std::vector<double> policies = profile(Step(h), s);
      const Stage stage{Step(h), s, Profile(frame.action_begins(Step(h), s), policies)};
      values[h].push_back(value(stage, values[h + 1]));
    }
  }
  return values;
}

/// What a player can get at most against Markov policies: V^{dagger, pi_-j}.
template <KnownGame G, class ProfileOf>
Values best_response(const G& game, Player player, const ProfileOf& profile) {
  Workspace workspace;
  return backward(game, profile, [&](const Stage& stage, const std::vector<double>& next) {
    std::vector<double> q(stage.profile[player].size());
    game.backup(stage, player, next, q, workspace);
    return *std::max_element(q.begin(), q.end());
  });
}

/// V^pi.
template <KnownGame G, class ProfileOf>
Values policy_value(const G& game, Player player, const ProfileOf& profile) {
  Workspace workspace;
  return backward(game, profile, [&](const Stage& stage, const std::vector<double>& next) {
    std::vector<double> q(stage.profile[player].size());
    game.backup(stage, player, next, q, workspace);
    double sum = 0.0;
    for (std::size_t b = 0; b < q.size(); ++b) sum += stage.profile[player][b] * q[b];
    return sum;
  });
}

/// Of zero-sum games with two actions each.
template <KnownGame G>
Values minimax_value(const G& game) {
  Workspace workspace;
  const auto any = [](Step, State) { return std::vector(4, 0.5); };
  return backward(game, any, [&](const Stage& at, const std::vector<double>& next) {
    double q[2][2];  // [other's action][own action]
    for (std::size_t other = 0; other < 2; ++other) {
      const std::vector<double> pure = {0.5, 0.5, other == 0 ? 1.0 : 0.0, other == 0 ? 0.0 : 1.0};
      const Stage stage{at.h, at.s, Profile(game.frame().action_begins(at.h, at.s), pure)};
      game.backup(stage, Player(0), next, q[other], workspace);
    }
    const double low =
        std::max(std::min(q[0][0], q[1][0]), std::min(q[0][1], q[1][1]));  // by pure actions
    const double high = std::min(std::max(q[0][0], q[0][1]), std::max(q[1][0], q[1][1]));
    if (low == high) return low;
    return (q[0][0] * q[1][1] - q[0][1] * q[1][0]) / (q[0][0] + q[1][1] - q[0][1] - q[1][0]);
  });
}

}  // namespace vlearn::test
