// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The paper's high-probability bounds on the weighted regret of ftrl and ftrl-swap, counted. A
// bound that fails with probability at most p at each t may fail, among 1000 seeds, only as often
// as Bin(1000, p) exceeds with probability 1e-9; each t is a count of its own. Wrong rules (100
// seeds, one adversary, the last t) must exceed that number of the corollary and of the theorem.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "theory/weighted_regret.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"

namespace vlearn {
namespace {

using test::BoundSums;
using test::Flipped;
using test::Scaled;
using test::TermBounds;
using test::Uniform;

struct Setting {
  std::uint64_t horizon;
  std::size_t num_actions;
  double delta;
  Regret regret;
  std::vector<std::uint64_t> visits;  // where the bounds are looked at
  int num_seeds = 1000;

  [[nodiscard]] double rows() const {
    return regret == Regret::swap ? static_cast<double>(num_actions) : 1.0;
  }
  [[nodiscard]] double iota() const {
    return std::log(rows() * static_cast<double>(num_actions) / delta);
  }
};

// At the last of these t the corollaries' bounds are below 0.3.
Setting paper_index() { return {1, 3, 0.1, Regret::external, {1000, 4000, 12'000}}; }
Setting predictive_index() { return {2, 2, 0.1, Regret::external, {1000, 5000, 14'000}}; }
Setting swap() { return {1, 2, 0.1, Regret::swap, {1000, 5000, 18'000}}; }

/// A bound, the largest value seen, and how many seeds exceeded it.
struct Count {
  double bound = 0.0;
  double largest = -1.0;
  int above = 0;

  void see(double value) {
    largest = std::max(largest, value);
    above += value > bound ? 1 : 0;
  }
};

/// All bounds at one t.
struct Verdict {
  Count corollary;
  Count theorem;
  Count a;
  Count b;
  Count c;
  Count lemma_21;

  void see(const WeightedAverages& averages) {
    corollary.see(averages.regret());
    theorem.see(averages.regret());
    a.see(averages.term_a());
    b.see(averages.term_b());
    c.see(averages.term_c());
    lemma_21.see(averages.excess());
  }
};

/// The paper's eta_t: gamma_t for its own rules.
template <class Steps>
double eta_of(const Steps& steps, double horizon, std::size_t n, std::uint64_t t) {
  return steps.gamma(horizon, n, t);
}
double eta_of(const Exp3IxSteps& steps, double horizon, std::size_t n, std::uint64_t t) {
  return steps.rate(horizon, n, t, steps.gamma(horizon, n, t));
}

/// The bounds are those of `steps`; the rule that plays may be another. Without xi the corollary's
/// bound is one.
template <class Steps, class Rule>
std::vector<Verdict> judge(const Setting& setting,
                           const Steps& steps,
                           const Rule& rule,
                           Adversary adversary) {
  const auto horizon = static_cast<double>(setting.horizon);
  const std::size_t n = setting.num_actions;
  std::vector<double> eta = {0.0};
  std::vector<Verdict> verdicts(setting.visits.size());
  BoundSums sums(setting.horizon);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    for (std::uint64_t t = eta.size(); t <= setting.visits[i]; ++t) {
      eta.push_back(eta_of(steps, horizon, n, t));
      sums.add(eta[t], steps.gamma(horizon, n, t));
    }
    Verdict& verdict = verdicts[i];
    const TermBounds bounds = term_bounds(sums, n, setting.rows(), setting.iota());
    verdict.corollary.bound = 1.0;
    if constexpr (requires { steps.xi(horizon, n, std::uint64_t{1}, 1.0); }) {
      verdict.corollary.bound = steps.xi(horizon, n, setting.visits[i], setting.iota());
    }
    verdict.theorem.bound = bounds.sum();
    verdict.a.bound = bounds.a;
    verdict.b.bound = bounds.b;
    verdict.c.bound = bounds.c;
    verdict.lemma_21.bound = sums.alpha() * setting.iota();
  }
  const RegretMatch match{setting.horizon, n, adversary, setting.regret, setting.visits.back()};
  for (int seed = 0; seed < setting.num_seeds; ++seed) {
    std::size_t i = 0;
    play_match(
        rule, match, static_cast<std::uint64_t>(seed), [&](std::uint64_t t) { return eta[t]; },
        [&](std::uint64_t t, const WeightedAverages& averages) {
          if (t == setting.visits[i]) verdicts[i++].see(averages);
        });
  }
  return verdicts;
}

/// Everything the appendix says about the rule, against one adversary.
template <class Steps, class Rule>
void expect_bounds(const Setting& setting,
                   const Steps& steps,
                   const Rule& rule,
                   const NamedAdversary& adversary) {
  const int limit = test::binomial_limit(setting.num_seeds, setting.delta);
  const int theorem_limit = test::binomial_limit(setting.num_seeds, 3.0 * setting.delta);
  const std::vector<Verdict> verdicts = judge(setting, steps, rule, adversary.adversary);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Verdict& v = verdicts[i];
    std::printf("%s, t = %llu: largest value, bound, seeds above\n",
                std::string(adversary.name).c_str(),
                static_cast<unsigned long long>(setting.visits[i]));
    const auto expect = [](const char* what, const Count& count, int most) {
      std::printf("  %-11s %7.4f %7.4f %4d\n", what, count.largest, count.bound, count.above);
      EXPECT_LE(count.above, most) << what;
    };
    expect("corollary", v.corollary, limit);
    expect("theorem", v.theorem, theorem_limit);
    expect("term (A)", v.a, limit);
    expect("term (B)", v.b, limit);
    expect("term (C)", v.c, limit);
    expect("Lemma 21", v.lemma_21, limit);
  }
  EXPECT_LT(verdicts.back().theorem.bound, 0.3);
  if (rule.xi(2, 1, 1.0)) {
    EXPECT_LT(verdicts.back().corollary.bound, 0.3);
  }
}

std::string name_of(const testing::TestParamInfo<NamedAdversary>& test) {
  return std::string(test.param.name);
}

class RegretBounds : public testing::TestWithParam<NamedAdversary> {};
class RegretBoundsSlow : public testing::TestWithParam<NamedAdversary> {};
INSTANTIATE_TEST_SUITE_P(All, RegretBounds, testing::ValuesIn(kAdversaries), name_of);
INSTANTIATE_TEST_SUITE_P(All, RegretBoundsSlow, testing::ValuesIn(kAdversaries), name_of);

// Corollary 19, Theorem 20, Lemmas 21 to 24.
TEST_P(RegretBounds, OfFtrlHold) {
  const Setting setting = paper_index();
  expect_bounds(setting, FtrlSteps{}, Ftrl<>(setting.horizon), GetParam());
}

TEST_P(RegretBounds, OfPredictiveFtrlHold) {
  const Setting setting = predictive_index();
  const FtrlSteps steps{FtrlIndex::predictive};
  expect_bounds(setting, steps, Ftrl<>(setting.horizon, steps), GetParam());
}

// Corollary 25, Theorem 26, Lemmas 27 to 29.
TEST_P(RegretBounds, OfFtrlSwapHold) {
  const Setting setting = swap();
  expect_bounds(setting, FtrlSwapSteps{}, FtrlSwap<>(setting.horizon), GetParam());
}

// The same, with more actions, more steps and smaller delta.
TEST_P(RegretBoundsSlow, OfFtrlHold) {
  const Setting setting{5, 4, 0.01, Regret::external, {10'000, 50'000, 140'000}};
  expect_bounds(setting, FtrlSteps{}, Ftrl<>(setting.horizon), GetParam());
}

TEST_P(RegretBoundsSlow, OfPredictiveFtrlHold) {
  const Setting setting{5, 4, 0.01, Regret::external, {10'000, 50'000, 140'000}};
  const FtrlSteps steps{FtrlIndex::predictive};
  expect_bounds(setting, steps, Ftrl<>(setting.horizon, steps), GetParam());
}

TEST_P(RegretBoundsSlow, OfFtrlSwapHold) {
  const Setting setting{2, 3, 0.05, Regret::swap, {10'000, 40'000, 110'000}};
  expect_bounds(setting, FtrlSwapSteps{}, FtrlSwap<>(setting.horizon), GetParam());
}

// Theorem 20 is about all steps with eta_i <= 2 gamma_i, so about those of exp3-ix too.
TEST_P(RegretBoundsSlow, OfExp3IxHold) {
  const Setting setting{2, 3, 0.05, Regret::external, {2000, 10'000, 40'000}};
  expect_bounds(setting, Exp3IxSteps{}, Exp3Ix<>(setting.horizon), GetParam());
}

/// Whether the counts of expect_bounds() would have failed, at the last t, for regret.
template <class Steps, class Rule>
bool is_refuted(Setting setting, const Steps& steps, const Rule& rule, Adversary adversary) {
  setting.num_seeds = 100;
  setting.visits = {setting.visits.back()};
  const Verdict v = judge(setting, steps, rule, adversary).back();
  return v.corollary.above > test::binomial_limit(setting.num_seeds, setting.delta) &&
         v.theorem.above > test::binomial_limit(setting.num_seeds, 3.0 * setting.delta);
}

TEST(WrongRules, BreakTheExternalBounds) {
  const Setting s = paper_index();
  const FtrlSteps steps;
  EXPECT_FALSE(is_refuted(s, steps, Ftrl<>(s.horizon), Adversary::constant));
  EXPECT_TRUE(is_refuted(s, steps, Uniform<Ftrl<>>(s.horizon), Adversary::constant));
  EXPECT_TRUE(is_refuted(s, steps, Flipped<Ftrl<>>(s.horizon), Adversary::constant));
  const FollowLeader<Scaled<FtrlSteps>> slow(s.horizon);
  EXPECT_TRUE(is_refuted(s, steps, slow, Adversary::constant));
}

TEST(WrongRules, BreakTheSwapBounds) {
  const Setting s = swap();
  const FtrlSwapSteps steps;
  EXPECT_FALSE(is_refuted(s, steps, FtrlSwap<>(s.horizon), Adversary::constant));
  EXPECT_TRUE(is_refuted(s, steps, Uniform<FtrlSwap<>>(s.horizon), Adversary::constant));
  EXPECT_TRUE(is_refuted(s, steps, Flipped<FtrlSwap<>>(s.horizon), Adversary::constant));
  const SwapLeader<Scaled<FtrlSwapSteps>> slow(s.horizon);
  EXPECT_TRUE(is_refuted(s, steps, slow, Adversary::constant));
}

}  // namespace
}  // namespace vlearn
