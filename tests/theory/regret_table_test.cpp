// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The weighted regret of every rule, measured: prints the tables of docs/algorithms.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "theory/weighted_regret.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn {
namespace {

using test::Uniform;

constexpr std::uint64_t kHorizon = 5;
constexpr std::size_t kNumActions = 4;
constexpr std::size_t kNumSeeds = 100;

struct Measured {
  double mean;
  double quantile;  // 99 %: the 99th of 100 sorted values
};
using Row = std::array<Measured, kAdversaries.size()>;

/// Each rule with the weights that it is made for.
template <class Rule>
Row measure(const char* name, const Rule& rule, Regret regret, std::uint64_t visits) {
  Row row{};
  const std::uint64_t c = weights_of(rule, kHorizon);
  std::printf("| %s | %llu |", name, static_cast<unsigned long long>(c));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const RegretMatch match{c, kNumActions, kAdversaries.at(i).adversary, regret, visits};
    std::vector<double> regrets;
    for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
      play_match(
          rule, match, seed, [](std::uint64_t) { return 0.0; },
          [&](std::uint64_t t, const WeightedAverages& averages) {
            if (t == visits) regrets.push_back(averages.regret());
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

/// A row for each rule; those that are not here have no place in the documents.
void measure_rules(std::uint64_t visits) {
  std::printf("H = 5, B = 4, t = %llu, 100 seeds: mean / 99 %% quantile\n\n| rule | c |",
              static_cast<unsigned long long>(visits));
  for (const auto& [adversary, name] : kAdversaries) {
    std::printf(" %s |", std::string(name).c_str());
  }
  std::printf("\n|---|---|---|---|---|---|---|---|\n");
  constexpr auto on = ControlVariate::on;
  constexpr auto missed = Switches::may_be_missed;
  constexpr std::uint64_t h = kHorizon;
  const FtrlSteps predictive{FtrlIndex::predictive};
  const auto external = [&](const char* name, const auto& rule) {
    return measure(name, rule, Regret::external, visits);
  };
  const auto swap = [&](const char* name, const auto& rule) {
    return measure(name, rule, Regret::swap, visits);
  };

  const Row even = external("uniform play", Uniform<Ftrl<>>(h));
  expect_learns(external("ftrl", Ftrl<>(h)), even);
  expect_learns(external("ftrl, predictive", Ftrl<>(h, predictive)), even);
  expect_learns(external("ftrl, variates", Ftrl<on>(h)), even, missed);
  expect_learns(external("exp3-ix", Exp3Ix<>(h)), even);
  expect_learns(external("exp3-ix, variates", Exp3Ix<on>(h)), even, missed);
  expect_learns(external("tsallis", Tsallis<>(h)), even, missed);
  expect_learns(external("tsallis, variates", Tsallis<on>(h)), even, missed);
  external("tsallis, e = 4, variates", Tsallis<on>(h, {.step = 4.0}));  // it may not
  expect_learns(external("log-barrier", LogBarrier<>(h)), even, missed);
  expect_learns(external("log-barrier, variates", LogBarrier<on>(h)), even, missed);
  const Row even_2 = external("uniform play", Uniform<Optimistic>());
  expect_learns(external("optimistic", Optimistic()), even_2);
  const Row even_1 = external("uniform play", Uniform<OptimisticNash>());
  expect_learns(external("optimistic-nash", OptimisticNash()), even_1);

  const Row even_swap = swap("uniform play: swap", Uniform<Ftrl<>>(h));
  expect_learns(swap("ftrl-swap: swap", FtrlSwap<>(h)), even_swap);
  expect_learns(swap("ftrl-swap, variates: swap", FtrlSwap<on>(h)), even_swap, missed);
  const Row even_swap_3 = swap("uniform play: swap", Uniform<OptimisticSwap>());
  expect_learns(swap("optimistic-swap: swap", OptimisticSwap()), even_swap_3);
}

TEST(RegretTable, RulesLearn) { measure_rules(20'000); }

// Sixteen times as long: whether a rule that looks good is still learning.
TEST(RegretTableSlow, RulesLearnForLong) { measure_rules(320'000); }

}  // namespace
}  // namespace vlearn
