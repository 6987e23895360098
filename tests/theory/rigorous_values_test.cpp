// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemmas 13, 14, 16 and 17: with the bonus whose constants are proved, values bound what was played
// from both sides, at every visit; and so do values that are read off estimates (Theorem 2 of
// docs/theory/optimistic_rule.md). A run can refute a lemma; it cannot prove one.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/watched_run.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {
namespace {

void expect_bounds(const Sightings& seen) {
  EXPECT_EQ(seen.regretful, 0) << "of " << seen.checks;
  EXPECT_EQ(seen.not_optimistic, 0) << "of " << seen.checks;
  EXPECT_EQ(seen.not_pessimistic, 0) << "of " << seen.checks;
  // Values at their clips would prove nothing.
  EXPECT_GE(seen.share(seen.below_clip), 0.5);
  EXPECT_GE(seen.share(seen.above_zero), 0.5);
  for (std::size_t j = 0; j < seen.from_data.size(); ++j) {
    EXPECT_GE(seen.from_data[j], seen.from_law[j]) << "player " << j + 1;
  }
}

struct Case {
  std::string name;
  DenseGame game;
  std::uint64_t episodes;
};

std::vector<Case> bound_cases(std::uint64_t factor) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, std::uint64_t episodes) {
    cases.push_back({name, table_game(name), factor * episodes});
  };
  add("random:players=2,states=2,actions=2,horizon=2,seed=1", 80'000);
  add("random:players=3,states=2,actions=2,horizon=2,seed=2", 80'000);
  add("random:players=2,states=2,actions=3,horizon=3,seed=3", 600'000);
  add("random:players=2,states=2,actions=2,horizon=3,kind=zero-sum,seed=4", 120'000);
  add("random:players=1,states=3,actions=2,horizon=2,seed=5", 120'000);
  add("random:players=2,states=1,actions=2,horizon=1,kind=zero-sum,seed=6", 10'000);
  cases.push_back({"rewards by chance", noisy_game(), factor * 120'000});
  return cases;
}

void expect_bounds_of(Target target, std::uint64_t factor, std::uint64_t seed) {
  for (const Case& one : bound_cases(factor)) {
    SCOPED_TRACE(one.name);
    const LearnerOptions options = rigorous_options(target, one.episodes);
    expect_bounds(watch_rigorous(one.game, options, seed, one.episodes));
  }
}

TEST(RigorousValues, BoundCoarseCorrelatedPlayFromBothSides) {
  expect_bounds_of(Target::cce, 1, 21);
}

TEST(RigorousValues, BoundCorrelatedPlayFromBothSides) { expect_bounds_of(Target::ce, 3, 22); }

/// Values that are read off estimates leave their clips earlier.
void expect_proven_bounds_of(Target target, std::uint64_t seed) {
  for (const Case& one : bound_cases(1)) {
    SCOPED_TRACE(one.name);
    const std::uint64_t episodes = one.episodes / 2;
    const LearnerOptions options = proven_options(target, episodes);
    expect_bounds(watch_proven(one.game, options, seed, episodes));
  }
}

TEST(ProvenValues, BoundCoarseCorrelatedPlayFromBothSides) {
  expect_proven_bounds_of(Target::cce, 31);
}

TEST(ProvenValues, BoundCorrelatedPlayFromBothSides) { expect_proven_bounds_of(Target::ce, 32); }

/// The same rules with averages of r + V in the place of what their estimates say.
TEST(ProvenValues, NothingBoundsWithoutABonus) {
  for (const Case& one : bound_cases(1)) {
    SCOPED_TRACE(one.name);
    for (const Target target : {Target::cce, Target::ce}) {
      LearnerOptions options = proven_options(target, one.episodes);
      options.bonus = Bonus::none;
      const Sightings seen = watch_proven(one.game, options, 33, one.episodes / 10);
      EXPECT_GT(seen.regretful, 0);
      EXPECT_GT(seen.not_optimistic, 0);
      EXPECT_GT(seen.not_pessimistic, 0);
    }
  }
}

/// What the tests of the rigorous bonus look at does happen where values have no bonus.
TEST(RigorousValues, NothingBoundsWithoutABonus) {
  for (const Case& one : bound_cases(1)) {
    SCOPED_TRACE(one.name);
    for (const Target target : {Target::cce, Target::ce}) {
      LearnerOptions options = rigorous_options(target, one.episodes);
      options.bonus = Bonus::none;
      const Sightings seen = watch_rigorous(one.game, options, 23, one.episodes / 10);
      EXPECT_GT(seen.regretful, 0);
      EXPECT_GT(seen.not_optimistic, 0);
      EXPECT_GT(seen.not_pessimistic, 0);
    }
  }
}

/// The sum that trainers keep is the one that was watched above.
TEST(RigorousValues, TrainersKeepTheSumOfTheBoundFromData) {
  const std::uint64_t episodes = 20'000;
  const DenseGame game = noisy_game();
  const Frame& frame = game.frame();
  const LearnerOptions options = rigorous_options(Target::cce, episodes);
  const Sightings seen = watch_rigorous(game, options, 24, episodes);
  const LearnerOptions proven = proven_options(Target::cce, episodes);
  const Sightings seen_proven = watch_proven(game, proven, 24, episodes);
  const std::unique_ptr<Trainer> trainer = make_trainer(GameRef(game), options, 24);
  const std::unique_ptr<Trainer> proven_trainer = make_trainer(GameRef(game), proven, 24);
  trainer->play_until(episodes, {});
  proven_trainer->play_until(episodes, {});
  for (const Player player : all<Player>(frame.num_players())) {
    const std::size_t j = player.index();
    EXPECT_NEAR(trainer->gap_bound(player).value(), seen.from_data[j], kRounding);
    EXPECT_LT(seen.from_data[j], most(frame, Step(0)));
    EXPECT_NEAR(proven_trainer->gap_bound(player).value(), seen_proven.from_data[j], kRounding);
    EXPECT_LT(seen_proven.from_data[j], seen.from_data[j]);
  }
}

}  // namespace
}  // namespace vlearn::test
