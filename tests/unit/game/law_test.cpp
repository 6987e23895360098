// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How far laws and backups are off: rows that do not sum to one, sums over many joint actions,
// rewards far from 0.
#include "vlearn/game/law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "vlearn/core/random.h"
#include "vlearn/game/any_game.h"

namespace vlearn {
namespace {

using Rational = boost::multiprecision::cpp_rational;

constexpr double kOff = 0x1p-41;  // 4.5e-13

std::vector<double> random_row(Draws& draws, std::size_t size) {
  std::vector<double> row(size);
  for (double& p : row) p = draws.uniform() * std::ldexp(1.0, -static_cast<int>(draws.below(80)));
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& p : row) p /= sum;
  return row;
}

TEST(RowDefect, IsNeverBelowTheExactOne) {
  Draws draws({.seed = 1, .purpose = Purpose::test});
  for (int i = 0; i < 300; ++i) {
    std::vector<double> row = random_row(draws, 1 + draws.below(i < 290 ? 40 : 2000));
    row.front() += 1e-12 * (draws.uniform() - 0.5);
    row.front() = std::max(row.front(), 0.0);
    Rational sum = 0;
    for (const double p : row) sum += Rational(p);
    const Rational exact = abs(Rational(sum - 1));
    const Rational stated(row_defect(row));
    EXPECT_GE(stated, exact);
    EXPECT_LE(stated, exact * (1 + Rational(0x1p-50)) +
                          Rational(0x1p-99) * static_cast<std::uint64_t>(row.size()));
  }
}

FrameOptions two_states() {
  return {.num_players = 2, .horizon = 3, .num_states = {2}, .num_actions = {1, 1}};
}

TEST(LawDefect, IsThatOfTheWorstRow) {
  const auto expect = [](const auto& game, double defect) {
    EXPECT_GE(game.law_defect(), defect);
    EXPECT_LE(game.law_defect(), defect * (1.0 + 1e-8) + 1e-29);
  };
  const std::vector<double> rewards(4, 0.5);
  const Frame frame(two_states());
  expect(DenseGame(frame, rewards, {0.5, 0.5, 0.5, 0.5}), 0.0);
  expect(DenseGame(frame, rewards, {0.5, 0.5, 0.5 - kOff, 0.5}), kOff);
  expect(DenseGame(frame, rewards, {0.5, 0.5 + kOff, 0.5, 0.5}), kOff);
  expect(SparseGame(frame, rewards, {{0, 2, 3}, {0, 1, 1}, {0.5, 0.5, 1.0 + kOff}}), kOff);
  // The last step of a game that depends on steps leads nowhere.
  FrameOptions steps = two_states();
  steps.horizon = 2;
  steps.stationary = false;
  expect(SparseGame(Frame(steps), std::vector<double>(8, 0.5),
                    {{0, 2, 3, 3, 3}, {0, 1, 1}, {0.5, 0.5, 1.0 + kOff}}),
         kOff);
  // Averages of laws: the weights may be off, and the laws.
  CongestionOptions congestion{
      .num_routes = 1, .rewards = rewards, .transitions = {0.5, 0.5 + kOff, 0.5, 0.5}};
  expect(CongestionGame(frame, congestion), kOff);
  congestion.base = {1.0 + kOff, 0.75};
  expect(CongestionGame(frame, congestion), 2.0 * kOff);
  PolymatrixOptions polymatrix{.rewards = std::vector<double>(8, 0.25),
                               .transitions = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 + kOff}};
  expect(PolymatrixGame(frame, polymatrix), kOff);
  polymatrix.weights = {0.5, 0.5 - kOff, 0.5, 0.5};
  expect(PolymatrixGame(frame, polymatrix), 2.0 * kOff);
  expect(CallbackGame(frame, "test",
                      [](Step h, State s, std::span<const Action>, Outcome& outcome) {
                        outcome.successors = {{State(0), 0.25}, {State(1), 0.75}};
                        if (h == Step(1) && s == State(1)) outcome.successors[0].second -= kOff;
                      }),
         kOff);
}

