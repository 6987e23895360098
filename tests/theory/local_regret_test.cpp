// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemmas 12 and 15: the regret of bandits inside of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/watched_run.h"

namespace vlearn::test {
namespace {

/// Every rule against the bound that it states, at every visit; also the largest part of the bound
/// that was used, which must not be nothing.
template <class Rule>
void expect_local_regret(const DenseGame& game, const Rule& rule, Target target) {
  const std::uint64_t episodes = 20'000;
  LearnerOptions options = preset_options(Preset::paper, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  options.bonus_constant = 0.02;  // so that V_{h+1} moves
  const Frame& frame = game.frame();
  SelfPlay<Rule> play(GameRef(game), rule, options, 12);
  LocalRegret<DenseGame> local(game, play.seat().num_cells());
  const AlphaWeights alpha(frame.horizon());
  const double iota = BonusSchedule(options, play.seat()).iota();
  const auto horizon = static_cast<double>(frame.horizon());
  double most_used = 0.0;
  for (std::uint64_t k = 0; k < episodes; ++k) {
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const std::vector<double> policies = profile_of(play, visit.cell);
      const Profile profile(frame.action_begins(visit.h, visit.s), policies);
      const std::uint64_t t = play.visits(visit.cell) + 1;
      for (const Player player : all<Player>(frame.num_players())) {
        local.visit({visit.h, visit.s, profile}, player, visit.cell,
                    next_values(play, player, visit.h), alpha.rate(t));
        const auto& averages = local.at(player, visit.cell);
        const double best = target == Target::ce ? averages.modified : averages.fixed;
        const double bound = horizon * *rule.xi(profile[player].size(), t, iota);
        most_used = std::max(most_used, (best - averages.mean) / bound);
      }
    });
  }
  EXPECT_LE(most_used, 1.0);
  EXPECT_GT(most_used, 0.001);
}

TEST(LocalRegret, IsWithinTheStatedBoundAtEveryVisit) {
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    expect_local_regret(game, Ftrl<>(game.frame().horizon()), Target::cce);
    expect_local_regret(game, FtrlSwap<>(game.frame().horizon()), Target::ce);
  }
}

}  // namespace
}  // namespace vlearn::test
