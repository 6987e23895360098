// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What certificates ask of a game at every visit, at once: for each player j
//
//   values[j] = E_{a ~ pi} [r_j + sum_s' P(s' | a) follow_j(s')]             the policy's own value
//   q[j][b]   = E_{a_-j ~ pi_-j} [r_j(b, .) + sum_s' P(s' | b, .) deviate_j(s')]
//
// A model that can do both in one sweep has a member of this name; for others it is two backups.
// Errors are at most backup_error() of the larger next values.
#pragma once

#include <cstddef>
#include <span>

#include "vlearn/game/concepts.h"

namespace vlearn {

template <KnownGame G>
void backup_both(const G& game,
                 const Stage& stage,
                 const NextValues& follow,
                 const NextValues& deviate,
                 std::span<double> values,
                 const ActionValues& q,
                 Workspace& workspace) {
  if constexpr (requires { game.backup_both(stage, follow, deviate, values, q, workspace); }) {
    game.backup_both(stage, follow, deviate, values, q, workspace);
  } else {
    game.backup_all(stage, follow, q, workspace);
    for (const Player player : all<Player>(stage.profile.num_players())) {
      const std::span<const double> policy = stage.profile[player];
      double value = 0.0;
      for (std::size_t b = 0; b < policy.size(); ++b) value += policy[b] * q[player][b];
      values[player.index()] = value;
    }
    game.backup_all(stage, deviate, q, workspace);
  }
}

}  // namespace vlearn
