// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/bandit/stationary.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "vlearn/core/random.h"

namespace vlearn {
namespace {

using Quad = boost::multiprecision::cpp_bin_float_quad;

/// The same elimination with 113 bits and 15 bits of exponent: no range to keep.
std::vector<Quad> exact(const std::vector<double>& transition, std::size_t n) {
  std::vector<Quad> t;
  for (const double chance : transition) t.emplace_back(std::max(chance, 1e-300));
  for (std::size_t k = n - 1; k > 0; --k) {
    Quad leave = 0;
    for (std::size_t j = 0; j < k; ++j) leave += t[k * n + j];
    for (std::size_t i = 0; i < k; ++i) {
      t[i * n + k] /= leave;
      for (std::size_t j = 0; j < k; ++j) t[i * n + j] += t[i * n + k] * t[k * n + j];
    }
  }
  std::vector<Quad> pi(n, 1);
  Quad sum = 1;
  for (std::size_t k = 1; k < n; ++k) {
    pi[k] = 0;
    for (std::size_t i = 0; i < k; ++i) pi[k] += pi[i] * t[i * n + k];
    sum += pi[k];
  }
  for (Quad& mass : pi) mass /= sum;
  return pi;
}

// Rows as a softmax makes them, spread over up to 745 in the logarithm. Entries that a double
// cannot hold with full precision are left out.
TEST(Stationary, EveryEntryIsRightToAFewRoundings) {
  Draws draws({.seed = 5, .purpose = Purpose::game});
  double worst = 0.0;  // in units of B epsilon
  std::size_t compared = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::size_t n = 1 + draws.below(6);
    const double spread = 745.0 * draws.uniform() * (round % 3 == 0 ? 0.05 : 1.0);
    std::vector<double> transition(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        transition[i * n + j] = std::exp(-spread * draws.uniform());
        sum += transition[i * n + j];
      }
      for (std::size_t j = 0; j < n; ++j) transition[i * n + j] /= sum;
    }
    const std::vector<Quad> wanted = exact(transition, n);
    std::vector<double> pi(n);
    stationary_distribution(transition, pi);
    for (std::size_t k = 0; k < n; ++k) {
      if (wanted[k] < 1e-290) continue;
      const Quad error = abs(Quad(pi[k]) / wanted[k] - 1);
      const double unit = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
      worst = std::max(worst, static_cast<double>(error) / unit);
      ++compared;
    }
  }
  EXPECT_GT(compared, 200'000U);
  EXPECT_LE(worst, 2.0);
  RecordProperty("worst", std::to_string(worst));
}

TEST(Stationary, KnownChains) {
  std::vector<double> one(1);
  std::vector<double> alone = {1.0};
  stationary_distribution(alone, one);
  EXPECT_EQ(one[0], 1.0);
  // Two states: pi is proportional to the chances of coming in.
  std::vector<double> two = {0.75, 0.25, 0.5, 0.5};
  std::vector<double> pi(2);
  stationary_distribution(two, pi);
  EXPECT_NEAR(pi[0], 2.0 / 3.0, 1e-16);
  // Doubly stochastic: uniform.
  std::vector<double> three = {0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25, 0.25, 0.5};
  std::vector<double> uniform(3);
  stationary_distribution(three, uniform);
  for (const double mass : uniform) EXPECT_NEAR(mass, 1.0 / 3.0, 1e-16);
  // Far beyond what LU or a power iteration can do, and beyond the range of a double in between.
  std::vector<double> stiff = {1, 1e-300, 0, 1, 0, 1e-300, 0, 1, 1e-200};
  std::vector<double> mass(3);
  stationary_distribution(stiff, mass);
  EXPECT_NEAR(mass[0], 1.0, 1e-15);
  // A mass of 1e-281 beside one of nearly 1 keeps its digits.
  std::vector<double> wide = {0, 1e-130, 1, 1, 0, 1e-300, 1e-151, 1e-300, 1};
  const std::vector<Quad> wanted = exact(wide, 3);
  std::vector<double> small(3);
  stationary_distribution(wide, small);
  EXPECT_LT(wanted[1], 1e-270);
  EXPECT_LE(static_cast<double>(abs(Quad(small[1]) / wanted[1] - 1)), 1e-15);
  std::vector<double> upward = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1e-200, 1};
  std::vector<double> top(4);
  stationary_distribution(upward, top);
  EXPECT_NEAR(top[3], 1.0, 1e-15);
}

}  // namespace
}  // namespace vlearn
