// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/regret.h"

#include <gtest/gtest.h>

#include <string>

#include "vlearn/bandit/ftrl.h"

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
  EXPECT_EQ(proof_of(RuleName::noise_scaled), "no proof: measured only");
  EXPECT_EQ(proof_of(RuleName::noise_scaled_swap), "no proof: measured only");
  const std::string text = to_text(quick(), rules);
  EXPECT_NE(text.find("noise-scaled: external regret; no proof: measured only"), std::string::npos);
}

}  // namespace
}  // namespace vlearn
