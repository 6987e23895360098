// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that nobody learned in: in each episode any states and any policies. They differ more from
// visit to visit than learned ones, so that what was drawn can be guessed from what is played.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "support/recorded_run.h"
#include "vlearn/core/random.h"
#include "vlearn/game/frame.h"

namespace vlearn::test {

/// Visits only; there are no files.
inline RecordedRun random_record(const Frame& frame, std::uint64_t episodes, std::uint64_t seed) {
  Draws draws({.seed = seed, .purpose = Purpose::test, .episode = Episode(1)});
  const Seat seat = seat_of(frame, Player(0));
  RecordedRun run;
  run.visits.assign(frame.num_players(), std::vector<std::vector<RecordedVisit>>(seat.num_cells()));
  for (std::uint64_t k = 0; k < episodes; ++k) {
    for (const Step h : all<Step>(frame.horizon())) {
      // The first ones more often, so that some are new for long.
      const State s(draws.below(draws.below(frame.num_states(h)) + 1));
      for (const Player player : all<Player>(frame.num_players())) {
        std::vector<double> policy(frame.num_actions(player, h, s));
        for (double& p : policy) p = draws.uniform() * draws.uniform();
        // Now and then a pure one.
        if (draws.below(3) == 0) {
          policy.assign(policy.size(), 0.0);
          policy[draws.below(policy.size())] = 1.0;
        }
        const double sum = std::accumulate(policy.begin(), policy.end(), 0.0);
        for (double& p : policy) p /= sum;
        run.visits[player.index()][seat.cell(h, s)].push_back({k, Action(), std::move(policy)});
      }
    }
  }
  return run;
}

}  // namespace vlearn::test
