// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What docs/theory/baseline_constants.md proves, executed: with c = theory_constant() the values of
// every plan bound what players can have, at every (step, state), and the optimism gap bounds the
// certified one. The statement holds in all plans of a run at once with probability 1 - delta, and
// delta is 1e-6 here: each run fails with that probability at most. Bounds must also be good for
// something at the end, else they would hold for nothing; and without a bonus they must fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "support/random_game.h"
#include "vlearn/baseline/learner.h"
#include "vlearn/certify/certify.h"
#include "vlearn/game/game_io.h"

namespace vlearn::test {
namespace {

/// Below rounding and the tolerance of linear programs, 1e-9 of the range of a stage.
constexpr double kSlack = 1e-7;

/// By how much the claim fails at its worst (step, state); negative where it holds. For each player
/// i: V from above is at least what i can have when the others play their part of pi, and V from
/// below at most what pi is worth to i (nash-vi: what is left to player 1 when the other one
/// answers best).
double violation(const AnyGame& game, const PlayedModel& model, const JointPlan& plan, bool nash) {
  const Frame& frame = frame_of(game);
  const std::size_t m = frame.num_players();
  double worst = -1.0;
  // [player][state] of the next step: of a best deviator, and of pi itself.
  std::vector<std::vector<double>> best(m);
  std::vector<std::vector<double>> worth(m);
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    std::vector<std::vector<double>> best_now(m);
    std::vector<std::vector<double>> worth_now(m);
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const std::size_t cell = model.cell(Step(h), s);
      const auto begins = frame.action_begins(Step(h), s);
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t own = begins[i + 1] - begins[i];
        std::vector<double> deviation(own, 0.0);
        double value = 0.0;
        std::vector<double> q(own);
        std::vector<double> profile(begins.back());
        for (std::size_t part = 0; part < plan.joints(cell).size(); ++part) {
          std::fill(profile.begin(), profile.end(), 0.0);
          std::size_t rest = plan.joints(cell)[part];
          std::size_t action = 0;
          for (std::size_t j = m; j-- > 0;) {
            const std::size_t n = begins[j + 1] - begins[j];
            profile[begins[j] + rest % n] = 1.0;
            if (j == i) action = rest % n;
            rest /= n;
          }
          const auto backup = [&](const std::vector<double>& next) {
            std::visit(
                [&](const auto& known) {
                  known.backup({Step(h), s, Profile(begins, profile)}, Player(i), next, q,
                               workspace);
                },
                game);
          };
          const double chance = plan.chances(cell)[part];
          backup(best[i]);
          for (std::size_t b = 0; b < own; ++b) deviation[b] += chance * q[b];
          backup(worth[i]);
          value += chance * q[action];
        }
        best_now[i].push_back(*std::max_element(deviation.begin(), deviation.end()));
        worth_now[i].push_back(value);
      }
      const double left = static_cast<double>(frame.horizon() - h);
      for (std::size_t i = 0; i < plan.num_values(); ++i) {
        worst = std::max(worst, best_now[i].back() - plan.upper(i)[cell]);
        const double floor = nash ? left - best_now[1].back() : worth_now[i].back();
        worst = std::max(worst, plan.lower(i)[cell] - floor);
      }
    }
    best = best_now;
    worth = worth_now;
  }
  return worst;
}

struct Outcome {
  std::uint64_t broken = 0;  // looks at which a bound failed
  double optimism_gap = 0.0;
  double certified = 0.0;  // what it bounds
  double narrowest = 1.0;  // V from above less V from below, of what is left to be had
};

Outcome run(const AnyGame& game, const BaselineOptions& options, std::uint64_t seed) {
  BaselineLearner learner(std::visit([](const auto& model) { return GameRef(model); }, game),
                          options, seed);
  const bool nash = options.target == Target::nash;
  Outcome outcome;
  for (std::uint64_t k = 1; k <= options.horizon_episodes; k *= 2) {
    EXPECT_TRUE(learner.play_until(k));
    const auto policy = learner.policy();
    const Certificate certificate =
        certify_table(game, {}, options.target, policy->tables, {.threads = 1});
    outcome.optimism_gap = *policy->optimism_gap;
    outcome.certified = nash ? certificate.sum_upper : certificate.gap_upper;
    bool held = outcome.certified <= outcome.optimism_gap + kSlack;
    // The recursion above is for fixed deviations.
    if (options.target != Target::ce) {
      held = held && violation(game, learner.model(), *learner.played(), nash) <= kSlack;
    }
    outcome.broken += held ? 0 : 1;
    const JointPlan& plan = *learner.played();
    for (const Step h : all<Step>(frame_of(game).horizon())) {
      const double left = static_cast<double>(frame_of(game).horizon() - h.index());
      const std::size_t cell = learner.model().cell(h, State(0U));
      outcome.narrowest =
          std::min(outcome.narrowest, (plan.upper(0)[cell] - plan.lower(0)[cell]) / left);
    }
  }
  return outcome;
}

