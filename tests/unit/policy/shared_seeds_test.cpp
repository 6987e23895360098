// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Who shares which random numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/executed_run.h"

namespace vlearn::test {
namespace {

/// 16 players; one state at step 1 is not needed here, the observed states are made up.
const RecordedRun& crowd_run() {
  static const AnyGame game = make_game("congestion:players=16,routes=2,states=3,horizon=3,seed=1");
  static const RecordedRun run =
      run_of<Ftrl<>>(GameRef(std::get<CongestionGame>(game)), RuleName::ftrl, 200);
  return run;
}

State observed(std::uint64_t k, Step h) {
  if (h == Step(0)) return State(0);
  Draws draws({.seed = 5, .purpose = Purpose::test, .episode = Episode(k), .step = h});
  return State(draws.below(3));
}

TEST(Execute, PlayersWhoShareTheIndexSeedAlwaysDrawTheSameVisits) {
  const std::vector<PolicyFile> files = files_of(crowd_run());
  ASSERT_EQ(files.size(), 16U);
  std::vector<PolicyPlayer> players =
      players_of(files, {StartRule::Kind::uniform}, OutputKind::nested, 3);
  std::uint64_t different = 0;
  std::uint64_t actions_differ = 0;
  for (std::uint64_t k = 0; k < 100'000; ++k) {
    for (PolicyPlayer& player : players) player.begin(Episode(k));
    for (const Step h : all<Step>(3)) {
      const PolicyPlayer::Move first = players.front().act(h, observed(k, h));
      for (std::size_t j = 1; j < players.size(); ++j) {
        const PolicyPlayer::Move move = players[j].act(h, observed(k, h));
        different += move.visit != first.visit || move.episode != first.episode ? 1U : 0U;
        actions_differ += move.action != first.action ? 1U : 0U;
      }
    }
  }
  EXPECT_EQ(different, 0U);
  EXPECT_GT(actions_differ, 100'000U);  // nothing else is shared
}

TEST(Execute, PlayersWithIndexSeedsOfTheirOwnDrawIndependently) {
  // Two independent draws agree with probability sum_i (alpha_t^i)^2.
  const std::vector<PolicyFile> files = files_of(narrow_run());
  ExecuteOptions options = options_of(3, files[0]);
  PolicyPlayer first(files[0], options);
  options = options_of(3, files[1]);
  options.index_seed = derive_seed(3, "index", 2);
  PolicyPlayer second(files[1], options);
  constexpr std::uint64_t kEpisodes = 100'000;
  double agree = 0.0;
  for (std::uint64_t k = 0; k < kEpisodes; ++k) {
    first.begin(Episode(k));
    second.begin(Episode(k));
    agree += first.act(Step(0), State(0)).visit == second.act(Step(0), State(0)).visit ? 1.0 : 0.0;
  }
  double chance = 0.0;
  for (std::uint64_t i = 1; i <= 50; ++i) chance += std::pow(AlphaWeights(2).weight(50, i), 2);
  const double n{kEpisodes};
  EXPECT_NEAR(agree / n, chance, 4.0 * std::sqrt(chance * (1.0 - chance) / n));
}

struct Trace {
  std::vector<std::uint64_t> visits;
  std::vector<Action> actions;
};

Trace trace_of(const PolicyFile& file, const ExecuteOptions& options) {
  PolicyPlayer player(file, options);
  Trace trace;
  for (std::uint64_t k = 0; k < 300; ++k) {
    player.begin(Episode(k));
    for (const Step h : all<Step>(3)) {
      const PolicyPlayer::Move move = player.act(h, observed(k, h));
      trace.visits.push_back(move.visit);
      trace.actions.push_back(move.action);
    }
  }
  return trace;
}

TEST(Execute, SeedsChangeWhatTheyAreFor) {
  const std::vector<PolicyFile> files = files_of(crowd_run());
  std::vector<Trace> before;
  for (const PolicyFile& file : files) before.push_back(trace_of(file, options_of(3, file)));
  // Everybody in turn gets another private seed; what the others do cannot depend on it, since they
  // never see it. What they do see stays the same too.
  for (std::size_t j = 0; j < files.size(); ++j) {
    ExecuteOptions options = options_of(3, files[j]);
    options.private_seed = derive_seed(4, "private", files[j].header().player.number());
    const Trace after = trace_of(files[j], options);
    EXPECT_EQ(after.visits, before[j].visits);
    EXPECT_NE(after.actions, before[j].actions);
    const Trace again = trace_of(files[j], options_of(3, files[j]));
    EXPECT_EQ(again.visits, before[j].visits);
    EXPECT_EQ(again.actions, before[j].actions);
  }
  ExecuteOptions options = options_of(3, files[0]);
  options.index_seed = derive_seed(4, "index", 0);
  EXPECT_NE(trace_of(files[0], options).visits, before[0].visits);
}

TEST(Execute, PlayersWithOnePrivateSeedStillDrawOnTheirOwn) {
  // Nothing was learned: both play uniformly, so only their streams can tell them apart.
  const AnyGame game = make_game("congestion:players=2,routes=2,states=3,horizon=3,seed=1");
  const RecordedRun run =
      run_of<Ftrl<>>(GameRef(std::get<CongestionGame>(game)), RuleName::ftrl, 0);
  const std::vector<PolicyFile> files = files_of(run);
  const ExecuteOptions options = options_of(3, files[0]);
  EXPECT_NE(trace_of(files[0], options).actions, trace_of(files[1], options).actions);
}

}  // namespace
}  // namespace vlearn::test
