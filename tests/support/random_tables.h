// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Markov policies of all players that are none in particular.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/random.h"
#include "vlearn/game/frame.h"
#include "vlearn/policy/markov.h"
#include "vlearn/run/self_play.h"

namespace vlearn::test {

inline std::vector<double> random_policy(Draws& draws, std::size_t num_actions) {
  std::vector<double> policy(num_actions);
  for (double& p : policy) p = draws.uniform();
  if (draws.below(3) == 0) {
    policy.assign(num_actions, 0.0);
    policy[draws.below(num_actions)] = 1.0;
  }
  const double sum = std::accumulate(policy.begin(), policy.end(), 0.0);
  for (double& p : policy) p /= sum;
  return policy;
}

/// With up to `most` parts in a cell.
inline std::vector<MarkovTable> random_tables(const Frame& frame,
                                              Target target,
                                              std::size_t most,
                                              std::uint64_t seed,
                                              const std::string& game_hash = "") {
  Draws draws({.seed = seed, .purpose = Purpose::test});
  std::vector<MarkovTable> tables;
  for (const Player player : all<Player>(frame.num_players())) {
    tables.push_back(empty_markov_table(seat_of(frame, player), player, target, game_hash));
  }
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t parts = 1 + draws.below(most);
      for (std::size_t i = 0; i < parts; ++i) {
        const std::uint64_t weight = 1 + (draws.below(std::uint64_t{1} << 20U) >> draws.below(20));
        for (const Player player : all<Player>(frame.num_players())) {
          tables[player.index()].add_part(weight,
                                          random_policy(draws, frame.num_actions(player, h, s)));
        }
      }
      for (MarkovTable& table : tables) table.end_cell();
    }
  }
  return tables;
}

}  // namespace vlearn::test
