// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the bandit appendices say about steps and weights, without chance: the conditions of the
// theorems, the step from theorems to corollaries, and the inequality that everything starts from.
// The step-size lemma itself is in unit/core/alpha_test.cpp.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>

#include "theory/weighted_regret.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"

namespace vlearn {
namespace {

using boost::multiprecision::cpp_rational;
using test::BoundSums;

constexpr std::array<std::uint64_t, 4> kHorizons = {1, 2, 5, 20};
constexpr std::array<std::size_t, 4> kActions = {2, 3, 10, 100};
constexpr double kRounding = 1e-12;

// w_i / w_j = alpha_t^i / alpha_t^j for w_t = alpha_t / prod_{i=2..t} (1 - alpha_i), in rationals.
TEST(BanditWeights, HaveTheRatiosOfTheAlphas) {
  for (const std::uint64_t horizon : kHorizons) {
    cpp_rational product = 1;           // prod_{i=2..t} (1 - alpha_i)
    std::vector<cpp_rational> alphas;   // alpha_t^i, i = 1..t
    std::vector<cpp_rational> weights;  // w_i
    for (std::uint64_t t = 1; t <= 40; ++t) {
      const cpp_rational alpha(horizon + 1, horizon + t);
      if (t > 1) product *= 1 - alpha;
      for (cpp_rational& a : alphas) a *= 1 - alpha;
      alphas.push_back(alpha);
      weights.push_back(alpha / product);
      for (std::size_t i = 0; i < t; ++i) {
        ASSERT_EQ(weights[i] * alphas.back(), weights.back() * alphas[i]);
      }
      if (t > 1) {
        const cpp_rational decay = weights[t - 2] / weights[t - 1];
        ASSERT_EQ(decay, cpp_rational(t - 1, horizon + t - 1));
        ASSERT_NEAR(AlphaWeights(horizon).decay(t), static_cast<double>(decay), 0x1p-53);
      }
    }
  }
}

/// eta_t <= 2 gamma_t, both non-increasing: what Theorems 20 and 26 ask for. Returns the largest
/// quotient eta_t / gamma_t.
template <class Eta, class Gamma>
double check_conditions(Eta eta, Gamma gamma) {
  double largest = 0.0;
  for (std::uint64_t t = 1; t <= 3000; ++t) {
    EXPECT_LE(eta(t), 2.0 * gamma(t));
    EXPECT_LE(eta(t + 1), eta(t));
    EXPECT_LE(gamma(t + 1), gamma(t));
    largest = std::max(largest, eta(t) / gamma(t));
  }
  return largest;
}

TEST(BanditSteps, MeetTheConditionsOfTheTheorems) {
  for (const std::uint64_t h : kHorizons) {
    const auto horizon = static_cast<double>(h);
    for (const std::size_t n : kActions) {
      const auto gamma_of = [=](auto steps) {
        return [=](std::uint64_t t) { return steps.gamma(horizon, n, t); };
      };
      const auto rate_of = [=](auto steps) {
        return
            [=](std::uint64_t t) { return steps.rate(horizon, n, t, steps.gamma(horizon, n, t)); };
      };
      EXPECT_EQ(check_conditions(rate_of(FtrlSteps{}), gamma_of(FtrlSteps{})), 1.0);
      EXPECT_EQ(check_conditions(rate_of(FtrlSwapSteps{}), gamma_of(FtrlSwapSteps{})), 1.0);
      EXPECT_EQ(check_conditions(rate_of(Exp3IxSteps{}), gamma_of(Exp3IxSteps{})), 2.0);
      // The predictive index is eta_{t+1} w_t / w_{t+1}.
      const FtrlSteps predictive{FtrlIndex::predictive};
      for (std::uint64_t t = 1; t <= 3000; ++t) {
        EXPECT_EQ(predictive.rate(horizon, n, t, 0.0),
                  predictive.gamma(horizon, n, t + 1) * AlphaWeights(h).decay(t + 1));
      }
    }
  }
}

// gamma_t <= sum_i alpha_t^i gamma_i <= 2 gamma_t: the step-size lemma where the proofs use it.
TEST(BanditSteps, AverageToTwiceTheLastAtMost) {
  for (const std::uint64_t h : kHorizons) {
    BoundSums sums(h);
    for (std::uint64_t t = 1; t <= 5000; ++t) {
      const double gamma = FtrlSteps{}.gamma(static_cast<double>(h), 3, t);
      sums.add(gamma, gamma);
      EXPECT_GE(sums.sum_gamma(), gamma * (1.0 - kRounding));
      EXPECT_LE(sums.sum_gamma(), 2.0 * gamma);
      EXPECT_LE(sums.sum_squares(), 2.0 * static_cast<double>(h) / static_cast<double>(t));
    }
  }
}

/// The bound of Theorem 20 (rows = 1) or 26 (rows = B) over that of its corollary.
struct Quotients {
  double largest = 0.0;  // over t > H iota; for smaller t the corollary says nothing
  double last = 0.0;     // at t = 200 000
};
template <class Steps>
Quotients quotients(const Steps& steps, std::uint64_t h, std::size_t n, double rows, double iota) {
  const auto horizon = static_cast<double>(h);
  BoundSums sums(h);
  Quotients result;
  for (std::uint64_t t = 1; t <= 200'000; ++t) {
    const double gamma = steps.gamma(horizon, n, t);
    sums.add(gamma, gamma);
    if (static_cast<double>(t) <= horizon * iota) continue;
    result.last = term_bounds(sums, n, rows, iota).sum() / steps.xi(horizon, n, t, iota);
    result.largest = std::max(result.largest, result.last);
  }
  return result;
}

// Corollaries 19 and 25 follow from their theorems while iota is not too large beside log B, and
// not beyond: their proofs bound alpha_t iota / gamma_t by 2 sqrt(H B log B / t), which has the
// logarithm of the wrong thing (erratum 13).
TEST(Corollaries, FollowFromTheTheoremsForModerateDelta) {
  for (const std::uint64_t h : kHorizons) {
    for (const std::size_t n : {2U, 3U, 10U}) {
      const auto actions = static_cast<double>(n);
      for (const double ratio : {2.0, 6.0, 12.0}) {  // iota / log B
        const double iota = ratio * std::log(actions);
        EXPECT_LE(quotients(FtrlSteps{}, h, n, 1.0, iota).largest, 1.0)
            << h << ' ' << n << ' ' << ratio;
        EXPECT_LE(quotients(FtrlSwapSteps{}, h, n, actions, iota).largest, 1.0)
            << h << ' ' << n << ' ' << ratio;
      }
    }
  }
  // Here the corollaries' bounds are below one, and below the theorem's.
  EXPECT_GT(quotients(FtrlSteps{}, 1, 2, 1.0, 20.0 * std::log(2.0)).last, 1.0);
  EXPECT_GT(quotients(FtrlSteps{}, 5, 2, 1.0, 100.0 * std::log(2.0)).last, 1.0);
}

TEST(Corollaries, ProofsBoundTheLastTermTooLow) {
  for (const std::uint64_t h : kHorizons) {
    for (const std::size_t n : {2U, 3U, 10U}) {
      const double b = static_cast<double>(n);
      const double t = 1e5;
      const double horizon = static_cast<double>(h);
      const double iota = std::log(b / 0.01);
      const double last =
          AlphaWeights(h).rate(100'000) * iota / FtrlSteps{}.gamma(horizon, n, 100'000);
      EXPECT_GT(last, 2.0 * std::sqrt(horizon * b * std::log(b) / t)) << h << ' ' << n;
    }
  }
}

// Assumptions 1 and 2 ask: xi does not fall with B, and its sum over t is at most a concave
// function of t, 20 sqrt(H B t iota) and 20 B sqrt(H t iota).
TEST(Corollaries, MeetTheAssumptions) {
  const double iota = 3.0;
  for (const std::uint64_t h : kHorizons) {
    const auto horizon = static_cast<double>(h);
    for (const std::size_t n : kActions) {
      double sum = 0.0;
      double swap_sum = 0.0;
      for (std::uint64_t t = 1; t <= 3000; ++t) {
        sum += FtrlSteps{}.xi(horizon, n, t, iota);
        swap_sum += FtrlSwapSteps{}.xi(horizon, n, t, iota);
        const double b = static_cast<double>(n);
        const double root = 20.0 * std::sqrt(horizon * static_cast<double>(t) * iota);
        EXPECT_LE(sum, root * std::sqrt(b));
        EXPECT_LE(swap_sum, root * b);
        EXPECT_LE(FtrlSteps{}.xi(horizon, n, t, iota), FtrlSteps{}.xi(horizon, n + 1, t, iota));
        EXPECT_LE(FtrlSwapSteps{}.xi(horizon, n, t, iota),
                  FtrlSwapSteps{}.xi(horizon, n + 1, t, iota));
      }
    }
  }
}

/// ftrl-swap with the index that its proof uses.
struct PredictiveSwapSteps : FtrlSwapSteps {
  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    const auto visits = static_cast<double>(t);
    return gamma(horizon, n, t + 1) * (visits / (horizon + visits));
  }
};

/// The largest excess of (A) over alpha_t rows log B / eta_t + 1/2 sum alpha_t^i eta_i <theta_i,
/// lhat_i^2>, over all adversaries, some seeds and all t.
template <class Steps, class Rule>
double largest_excess(const Steps& steps, const Rule& rule, RegretMatch match) {
  const auto horizon = static_cast<double>(match.horizon);
  const auto n = static_cast<double>(match.num_actions);
  const double rows = match.regret == Regret::swap ? n : 1.0;
  const AlphaWeights alpha(match.horizon);
  double largest = -1e9;
  for (const auto& [adversary, name] : kAdversaries) {
    match.adversary = adversary;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto eta = [&](std::uint64_t t) { return steps.gamma(horizon, match.num_actions, t); };
      play_match(rule, match, seed, eta, [&](std::uint64_t t, const WeightedAverages& averages) {
        const double bound =
            alpha.rate(t) * rows * std::log(n) / eta(t) + 0.5 * averages.second_order();
        largest = std::max(largest, averages.term_a() - bound);
      });
    }
  }
  return largest;
}

