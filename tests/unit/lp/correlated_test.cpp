// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "plain_equilibrium.h"
#include "support/expect_error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"
#include "vlearn/lp/stage_solver.h"

namespace vlearn {
namespace {

using test::error_of;
using test::PlainStage;
using test::range_of;
using Rule = Selection::Rule;

constexpr double kTolerance = StageSolver::kTolerance;

const std::vector<Selection> kSelections = {{.rule = Rule::welfare},
                                            {.rule = Rule::egalitarian},
                                            {.rule = Rule::player, .player = Player(0)}};

StageGame game_of(const PlainStage& stage) {
  return {.num_actions = stage.num_actions, .payoffs = stage.payoffs};
}

double objective_of(const PlainStage& stage, Selection selection, std::span<const double> pi) {
  double sum = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < stage.num_actions.size(); ++i) {
    const double value = stage.value(i, pi);
    sum += value;
    least = std::min(least, value);
  }
  switch (selection.rule) {
    case Rule::welfare: return sum;
    case Rule::egalitarian: return least;
    default: return stage.value(selection.player.index(), pi);
  }
}

/// What the tolerance of an objective is relative to.
double objective_scale(const PlainStage& stage, Selection selection) {
  if (selection.rule == Rule::egalitarian) return range_of(stage.payoffs);
  double scale = 0.0;
  for (std::size_t i = 0; i < stage.num_actions.size(); ++i) {
    if (selection.rule == Rule::player && selection.player.index() != i) continue;
    scale = std::max(scale, range_of(stage.payoffs_of(i)));
  }
  return scale;
}

/// Of sums of payoffs in their own units, where their size is more than their range.
double rounding_of(const PlainStage& stage) {
  double largest = 0.0;
  for (const double payoff : stage.payoffs) largest = std::max(largest, std::abs(payoff));
  return 1e-15 * largest * static_cast<double>(stage.num_actions.size());
}

/// Everything that is promised but optimality, by the definitions. Twice the tolerance leaves room
/// for the rounding of this check in the payoffs' own units.
void expect_equilibrium(const PlainStage& stage,
                        Target target,
                        Selection selection,
                        const CorrelatedSolution& solution) {
  ASSERT_EQ(solution.joint.size(), stage.num_joints());
  ASSERT_EQ(solution.values.size(), stage.num_actions.size());
  double sum = 0.0;
  for (const double mass : solution.joint) {
    EXPECT_GE(mass, 0.0);
    sum += mass;
  }
  EXPECT_NEAR(sum, 1.0, 1e-14);
  double all = 0.0;
  for (std::size_t i = 0; i < stage.num_actions.size(); ++i) {
    const double range = range_of(stage.payoffs_of(i));
    all += range;
    const double worst = target == Target::ce ? stage.worst_ce(i, solution.joint)
                                              : stage.worst_cce(i, solution.joint);
    EXPECT_LE(worst, 2.0 * kTolerance * range) << "player " << i;
    EXPECT_NEAR(solution.values[i], stage.value(i, solution.joint),
                kTolerance * range + rounding_of(stage));
  }
  EXPECT_NEAR(solution.objective, objective_of(stage, selection, solution.joint),
              kTolerance * all + rounding_of(stage));
}

/// A pure equilibrium is one of the distributions that were chosen from.
void expect_no_worse_than_pure(const PlainStage& stage,
                               Selection selection,
                               const CorrelatedSolution& solution) {
  for (std::size_t joint = 0; joint < stage.num_joints(); ++joint) {
    std::vector<double> pure(stage.num_joints(), 0.0);
    pure[joint] = 1.0;
    bool stable = true;
    for (std::size_t i = 0; i < stage.num_actions.size(); ++i) {
      stable = stable && stage.worst_ce(i, pure) <= 0.0;
    }
    if (!stable) continue;
    EXPECT_GE(solution.objective, objective_of(stage, selection, pure) -
                                      2.0 * kTolerance * objective_scale(stage, selection) -
                                      rounding_of(stage));
  }
}

PlainStage random_stage(Draws& draws, std::vector<std::uint32_t> num_actions, int family) {
  PlainStage stage{std::move(num_actions), {}};
  std::size_t joints = 1;
  for (const std::uint32_t actions : stage.num_actions) joints *= actions;
  for (std::size_t i = 0; i < stage.num_actions.size() * joints; ++i) {
    const double u = draws.uniform();
    switch (family) {
      case 0: stage.payoffs.push_back(u); break;
      case 1: stage.payoffs.push_back(u < 0.5 ? 0.0 : 1.0); break;
      case 2: stage.payoffs.push_back(std::floor(3.0 * u)); break;
      case 3: stage.payoffs.push_back(1e6 + u); break;
      case 4: stage.payoffs.push_back(i < joints ? 1e12 * u : 1e-12 * u); break;
      default: stage.payoffs.push_back(u * 1e-12); break;
    }
  }
  if (family == 5) stage.payoffs[draws.below(stage.payoffs.size())] = 1.0;
  return stage;
}

std::vector<std::uint32_t> random_shape(Draws& draws) {
  std::vector<std::uint32_t> shape(1 + draws.below(4));
  const std::uint64_t most = shape.size() == 4 ? 2 : shape.size() == 3 ? 3 : 5;
  for (std::uint32_t& actions : shape) actions = static_cast<std::uint32_t>(1 + draws.below(most));
  return shape;
}

class Correlated : public testing::TestWithParam<LpMethod> {
 protected:
  void expect_values(const PlainStage& stage,
                     Target target,
                     Selection selection,
                     const std::vector<double>& values) {
    const CorrelatedSolution& solution = solver_.solve(game_of(stage), target, selection);
    expect_equilibrium(stage, target, selection, solution);
    ASSERT_EQ(solution.values.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(solution.values[i], values[i], near_);
    }
  }

