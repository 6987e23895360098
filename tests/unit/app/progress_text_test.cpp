// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "progress_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>

namespace vlearn::app {
namespace {

/// Columns of a text whose letters are all one wide.
std::size_t columns(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

TEST(ProgressText, NumbersAndTimesAreShort) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1234), "1.23k");
  EXPECT_EQ(short_number(999.6e3), "1M");
  EXPECT_EQ(short_bytes(512), "512 B");
  EXPECT_EQ(short_bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(short_time(12.3), "12 s");
  EXPECT_EQ(short_time(180), "3 min");
  EXPECT_EQ(short_time(9000), "2.5 h");
  EXPECT_EQ(short_time(30 * 86400.0), "30 days");
}

TEST(ProgressText, TheLessImportantGoesFirst) {
  const Standing standing{.part = 0.5,
                          .what = "1.2M episodes",
                          .rate = "3.4M agent-steps/s",
                          .gap = "gap 0.012",
                          .wanted = "(want 0.01)",
                          .time = "about 20 s left"};
  EXPECT_EQ(bar_line(standing, 200, false),
            "[############            ]  50 %  1.2M episodes, 3.4M agent-steps/s, gap 0.012 (want "
            "0.01), about 20 s left");
  EXPECT_EQ(bar_line(standing, 60, false), " 50 %  1.2M episodes, gap 0.012, about 20 s left");
  EXPECT_EQ(bar_line(standing, 40, false), " 50 %  gap 0.012, about 20 s left");
  for (const bool unicode : {false, true}) {
    for (std::size_t width = 0; width < 200; ++width) {
      EXPECT_LE(columns(bar_line(standing, width, unicode)), width == 0 ? 0 : width - 1);
    }
  }
}

TEST(ProgressText, BarsFillFromTheLeft) {
  for (const bool unicode : {false, true}) {
    std::size_t last = 0;
    for (int percent = 1; percent <= 100; ++percent) {
      const Standing standing{.part = percent / 100.0, .what = "episodes"};
      const std::string line = bar_line(standing, 80, unicode);
      EXPECT_EQ(columns(line), std::string("[]  100 %  episodes").size() - 1 + 24);
      const std::string full = unicode ? "█" : "#";
      std::size_t filled = 0;
      for (std::size_t at = line.find(full); at != std::string::npos;
           at = line.find(full, at + full.size())) {
        ++filled;
      }
      EXPECT_GE(filled, last);
      EXPECT_EQ(filled, static_cast<std::size_t>(percent) * 24 / 100);
      last = filled;
    }
  }
}

TEST(ProgressText, EpisodesKnownInAdvance) {
  Estimate estimate({.num_runs = 2, .per_run = 1000, .steps_per_unit = 6});
  estimate.count(0, 0);
  estimate.count(1, 0);
  EXPECT_EQ(estimate.standing(0.1).time, "");  // nobody knows yet
  estimate.count(0, 300);
  estimate.count(1, 200);
  // 500 of 2000 in 10 s: 1500 at 50 a second.
  const Standing now = estimate.standing(10.0);
  EXPECT_DOUBLE_EQ(now.part, 0.25);
  EXPECT_EQ(now.what, "500 episodes");
  EXPECT_EQ(now.rate, "300 agent-steps/s");
  EXPECT_EQ(now.time, "30 s left");
  EXPECT_EQ(plain_line(now), " 25 %: 500 episodes, 300 agent-steps/s, 30 s left");
}

TEST(ProgressText, WhatWasPlayedBeforeTookNoTime) {
  Estimate estimate({.per_run = 1000});
  estimate.count(0, 500);
  estimate.count(0, 600);
  // 100 in 10 s: 400 take 40 s.
  EXPECT_EQ(estimate.standing(10.0).time, "40 s left");
}

TEST(ProgressText, TheEarlierEndIsShown) {
  Estimate estimate({.per_run = 1000, .max_seconds = 15.0});
  estimate.count(0, 0);
  estimate.count(0, 100);
  EXPECT_EQ(estimate.standing(10.0).time, "5 s left");
  EXPECT_DOUBLE_EQ(estimate.done(10.0), 10.0 / 15.0);
}

TEST(ProgressText, AGapFallsLikeOneOverTheRoot) {
  Estimate estimate({.wanted_gap = 0.01});
  estimate.count(0, 0);
  EXPECT_FALSE(estimate.needed(0));
  for (const std::uint64_t units : {100U, 400U, 1600U}) {
    estimate.count(0, units);
    estimate.see_gap(0, units, 2.0 / std::sqrt(static_cast<double>(units)));
  }
  // 2 / sqrt(K) = 0.01 at K = 40000.
  EXPECT_NEAR(*estimate.needed(0), 40000.0, 1e-6);
  const Standing now = estimate.standing(4.0);  // 400 a second, 38400 to go
  EXPECT_EQ(now.time, "about 2 min left");
  EXPECT_NEAR(now.part, 0.04, 1e-9);  // 4 s of 100
}

TEST(ProgressText, AGapMayFallFasterOrSlower) {
  const auto needed = [](double exponent) {
    Estimate estimate({.wanted_gap = 0.01});
    for (const std::uint64_t units : {100U, 400U, 1600U}) {
      estimate.count(0, units);
      estimate.see_gap(0, units, std::pow(static_cast<double>(units), exponent));
    }
    return *estimate.needed(0);
  };
  EXPECT_NEAR(needed(-0.6), std::pow(0.01, -1.0 / 0.6), 1e-6);
  // Hardly at all: from 1600^-0.1 on as units^-0.3.
  EXPECT_NEAR(needed(-0.1), 1600.0 * std::pow(std::pow(1600.0, -0.1) / 0.01, 1.0 / 0.3), 1e-3);
  EXPECT_DOUBLE_EQ(needed(-3.0), 1600.0);  // is there
}

TEST(ProgressText, NothingIsGuessedBeyondADay) {
  Estimate estimate({.wanted_gap = 1e-6});
  estimate.count(0, 0);
  estimate.count(0, 100);
  estimate.see_gap(0, 100, 0.1);
  // 10^12 at 10 a second.
  EXPECT_EQ(estimate.standing(10.0).time, "");
  EXPECT_LT(estimate.standing(10.0).part, 1e-6);
}

TEST(ProgressText, APhaseIsShownOnceAllRunsAreInIt) {
  Estimate estimate({.num_runs = 2, .per_run = 100});
  for (const std::size_t run : {0U, 1U}) {
    estimate.count(run, 0);
    estimate.count(run, 100);
  }
  estimate.begin_phase(0, "certifying", 10.0);
  EXPECT_EQ(estimate.standing(12.0).what, "200 episodes");
  estimate.begin_phase(1, "certifying", 15.0);
  EXPECT_EQ(bar_line(estimate.standing(19.0), 80, true), "certifying, 4 s");
}

TEST(ProgressText, SeveralRunsShowTheWorstGap) {
  Estimate estimate({.num_runs = 3, .wanted_gap = 0.1});
  for (const std::size_t run : {0U, 1U}) estimate.count(run, 0);
  estimate.count(0, 100);
  estimate.see_gap(0, 100, 0.05);  // is there
  estimate.count(1, 100);
  estimate.see_gap(1, 100, 0.2);
  EXPECT_DOUBLE_EQ(*estimate.needed(0), 100.0);
  EXPECT_NEAR(*estimate.needed(1), 400.0, 1e-9);
  const Standing now = estimate.standing(10.0);
  EXPECT_EQ(now.gap, "gap 0.2");
  EXPECT_EQ(now.wanted, "(want 0.1)");
  // The third needs what the others need on average, 250: 550 to go at 20 a second.
  EXPECT_EQ(now.time, "about 28 s left");
  EXPECT_NEAR(now.part, 200.0 / 750.0, 1e-12);
}

TEST(ProgressText, NoMoreEpisodesThanWereAskedFor) {
  Estimate estimate({.per_run = 200, .wanted_gap = 0.001});
  estimate.count(0, 0);
  estimate.count(0, 100);
  estimate.see_gap(0, 100, 0.5);
  EXPECT_DOUBLE_EQ(*estimate.needed(0), 200.0);
  EXPECT_EQ(estimate.standing(10.0).time, "10 s left");  // nothing guessed
}

TEST(ProgressText, OddGapsAreNoTrouble) {
  Estimate estimate({.wanted_gap = 0.001});
  estimate.count(0, 0);
  estimate.see_gap(0, 0, 0.5);
  estimate.see_gap(0, 1, 0.0);
  EXPECT_TRUE(std::isfinite(*estimate.needed(0)));
  EXPECT_TRUE(std::isfinite(estimate.done(1.0)));
}

TEST(ProgressText, WorkThatNobodyCanCount) {
  const Estimate estimate({.work = "certifying"});
  EXPECT_EQ(bar_line(estimate.standing(12.0), 80, true), "certifying, 12 s");
}

}  // namespace
}  // namespace vlearn::app
