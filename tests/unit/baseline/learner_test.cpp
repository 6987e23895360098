// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Baselines at work: what they find, judged by certificates that know nothing of them, and that
// play is a function of the seed alone.
#include "vlearn/baseline/learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/chi_square.h"
#include "support/expect_error.h"
#include "support/random_game.h"
#include "vlearn/baseline/nash_vi.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/baseline_game.h"
#include "vlearn/run/solve_game.h"

namespace vlearn::test {
namespace {

constexpr const char* kZeroSum =
    "random:players=2,states=3,actions=3,horizon=3,seed=4,kind=zero-sum";
constexpr const char* kThree = "random:players=3,states=3,actions=2,horizon=3,seed=1";

BaselineOptions options_of(const AnyGame& game, BaselineName algorithm) {
  return usual_options(algorithm, frame_of(game));
}

BaselineLook look_after(const AnyGame& game,
                        const BaselineOptions& options,
                        std::uint64_t episodes,
                        std::uint64_t seed = 1) {
  BaselineLook last;
  follow_baseline(
      game, options, seed, [&](std::uint64_t) { return episodes; },
      [&](const BaselineLook& look) {
        last = look;
        return false;
      });
  EXPECT_EQ(last.episodes, episodes);
  return last;
}

BaselineLearner learner_of(const AnyGame& game,
                           const BaselineOptions& options,
                           std::uint64_t seed,
                           std::function<bool()> stop = {}) {
  return {std::visit([](const auto& model) { return GameRef(model); }, game), options, seed,
          std::move(stop)};
}

struct Bar {
  const char* game;
  BaselineName algorithm;
  std::uint64_t episodes;
  double gap;  // in units of what an episode can pay
};
// The seed fixes every draw, so these cannot fail by chance; gaps are some 3 times what was
// measured.
constexpr Bar kBars[] = {
    {"matching-pennies", BaselineName::nash_vi, 64, 1e-4},
    {"matching-pennies", BaselineName::plug_in, 64, 1e-9},
    {"rps", BaselineName::nash_vi, 128, 1e-3},
    {"rps", BaselineName::plug_in, 256, 1e-9},
    {kZeroSum, BaselineName::nash_vi, 4096, 0.01},
    {kZeroSum, BaselineName::plug_in, 4096, 0.02},
    {kThree, BaselineName::multi_cce_vi, 4096, 0.01},
    {kThree, BaselineName::multi_ce_vi, 4096, 0.01},
    {kThree, BaselineName::plug_in, 8192, 0.02},
    {"chicken", BaselineName::multi_ce_vi, 64, 1e-3},
    {"shapley", BaselineName::multi_cce_vi, 128, 1e-2},
    {"chain", BaselineName::multi_cce_vi, 2048, 0.02},
};

TEST(BaselineLearner, GapsFallBelowTheirBars) {
  for (const Bar& bar : kBars) {
    SCOPED_TRACE(std::string(bar.game) + " " + std::string(name_of(bar.algorithm)));
    const AnyGame game = load_game(bar.game).game;
    const Frame& frame = frame_of(game);
    const BaselineLook look = look_after(game, options_of(game, bar.algorithm), bar.episodes);
    const double whole = static_cast<double>(frame.horizon()) *
                         (frame.range(Player(0U)).high - frame.range(Player(0U)).low);
    EXPECT_LE(look.gap.largest / whole, bar.gap);
    std::printf("%s %s: %.3g\n", bar.game, std::string(name_of(bar.algorithm)).c_str(),
                look.gap.largest / whole);
  }
}

TEST(BaselineLearner, FindsTheValueOfAZeroSumGame) {
  const AnyGame game = make_game(kZeroSum);
  SolveConfig plan;
  plan.target = Target::nash;
  const double value = solve_game(game, {}, plan)->certificate.players[0].value_upper;
  for (const BaselineName algorithm : {BaselineName::nash_vi, BaselineName::plug_in}) {
    const BaselineLook look = look_after(game, options_of(game, algorithm), 8192);
    // A profile's value is off by no more than what its players gain.
    EXPECT_NEAR(look.values[0], value, look.gap.sum + 1e-9);
    EXPECT_NEAR(look.values[0], value, 0.05);
  }
}

TEST(BaselineLearner, LearnsEveryShapeOfGame) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const bool zero_sum = seed % 2 == 0;
    RandomSizes sizes{.players = {2, 3}, .horizon = {1, 3}, .states = {1, 3}, .actions = {1, 3}};
    if (zero_sum) sizes.players = {2, 2};
    sizes.zero_sum = zero_sum;
    const AnyGame game = random_game(seed, sizes);
    for (const BaselineName algorithm :
         {zero_sum ? BaselineName::nash_vi : BaselineName::multi_cce_vi, BaselineName::multi_ce_vi,
          BaselineName::plug_in}) {
      const BaselineLook look = look_after(game, options_of(game, algorithm), 4096);
      EXPECT_LE(look.gap.largest, 0.03 * static_cast<double>(frame_of(game).horizon()))
          << name_of(algorithm);
    }
  }
}