// The first line of the proofs of Lemmas 22 and 27. No chance: with the predictive index it holds
// for every play, at every t. With the index of the algorithm boxes nothing proves it (erratum 12);
// measured, it holds in these plays too.
TEST(FirstInequality, HoldsInEveryPlay) {
  for (const std::uint64_t horizon : kHorizons) {
    for (const std::size_t n : {2U, 3U, 5U}) {
      const FtrlSteps steps{FtrlIndex::predictive};
      RegretMatch match{horizon, n, {}, Regret::external, 300};
      EXPECT_LE(largest_excess(steps, Ftrl<>(horizon, steps), match), kRounding);
      EXPECT_LE(largest_excess(steps, Ftrl<>(horizon), match), kRounding);
      match.regret = Regret::swap;
      const SwapLeader<PredictiveSwapSteps> predictive(horizon);
      EXPECT_LE(largest_excess(PredictiveSwapSteps{}, predictive, match), kRounding);
      EXPECT_LE(largest_excess(FtrlSwapSteps{}, FtrlSwap<>(horizon), match), kRounding);
    }
  }
}

TEST(FirstInequality, FailsForWrongSteps) {
  const RegretMatch match{2, 3, {}, Regret::external, 3000};
  const auto excess = [&](double factor) {
    const test::Scaled<FtrlSteps> steps{{FtrlIndex::predictive}, factor};
    return largest_excess(FtrlSteps{}, FollowLeader<test::Scaled<FtrlSteps>>(2, steps), match);
  };
  EXPECT_LE(excess(1.0), kRounding);
  EXPECT_GT(excess(0.01), 0.1);
  EXPECT_GT(excess(100.0), 0.1);
}

}  // namespace
}  // namespace vlearn
