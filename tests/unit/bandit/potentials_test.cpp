// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel itself: every size, every vector width, every potential, and nothing beyond its
// arrays.
#include "vlearn/bandit/potentials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/plain_bandit.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

constexpr std::size_t kGuard = 16;  // numbers on both sides that nobody may touch

struct Rows {
  std::vector<double> losses;
  std::vector<double> policy;
};

/// A row between guards.
std::vector<double> guarded(const std::vector<double>& row) {
  std::vector<double> all(row.size() + 2 * kGuard, std::numeric_limits<double>::quiet_NaN());
  std::copy(row.begin(), row.end(), all.begin() + kGuard);
  return all;
}

std::vector<double> inner(const std::vector<double>& all) {
  for (std::size_t i = 0; i < kGuard; ++i) {
    EXPECT_TRUE(std::isnan(all[i]) && std::isnan(all[all.size() - 1 - i])) << "beyond the row";
  }
  return {all.begin() + kGuard, all.end() - kGuard};
}

Rows advanced(Potential potential,
              const RowStep& step,
              const std::vector<double>& means,
              const std::vector<double>& losses) {
  const std::vector<double> all_means = guarded(means);
  std::vector<double> all_losses = guarded(losses);
  std::vector<double> all_policy = guarded(std::vector<double>(losses.size(), 0.0));
  const RowAdvance row = {.step = step,
                          .means = means.empty() ? nullptr : all_means.data() + kGuard,
                          .losses = all_losses.data() + kGuard,
                          .policy = all_policy.data() + kGuard};
  advance_rows(potential, losses.size(), {&row, 1});
  return {inner(all_losses), inner(all_policy)};
}

std::vector<double> losses_after(const std::vector<RowStep>& steps,
                                 const std::vector<double>& means,
                                 const std::vector<double>& losses) {
  const std::vector<double> all_means = guarded(means);
  std::vector<double> all_losses = guarded(losses);
  advance_losses(losses.size(), steps, means.empty() ? nullptr : all_means.data() + kGuard,
                 all_losses.data() + kGuard);
  return inner(all_losses);
}

TEST(Potentials, EverySizeAndWidthEqualsThePlainLoops) {
  Draws draws({.seed = 8, .purpose = Purpose::test});
  for (std::size_t n = 1; n <= 130; ++n) {
    for (const Potential potential :
         {Potential::entropy, Potential::tsallis, Potential::log_barrier}) {
      for (const bool with_means : {false, true}) {
        std::vector<double> losses(n);
        std::vector<double> means(with_means ? n : 0);
        for (double& loss : losses)
          loss = draws.uniform() * std::ldexp(1.0, static_cast<int>(n % 12));
        losses[draws.below(n)] = 0.0;
        for (double& mean : means) mean = draws.uniform();
        const RowStep step{0.9, 0.7, draws.below(n), draws.uniform(), 0.5 + draws.uniform()};

        std::vector<double> wanted = losses;
        for (std::size_t b = 0; b < n; ++b) {
          wanted[b] *= step.decay;
          if (with_means) wanted[b] += means[b] * step.mean_scale;
        }
        wanted[step.action] += step.score;
        std::vector<double> lowered = wanted;
        const double least = *std::min_element(wanted.begin(), wanted.end());
        for (double& loss : lowered) loss -= least;
        const std::vector<double> policy =
            test::plain_policy(potential, with_means ? lowered : wanted, step.rate).theta;
        for (const std::string& target : simd_targets()) {
          use_simd_target(target);
          const Rows rows = advanced(potential, step, means, losses);
          EXPECT_EQ(rows.losses, lowered) << n << " " << target;
          EXPECT_EQ(rows.policy, policy) << n << " " << target;
          // Losses alone: of no step, of one, of two.
          EXPECT_EQ(losses_after({}, means, losses), losses) << n << " " << target;
          EXPECT_EQ(losses_after({step}, means, losses), lowered) << n << " " << target;
          EXPECT_EQ(losses_after({step, step}, means, losses),
                    advanced(potential, step, means, lowered).losses)
              << n << " " << target;
        }
        use_simd_target("");
      }
    }
  }
}

TEST(Potentials, RowsTogetherHaveTheBitsOfRowsAlone) {
  struct Outcome {
    Rows rows;
    double root = 0.0;
    double shift = 0.0;
  };
  struct Case {
    RowStep step;
    std::vector<double> means;
    std::vector<double> losses;
  };
  /// In groups of so many.
  const auto outcomes = [](Potential potential, const std::vector<Case>& cases, std::size_t group) {
    std::vector<Outcome> results(cases.size());
    std::vector<RowAdvance> rows;
    for (std::size_t r = 0; r < cases.size(); ++r) {
      const auto& [step, means, losses] = cases[r];
      Outcome& result = results[r];
      result.rows = {guarded(losses), guarded(std::vector<double>(losses.size(), 0.0))};
      rows.push_back({.step = step,
                      .means = means.empty() ? nullptr : means.data(),
                      .losses = result.rows.losses.data() + kGuard,
                      .policy = result.rows.policy.data() + kGuard,
                      .root = &result.root,
                      .shift = &result.shift});
    }
    const std::size_t n = cases.front().losses.size();
    for (std::size_t r = 0; r < rows.size(); r += group) {
      advance_rows(potential, n, std::span(rows).subspan(r, std::min(group, rows.size() - r)));
    }
    for (Outcome& result : results) {
      result.rows = {inner(result.rows.losses), inner(result.rows.policy)};
    }
    return results;
  };
  Draws draws({.seed = 9, .purpose = Purpose::test});
  for (std::size_t n = 1; n <= 34; ++n) {
    for (std::size_t count = 1; count <= 9; ++count) {
      std::vector<Case> cases(count);
      for (auto& [step, means, losses] : cases) {
        losses.resize(n);
        for (double& loss : losses) loss = 40.0 * draws.uniform();
        losses[draws.below(n)] = 0.0;
        if (draws.uniform() < 0.7) means.resize(n);
        for (double& mean : means) mean = draws.uniform();
        step = {draws.uniform(), draws.uniform(), draws.below(n), 9.0 * draws.uniform() - 2.0,
                0.1 + draws.uniform()};
      }
      for (const Potential potential :
           {Potential::entropy, Potential::tsallis, Potential::log_barrier}) {
        for (const std::string& target : simd_targets()) {
          use_simd_target(target);
          const std::vector<Outcome> alone = outcomes(potential, cases, 1);
          const std::vector<Outcome> together = outcomes(potential, cases, count);
          for (std::size_t r = 0; r < count; ++r) {
            EXPECT_EQ(together[r].rows.losses, alone[r].rows.losses) << n << " " << target;
            EXPECT_EQ(together[r].rows.policy, alone[r].rows.policy) << n << " " << target;
            EXPECT_EQ(together[r].root, alone[r].root) << n << " " << target;
            EXPECT_EQ(together[r].shift, alone[r].shift) << n << " " << target;
          }
        }
        use_simd_target("");
      }
    }
  }
}

// However large the step and the means, the best action is the likeliest, and nothing is lost.
TEST(Potentials, LargeStepsWithMeansDoNotFlattenAPolicy) {
  const std::vector<double> means = {0.25, 0.5, 1.0};
  const RowStep step{0.0, 1.0, 1, 0.0, 1e6};
  const Rows rows = advanced(Potential::entropy, step, means, {0.0, 0.0, 0.0});
  EXPECT_NEAR(rows.policy[0], 1.0, 1e-15);
  EXPECT_GT(rows.policy[2], 0.0);
}

}  // namespace
}  // namespace vlearn