TEST(BaselineLearner, IsAFunctionOfItsSeed) {
  for (const auto& [name, algorithm] :
       {std::pair(kZeroSum, BaselineName::nash_vi), std::pair(kThree, BaselineName::multi_cce_vi),
        std::pair(kThree, BaselineName::multi_ce_vi), std::pair(kThree, BaselineName::plug_in)}) {
    const AnyGame game = make_game(name);
    const auto tables = [&, algorithm = algorithm](std::uint64_t seed) {
      BaselineLearner learner = learner_of(game, options_of(game, algorithm), seed);
      EXPECT_TRUE(learner.play_until(300));
      return learner.policy()->tables;
    };
    EXPECT_EQ(tables(1), tables(1));
    EXPECT_NE(tables(1), tables(2));
  }
}

TEST(BaselineLearner, WhoLooksChangesNothing) {
  const AnyGame game = make_game(kThree);
  BaselineLearner alone = learner_of(game, options_of(game, BaselineName::multi_cce_vi), 3);
  BaselineLearner watched = learner_of(game, options_of(game, BaselineName::multi_cce_vi), 3);
  for (std::uint64_t k = 1; k <= 200; ++k) {
    EXPECT_TRUE(watched.play_until(k));
    EXPECT_TRUE(watched.policy());
  }
  EXPECT_TRUE(alone.play_until(200));
  EXPECT_EQ(alone.policy()->tables, watched.policy()->tables);
}

TEST(BaselineLearner, GoesOnAsIfItHadNotBeenStopped) {
  for (const BaselineName algorithm : {BaselineName::nash_vi, BaselineName::plug_in}) {
    const AnyGame game = make_game(kZeroSum);
    BaselineLearner whole = learner_of(game, options_of(game, algorithm), 3);
    EXPECT_TRUE(whole.play_until(200));
    // Stopped at ever later questions, between episodes and within plans.
    std::uint64_t asked = 0;
    std::uint64_t patience = 1;
    BaselineLearner cut = learner_of(game, options_of(game, algorithm), 3, [&] {
      if (++asked < patience) return false;
      asked = 0;
      ++patience;
      return true;
    });
    std::uint64_t stops = 0;
    while (!cut.play_until(200)) ++stops;
    EXPECT_GE(stops, algorithm == BaselineName::plug_in ? 15U : 30U);
    patience = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(cut.policy()->tables, whole.policy()->tables);
  }
}

TEST(BaselineLearner, ReturnsWhatItPlaysWhenItIsStoppedWhilePlanning) {
  const AnyGame game = make_game(kZeroSum);
  bool stop = false;
  BaselineLearner nash =
      learner_of(game, options_of(game, BaselineName::nash_vi), 3, [&] { return stop; });
  BaselineLearner plug_in =
      learner_of(game, options_of(game, BaselineName::plug_in), 3, [&] { return stop; });
  stop = true;
  EXPECT_FALSE(nash.play_until(10));
  EXPECT_FALSE(nash.policy());
  stop = false;
  EXPECT_TRUE(nash.play_until(10));
  EXPECT_TRUE(plug_in.play_until(10));
  stop = true;
  const auto policy = nash.policy();
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->tables, tables_of(frame_of(game), *nash.played(), Target::nash, {}));
  EXPECT_EQ(policy->optimism_gap, optimism_gap(frame_of(game), *nash.played()));
  EXPECT_FALSE(plug_in.policy());
}

/// Of every (step, state, joint action).
std::vector<std::uint32_t> all_visits(const PlayedModel& model) {
  std::vector<std::uint32_t> visits;
  for (std::size_t cell = 0; cell < model.num_cells(); ++cell) {
    for (std::size_t a = 0; a < model.num_joint(cell); ++a) visits.push_back(model.visits(cell, a));
  }
  return visits;
}

TEST(BaselineLearner, PlansWhenACountDoubles) {
  const AnyGame game = make_game(kZeroSum);
  BaselineLearner learner = learner_of(game, options_of(game, BaselineName::nash_vi), 1);
  std::uint64_t plans = 1;
  std::vector<std::uint32_t> before = all_visits(learner.model());
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    ASSERT_TRUE(learner.play_until(k));
    ASSERT_EQ(learner.plans(), plans);
    const std::vector<std::uint32_t> after = all_visits(learner.model());
    bool doubled = false;
    for (std::size_t i = 0; i < after.size(); ++i) {
      doubled = doubled || (after[i] != before[i] && (after[i] & (after[i] - 1)) == 0);
    }
    plans += doubled ? 1 : 0;
    before = after;
  }
  EXPECT_LT(plans, 600U);
}