  StageSolver solver_{GetParam()};
  // Clp is asked for 1e-11 in each row.
  const double near_ = GetParam() == LpMethod::clp ? 1e-10 : 1e-13;
};

TEST_P(Correlated, Chicken) {
  // Dare, chicken. The best that a mediator can do is (c, c) half of the time.
  const PlainStage chicken{{2, 2}, {0, 7, 2, 6, 0, 2, 7, 6}};
  for (const Target target : {Target::cce, Target::ce}) {
    expect_values(chicken, target, {.rule = Rule::welfare}, {5.25, 5.25});
    expect_values(chicken, target, {.rule = Rule::egalitarian}, {5.25, 5.25});
    expect_values(chicken, target, {.rule = Rule::player, .player = Player(0)}, {7, 2});
    expect_values(chicken, target, {.rule = Rule::player, .player = Player(1)}, {2, 7});
  }
  const std::vector<double>& pi = solver_.solve(game_of(chicken), Target::ce).joint;
  const std::vector<double> known = {0.0, 0.25, 0.25, 0.5};
  for (std::size_t j = 0; j < pi.size(); ++j) EXPECT_NEAR(pi[j], known[j], near_);
}

TEST_P(Correlated, PrisonersDilemmaHasOneEquilibrium) {
  const PlainStage dilemma{{2, 2}, {3, 0, 5, 1, 3, 5, 0, 1}};
  for (const Target target : {Target::cce, Target::ce}) {
    for (const Selection selection : kSelections) {
      expect_values(dilemma, target, selection, {1, 1});
      EXPECT_NEAR(solver_.solve(game_of(dilemma), target, selection).joint[3], 1.0, near_);
    }
  }
}

TEST_P(Correlated, ShapleysGame) {
  const PlainStage shapley{{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0}};
  for (const Target target : {Target::cce, Target::ce}) {
    const CorrelatedSolution& best = solver_.solve(game_of(shapley), target);
    expect_equilibrium(shapley, target, {}, best);
    EXPECT_NEAR(best.objective, 1.0, near_);
    expect_values(shapley, target, {.rule = Rule::egalitarian}, {0.5, 0.5});
  }
}

TEST_P(Correlated, PlayersWithoutAChoice) {
  // One player: the best action. One action each: that one.
  expect_values({{3}, {1, 4, 2}}, Target::ce, {}, {4});
  expect_values({{1, 1, 1}, {1, -2, 3}}, Target::cce, {.rule = Rule::egalitarian}, {1, -2, 3});
  // The second player can only watch.
  expect_values({{2, 1}, {1, 3, 9, -5}}, Target::ce, {.rule = Rule::player, .player = Player(1)},
                {3, -5});
}

TEST_P(Correlated, ConstantPayoffs) {
  const PlainStage flat{{2, 3}, std::vector<double>(12, 0.7)};
  for (const Target target : {Target::cce, Target::ce}) {
    for (const Selection selection : kSelections) {
      expect_values(flat, target, selection, {0.7, 0.7});
    }
  }
}

TEST_P(Correlated, RandomGamesOfAllKindsFulfilTheDefinition) {
  Draws draws({.seed = 11, .purpose = Purpose::test});
  for (int round = 0; round < 2400; ++round) {
    const PlainStage stage = random_stage(draws, random_shape(draws), round % 6);
    const Target target = round % 12 < 6 ? Target::cce : Target::ce;
    const Selection selection = kSelections[static_cast<std::size_t>(round / 12) % 3];
    const CorrelatedSolution& solution = solver_.solve(game_of(stage), target, selection);
    expect_equilibrium(stage, target, selection, solution);
    expect_no_worse_than_pure(stage, selection, solution);
    ASSERT_FALSE(HasFailure()) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods,
                         Correlated,
                         testing::Values(LpMethod::automatic, LpMethod::clp),
                         [](const auto& method) {
                           return method.param == LpMethod::clp ? "clp" : "automatic";
                         });

TEST(StageGames, KernelAndClpAgreeOnTheObjective) {
  Draws draws({.seed = 12, .purpose = Purpose::test});
  StageSolver kernel(LpMethod::kernel);
  StageSolver clp(LpMethod::clp);
  int agreed = 0;
  for (int round = 0; round < 3000; ++round) {
    const PlainStage stage = random_stage(draws, random_shape(draws), round % 5);
    const Target target = round % 10 < 5 ? Target::cce : Target::ce;
    const Selection selection = kSelections[static_cast<std::size_t>(round / 10) % 3];
    const CorrelatedSolution& ours = kernel.solve(game_of(stage), target, selection);
    const CorrelatedSolution& theirs = clp.solve(game_of(stage), target, selection);
    const double near = 2.0 * kTolerance * objective_scale(stage, selection);
    const double apart = std::abs(ours.objective - theirs.objective);
    // A gain that is left buys more of the objective, where multipliers are large.
    ASSERT_LE(apart, near + 1e5 * (ours.gain + theirs.gain)) << round;
    agreed += apart <= near ? 1 : 0;
  }
  EXPECT_GE(agreed, 2990);
}

// 24 orders of magnitude in one game: the best objective is not determined to the tolerance, but
// the equilibrium is one.
TEST(StageGames, PayoffsOfManyOrdersOfMagnitude) {
  Draws draws({.seed = 13, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 3000; ++round) {
    PlainStage stage = random_stage(draws, random_shape(draws), 0);
    for (double& payoff : stage.payoffs) payoff = std::pow(10.0, 24.0 * payoff - 12.0);
    const Target target = round % 2 == 0 ? Target::cce : Target::ce;
    const Selection selection = kSelections[static_cast<std::size_t>(round / 2) % 3];
    expect_equilibrium(stage, target, selection, solver.solve(game_of(stage), target, selection));
    ASSERT_FALSE(testing::Test::HasFailure()) << round;
  }
}

TEST(StageGames, EveryCorrelatedEquilibriumIsACoarseOne) {
  Draws draws({.seed = 14, .purpose = Purpose::test});
  StageSolver solver;
  int strict = 0;
  for (int round = 0; round < 600; ++round) {
    const PlainStage stage = random_stage(draws, {3, 3}, 0);
    const Selection selection = kSelections[static_cast<std::size_t>(round) % 3];
    const double ce = solver.solve(game_of(stage), Target::ce, selection).objective;
    const double cce = solver.solve(game_of(stage), Target::cce, selection).objective;
    ASSERT_LE(ce, cce + 2.0 * kTolerance);
    strict += cce > ce + 1e-3 ? 1 : 0;
  }
  // The coarse one would not be free to do more if it had the rows of the other.
  EXPECT_GT(strict, 20);
}

TEST(StageGames, ZeroSumCceHasTheValueOfTheMatrixGame) {
  Draws draws({.seed = 15, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 600; ++round) {
    const auto rows = static_cast<std::uint32_t>(1 + draws.below(6));
    const auto columns = static_cast<std::uint32_t>(1 + draws.below(6));
    PlainStage stage = random_stage(draws, {rows, columns}, round % 3);
    const std::size_t joints = stage.num_joints();
    for (std::size_t j = 0; j < joints; ++j) stage.payoffs[joints + j] = -stage.payoffs[j];
    const double value =
        solver.solve(MatrixGame{.rows = rows, .columns = columns, .payoffs = stage.payoffs_of(0)})
            .value;
    const double scale = std::max(range_of(stage.payoffs_of(0)), 1e-300);
    for (const Selection selection : kSelections) {
      const CorrelatedSolution& cce = solver.solve(game_of(stage), Target::cce, selection);
      ASSERT_NEAR(cce.values[0], value, 4.0 * kTolerance * scale);
      ASSERT_NEAR(cce.values[1], -value, 4.0 * kTolerance * scale);
    }
  }
}

TEST(StageGames, RenamedPlayersAndMovedPayoffs) {
  Draws draws({.seed = 16, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 300; ++round) {
    const PlainStage stage = random_stage(draws, {2, 3, 2}, round % 3);
    // The first player becomes the last; constants and a common factor change nothing either.
    PlainStage other{{3, 2, 2}, std::vector<double>(stage.payoffs.size())};
    const double factor = round % 2 == 0 ? 1e12 : 1e-12;
    for (std::size_t j = 0; j < stage.num_joints(); ++j) {
      const std::vector<std::size_t> actions = stage.actions_of(j);
      const std::size_t moved = other.joint_of({actions[1], actions[2], actions[0]});
      for (std::size_t i = 0; i < 3; ++i) {
        other.payoffs[(i + 2) % 3 * stage.num_joints() + moved] =
            factor * (stage.payoff(i, j) + 100.0);
      }
    }
    for (const Target target : {Target::cce, Target::ce}) {
      const double welfare = solver.solve(game_of(stage), target).objective;
      const double least =
          solver.solve(game_of(stage), target, {.rule = Rule::egalitarian}).objective;
      const double first =
          solver.solve(game_of(stage), target, {.rule = Rule::player, .player = Player(0)})
              .objective;
      ASSERT_NEAR(solver.solve(game_of(other), target).objective / factor, welfare + 300.0, 1e-8);
      ASSERT_NEAR(
          solver.solve(game_of(other), target, {.rule = Rule::egalitarian}).objective / factor,
          least + 100.0, 1e-8);
      ASSERT_NEAR(solver.solve(game_of(other), target, {.rule = Rule::player, .player = Player(2)})
                          .objective /
                      factor,
                  first + 100.0, 1e-8);
    }
  }
}

TEST(StageGames, ReportedGainAndSlackAreThoseOfTheDefinition) {
  Draws draws({.seed = 17, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 300; ++round) {
    const PlainStage stage = random_stage(draws, {3, 4}, 0);
    const CorrelatedSolution& cce = solver.solve(game_of(stage), Target::cce);
    double worst = 0.0;
    for (std::size_t i = 0; i < 2; ++i) worst = std::max(worst, stage.worst_cce(i, cce.joint));
    ASSERT_NEAR(cce.gain, worst, 1e-14);
    ASSERT_GE(cce.slack, 0.0);
    ASSERT_LE(cce.slack, kTolerance);
  }
}

TEST(StageGames, SameBytesWhateverWasSolvedBeforeAndForEveryVectorWidth) {
  Draws draws({.seed = 18, .purpose = Purpose::test});
  const PlainStage stage = random_stage(draws, {5, 5}, 0);
  const PlainStage larger = random_stage(draws, {4, 4, 4}, 2);
  StageSolver fresh;
  const CorrelatedSolution first = fresh.solve(game_of(stage), Target::ce);
  StageSolver used;
  (void)used.solve(game_of(larger), Target::ce, {.rule = Rule::egalitarian});
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    const CorrelatedSolution& again = used.solve(game_of(stage), Target::ce);
    EXPECT_EQ(again.joint, first.joint) << target;
    EXPECT_EQ(again.values, first.values) << target;
  }
  use_simd_target("");
}

TEST(StageGames, Refused) {
  StageSolver solver;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto solve = [&](std::vector<std::uint32_t> num_actions, std::vector<double> payoffs,
                         Target target = Target::cce, Selection selection = {}) {
    return [=, &solver] {
      (void)solver.solve(StageGame{.num_actions = num_actions, .payoffs = payoffs}, target,
                         selection);
    };
  };
  EXPECT_NE(error_of(ErrorKind::input, solve({2, 1}, {1, 2, 3, nan})).find("payoffs[3]"),
            std::string::npos);
  error_of(ErrorKind::input, solve({2}, {1, std::numeric_limits<double>::infinity()}));
  error_of(ErrorKind::usage, solve({2, 2}, {1, 2, 3, 4}));
  error_of(ErrorKind::usage, solve({2, 0}, {1, 2}));
  error_of(ErrorKind::usage, solve({}, {}));
  error_of(ErrorKind::usage, solve({4'000'000'000U, 4'000'000'000U, 4'000'000'000U}, {1}));
  error_of(ErrorKind::usage, solve({2}, {1, 2}, Target::nash));
  error_of(ErrorKind::usage,
           solve({2}, {1, 2}, Target::cce, {.rule = Rule::player, .player = Player(1)}));
  const std::vector<double> many(1 << 15, 0.0);
  error_of(ErrorKind::resource, solve({1 << 14, 1}, many, Target::ce));
}

}  // namespace
}  // namespace vlearn
