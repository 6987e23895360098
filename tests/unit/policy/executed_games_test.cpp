// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What executed policies earn, against what they are worth exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/executed_run.h"
#include "support/markov_gap.h"
#include "support/nested_bounds.h"
#include "support/random_game.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn::test {
namespace {

struct Estimate {
  double mean = 0.0;
  double error = 0.0;  ///< standard error of the mean
};

/// Plays so many episodes; what each player earns in one.
std::vector<Estimate> earned(const DenseGame& game,
                             std::vector<PolicyPlayer>& players,
                             std::uint64_t episodes,
                             std::uint64_t seed) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  std::vector<double> sums(m, 0.0);
  std::vector<double> squares(m, 0.0);
  std::vector<Action> joint(m);
  std::vector<double> rewards(m);
  for (std::uint64_t k = 0; k < episodes; ++k) {
    std::vector<double> total(m, 0.0);
    for (PolicyPlayer& player : players) player.begin(Episode(k));
    State s = game.start(Nature(seed, Episode(k), Step(0)));
    for (const Step h : all<Step>(frame.horizon())) {
      for (std::size_t j = 0; j < m; ++j) joint[j] = players[j].act(h, s).action;
      s = game.sample(h, s, joint, Nature(seed, Episode(k), h), rewards);
      for (std::size_t j = 0; j < m; ++j) total[j] += rewards[j];
    }
    for (std::size_t j = 0; j < m; ++j) {
      sums[j] += total[j];
      squares[j] += total[j] * total[j];
    }
  }
  const auto n = static_cast<double>(episodes);
  std::vector<Estimate> estimates;
  for (std::size_t j = 0; j < m; ++j) {
    const double mean = sums[j] / n;
    const double variance = std::max(0.0, squares[j] / n - mean * mean);
    estimates.push_back({mean, std::sqrt(variance / n)});
  }
  return estimates;
}

/// Everybody's policies at visit i (from 0 on) of a cell, as PlayerRows holds them.
std::vector<double> profile_of(const RecordedRun& run, std::size_t cell, std::size_t i) {
  std::vector<double> policies;
  for (const auto& visits : run.visits) {
    policies.insert(policies.end(), visits[cell][i].policy.begin(), visits[cell][i].policy.end());
  }
  return policies;
}

/// [k][player]: U at the start before episode k = 0, 1, ..., K.
std::vector<std::vector<double>> nested_values(const DenseGame& game, const RecordedRun& run) {
  const Frame& frame = game.frame();
  const Seat seat = seat_of(frame, Player(0));
  NestedBounds<DenseGame> bounds(game);
  // Where episode k went: of each cell the next visit, and which episode that was.
  std::vector<std::size_t> next(seat.num_cells(), 0);
  std::vector<std::vector<double>> values;
  for (std::uint64_t k = 0;; ++k) {
    std::vector<double>& now = values.emplace_back(frame.num_players(), 0.0);
    for (const Player player : all<Player>(frame.num_players())) {
      for (const State s : all<State>(frame.num_states(Step(0)))) {
        now[player.index()] += frame.initial()[s.index()] * bounds.value(player, Step(0), s);
      }
    }
    bool played = false;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        const std::size_t cell = seat.cell(h, s);
        std::size_t& i = next[cell];
        const auto& visits = run.visits[0][cell];
        if (i == visits.size() || visits[i].episode != k) continue;
        const std::vector<double> policies = profile_of(run, cell, i);
        bounds.visit(h, s, Profile(frame.action_begins(h, s), policies));
        ++i;
        played = true;
      }
    }
    if (!played) return values;
  }
}

