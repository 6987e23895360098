// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/average.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/trained_files.h"
#include "vlearn/game/any_game.h"

namespace vlearn {
namespace {

using test::trained_files;

/// alpha_n^i for i = 1, ..., n, as a_i prod_{j > i} (1 - a_j), a_n = (c + 1)/(c + n).
std::vector<long double> weights_of(std::uint64_t c, std::uint64_t n) {
  std::vector<long double> weights(n);
  long double rest = 1.0L;
  for (std::uint64_t i = n; i >= 1; --i) {
    const long double rate = static_cast<long double>(c + 1) / static_cast<long double>(c + i);
    weights[i - 1] = rate * rest;
    rest *= 1.0L - rate;
  }
  return weights;
}

TEST(Average, IsTheSumOverAllVisits) {
  const AnyGame any = make_game("random:players=2,states=3,actions=4,horizon=3,seed=1");
  const GameRef game(std::get<DenseGame>(any));
  for (const auto& [rule, variates] :
       {std::pair(RuleName::ftrl, false), std::pair(RuleName::tsallis, true),
        std::pair(RuleName::ftrl_swap, false)}) {
    const std::vector<PolicyFile> files = trained_files(game, rule, variates, 700);
    const PolicyFile& file = files[1];
    ASSERT_EQ(file.header().weights, 3U);
    ReplayMemory memory;
    for (std::size_t cell = 0; cell < file.header().seat.num_cells(); ++cell) {
      const std::uint64_t all_visits = file.visits_before(cell, file.episodes());
      for (const std::uint64_t n : {std::uint64_t{1}, all_visits / 2, all_visits}) {
        if (n == 0 || n > all_visits) continue;
        const std::vector<long double> weights = weights_of(3, n);
        std::vector<long double> averaged(4, 0.0L);
        std::vector<long double> played(4, 0.0L);
        std::vector<double> policy(4);
        for (std::uint64_t i = 1; i <= n; ++i) {
          file.policy(cell, i, policy, memory);
          for (std::size_t b = 0; b < 4; ++b) averaged[b] += weights[i - 1] * policy[b];
          played[file.logged(cell, i).action.index()] += weights[i - 1];
        }
        const CellAverage average = average_of(file, cell, n, memory);
        EXPECT_EQ(average.visits, n);
        EXPECT_EQ(average.last, policy);
        for (std::size_t b = 0; b < 4; ++b) {
          // Each step rounds by some 2^-53 of at most 1, and forgets most of what was before.
          EXPECT_NEAR(average.averaged[b], static_cast<double>(averaged[b]), 1e-14);
          EXPECT_NEAR(average.played[b], static_cast<double>(played[b]), 1e-14);
        }
        EXPECT_NEAR(std::accumulate(average.averaged.begin(), average.averaged.end(), 0.0), 1.0,
                    1e-14);
      }
    }
  }
}

TEST(Average, OfNothingIsUniform) {
  const AnyGame any = make_game("random:players=2,states=2,actions=4,horizon=2,seed=2");
  const auto files = trained_files(GameRef(std::get<DenseGame>(any)), RuleName::ftrl, false, 50);
  ReplayMemory memory;
  for (const std::size_t cell : {0U, 1U}) {  // visited often, and never
    const CellAverage average = average_of(files[0], cell, 0, memory);
    EXPECT_EQ(average.visits, 0U);
    EXPECT_EQ(average.averaged, std::vector<double>(4, 0.25));
    EXPECT_EQ(average.last, std::vector<double>(4, 0.25));
    EXPECT_TRUE(average.played.empty());
  }
}

TEST(Average, TablesHaveTheirPlaces) {
  // Players whose numbers of actions differ, and steps whose numbers of states do.
  const AnyGame any = make_game("lock");
  std::vector<PolicyFile> files;
  std::visit(
      [&](const auto& game) { files = trained_files(GameRef(game), RuleName::ftrl, false, 400); },
      any);
  const Seat& seat = files[0].header().seat;
  for (const std::uint64_t episodes : {0U, 123U, 400U}) {
    const AverageTable table = table_of(files, episodes, {.threads = 2});
    const std::vector<std::uint64_t>& shape = table.shape;
    ASSERT_EQ(shape, (std::vector<std::uint64_t>{files.size(), seat.horizon, seat.max_states,
                                                 seat.max_actions}));
    ReplayMemory memory;
    double sum = 0.0;
    for (std::size_t j = 0; j < files.size(); ++j) {
      for (const Step h : all<Step>(seat.horizon)) {
        for (const State s :
             all<State>(seat.first_cell[h.index() + 1] - seat.first_cell[h.index()])) {
          const std::size_t cell = seat.cell(h, s);
          const std::uint64_t n = files[j].visits_before(cell, episodes);
          const CellAverage average = average_of(files[j], cell, n, memory);
          EXPECT_EQ(table.visits[h.index() * shape[2] + s.index()], n);
          const std::size_t row = ((j * shape[1] + h.index()) * shape[2] + s.index()) * shape[3];
          for (std::size_t a = 0; a < average.averaged.size(); ++a) {
            EXPECT_EQ(table.averaged[row + a], average.averaged[a]);
            EXPECT_EQ(table.last[row + a], average.last[a]);
            sum += table.averaged[row + a];
          }
        }
      }
    }
    // All else is 0.
    EXPECT_NEAR(std::accumulate(table.averaged.begin(), table.averaged.end(), 0.0), sum, 1e-9);
  }
}

TEST(Average, TablesAreOfOneRun) {
  const AnyGame any = make_game("random:players=2,states=3,actions=4,horizon=3,seed=1");
  const GameRef game(std::get<DenseGame>(any));
  std::vector<PolicyFile> files = trained_files(game, RuleName::ftrl, false, 100);
  files[1] = std::move(trained_files(game, RuleName::ftrl, false, 101)[1]);
  EXPECT_EQ(test::error_of(ErrorKind::input, [&] { static_cast<void>(table_of(files, 50)); }),
            "policy of player 2: has other steps, states or episodes than policy of player 1");
}

TEST(Average, CountsWhatTheWeightsRestOn) {
  for (const std::uint64_t c : {1U, 2U, 5U, 40U}) {
    const OutputWeights alpha(c);
    for (const std::uint64_t n : {1U, 2U, 3U, 17U, 1000U}) {
      const std::vector<long double> weights = weights_of(c, n);
      for (const double share : {0.0123, 0.4997, 0.9003, 0.9897}) {  // no ties
        std::uint64_t count = 0;
        long double sum = 0.0L;
        while (sum < static_cast<long double>(share)) sum += weights[n - ++count];
        EXPECT_EQ(recent_visits(alpha, n, share), count) << c << " " << n << " " << share;
      }
      long double squares = 0.0L;
      for (const long double weight : weights) squares += weight * weight;
      const auto effective = static_cast<double>(1.0L / squares);
      EXPECT_NEAR(effective_visits(alpha, n), effective, 1e-12 * effective);
    }
  }
}

}  // namespace
}  // namespace vlearn
