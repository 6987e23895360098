// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact best response to uniform play of the others, by backward induction over backup().
#pragma once

#include <algorithm>
#include <vector>

#include "vlearn/game/concepts.h"

namespace vlearn::test {

/// The value of a best response from the start, in units of [0, 1] rewards.
template <KnownGame G>
double best_response_value(const G& game, Player player) {
  const Frame& frame = game.frame();
  std::vector<double> values(frame.max_states(), 0.0);
  std::vector<double> policies(frame.max_profile_size());
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    std::vector<double> now(frame.max_states(), 0.0);
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const PlayerRows<double> profile(frame.action_begins(Step(h), s), policies);
      for (const Player other : all<Player>(frame.num_players())) {
        const auto policy = profile[other];
        std::fill(policy.begin(), policy.end(), 1.0 / static_cast<double>(policy.size()));
      }
      std::vector<double> q(frame.num_actions(player, Step(h), s));
      game.backup({Step(h), s, profile}, player, values, q, workspace);
      now[s.index()] = *std::max_element(q.begin(), q.end());
    }
    values = now;
  }
  double sum = 0.0;
  for (std::size_t s = 0; s < frame.initial().size(); ++s) sum += frame.initial()[s] * values[s];
  return sum;
}

}  // namespace vlearn::test
