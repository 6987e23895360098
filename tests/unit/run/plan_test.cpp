// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/plan.h"
#include "vlearn/bandit/optimistic_rigorous.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/error.h"

namespace vlearn {
namespace {

PlanOptions small_game() {
  PlanOptions options;
  options.num_players = 2;
  options.horizon = 3;
  options.max_states = 4;
  options.max_actions = 3;
  options.zero_sum = true;
  return options;
}

PlannedRun run_of(Theorem theorem, Preset preset, const PlanOptions& options) {
  for (PlannedRun& run : plan_episodes(options)) {
    if (run.theorem == theorem && run.preset == preset) return run;
  }
  throw std::runtime_error("no such run");
}

std::uint64_t episodes_of(Theorem theorem, Preset preset, const PlanOptions& options) {
  return run_of(theorem, preset, options).episodes.value();
}

TEST(Plan, EpisodesAreTheFewest) {
  for (const double eps : {2.9, 1.0, 0.1, 0.01}) {
    for (const double constant : {11.0, 0.01}) {
      PlanOptions options = small_game();
      options.eps = eps;
      options.bonus_constant = constant;
      for (const PlannedRun& run : plan_episodes(options)) {
        const auto episodes = static_cast<double>(run.episodes.value());
        ASSERT_LT(episodes, 0x1p53);
        EXPECT_LE(gap_bound(run.theorem, run.preset, options, episodes), eps);
        if (episodes > 1.0) {
          EXPECT_GT(gap_bound(run.theorem, run.preset, options, episodes - 1.0), eps)
              << static_cast<int>(run.theorem) << " " << episodes;
        }
        EXPECT_NEAR(run.episodes_log10, std::log10(episodes), 1e-12);
        EXPECT_EQ(run.agent_steps, 2 * 3 * *run.episodes);
      }
    }
  }
}

TEST(Plan, ByHand) {
  // m = 2, H = 2, S = 3, A = 2, K = 2400: m H S A K / delta = 24 * 2400 / 0.01 = 5760000.
  PlanOptions options = small_game();
  options.horizon = 2;
  options.max_states = 3;
  options.max_actions = 2;
  const double iota = std::log(5760000.0);
  EXPECT_NEAR(iota_of(Theorem::cce, Preset::paper, options, 2400.0), iota, 1e-12);
  // e S H^2 / K = 12 e / 2400; H^5 S A / K = 32 * 6 / 2400 = 0.08, with A^2 it is 0.16.
  const double first = std::numbers::e * 0.005;
  const double root = std::numbers::e * 8.0 * 11.0 * std::sqrt(0.08 * iota);
  const auto bound = [&](Theorem theorem) {
    return gap_bound(theorem, Preset::paper, options, 2400.0);
  };
  EXPECT_NEAR(bound(Theorem::cce), first + root, 1e-9);
  EXPECT_NEAR(bound(Theorem::single_agent), first + root, 1e-9);
  EXPECT_NEAR(bound(Theorem::nash), 2.0 * (first + root), 1e-9);
  EXPECT_NEAR(bound(Theorem::monotone), 2.0 * first + root, 1e-9);
  EXPECT_NEAR(bound(Theorem::ce), first + std::numbers::sqrt2 * root, 1e-9);
}

TEST(Plan, HarderGamesAskForMore) {
  for (const Preset preset : {Preset::paper, Preset::rigorous, Preset::proven}) {
    for (const Theorem theorem : {Theorem::nash, Theorem::cce, Theorem::ce}) {
      const std::uint64_t base = episodes_of(theorem, preset, small_game());
      const auto more = [&](auto change) {
        PlanOptions options = small_game();
        change(options);
        EXPECT_GT(episodes_of(theorem, preset, options), base) << static_cast<int>(theorem);
      };
      more([](PlanOptions& options) { options.eps *= 0.9; });
      more([](PlanOptions& options) { options.delta *= 0.1; });
      more([](PlanOptions& options) { options.horizon += 1; });
      more([](PlanOptions& options) { options.max_states += 1; });
      more([](PlanOptions& options) { options.max_actions += 1; });
    }
  }
}

TEST(Plan, EpisodesGrowAsTheInverseSquareOfTheGap) {
  PlanOptions options = small_game();
  for (const Preset preset : {Preset::paper, Preset::rigorous, Preset::proven}) {
    options.eps = 0.1;
    const PlannedRun coarse = run_of(Theorem::cce, preset, options);
    options.eps = 0.01;
    const PlannedRun fine = run_of(Theorem::cce, preset, options);
    const double ratio =
        static_cast<double>(*fine.episodes) / static_cast<double>(*coarse.episodes);
    if (preset == Preset::proven) {  // whose comparators cost log log K
      EXPECT_GT(ratio, 95.0);
      EXPECT_LT(ratio, 100.0 * fine.iota / coarse.iota);
    } else {
      EXPECT_NEAR(ratio, 100.0 * fine.iota / coarse.iota, 2.0);
    }
  }
}

TEST(Plan, WhatEachGameHas) {
  const auto theorems = [](const PlanOptions& options) {
    std::vector<int> numbers;
    for (const PlannedRun& run : plan_episodes(options)) {
      if (run.preset == Preset::paper) numbers.push_back(static_cast<int>(run.theorem));
    }
    return numbers;
  };
  PlanOptions options = small_game();
  EXPECT_EQ(theorems(options), (std::vector{5, 8, 6, 7}));
  options.target = Target::nash;
  EXPECT_EQ(theorems(options), (std::vector{5, 8}));
  options.zero_sum = false;
  EXPECT_THROW(static_cast<void>(plan_episodes(options)), Error);
  options.target = std::nullopt;
  EXPECT_EQ(theorems(options), (std::vector{6, 7}));
  options.num_players = 1;
  EXPECT_EQ(theorems(options), (std::vector{4, 6, 7}));
  options.target = Target::optimal;
  EXPECT_EQ(theorems(options), (std::vector{4}));
}

TEST(Plan, TheoremsSideBySide) {
  for (const std::size_t actions : {1U, 2U, 10U, 300U}) {
    PlanOptions options = small_game();
    options.max_actions = actions;
    const auto episodes = [&](Theorem theorem, Preset preset) {
      return episodes_of(theorem, preset, options);
    };
    for (const Preset preset : {Preset::paper, Preset::rigorous, Preset::proven}) {
      EXPECT_GE(episodes(Theorem::ce, preset), episodes(Theorem::cce, preset));
      // Of the preset proven nearly: parts of its bound fall faster than 1/sqrt(K).
      const double factor = preset == Preset::proven ? 3.9 : 4.0;
      EXPECT_GE(static_cast<double>(episodes(Theorem::nash, preset)),
                factor * static_cast<double>(episodes(Theorem::cce, preset)));
    }
    for (const Theorem theorem : {Theorem::nash, Theorem::cce, Theorem::ce}) {
      EXPECT_LT(100 * episodes(theorem, Preset::rigorous), episodes(theorem, Preset::paper));
      EXPECT_LT(100 * episodes(theorem, Preset::proven), episodes(theorem, Preset::paper));
    }
  }
}

Seat seat_of(const PlanOptions& options) {
  Seat seat;
  seat.horizon = options.horizon;
  seat.num_players = options.num_players;
  seat.max_states = options.max_states;
  seat.max_actions = options.max_actions;
  return seat;
}

/// The bound of a run with the preset rigorous, visit by visit, by what learners use.
double direct_sum(bool swap, const PlanOptions& options, std::uint64_t episodes) {
  LearnerOptions learner = preset_options(Preset::rigorous, swap ? Target::ce : Target::cce);
  learner.delta = options.delta;
  learner.horizon_episodes = episodes;
  const BonusSchedule schedule(learner, seat_of(options));
  const AlphaWeights alpha(options.horizon);
  const Step first(0);
  VisitSums sums;
  double sum = 0.0;
  for (std::uint64_t n = 1; n <= episodes / options.max_states; ++n) {
    sums.add(alpha.rate(n), n);
    sum += schedule.bound(first, options.max_actions, n, sums) +
           schedule.low_bound(first, options.max_actions, sums);
  }
  return sum / schedule.most(first);
}

TEST(Plan, SumInBlocksIsAboveTheDirectOneAndClose) {
  for (const bool swap : {false, true}) {
    for (const std::size_t horizon : {1U, 4U, 100U}) {
      for (const std::size_t actions : {1U, 2U, 7U}) {
        PlanOptions options = small_game();
        options.horizon = horizon;
        options.max_actions = actions;
        for (const std::uint64_t visits : {2000U, 4096U, 4097U, 5000U, 100'000U, 1'000'000U}) {
          const std::uint64_t episodes = options.max_states * visits;
          const double direct = direct_sum(swap, options, episodes);
          const double blocks =
              sum_of_rigorous_bounds(swap, options, static_cast<double>(episodes));
          EXPECT_GE(blocks, direct * (1.0 - 1e-12)) << horizon << " " << actions << " " << visits;
          EXPECT_LE(blocks, direct * 1.02) << horizon << " " << actions << " " << visits;
        }
      }
    }
  }
}

/// What the rules of the preset proven are made with.
double events_of_rule(const PlanOptions& options, std::uint64_t episodes) {
  LearnerOptions learner = preset_options(Preset::proven, Target::cce);
  learner.delta = options.delta;
  learner.horizon_episodes = episodes;
  return BonusSchedule(learner, seat_of(options)).log_events();
}

/// The same of the preset proven, by what its rules say of every visit.
TEST(Plan, SumOfTheProvenBoundsIsThatOfItsRules) {
  for (const std::size_t horizon : {1U, 4U, 100U}) {
    for (const std::size_t actions : {1U, 2U, 7U}) {
      PlanOptions options = small_game();
      options.horizon = horizon;
      options.max_actions = actions;
      for (const std::uint64_t visits : {2000U, 4097U, 100'000U}) {
        const auto episodes = static_cast<double>(options.max_states * visits);
        const double iota = iota_of(Theorem::cce, Preset::proven, options, episodes);
        const double log_events = events_of_rule(options, options.max_states * visits);
        const OptimisticRigorousSteps<Regret::external> external{log_events};
        const OptimisticRigorousSteps<Regret::swap> swap{log_events};
        double direct = 0.0;
        double direct_swap = 0.0;
        for (std::uint64_t n = 1; n <= visits; ++n) {
          const auto term = [&](const auto& steps) {
            return std::min(
                1.0, steps.bound(static_cast<double>(horizon), actions, static_cast<double>(n),
                                 iota, steps.comparators(actions)));
          };
          direct += term(external);
          direct_swap += term(swap);
        }
        const double blocks = sum_of_proven_bounds(false, options, episodes);
        const double swap_blocks = sum_of_proven_bounds(true, options, episodes);
        EXPECT_GE(blocks, direct * (1.0 - 1e-12)) << horizon << " " << actions << " " << visits;
        EXPECT_LE(blocks, direct * 1.02) << horizon << " " << actions << " " << visits;
        EXPECT_GE(swap_blocks, direct_swap * (1.0 - 1e-12));
        EXPECT_LE(swap_blocks, direct_swap * 1.02);
      }
    }
  }
}

TEST(Plan, TermsFallSoThatEvenVisitsAreTheWorst) {
  // Differences of sums over ever more visits; K / delta is kept, and so iota.
  for (const std::size_t horizon : {1U, 2U, 10U, 100U}) {
    double before = std::numeric_limits<double>::infinity();
    double sum_before = 0.0;
    for (std::uint64_t visits = 1; visits <= 4096; ++visits) {
      PlanOptions options = small_game();
      options.horizon = horizon;
      options.max_states = 1;
      options.delta = 0.0001 * static_cast<double>(visits);
      const double sum = sum_of_rigorous_bounds(false, options, static_cast<double>(visits));
      const double term = sum - sum_before;
      EXPECT_LE(term, before * (1.0 + 1e-9) + 1e-9) << horizon << " " << visits;
      before = term;
      sum_before = sum;
    }
  }
}

TEST(Plan, TinyGapsDoNotOverflow) {
  PlanOptions options = small_game();
  options.eps = 1e-12;
  for (const PlannedRun& run : plan_episodes(options)) {
    EXPECT_FALSE(run.episodes);
    EXPECT_FALSE(run.agent_steps);
    const double episodes = std::pow(10.0, run.episodes_log10);
    EXPECT_LE(gap_bound(run.theorem, run.preset, options, 1.0001 * episodes), options.eps);
    EXPECT_GT(gap_bound(run.theorem, run.preset, options, 0.9999 * episodes), options.eps);
    EXPECT_GT(run.episodes_log10, 25.0);
    EXPECT_LT(run.episodes_log10, 40.0);
  }
  options.eps = 1e-200;
  EXPECT_THROW(static_cast<void>(plan_episodes(options)), Error);
}

TEST(Plan, AgentStepsMayNotFit) {
  PlanOptions options = small_game();
  options.num_players = 1000;
  options.zero_sum = false;
  options.target = Target::cce;
  for (options.eps = 1.0; options.eps > 1e-7; options.eps *= 0.5) {
    const PlannedRun run = run_of(Theorem::cce, Preset::paper, options);
    if (!run.episodes) {
      EXPECT_GT(run.episodes_log10, std::log10(0x1p63) - 1e-9);
      continue;
    }
    EXPECT_LE(*run.episodes, kMostPlannedEpisodes);
    const bool fits = run.episodes_log10 + std::log10(3000.0) < std::log10(0x1p64);
    EXPECT_EQ(run.agent_steps.has_value(), fits);
  }
}

TEST(Plan, RefusesWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refused = [](auto change, const std::string& place) {
    PlanOptions options = small_game();
    change(options);
    try {
      static_cast<void>(plan_episodes(options));
      ADD_FAILURE() << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.place(), place);
    }
  };
  for (const double eps : {0.0, -1.0, 3.0, nan, infinity}) {
    refused([&](PlanOptions& options) { options.eps = eps; }, "eps");
  }
  for (const double delta : {0.0, 1.0, -0.1, 2.0, nan, infinity}) {
    refused([&](PlanOptions& options) { options.delta = delta; }, "delta");
  }
  for (const double constant : {-1.0, nan, infinity}) {
    refused([&](PlanOptions& options) { options.bonus_constant = constant; }, "the bonus constant");
  }
  refused([](PlanOptions& options) { options.horizon = 0; }, "sizes");
  refused([](PlanOptions& options) { options.max_actions = 0; }, "sizes");
  refused([](PlanOptions& options) { options.target = Target::optimal; }, "target");
}

}  // namespace
}  // namespace vlearn
