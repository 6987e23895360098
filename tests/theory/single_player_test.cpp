// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Theorem 4: what a single player learns.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "support/markov_values.h"
#include "support/watched_run.h"

namespace vlearn::test {
namespace {

TEST(SinglePlayer, NestedOutputApproachesTheOptimum) {
  for (const std::string name : {"random:players=1,states=3,actions=3,horizon=3,seed=51",
                                 "random:players=1,states=2,actions=2,horizon=4,seed=52",
                                 "lock:horizon=3,actions=2,players=1,seed=53"}) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    std::visit(
        [&](const auto& game) {
          const Frame& frame = game.frame();
          const Values values = best_response(game, Player(0), [&](Step h, State s) {
            return std::vector<double>(frame.num_actions(Player(0), h, s), 0.0);
          });
          const double best = at_start(frame, values.front());
          std::vector<double> shortfalls;
          for (const std::uint64_t episodes : std::vector<std::uint64_t>{1000, 10'000, 300'000}) {
            LearnerOptions options = preset_options(Preset::practical, Target::optimal);
            options.horizon_episodes = episodes;
            const Sightings seen = watch(game, Ftrl<>(frame.horizon()), options, 43, episodes);
            shortfalls.push_back(best - seen.value.front());
          }
          for (const double shortfall : shortfalls) EXPECT_GE(shortfall, -kRounding);
          EXPECT_LT(shortfalls[1], shortfalls[0]);
          EXPECT_LT(shortfalls[2], shortfalls[1]);
          EXPECT_LE(shortfalls[2], 0.1);
          // And the bound from data bounds the shortfall, by less than what there is to earn.
          const std::uint64_t episodes = 400'000;
          const LearnerOptions options = rigorous_options(Target::optimal, episodes);
          const Sightings seen = watch_rigorous(game, options, 44, episodes);
          EXPECT_LE(best - seen.value.front(), seen.from_data.front());
          EXPECT_LT(seen.from_data.front(), best);
        },
        any);
  }
}

}  // namespace
}  // namespace vlearn::test