/// A sum of a third of a million numbers, as good as one of some hundred.
TEST(BackupError, DoesNotGrowWithJointActions) {
  constexpr std::size_t kActions = 24;
  const Frame frame(
      {.num_players = 4, .horizon = 1, .num_states = {1}, .num_actions = {24, 24, 24, 24}});
  const std::size_t joints = *frame.num_joint_actions(0);
  Draws draws({.seed = 2, .purpose = Purpose::test});
  std::vector<double> rewards(4 * joints);
  for (double& r : rewards) r = draws.uniform();
  const DenseGame game(frame, rewards, std::vector<double>(joints, 1.0));
  const CallbackGame asked(frame, "the same",
                           [&](Step, State, std::span<const Action> joint, Outcome& outcome) {
                             const std::size_t place = joint_offset(frame.begins_of_cell(0), joint);
                             for (std::size_t j = 0; j < 4; ++j)
                               outcome.rewards[j] = rewards[j * joints + place];
                           });
  std::vector<double> policies;
  for (std::size_t j = 0; j < 4; ++j) {
    const std::vector<double> own = random_row(draws, kActions);
    policies.insert(policies.end(), own.begin(), own.end());
  }
  const Profile profile(frame.begins_of_cell(0), policies);
  // The last player's actions meet the joint actions of all others, in long double.
  std::vector<long double> exact(kActions, 0.0L);
  for (std::size_t x = 0; x < joints / kActions; ++x) {
    const long double chance = static_cast<long double>(policies[x / (kActions * kActions)]) *
                               policies[kActions + x / kActions % kActions] *
                               policies[2 * kActions + x % kActions];
    for (std::size_t b = 0; b < kActions; ++b) {
      exact[b] += chance * rewards[3 * joints + x * kActions + b];
    }
  }
  const auto expect_close = [&](const auto& model) {
    EXPECT_LT(model.backup_error(0.0), 1e-13);
    std::vector<double> numbers(4 * kActions);
    const ActionValues q(frame.begins_of_cell(0), numbers);
    Workspace workspace;
    model.backup_all({Step(0), State(0), profile}, {}, q, workspace);
    for (std::size_t b = 0; b < kActions; ++b) {
      EXPECT_LE(std::abs(q[Player(3)][b] - exact[b]), model.backup_error(0.0));
    }
  };
  expect_close(game);
  expect_close(asked);
}

/// What is added to all rewards of a structured game takes no digits from its backups.
TEST(BackupError, DoesNotGrowWithWhereRewardsLie) {
  constexpr double kFar = 0x1p49;  // rewards are multiples of 1/8
  const auto frame = [](double low) {
    return Frame({.num_players = 3,
                  .horizon = 1,
                  .num_states = {1},
                  .num_actions = {2, 2, 2},
                  .ranges = {{low, low + 1.0}}});
  };
  const std::vector<double> policies = {0.3, 0.7, 0.1, 0.9, 0.6, 0.4};
  const auto backup = [&](const auto& game) {
    std::vector<double> numbers(6);
    const ActionValues q(game.frame().begins_of_cell(0), numbers);
    Workspace workspace;
    game.backup_all({Step(0), State(0), Profile(game.frame().begins_of_cell(0), policies)}, {}, q,
                    workspace);
    return numbers;
  };
  const auto congestion = [&](double low) {
    CongestionOptions options{.num_routes = 2, .transitions = {1.0, 1.0}};
    for (const double r : {1.0, 0.5, 0.125, 0.75, 0.25, 0.0}) options.rewards.push_back(low + r);
    return CongestionGame(frame(low), options);
  };
  // The offset is what another player pays, less what an action pays by itself.
  const auto polymatrix = [&](double low) {
    PolymatrixOptions options{.transitions = std::vector<double>(6, 1.0)};
    for (std::size_t a = 0; a < 6; ++a) {
      for (std::size_t b = 0; b < 6; ++b) {
        const double small = static_cast<double>((3 * a + b) % 3) * 0.125;
        if (a / 2 == b / 2) {
          options.rewards.push_back(a == b ? small - low : 0.0);
        } else {
          options.rewards.push_back(small + low);
        }
      }
    }
    return PolymatrixGame(frame(low), options);
  };
  EXPECT_EQ(congestion(kFar).backup_error(0.0), congestion(0.0).backup_error(0.0));
  EXPECT_EQ(backup(congestion(kFar)), backup(congestion(0.0)));
  EXPECT_NEAR(polymatrix(kFar).backup_error(0.0), polymatrix(0.0).backup_error(0.0), 1e-20);
  EXPECT_EQ(backup(polymatrix(kFar)), backup(polymatrix(0.0)));
  EXPECT_LT(polymatrix(kFar).law_defect(), 1e-13);
}

}  // namespace
}  // namespace vlearn
