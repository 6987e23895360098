// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/walk.h"

#include <gtest/gtest.h>

#include <bit>
#include <variant>
#include <vector>

#include "support/trained_files.h"
#include "vlearn/game/any_game.h"

namespace vlearn {
namespace {

using test::trained_files;

std::vector<std::uint64_t> bits_of(std::span<const double> numbers) {
  std::vector<std::uint64_t> bits;
  for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  return bits;
}

/// Every visit of every cell, and the one that would come next.
void expect_the_policies_of(const PolicyFile& file) {
  ReplayMemory memory;
  ReplayMemory other;
  for (std::size_t cell = 0; cell < file.header().seat.num_cells(); ++cell) {
    const std::uint64_t n = file.visits_before(cell, file.episodes());
    std::vector<double> policy(file.header().seat.num_actions[cell]);
    PolicyWalk walk(file, cell, memory);
    for (std::uint64_t i = 1; i <= n + 1; ++i) {
      ASSERT_EQ(walk.visit(), i);
      file.policy(cell, i, policy, other);
      ASSERT_EQ(bits_of(walk.policy()), bits_of(policy)) << "cell " << cell << ", visit " << i;
      ASSERT_EQ(walk.logged(), i <= n);
      if (!walk.logged()) break;
      ASSERT_EQ(walk.episode(), file.episode_of(cell, i));
      ASSERT_EQ(walk.action(), file.logged(cell, i).action);
      walk.next();
    }
  }
}

TEST(Walk, GivesThePoliciesOfEveryRule) {
  const AnyGame any = make_game("random:players=2,states=3,actions=5,horizon=3,seed=1");
  const auto& game = std::get<DenseGame>(any);
  for (std::size_t rule = 0; rule < kRuleNames.size(); ++rule) {
    for (const bool variates : {false, true}) {
      SCOPED_TRACE(kRuleNames[rule]);
      if (needs_control_variate(static_cast<RuleName>(rule)) && !variates) continue;
      const auto files = trained_files(GameRef(game), static_cast<RuleName>(rule), variates, 1500);
      for (const PolicyFile& file : files) {
        ASSERT_EQ(file.header().rule, kRuleNames[rule]);
        ASSERT_EQ(file.header().control_variate, variates);
        expect_the_policies_of(file);
      }
    }
  }
}

TEST(Walk, GoesFromSegmentToSegment) {
  // 40 steps of 40 players leave room for 2048 episodes in a segment.
  const AnyGame any = make_game("congestion:players=40,routes=2,states=2,horizon=40,seed=1");
  const auto files =
      trained_files(GameRef(std::get<CongestionGame>(any)), RuleName::tsallis, true, 5000);
  ASSERT_LT(files[7].header().segment_episodes, 2500U);
  expect_the_policies_of(files[7]);
}

TEST(Walk, SeesAsManyVisitsAsAreAskedFor) {
  const AnyGame any = make_game("random:players=2,states=3,actions=3,horizon=2,seed=1");
  const auto files = trained_files(GameRef(std::get<DenseGame>(any)), RuleName::ftrl, false, 300);
  ReplayMemory memory;
  for (const std::uint64_t n : {0U, 1U, 2U, 65U, 300U, 301U}) {
    std::uint64_t seen = 0;
    for_each_policy(files[0], 0, n, memory, [&](std::uint64_t i, std::span<const double> policy) {
      EXPECT_EQ(i, ++seen);
      EXPECT_EQ(policy.size(), 3U);
    });
    EXPECT_EQ(seen, n);
  }
}

TEST(Walk, OfACellThatWasNeverVisited) {
  const AnyGame any = make_game("random:players=2,states=2,actions=4,horizon=2,seed=2");
  const auto files =
      trained_files(GameRef(std::get<DenseGame>(any)), RuleName::tsallis, false, 100);
  ReplayMemory memory;
  const PolicyWalk walk(files[0], 1, memory);  // play begins in the first state
  EXPECT_FALSE(walk.logged());
  for (const double p : walk.policy()) EXPECT_EQ(p, 0.25);
}

}  // namespace
}  // namespace vlearn
