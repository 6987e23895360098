// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/concentration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace vlearn::test {
namespace {

TEST(Concentration, MomentsAreThoseOfTheNumbers) {
  Moments first;
  for (const double number : {1.0, 2.0, 4.0}) first.add(number);
  Moments rest;
  rest.add(5.0);
  first.add(rest);
  EXPECT_DOUBLE_EQ(first.mean(4), 3.0);
  EXPECT_DOUBLE_EQ(first.variance(4), 10.0 / 3.0);
  Moments alike;
  for (int i = 0; i < 10; ++i) alike.add(0.1);
  EXPECT_GE(alike.variance(10), 0.0);
  EXPECT_LT(alike.variance(10), 1e-15);
}

// By hand: failure probability 0.01, half of it for either bound.
TEST(Concentration, TheSmallerOfTwoBounds) {
  const double events = std::log(100.0);
  const double hoeffding = 2.0 * std::sqrt(std::log(200.0) / 200.0);
  EXPECT_NEAR(mean_radius(1.0, 100, 2.0, events), hoeffding, 1e-14);
  const double bernstein =
      std::sqrt(2.0 * 1e-4 * std::log(400.0) / 1e4) + 14.0 * std::log(400.0) / (3.0 * 9999.0);
  EXPECT_NEAR(mean_radius(1e-4, 10000, 2.0, events), bernstein, 1e-14);
  EXPECT_NEAR(deviation_bound(0.25, 101, 3.0, 2.0), 0.5 + 3.0 * std::sqrt(0.04), 1e-14);
}

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// Where nothing is known of spreads, the best parameter gives sqrt(2 A L / n), A the sum of
// width^2 / 4; the grid has one within 2^(1/4) of it, which costs 1.5 % at most.
TEST(Concentration, AChainOfHoeffdingSteps) {
  for (const std::uint64_t n : {1000U, 100'000U}) {
    const std::vector<ChainStep> steps = {
        {1.0, kUnknown, std::log(5.0)}, {2.0, kUnknown, std::log(7.0)}, {2.5, kUnknown, 0.0}};
    const double events = std::log(35.0 * 31.0) + 4.0;
    const double best = std::sqrt(2.0 * (1.0 + 4.0 + 6.25) / 4.0 * events / static_cast<double>(n));
    const double found = chain_radius(steps, n, 3.0, 4.0);
    EXPECT_GE(found, best * (1.0 - 1e-12));
    EXPECT_LE(found, best * 1.0151);
  }
}

// With small spreads it is Bernstein's: sqrt(2 V L / n) + w L / (3 n) at most but for the grid, V
// the sum of squared spreads.
TEST(Concentration, AChainOfBernsteinSteps) {
  const std::vector<ChainStep> steps(4, {2.0, 0.1, std::log(9.0)});
  const double events = 4.0 * std::log(9.0) + std::log(31.0) + 5.0;
  for (const double n : {1e3, 1e4, 1e6}) {
    const double gaussian = std::sqrt(2.0 * 0.04 * events / n);
    const double found = chain_radius(steps, static_cast<std::uint64_t>(n), 2.0, 5.0);
    EXPECT_GE(found, gaussian);
    EXPECT_LE(found, 1.0151 * gaussian + 2.0 * events / (3.0 * n));
  }
}

// What it is for: less than the sum of the radii of the steps.
TEST(Concentration, AChainIsShorterThanItsSteps) {
  const std::vector<ChainStep> steps(5, {2.0, 0.3, std::log(15.0)});
  double sum = 0.0;
  for (const ChainStep& step : steps) {
    sum += mean_radius(step.spread * step.spread, 10000, step.width,
                       std::log(30.0 * 5.0 / 0.0025) + step.log_choices);
  }
  EXPECT_LT(chain_radius(steps, 10000, 5.0, std::log(30.0 / 0.0025)), 0.6 * sum);
}

}  // namespace
}  // namespace vlearn::test
