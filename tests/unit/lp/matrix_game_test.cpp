// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "plain_equilibrium.h"
#include "support/expect_error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"
#include "vlearn/lp/stage_solver.h"

namespace vlearn {
namespace {

using test::error_of;
using test::exploitability;
using test::range_of;

constexpr double kTolerance = StageSolver::kTolerance;

MatrixGame game_of(std::size_t rows, const std::vector<double>& payoffs) {
  return {.rows = rows, .columns = payoffs.size() / rows, .payoffs = payoffs};
}

void expect_strategy(const std::vector<double>& strategy) {
  double sum = 0.0;
  for (const double mass : strategy) {
    EXPECT_GE(mass, 0.0);
    sum += mass;
  }
  EXPECT_NEAR(sum, 1.0, 1e-14);
}

/// Everything that is promised, from the payoffs alone; twice the tolerance leaves room for the
/// rounding of this check in the payoffs' own units.
void expect_solved(const MatrixGame& game, const MatrixSolution& solution) {
  expect_strategy(solution.row);
  expect_strategy(solution.column);
  const double range = range_of(game.payoffs);
  const double gap = exploitability(game.payoffs, solution.row, solution.column);
  EXPECT_LE(gap, 2.0 * kTolerance * range);
  long double value = 0;
  for (std::size_t i = 0; i < game.rows; ++i) {
    for (std::size_t j = 0; j < game.columns; ++j) {
      value += static_cast<long double>(solution.row[i]) * solution.column[j] *
               static_cast<long double>(game.payoffs[i * game.columns + j]);
    }
  }
  EXPECT_NEAR(solution.value, static_cast<double>(value), 2.0 * kTolerance * range);
}

std::vector<double> random_payoffs(Draws& draws, std::size_t size, int family) {
  std::vector<double> payoffs(size);
  for (double& payoff : payoffs) {
    const double u = draws.uniform();
    switch (family) {
      case 0: payoff = u; break;
      case 1: payoff = u < 0.5 ? 0.0 : 1.0; break;
      case 2: payoff = std::floor(3.0 * u); break;
      case 3: payoff = 1e6 + u; break;
      case 4: payoff = std::pow(10.0, 24.0 * u - 12.0); break;
      default: payoff = u * 1e-12; break;
    }
  }
  if (family == 5) payoffs[draws.below(size)] = 1.0;
  return payoffs;
}

class MatrixGames : public testing::TestWithParam<LpMethod> {
 protected:
  StageSolver solver_{GetParam()};
};

TEST_P(MatrixGames, KnownAnswers) {
  struct Known {
    std::size_t rows;
    std::vector<double> payoffs;
    double value;
    std::vector<double> row;
    std::vector<double> column;
  };
  const double third = 1.0 / 3.0;
  const std::vector<Known> all = {
      {3, {0, -1, 1, 1, 0, -1, -1, 1, 0}, 0, {third, third, third}, {third, third, third}},
      {2, {1, -1, -1, 1}, 0, {0.5, 0.5}, {0.5, 0.5}},
      // a = 3, b = -1, c = -2, d = 1: value (ad - bc) / (a + d - b - c) = 1/7.
      {2, {3, -1, -2, 1}, 1.0 / 7, {3.0 / 7, 4.0 / 7}, {2.0 / 7, 5.0 / 7}},
      // Saddle point in the second row and second column.
      {3, {1, 0, 5, 4, 3, 6, 9, 2, 0}, 3, {0, 1, 0}, {0, 1, 0}},
      {1, {4, 2, 7}, 2, {1}, {0, 1, 0}},
      {3, {4, 2, 7}, 7, {0, 0, 1}, {1}},
      {1, {-3}, -3, {1}, {1}},
      // The third row is dominated by the mixture of the others.
      {3, {2, 0, 0, 2, 0.5, 0.5}, 1, {0.5, 0.5, 0}, {0.5, 0.5}},
  };
  for (const Known& known : all) {
    const MatrixGame game = game_of(known.rows, known.payoffs);
    const MatrixSolution& solution = solver_.solve(game);
    expect_solved(game, solution);
    EXPECT_NEAR(solution.value, known.value, 1e-14);
    ASSERT_EQ(solution.row.size(), known.row.size());
    ASSERT_EQ(solution.column.size(), known.column.size());
    for (std::size_t i = 0; i < known.row.size(); ++i) {
      EXPECT_NEAR(solution.row[i], known.row[i], 1e-14);
    }
    for (std::size_t j = 0; j < known.column.size(); ++j) {
      EXPECT_NEAR(solution.column[j], known.column[j], 1e-14);
    }
    EXPECT_EQ(solution.solved_by, GetParam());
  }
}

TEST_P(MatrixGames, RandomGamesOfAllKindsFulfilTheDefinition) {
  Draws draws({.seed = 1, .purpose = Purpose::test});
  for (int round = 0; round < 3000; ++round) {
    const std::size_t rows = 1 + draws.below(8);
    const std::size_t columns = 1 + draws.below(8);
    const std::vector<double> payoffs = random_payoffs(draws, rows * columns, round % 6);
    const MatrixGame game = game_of(rows, payoffs);
    expect_solved(game, solver_.solve(game));
    ASSERT_FALSE(HasFailure()) << round;
  }
}

TEST_P(MatrixGames, ConstantPayoffsAndEqualRowsAndColumns) {
  const std::vector<double> constant(12, 2.5);
  const MatrixSolution& flat = solver_.solve(game_of(3, constant));
  expect_solved(game_of(3, constant), flat);
  EXPECT_EQ(flat.value, 2.5);
  EXPECT_EQ(flat.gap, 0.0);
  const std::vector<double> twice = {1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1};
  expect_solved(game_of(4, twice), solver_.solve(game_of(4, twice)));
}

INSTANTIATE_TEST_SUITE_P(Methods,
                         MatrixGames,
                         testing::Values(LpMethod::kernel, LpMethod::clp),
                         [](const auto& method) {
                           return method.param == LpMethod::kernel ? "kernel" : "clp";
                         });

TEST(MatrixGame, KernelAndClpAgreeOnTheValue) {
  Draws draws({.seed = 2, .purpose = Purpose::test});
  StageSolver kernel(LpMethod::kernel);
  StageSolver clp(LpMethod::clp);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t rows = 1 + draws.below(12);
    const std::size_t columns = 1 + draws.below(12);
    const std::vector<double> payoffs = random_payoffs(draws, rows * columns, round % 6);
    const MatrixGame game = game_of(rows, payoffs);
    ASSERT_NEAR(kernel.solve(game).value, clp.solve(game).value, kTolerance * range_of(payoffs))
        << round;
  }
}

TEST(MatrixGame, AnyUnitsGiveTheSameGame) {
  Draws draws({.seed = 3, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 500; ++round) {
    const std::size_t rows = 1 + draws.below(6);
    const std::vector<double> payoffs = random_payoffs(draws, rows * (1 + draws.below(6)), 0);
    const MatrixSolution plain = solver.solve(game_of(rows, payoffs));
    // Powers of two: every bit.
    std::vector<double> scaled = payoffs;
    for (double& payoff : scaled) payoff = std::ldexp(payoff, -40 + round % 80);
    const MatrixSolution doubled = solver.solve(game_of(rows, scaled));
    ASSERT_EQ(doubled.row, plain.row);
    ASSERT_EQ(doubled.column, plain.column);
    for (const double factor : {1e-12, 1e12}) {
      const double offset = 1e6 * factor;
      for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] = offset + factor * payoffs[i];
      const MatrixSolution& moved = solver.solve(game_of(rows, scaled));
      expect_solved(game_of(rows, scaled), moved);
      ASSERT_NEAR((moved.value - offset) / factor, plain.value, 2.0 * kTolerance);
    }
  }
}

TEST(MatrixGame, TransposedAndNegatedGamesHaveTheNegativeValue) {
  Draws draws({.seed = 4, .purpose = Purpose::test});
  StageSolver solver;
  for (int round = 0; round < 500; ++round) {
    const std::size_t rows = 1 + draws.below(7);
    const std::size_t columns = 1 + draws.below(7);
    const std::vector<double> payoffs = random_payoffs(draws, rows * columns, round % 3);
    std::vector<double> other(payoffs.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) other[j * rows + i] = -payoffs[i * columns + j];
    }
    const double value = solver.solve(game_of(rows, payoffs)).value;
    ASSERT_NEAR(solver.solve(game_of(columns, other)).value, -value, 1e-12);
  }
}

