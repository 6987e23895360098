// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/regret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/optimistic.h"

namespace vlearn {
namespace {

RegretSettings quick() { return {.visits = {10, 300}, .seeds = 3}; }

TEST(Regret, IsThatOfThePlays) {
  const RegretSettings settings = quick();
  const RuleRegret measured = measure_regret(RuleName::ftrl, settings, {.threads = 2});
  EXPECT_EQ(measured.regret, Regret::external);
  ASSERT_EQ(measured.at.size(), 2U);
  for (std::size_t i = 0; i < kAdversaries.size(); ++i) {
    const RegretMatch match{settings.horizon, settings.num_actions, kAdversaries.at(i).adversary,
                            Regret::external, 300};
    std::vector<double> at_ten;
    std::vector<double> at_the_end;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      play_match(
          Ftrl<>(settings.horizon), match, seed, [](std::uint64_t) { return 0.0; },
          [&](std::uint64_t t, const WeightedAverages& averages) {
            if (t == 10) at_ten.push_back(averages.regret());
            if (t == 300) at_the_end.push_back(averages.regret());
          });
    }
    EXPECT_EQ(measured.at[0].at(i), quartiles_of(at_ten));
    EXPECT_EQ(measured.at[1].at(i), quartiles_of(at_the_end));
  }
}

TEST(Regret, EveryRuleHasItsOwnWeights) {
  const RegretSettings settings = quick();
  EXPECT_EQ(weights_of(Ftrl<>(7), 7), 7U);
  EXPECT_EQ(weights_of(Optimistic(), 7), Optimistic::kMemory);
  EXPECT_EQ(measure_regret(RuleName::ftrl, settings, {.threads = 1}).weights, settings.horizon);
  const RuleRegret measured = measure_regret(RuleName::optimistic, settings, {.threads = 1});
  EXPECT_EQ(measured.weights, 2U);
  // Against one adversary by hand.
  const RegretMatch match{2, settings.num_actions, kAdversaries[0].adversary, Regret::external,
                          300};
  std::vector<double> at_the_end;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    play_match(
        Optimistic(), match, seed, [](std::uint64_t) { return 0.0; },
        [&](std::uint64_t t, const WeightedAverages& averages) {
          if (t == 300) at_the_end.push_back(averages.regret());
        });
  }
  EXPECT_EQ(measured.at[1][0], quartiles_of(at_the_end));
}

/// Returns what Ftrl does, and plays all actions alike.
struct PlaysEvenly : Ftrl<> {
  using Ftrl<>::Ftrl;
  [[nodiscard]] VisitSteps steps(std::size_t num_actions, std::uint64_t visit) const noexcept {
    VisitSteps steps = Ftrl<>::steps(num_actions, visit);
    steps.floor = 1.0 / static_cast<double>(num_actions);
    return steps;
  }
};

TEST(Regret, IsOfTheReturnedPolicyOrOfThePlayedOne) {
  // The last of four actions is the only good one.
  RegretMatch match{5, 4, Adversary::constant, Regret::external, 50};
  const auto regret = [&](Counted counted) {
    match.counted = counted;
    double last = 0.0;
    play_match(
        PlaysEvenly(5), match, 1, [](std::uint64_t) { return 0.0; },
        [&](std::uint64_t, const WeightedAverages& averages) { last = averages.regret(); });
    return last;
  };
  EXPECT_DOUBLE_EQ(regret(Counted::played), 0.75);
  EXPECT_LT(regret(Counted::returned), 0.6);
}

TEST(Regret, EveryRuleIsMeasuredAndSaysWhatIsProven) {
  std::vector<RuleRegret> rules;
  for (std::size_t i = 0; i < kRuleNames.size(); ++i) {
    const auto rule = static_cast<RuleName>(i);
    rules.push_back(measure_regret(rule, quick(), {.threads = 1}));
    EXPECT_EQ(rules.back().regret == Regret::swap, has_swap_regret(rule));
    // Everybody learns that one action is better than all others.
    EXPECT_LT(rules.back().at[1][0].median, rules.back().at[0][0].median) << kRuleNames.at(i);
    const bool proven = proof_of(rule).starts_with("proven: ");
    EXPECT_TRUE(proven || proof_of(rule) == "no proof: measured only");
  }
  EXPECT_EQ(proof_of(RuleName::optimistic), "no proof: measured only");
  EXPECT_EQ(proof_of(RuleName::optimistic_swap), "no proof: measured only");
  const std::string text = to_text(quick(), rules);
  EXPECT_NE(text.find("optimistic: external regret, weights of c = 2; no proof: measured only"),
            std::string::npos);
}

}  // namespace
}  // namespace vlearn
