// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The verifier's rules give the policies that the learner's rules have played.
#include "vlearn/verify/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/policy_files.h"
#include "vlearn/verify/policy_log.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TrainedRun;
using test::Training;

/// The largest |theta' - theta| / theta, chances of 10^-300 left out. Of rules for swap regret it
/// begins anew at every snapshot, as the verifier does.
double largest_difference(const Training& training) {
  const TrainedRun run(training);
  double largest = 0.0;
  for (std::size_t j = 0; j < run.paths().size(); ++j) {
    const PolicyFile& file = run.files()[j];
    const PolicyLog log = PolicyLog::read(run.paths()[j]);
    const ReplayedRule& rule = log.rule();
    EXPECT_EQ(log.episodes(), file.episodes());
    for (std::size_t cell = 0; cell < log.num_actions().size(); ++cell) {
      const std::size_t n = log.num_actions()[cell];
      std::vector<double> state(rule.state_size(n));
      std::vector<double> played(n);
      rule.reset(n, state);
      ReplayMemory memory;
      std::uint64_t visit = 0;
      for (const PolicyLog::Run& part : log.runs()) {
        if (part.cell != cell) continue;
        const PolicyLog::Segment& segment = log.segments()[part.segment];
        std::size_t snapshot = part.snapshots_begin;
        for (std::uint64_t i = 0; i < part.count; ++i) {
          file.policy(cell, ++visit, played, memory);
          for (std::size_t b = 0; b < n; ++b) {
            if (played[b] < 1e-300) continue;
            largest = std::max(largest, std::abs(state[b] - played[b]) / played[b]);
          }
          rule.advance(n, visit, log.logged(segment, part.begin + i), state);
          if (visit % rule.snapshot_interval(n) != 0) continue;
          const std::size_t size = rule.snapshot_size(n);
          EXPECT_TRUE(
              rule.agree(std::span(state).last(size), segment.snapshots.subspan(snapshot, size)));
          snapshot += size;
        }
      }
      EXPECT_EQ(visit, file.visits_before(cell, file.episodes()));
    }
  }
  return largest;
}

TEST(ReplayedRules, ComeCloseToWhatWasPlayed) {
  for (const bool variates : {false, true}) {
    for (std::size_t rule = 0; rule < kRuleNames.size(); ++rule) {
      if (needs_control_variate(static_cast<RuleName>(rule)) && !variates) continue;
      for (const char* actions : {"1", "3", "20"}) {
        Training training;
        training.game =
            "random:players=2,states=2,horizon=3,seed=4,actions=" + std::string(actions);
        training.rule = static_cast<RuleName>(rule);
        training.control_variate = variates;
        training.episodes = 1000;
        const double largest = largest_difference(training);
        RecordProperty(std::string(kRuleNames[rule]) + (variates ? "+cv " : " ") + actions,
                       std::to_string(largest * 1e15) + "e-15");
        EXPECT_LE(largest, 1e-14)  // a hundredth of what the verifier counts on
            << kRuleNames[rule] << (variates ? " with control variates, " : ", ") << actions;
      }
    }
  }
}

TEST(ReplayedRules, KnowNoOthers) {
  EXPECT_FALSE(ReplayedRule::make({.name = "hedge"}));
  EXPECT_TRUE(ReplayedRule::make({.name = "ftrl"}));
}

TEST(ReplayedRules, KnowNoScaleOfNoiseWithoutControlVariates) {
  for (const char* name : {"optimistic", "optimistic-nash", "optimistic-swap",
                           "optimistic-rigorous", "optimistic-swap-rigorous"}) {
    EXPECT_FALSE(ReplayedRule::make({.name = name})) << name;
    EXPECT_TRUE(ReplayedRule::make({.name = name, .control_variate = true})) << name;
  }
}

/// theta, means, plays, losses, and then D and M; one action's log by hand.
TEST(ReplayedRules, MeasureTheNoiseOfLosses) {
  const std::optional<ReplayedRule> rule =
      ReplayedRule::make({.name = "optimistic", .control_variate = true, .horizon = 9});
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->state_size(1), 6U);
  EXPECT_EQ(rule->snapshot_size(1), 5U);
  EXPECT_EQ(rule->snapshot_interval(3), 64U);
  std::vector<double> state(6);
  rule->reset(1, state);
  // Losses 0.75 and 0.25, which are 0.25 above and 0.5 below the mean; it moves by 3/3 and 3/4 of
  // that. D gets |s|^1.5 |score|^0.5, and keeps (1/3)^2 of what it had.
  rule->advance(1, 1, {.action = 0, .score = 0.25, .mean = 0.25}, state);
  EXPECT_EQ(state, (std::vector<double>{1.0, 0.75, 1.0, 0.0, 0.0625, 0.0}));
  rule->advance(1, 2, {.action = 0, .score = -0.5, .mean = -0.5 * 0.75}, state);
  EXPECT_NEAR(state[1], 0.375, 1e-15);
  EXPECT_EQ(state[2], 2.0);
  EXPECT_NEAR(state[4], 0.0625 / 9.0 + 0.25, 1e-15);
  EXPECT_NEAR(state[5], 0.25, 1e-15);
}

/// A policy file is cut, and each of its bytes turned: all of it is refused, none of it crashes.
TEST(PolicyLogs, RefuseWhatIsDamaged) {
  for (const bool variates : {false, true}) {
    Training training{.game = "random:players=2,states=2,actions=2,horizon=2,seed=1"};
    training.control_variate = variates;
    training.episodes = 70;
    const TrainedRun run(training);
    const std::span<const std::byte> good = run.bytes(0);
    EXPECT_NO_THROW(static_cast<void>(PolicyLog::parse(FileBytes::copy(good), "p")));
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::vector<std::byte> bad(good.begin(), good.end());
      bad[i] ^= std::byte{0x10};
      error_of(ErrorKind::input,
               [&] { static_cast<void>(PolicyLog::parse(FileBytes::copy(bad), "p")); });
      bad.resize(i);
      const bool header_alone = [&] {
        try {
          return PolicyLog::parse(FileBytes::copy(bad), "p").episodes() == 0;
        } catch (const Error& error) {
          return error.kind() != ErrorKind::input;
        }
      }();
      EXPECT_EQ(header_alone, i == encode_header(run.files()[0].header()).size());
    }
  }
}

}  // namespace
}  // namespace vlearn