TEST(MatrixGame, SameBytesWhateverWasSolvedBeforeAndForEveryVectorWidth) {
  Draws draws({.seed = 5, .purpose = Purpose::test});
  const std::vector<double> payoffs = random_payoffs(draws, 130, 0);
  StageSolver fresh;
  const MatrixSolution first = fresh.solve(game_of(10, payoffs));
  StageSolver used;
  (void)used.solve(game_of(20, random_payoffs(draws, 400, 0)));
  (void)used.solve(game_of(1, {1, 2}));
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    const MatrixSolution& again = used.solve(game_of(10, payoffs));
    EXPECT_EQ(again.row, first.row) << target;
    EXPECT_EQ(again.column, first.column) << target;
    EXPECT_EQ(again.value, first.value) << target;
  }
  use_simd_target("");
}

TEST(MatrixGame, ExtremeUnits) {
  StageSolver solver;
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<double> subnormal = {8 * tiny, 0, 0, 8 * tiny};
  EXPECT_EQ(solver.solve(game_of(2, subnormal)).value, 4 * tiny);
  const std::vector<double> huge = {8e307, -8e307, -8e307, 8e307};
  EXPECT_NEAR(solver.solve(game_of(2, huge)).value, 0.0, 1e298);
}

TEST(MatrixGame, Refused) {
  StageSolver solver;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto solve = [&](std::size_t rows, std::size_t columns, std::vector<double> payoffs) {
    return [&solver, rows, columns, payoffs] {
      (void)solver.solve(MatrixGame{.rows = rows, .columns = columns, .payoffs = payoffs});
    };
  };
  EXPECT_NE(error_of(ErrorKind::input, solve(2, 2, {1, 2, nan, 4})).find("payoffs[2]"),
            std::string::npos);
  error_of(ErrorKind::input, solve(1, 2, {1, -infinity}));
  error_of(ErrorKind::input, solve(1, 2, {1.7e308, -1.7e308}));
  error_of(ErrorKind::usage, solve(2, 2, {1, 2, 3}));
  error_of(ErrorKind::usage, solve(0, 0, {}));
  const std::size_t half = std::size_t{1} << 32U;
  error_of(ErrorKind::usage, solve(half, half, {}));
}

}  // namespace
}  // namespace vlearn