TEST(BaselineLearner, PlansBeforeEveryEpisodeFromAllThatWasSeen) {
  const AnyGame game = make_game(kZeroSum);
  BaselineOptions options = options_of(game, BaselineName::nash_vi);
  options.replan = Replan::episode;
  BaselineLearner learner = learner_of(game, options, 1);
  JointPlan plan(learner.model().num_cells(), 1);
  PlanMemory memory;
  for (std::uint64_t k = 1; k <= 100; ++k) {
    plan_nash_vi(learner.model(), options, memory, plan);
    ASSERT_TRUE(learner.play_until(k));
    ASSERT_EQ(learner.plans(), k);
    ASSERT_TRUE(std::ranges::equal(plan.upper(0), learner.played()->upper(0)));
    ASSERT_EQ(tables_of(frame_of(game), plan, Target::nash, {}),
              tables_of(frame_of(game), *learner.played(), Target::nash, {}));
  }
}

TEST(BaselineLearner, TheLeastOptimismGapIsOfThosePlayed) {
  const AnyGame game = make_game(kThree);
  BaselineOptions options = options_of(game, BaselineName::multi_cce_vi);
  options.output = BaselineOutput::least;
  BaselineLearner learner = learner_of(game, options, 2);
  double least = std::numeric_limits<double>::infinity();
  std::vector<MarkovTable> tables;
  for (std::uint64_t k = 1; k <= 300; ++k) {
    EXPECT_TRUE(learner.play_until(k));
    const double gap = optimism_gap(frame_of(game), *learner.played());
    if (gap < least) {
      least = gap;
      tables = tables_of(frame_of(game), *learner.played(), Target::cce, {});
    }
    ASSERT_EQ(learner.policy()->optimism_gap, least);
  }
  EXPECT_EQ(learner.policy()->tables, tables);
}

// Both fail with probability kLevel.
TEST(BaselineLearner, PlugInExploresUniformly) {
  const AnyGame game = load_game("rps").game;
  BaselineLearner learner = learner_of(game, options_of(game, BaselineName::plug_in), 5);
  ASSERT_TRUE(learner.play_until(9000));
  const std::vector<std::uint32_t> visits = all_visits(learner.model());
  const std::vector<double> counts(visits.begin(), visits.end());
  EXPECT_LT(chi_square(counts, std::vector<double>(9, 1000.0)), chi_square_limit(8));
}

// Without a bonus the plan is the equilibrium, 1/4 each, as soon as all four were seen.
TEST(BaselineLearner, PlaysWhatItPlanned) {
  const AnyGame game = load_game("matching-pennies").game;
  BaselineOptions options = options_of(game, BaselineName::multi_ce_vi);
  options.constant = 0.0;
  BaselineLearner learner = learner_of(game, options, 5);
  ASSERT_TRUE(learner.play_until(100));
  for (const double chance : learner.played()->chances(0)) ASSERT_NEAR(chance, 0.25, 1e-9);
  const std::vector<std::uint32_t> before = all_visits(learner.model());
  ASSERT_TRUE(learner.play_until(8100));
  std::vector<double> counts;
  for (std::size_t a = 0; a < 4; ++a) counts.push_back(all_visits(learner.model())[a] - before[a]);
  EXPECT_LT(chi_square(counts, std::vector<double>(4, 2000.0)), chi_square_limit(3));
}

TEST(BaselineLearner, RefusesWhatDoesNotFit) {
  const auto refusal = [](const char* name, BaselineName algorithm, Target target) {
    const AnyGame game = load_game(name).game;
    BaselineOptions options = options_of(game, algorithm);
    options.target = target;
    return error_of(ErrorKind::usage, [&] { check_options(frame_of(game), options); });
  };
  const auto says = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(refusal("chicken", BaselineName::nash_vi, Target::nash), "multi-cce-vi");
  says(refusal("rps", BaselineName::nash_vi, Target::cce), "use multi-cce-vi for cce");
  says(refusal("rps", BaselineName::multi_cce_vi, Target::nash), "use nash-vi");
  says(refusal("chicken", BaselineName::multi_ce_vi, Target::cce), "use nash-vi");
  says(refusal("chicken", BaselineName::plug_in, Target::nash), "cce or ce");
  says(refusal("chicken", BaselineName::plug_in, Target::optimal), "one player");
  const AnyGame game = load_game("rps").game;
  const auto bad = [&](const auto& change) {
    BaselineOptions options = options_of(game, BaselineName::nash_vi);
    change(options);
    return error_of(ErrorKind::usage, [&] { check_options(frame_of(game), options); });
  };
  says(bad([](BaselineOptions& o) { o.constant = -1.0; }), "constant");
  says(bad([](BaselineOptions& o) { o.constant = std::numeric_limits<double>::quiet_NaN(); }),
       "constant");
  says(bad([](BaselineOptions& o) { o.delta = 0.0; }), "delta");
  says(bad([](BaselineOptions& o) { o.horizon_episodes = 0; }), "iota");
  BaselineLearner learner = learner_of(game, options_of(game, BaselineName::nash_vi), 1);
  says(error_of(ErrorKind::usage,
                [&] { static_cast<void>(learner.play_until(std::uint64_t{1} << 32U)); }),
       "2^32");
}

}  // namespace
}  // namespace vlearn::test