struct Case {
  const char* game;
  BaselineName algorithm;
  BaselineBonus bonus;
  std::uint64_t episodes;
  double useful;  // the optimism gap is at most this, of what an episode can pay
};
constexpr Case kCases[] = {
    {"random:players=2,states=2,actions=2,horizon=2,seed=3,kind=zero-sum", BaselineName::nash_vi,
     BaselineBonus::bernstein, std::uint64_t{1} << 18U, 0.5},
    {"random:players=2,states=2,actions=2,horizon=2,seed=3,kind=zero-sum", BaselineName::nash_vi,
     BaselineBonus::hoeffding, std::uint64_t{1} << 20U, 1.0},
    {"random:players=2,states=3,actions=2,horizon=3,seed=5", BaselineName::multi_cce_vi,
     BaselineBonus::bernstein, std::uint64_t{1} << 17U, 0.6},
    {"random:players=3,states=2,actions=2,horizon=2,seed=6", BaselineName::multi_cce_vi,
     BaselineBonus::bernstein, std::uint64_t{1} << 17U, 0.6},
    {"random:players=3,states=2,actions=2,horizon=2,seed=6", BaselineName::multi_ce_vi,
     BaselineBonus::bernstein, std::uint64_t{1} << 17U, 0.6},
};

TEST(OptimisticPlans, BoundWhatPlayersCanHave) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(std::string(each.game) + " " + std::string(name_of(each.algorithm)));
    const AnyGame game = make_game(each.game);
    const Frame& frame = frame_of(game);
    BaselineOptions options = usual_options(each.algorithm, frame);
    options.bonus = each.bonus;
    options.constant = theory_constant(each.algorithm);
    options.delta = 1e-6;
    options.horizon_episodes = each.episodes;
    const Outcome outcome = run(game, options, 1);
    EXPECT_EQ(outcome.broken, 0U);
    const double whole = static_cast<double>(frame.horizon());
    EXPECT_LE(outcome.optimism_gap / whole, each.useful);
    EXPECT_LT(outcome.narrowest, 0.4);
    std::printf("%s %s: optimism gap %.3g, certified %.3g of an episode, narrowest %.3g\n",
                each.game, std::string(name_of(each.algorithm)).c_str(),
                outcome.optimism_gap / whole, outcome.certified / whole, outcome.narrowest);
  }
}

// Rewards are 0 or 1 with the mean that they have in the table, and the start is random.
TEST(OptimisticPlans, BoundWhatPlayersCanHaveWhenRewardsAreRandom) {
  for (const BaselineName algorithm : {BaselineName::nash_vi, BaselineName::multi_cce_vi}) {
    SCOPED_TRACE(name_of(algorithm));
    const AnyGame game = random_game(2, {.players = {2, 2},
                                         .horizon = {2, 2},
                                         .states = {2, 2},
                                         .actions = {2, 2},
                                         .zero_sum = algorithm == BaselineName::nash_vi,
                                         .noise = RewardNoise::bernoulli});
    BaselineOptions options = usual_options(algorithm, frame_of(game));
    options.constant = theory_constant(algorithm);
    options.delta = 1e-6;
    options.horizon_episodes = std::uint64_t{1} << 20U;
    const Outcome outcome = run(game, options, 1);
    EXPECT_EQ(outcome.broken, 0U);
    EXPECT_LT(outcome.optimism_gap, 1.6);  // of 2
    std::printf("%s with random rewards: optimism gap %.3g\n",
                std::string(name_of(algorithm)).c_str(), outcome.optimism_gap);
  }
}

// Without a bonus there are no bounds, and the test sees it.
TEST(OptimisticPlans, FailWithoutABonus) {
  for (const Case& each : kCases) {
    const AnyGame game = make_game(each.game);
    BaselineOptions options = usual_options(each.algorithm, frame_of(game));
    options.constant = 0.0;
    options.horizon_episodes = 1024;
    EXPECT_GE(run(game, options, 1).broken, 3U) << each.game;
  }
}

}  // namespace
}  // namespace vlearn::test
