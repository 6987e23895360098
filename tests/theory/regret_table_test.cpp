// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The weighted regret of every rule, measured: prints the table of docs/algorithms.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "theory/weighted_regret.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/noise_scaled.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn {
namespace {

using test::Uniform;

constexpr std::uint64_t kHorizon = 5;
constexpr std::size_t kNumActions = 4;
constexpr std::uint64_t kNumVisits = 20'000;
constexpr std::size_t kNumSeeds = 100;

struct Measured {
  double mean;
  double quantile;  // 99 %: the 99th of 100 sorted values
};
using Row = std::array<Measured, kAdversaries.size()>;

template <class Rule>
Row measure(const char* name, const Rule& rule, Regret regret) {
  Row row{};
  std::printf("| %s |", name);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const RegretMatch match{kHorizon, kNumActions, kAdversaries.at(i).adversary, regret,
                            kNumVisits};
    std::vector<double> regrets;
    for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
      play_match(
          rule, match, seed, [](std::uint64_t) { return 0.0; },
          [&](std::uint64_t t, const WeightedAverages& averages) {
            if (t == kNumVisits) regrets.push_back(averages.regret());
          });
    }
    double sum = 0.0;
    for (const double r : regrets) sum += r;
    std::sort(regrets.begin(), regrets.end());
    row.at(i) = {sum / kNumSeeds, regrets[kNumSeeds * 99 / 100 - 1]};
    std::printf(" %.3f / %.3f |", row.at(i).mean, row.at(i).quantile);
  }
  std::printf("\n");
  return row;
}

enum class Switches : std::uint8_t { followed, may_be_missed };

/// Rules learn: small regret, and less than half of uniform play's where that is large. Not all of
/// them notice that an action they stopped playing has become the good one.
void expect_learns(const Row& rule, const Row& uniform, Switches switches = Switches::followed) {
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const auto& [adversary, name] = kAdversaries.at(i);
    if (adversary == Adversary::switching && switches == Switches::may_be_missed) continue;
    EXPECT_LT(rule.at(i).quantile, 0.15) << name;
    if (uniform.at(i).mean > 0.3) {
      EXPECT_LT(rule.at(i).quantile, 0.5 * uniform.at(i).mean) << name;
    }
  }
}

TEST(RegretTable, RulesLearn) {
  std::printf("H = 5, B = 4, t = 20000, 100 seeds: mean / 99 %% quantile\n\n| rule |");
  for (const auto& [adversary, name] : kAdversaries) {
    std::printf(" %s |", std::string(name).c_str());
  }
  std::printf("\n|---|---|---|---|---|---|---|\n");
  constexpr auto on = ControlVariate::on;
  constexpr auto missed = Switches::may_be_missed;
  constexpr auto external = Regret::external;
  constexpr auto swap = Regret::swap;
  constexpr std::uint64_t h = kHorizon;
  const FtrlSteps predictive{FtrlIndex::predictive};

  const Row even = measure("uniform play", Uniform<Ftrl<>>(h), external);
  expect_learns(measure("ftrl", Ftrl<>(h), external), even);
  expect_learns(measure("ftrl, predictive", Ftrl<>(h, predictive), external), even);
  expect_learns(measure("ftrl, variates", Ftrl<on>(h), external), even, missed);
  expect_learns(measure("exp3-ix", Exp3Ix<>(h), external), even);
  expect_learns(measure("exp3-ix, variates", Exp3Ix<on>(h), external), even, missed);
  expect_learns(measure("tsallis", Tsallis<>(h), external), even, missed);
  expect_learns(measure("tsallis, variates", Tsallis<on>(h), external), even, missed);
  measure("tsallis, e = 4, variates", Tsallis<on>(h, {.step = 4.0}), external);  // it may not
  expect_learns(measure("log-barrier", LogBarrier<>(h), external), even, missed);
  expect_learns(measure("log-barrier, variates", LogBarrier<on>(h), external), even, missed);
  expect_learns(measure("noise-scaled", NoiseScaled(), external), even, missed);

  const Row even_swap = measure("uniform play: swap", Uniform<Ftrl<>>(h), swap);
  expect_learns(measure("ftrl-swap: swap", FtrlSwap<>(h), swap), even_swap);
  expect_learns(measure("ftrl-swap, variates: swap", FtrlSwap<on>(h), swap), even_swap, missed);
  expect_learns(measure("noise-scaled-swap: swap", NoiseScaledSwap(), swap), even_swap, missed);
}

}  // namespace
}  // namespace vlearn
