// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The counting recursion where it could go wrong: many players, probabilities near 0, 1/2 and 1,
// against fifty digits.
#include "vlearn/game/congestion.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_dec_float.hpp>
#include <numeric>

#include "support/expect_error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/any_game.h"

namespace vlearn {
namespace {

using Decimal = boost::multiprecision::cpp_dec_float_50;
using test::error_of;

constexpr std::size_t kPlayers = 100;
constexpr std::size_t kRoutes = 3;
constexpr std::size_t kStates = 2;

struct Numbers {
  std::vector<double> rewards;
  std::vector<double> transitions;
};

Numbers random_numbers() {
  Draws draws({.seed = 9, .purpose = Purpose::test});
  Numbers numbers;
  for (std::size_t i = 0; i < kStates * kRoutes * kPlayers; ++i) {
    numbers.rewards.push_back(draws.uniform());
  }
  for (std::size_t i = 0; i < kStates * kRoutes; ++i) {
    const double p = draws.uniform();
    numbers.transitions.insert(numbers.transitions.end(), {p, 1.0 - p});
  }
  return numbers;
}

/// E[r(b, 1 + N)] + E[P next] for player j on route b, by leaving j out of a fresh count.
Decimal exact_value(const Numbers& numbers,
                    const Profile& profile,
                    std::size_t j,
                    std::size_t b,
                    std::span<const double> next) {
  std::vector<Decimal> law = {1};
  for (std::size_t i = 0; i < kPlayers; ++i) {
    if (i == j) continue;
    const Decimal p = profile[Player(i)][b];
    law.emplace_back(0);
    for (std::size_t n = law.size() - 1; n > 0; --n) law[n] = (1 - p) * law[n] + p * law[n - 1];
    law[0] *= 1 - p;
  }
  Decimal value = 0;
  for (std::size_t n = 0; n < law.size(); ++n) {
    value += law[n] * Decimal(numbers.rewards[b * kPlayers + n]);
  }
  for (std::size_t other = 0; other < kRoutes; ++other) {
    Decimal count = other == b ? 1 : 0;
    for (std::size_t i = 0; i < kPlayers; ++i) {
      if (i != j) count += Decimal(profile[Player(i)][other]);
    }
    for (std::size_t s = 0; s < kStates; ++s) {
      value +=
          count / kPlayers * Decimal(numbers.transitions[other * kStates + s]) * Decimal(next[s]);
    }
  }
  return value;
}

TEST(Congestion, CountsAHundredPlayersToTheLastDigits) {
  const Numbers numbers = random_numbers();
  const CongestionGame game(
      Frame({.num_players = kPlayers,
             .horizon = 2,
             .num_states = {kStates},
             .num_actions = std::vector<std::uint32_t>(kPlayers, kRoutes)}),
      {.num_routes = kRoutes, .rewards = numbers.rewards, .transitions = numbers.transitions});
  const Frame& frame = game.frame();
  const std::vector<double> own_next = {0.75, 0.25};
  std::vector<double> next;
  for (std::size_t i = 0; i < kPlayers; ++i)
    next.insert(next.end(), own_next.begin(), own_next.end());
  Workspace workspace;
  for (const double center : {0.0, 1e-300, 1e-12, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 1.0 - 1e-12, 1.0}) {
    for (const bool mixed : {false, true}) {
      std::vector<double> policies;
      for (std::size_t i = 0; i < kPlayers; ++i) {
        const double p = mixed && i % 2 == 1 ? 1.0 - center : center;
        policies.insert(policies.end(), {p, 1.0 - p, 0.0});
      }
      const Profile profile(frame.action_begins(Step(0), State(0)), policies);
      std::vector<double> q(policies.size());
      const ActionValues rows(frame.action_begins(Step(0), State(0)), q);
      game.backup_all({Step(0), State(0), profile}, NextValues(next, kStates), rows, workspace);
      for (const std::size_t j : {0U, 1U, 50U, 99U}) {
        std::vector<double> alone(kRoutes);
        game.backup({Step(0), State(0), profile}, Player(j), own_next, alone, workspace);
        for (std::size_t b = 0; b < kRoutes; ++b) {
          const Decimal exact = exact_value(numbers, profile, j, b, own_next);
          const double error = static_cast<double>(abs(Decimal(rows[Player(j)][b]) - exact));
          const double error_alone = static_cast<double>(abs(Decimal(alone[b]) - exact));
          EXPECT_LE(error, game.backup_error(1.0)) << center;
          EXPECT_LE(error_alone, game.backup_error(1.0)) << center;
          EXPECT_LE(error, 1e-10);
        }
      }
    }
  }
  EXPECT_LT(game.backup_error(1.0), 1e-12);
}

TEST(Congestion, RefusesWhatDoesNotFit) {
  const auto make = [](const CongestionOptions& options) {
    return CongestionGame(
        Frame({.num_players = 2, .horizon = 2, .num_states = {1}, .num_actions = {2, 2}}), options);
  };
  CongestionOptions good{.num_routes = 2, .rewards = {1, 0.5, 1, 0.5}, .transitions = {1, 1}};
  EXPECT_NO_THROW(make(good));
  const auto refused = [&](const CongestionOptions& options, const char* words) {
    const std::string message = error_of(ErrorKind::input, [&] { make(options); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  CongestionOptions bad = good;
  bad.rewards.pop_back();
  refused(bad, "has 3 numbers, too few");
  bad = good;
  bad.rewards[2] = 1.5;
  refused(bad, "[cell 1, route 2]");
  bad = good;
  bad.base = {0.7, 0.5};
  refused(bad, "more than 1");
  bad = good;
  bad.base = {-0.1, 0.0};
  refused(bad, "negative");
  bad = good;
  bad.transitions[1] = 0.5;
  refused(bad, "sums to 0.5");
  bad = good;
  bad.routes = {0, 0, 0, 1};
  refused(bad, "a route of its own");
  bad.routes = {0, 2, 0, 1};
  refused(bad, "a route of its own");
}

}  // namespace
}  // namespace vlearn
