// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "vlearn/core/percentile.h"

namespace vlearn {
namespace {

TEST(Summary, InterquartileMeanLeavesOutTheEnds) {
  EXPECT_EQ(interquartile_mean(std::vector{7.0}), 7.0);
  EXPECT_EQ(interquartile_mean(std::vector{1.0, 2.0, 6.0}), 3.0);
  // scipy.stats.trim_mean(x, 0.25): one at either end of four, and of seven; two of eight.
  EXPECT_EQ(interquartile_mean(std::vector{100.0, 1.0, 2.0, -50.0}), 1.5);
  EXPECT_EQ(interquartile_mean(std::vector{9.0, 1.0, 2.0, 3.0, 4.0, 5.0, -9.0}), 3.0);
  EXPECT_EQ(interquartile_mean(std::vector{8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1e9}), 5.5);
}

TEST(Summary, PercentilesAreThoseOfNumpy) {
  const std::vector<double> numbers = {1.0, 2.0, 4.0, 8.0, 16.0};
  EXPECT_EQ(percentile(numbers, 0.0), 1.0);
  EXPECT_EQ(percentile(numbers, 100.0), 16.0);
  EXPECT_EQ(percentile(numbers, 50.0), 4.0);
  // np.percentile(numbers, [2.5, 30, 97.5])
  EXPECT_NEAR(percentile(numbers, 2.5), 1.1, 1e-15);
  EXPECT_NEAR(percentile(numbers, 30.0), 2.4, 1e-15);
  EXPECT_NEAR(percentile(numbers, 97.5), 15.2, 1e-14);
  EXPECT_EQ(percentile(std::vector{3.0}, 97.5), 3.0);
}

/// The means of all n^n resamples, in rising order.
std::vector<double> all_means(const std::vector<double>& numbers) {
  std::vector<double> means;
  std::vector<std::size_t> drawn(numbers.size(), 0);
  std::vector<double> resample(numbers.size());
  for (;;) {
    for (std::size_t i = 0; i < drawn.size(); ++i) resample[i] = numbers[drawn[i]];
    means.push_back(interquartile_mean(resample));
    std::size_t place = 0;
    while (place < drawn.size() && ++drawn[place] == drawn.size()) drawn[place++] = 0;
    if (place == drawn.size()) break;
  }
  std::sort(means.begin(), means.end());
  return means;
}

TEST(Summary, IntervalsAreThoseOfAllResamples) {
  // Of three, the least mean has the chance 1/27 > 2.5 %: the ends are the least and the largest
  // number. Of 2000 draws fewer than 51 have it with probability 1.7e-3 at either end; the seed
  // is fixed.
  const std::vector<double> three = {1.0, 2.5, 10.0};
  EXPECT_EQ(all_means(three).size(), 27U);
  const MeanInterval of_three = bootstrap_interval(three);
  EXPECT_DOUBLE_EQ(of_three.mean, 4.5);
  EXPECT_DOUBLE_EQ(of_three.low, 1.0);
  EXPECT_DOUBLE_EQ(of_three.high, 10.0);

  // Of five, between the exact percentiles around it: with 20000 draws the share of means below an
  // exact percentile is off by more than 0.5 %, which is 4.5 standard deviations, with probability
  // 1e-5.
  const std::vector<double> five = {1.0, 2.0, 4.0, 8.0, 16.0};
  const std::vector<double> means = all_means(five);
  EXPECT_EQ(means.size(), 3125U);
  const MeanInterval of_five = bootstrap_interval(five, 1, 20000);
  EXPECT_GE(of_five.low, percentile(means, 2.0));
  EXPECT_LE(of_five.low, percentile(means, 3.0));
  EXPECT_GE(of_five.high, percentile(means, 97.0));
  EXPECT_LE(of_five.high, percentile(means, 98.0));
  EXPECT_LT(of_five.low, of_five.mean);
}

TEST(Summary, TheSameDrawsForTheSameSeed) {
  const std::vector<double> numbers = {0.3, 0.1, 0.4, 0.15, 0.9, 0.26, 0.5};
  const MeanInterval first = bootstrap_interval(numbers, 1, 50);
  const MeanInterval again = bootstrap_interval(numbers, 1, 50);
  const MeanInterval other = bootstrap_interval(numbers, 2, 50);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_TRUE(first.low != other.low || first.high != other.high);
  const MeanInterval one = bootstrap_interval(std::vector{0.7});
  EXPECT_EQ(one.low, 0.7);
  EXPECT_EQ(one.high, 0.7);
}

RunView run_of(const char* group, std::vector<std::pair<std::uint64_t, double>> gaps) {
  RunView run;
  run.group = group;
  for (const auto& [episode, gap] : gaps) {
    run.curve.push_back({.episode = episode, .gap_upper = gap});
  }
  run.curve.push_back({.episode = 1000});
  return run;
}

TEST(Summary, GroupsHaveWhatAllTheirRunsHave) {
  const std::vector<RunView> runs = {run_of("b", {{1, 1.0}, {2, 0.5}, {4, 0.25}}),
                                     run_of("a", {{1, 3.0}}),
                                     run_of("b", {{1, 2.0}, {4, 0.75}, {8, 0.1}})};
  const std::vector<RunGroup> groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(groups[0].episodes, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(groups[0].gaps[0].mean, 1.5);
  EXPECT_EQ(groups[0].gaps[1].mean, 0.5);
  EXPECT_EQ(groups[1].runs, std::vector<std::size_t>{1});
  EXPECT_EQ(groups[1].gaps[0].high, 3.0);
  EXPECT_TRUE(group_runs({}).empty());
}

TEST(Summary, KeptPlacesAreEvenOnALogarithmicAxis) {
  std::vector<std::uint64_t> episodes(5000);
  for (std::size_t i = 0; i < episodes.size(); ++i) episodes[i] = i + 1;
  const std::vector<std::size_t> kept = kept_places(episodes, 20);
  EXPECT_LE(kept.size(), 20U);
  EXPECT_GE(kept.size(), 15U);
  EXPECT_EQ(kept.front(), 0U);
  EXPECT_EQ(kept.back(), 4999U);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  // From one to the next a factor of 5000^(1/18) = 1.605, rounded up to whole episodes; the last is
  // kept wherever it is.
  for (std::size_t i = 1; i + 1 < kept.size(); ++i) {
    EXPECT_GE(static_cast<double>(kept[i] + 1), 1.6 * static_cast<double>(kept[i - 1] + 1));
    EXPECT_LE(static_cast<double>(kept[i]), 1.61 * static_cast<double>(kept[i - 1] + 1));
  }
  EXPECT_EQ(kept_places(episodes, 5000).size(), 5000U);
  EXPECT_TRUE(kept_places({}).empty());
}

TEST(Summary, LongCurvesAreThinnedBeforeTheyAreResampled) {
  std::vector<std::pair<std::uint64_t, double>> first;
  std::vector<std::pair<std::uint64_t, double>> second;
  std::vector<std::uint64_t> common;
  for (std::uint64_t episode = 1; episode <= 3000; ++episode) {
    first.emplace_back(episode, 1.0 / static_cast<double>(episode));
    if (episode == 7) continue;
    second.emplace_back(episode, 3.0 / static_cast<double>(episode));
    common.push_back(episode);
  }
  const RunGroup group = group_runs(std::vector{run_of("a", first), run_of("a", second)}).front();
  std::vector<std::uint64_t> wanted;
  for (const std::size_t place : kept_places(common)) wanted.push_back(common[place]);
  EXPECT_LT(wanted.size(), 2000U);
  EXPECT_EQ(group.episodes, wanted);
  ASSERT_EQ(group.gaps.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_DOUBLE_EQ(group.gaps[i].mean, 2.0 / static_cast<double>(wanted[i]));
  }
}

}  // namespace
}  // namespace vlearn
