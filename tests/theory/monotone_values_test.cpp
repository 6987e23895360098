// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemma 18 and Theorem 8: monotonic V-learning and its Markov output.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/markov_values.h"
#include "support/theory_run.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {
namespace {

/// Zero-sum games with two actions each.
const std::vector<std::string>& monotone_games() {
  static const std::vector<std::string> names = {
      "random:players=2,states=2,actions=2,horizon=2,kind=zero-sum,seed=31",
      "random:players=2,states=2,actions=2,horizon=3,kind=zero-sum,seed=32",
      "random:players=2,states=1,actions=2,horizon=1,kind=zero-sum,seed=33"};
  return names;
}

TEST(MonotoneValues, BoundBestRepliesToTheMarkovOutput) {
  const std::uint64_t episodes = 400'000;
  for (const std::string& name : monotone_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    LearnerOptions options = rigorous_options(Target::nash, episodes);
    options.monotone = true;
    const FtrlRigorous<> rule(frame.horizon(), rigorous_steps<Regret::external>(frame, options));
    SelfPlay<FtrlRigorous<>> play(GameRef(game), rule, options, 41);
    const AlphaWeights alpha(frame.horizon());
    const std::size_t cells = play.seat().num_cells();
    // Of each player and cell: sum_i alpha_t^i pi^{k^i}, and what it was when the other's value
    // fell.
    std::vector average(2, std::vector(cells, std::vector<double>(2, 0.5)));
    std::vector output(2, std::vector(cells, std::vector<double>()));
    std::uint64_t falls_apart = 0;
    for (std::uint64_t k = 0; k < episodes; ++k) {
      Values before;
      for (const Player player : all<Player>(2)) {
        const std::span<const double> values = play.table(player).values();
        before.emplace_back(values.begin(), values.end());
      }
      std::vector<std::size_t> path;
      play.play_episode(Episode(k), [&](const JointVisit& visit) {
        path.push_back(visit.cell);
        const double weight = alpha.rate(play.visits(visit.cell) + 1);
        for (const Player player : all<Player>(2)) {
          for (std::size_t b = 0; b < 2; ++b) {
            double& mean = average[player.index()][visit.cell][b];
            mean += weight * (play.table(player).policy(visit.cell)[b] - mean);
          }
        }
      });
      for (const std::size_t cell : path) {
        bool fell[2];
        for (std::size_t j = 0; j < 2; ++j) {
          const double value = play.table(Player(j)).value(cell);
          ASSERT_LE(value, before[j][cell]);
          fell[j] = value < before[j][cell];
        }
        for (std::size_t j = 0; j < 2; ++j) {
          if (fell[1 - j]) output[j][cell] = average[j][cell];
        }
        if (fell[0] != fell[1]) ++falls_apart;
      }
    }
    EXPECT_GT(falls_apart, 100);  // or it would not matter whose value fell

    const auto outputs = [&](Step h, State s) {
      std::vector<double> policies;
      for (const Player player : all<Player>(2)) {
        const auto policy = play.markov_policy(player, play.seat().cell(h, s));
        policies.insert(policies.end(), policy.begin(), policy.end());
      }
      return policies;
    };
    const Values replies[2] = {best_response(game, Player(0), outputs),
                               best_response(game, Player(1), outputs)};
    const Values worth = minimax_value(game);
    for_each_cell(frame, [&](Step h, State s, std::size_t cell) {
      const double high = most(frame, h);
      const double value[2] = {play.table(Player(0)).value(cell),
                               play.table(Player(1)).value(cell)};
      // Cells that were never seen are bounded too, by the most that there is.
      const bool visited = play.visits(cell) > 0;
      const double star[2] = {worth[h.index()][s.index()], high - worth[h.index()][s.index()]};
      for (std::size_t j = 0; j < 2; ++j) {
        const double reply = replies[j][h.index()][s.index()];
        if (visited) {
          EXPECT_LT(value[j], high);  // else there is nothing to see
        }
        EXPECT_GE(value[j], reply - kRounding);
        EXPECT_GE(reply, star[j] - kRounding);
        for (std::size_t b = 0; b < output[j][cell].size(); ++b) {
          EXPECT_NEAR(play.markov_policy(Player(j), cell)[b], output[j][cell][b], 1e-9);
        }
      }
      EXPECT_GE(value[0] + value[1], high - kRounding);
    });
    // Theorem 8: the duality gap of the Markov output is at most what the values say.
    const double most_gap = at_start(frame, play.table(Player(0)).values()) +
                            at_start(frame, play.table(Player(1)).values()) - most(frame, Step(0));
    const double gap = at_start(frame, replies[0].front()) + at_start(frame, replies[1].front()) -
                       most(frame, Step(0));
    EXPECT_GE(most_gap, gap);
    EXPECT_LE(gap, 0.1);
  }
}

/// One player, whom the trainer gives an opponent without choices.
TEST(MonotoneValues, OfOnePlayerBoundItsOptimumAndItsOutput) {
  const std::uint64_t episodes = 100'000;
  const DenseGame game = table_game("random:players=1,states=2,actions=2,horizon=3,seed=34");
  const Frame& frame = game.frame();
  LearnerOptions options = rigorous_options(Target::optimal, episodes);
  options.monotone = true;
  const std::unique_ptr<Trainer> trainer = make_trainer(GameRef(game), options, 42);
  trainer->play_until(episodes, {});
  const auto output = [&](Step h, State s) {
    const auto policy = trainer->markov_policy(Player(0), trainer->seat(Player(0)).cell(h, s));
    return std::vector<double>(policy.begin(), policy.end());
  };
  const Values best = best_response(game, Player(0), output);
  const Values earned = policy_value(game, Player(0), output);
  for_each_cell(frame, [&](Step h, State s, std::size_t cell) {
    const double value = trainer->values(Player(0))[cell];
    const double of_dummy = trainer->values(Player(1))[cell];
    if (trainer->visits(cell) > 0) {
      EXPECT_LT(value, most(frame, h));
      EXPECT_LT(of_dummy, most(frame, h));
    }
    EXPECT_GE(value, best[h.index()][s.index()] - kRounding);
    // The opponent's value bounds what the output leaves it.
    EXPECT_GE(of_dummy, most(frame, h) - earned[h.index()][s.index()] - kRounding);
  });
  EXPECT_LE(at_start(frame, best.front()) - at_start(frame, earned.front()), 0.1);
}

}  // namespace
}  // namespace vlearn::test