/// What the Markov mixture of the visits before an episode, counted from 1, is worth with output
/// weights c, by dynamic programming.
std::vector<double> markov_values(const DenseGame& game,
                                  const RecordedRun& run,
                                  std::uint64_t c,
                                  std::uint64_t before = UINT64_MAX) {
  const Frame& frame = game.frame();
  const Seat seat = seat_of(frame, Player(0));
  const AlphaWeights alpha(c);
  std::vector<std::vector<WeightedProfile>> policy;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = seat.cell(h, s);
      std::vector<WeightedProfile>& lottery = policy.emplace_back();
      const auto& visits = run.visits[0][cell];
      const auto is_before = [&](const auto& visit) { return visit.episode + 1 < before; };
      const auto t =
          static_cast<std::size_t>(std::count_if(visits.begin(), visits.end(), is_before));
      for (std::size_t i = 0; i < t; ++i) {
        lottery.push_back({alpha.weight(t, i + 1), profile_of(run, cell, i)});
      }
      if (t > 0) continue;
      WeightedProfile& uniform = lottery.emplace_back();
      for (const Player player : all<Player>(frame.num_players())) {
        const std::size_t n = frame.num_actions(player, h, s);
        uniform.policies.insert(uniform.policies.end(), n, 1.0 / static_cast<double>(n));
      }
    }
  }
  return markov_gap(game, Target::cce, policy).values;
}

void expect_close(const std::vector<Estimate>& estimates, const std::vector<double>& exact) {
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(estimates[j].mean, exact[j], 4.0 * estimates[j].error + 1e-12)
        << "player " << j + 1;
  }
}

// 20 games with 44 players in all, and 6 executions of each: 264 comparisons, each of which a right
// program fails with probability 6.3e-5 for one choice of seeds: 1.7 % in all. The seeds are the
// first that were tried.
class ExecutedGames : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kTrained = 250;
  static constexpr std::uint64_t kPlayed = 10'000;

  ExecutedGames()
      : game_(random_game(GetParam())),
        run_(GetParam() % 2 == 0 ? run_of<Ftrl<>>(GameRef(game_), RuleName::ftrl, kTrained)
                                 : run_of<Tsallis<>>(GameRef(game_), RuleName::tsallis, kTrained)),
        files_(files_of(run_)) {}

  [[nodiscard]] std::vector<Estimate> play(const std::vector<PolicyFile>& files,
                                           const StartRule& start,
                                           OutputKind output) const {
    std::vector<PolicyPlayer> players = players_of(files, start, output, GetParam());
    return earned(game_, players, kPlayed, 1000 + GetParam());
  }

  DenseGame game_;
  RecordedRun run_;
  std::vector<PolicyFile> files_;
};

TEST_P(ExecutedGames, NestedIsWorthWhatTheRecursionSays) {
  const std::vector<std::vector<double>> values = nested_values(game_, run_);
  ASSERT_EQ(values.size(), kTrained + 1);
  expect_close(play(files_, {StartRule::Kind::last}, OutputKind::nested), values.back());
  // Early enough for states that are new.
  const std::uint64_t k = GetParam() + 2;
  expect_close(play(files_, {StartRule::Kind::at, k}, OutputKind::nested), values[k - 1]);
  std::vector<double> mean(game_.frame().num_players(), 0.0);
  for (std::uint64_t i = 0; i < kTrained; ++i) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += values[i][j] / double{kTrained};
  }
  expect_close(play(files_, {StartRule::Kind::uniform}, OutputKind::nested), mean);
}

TEST_P(ExecutedGames, MarkovIsWorthWhatBackwardInductionSays) {
  const std::uint64_t horizon = game_.frame().horizon();
  expect_close(play(files_, {}, OutputKind::markov), markov_values(game_, run_, horizon));
  // Output weights of the file, not of the paper.
  const std::uint64_t c = horizon + 3;
  std::vector<PolicyFile> files;
  for (std::size_t j = 0; j < files_.size(); ++j) files.push_back(with_weights(run_, j, c));
  expect_close(play(files, {}, OutputKind::markov), markov_values(game_, run_, c));
  // Of the visits before an episode alone: early enough for states that are new.
  const std::uint64_t k = GetParam() + 2;
  expect_close(play(files, {StartRule::Kind::at, k}, OutputKind::markov),
               markov_values(game_, run_, c, k));
}

INSTANTIATE_TEST_SUITE_P(Execute, ExecutedGames, testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace vlearn::test
