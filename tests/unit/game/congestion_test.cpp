// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The counting recursion where it could go wrong: many players, probabilities near 0, 1/2 and 1,
// against fifty digits.
#include "vlearn/game/congestion.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/multiprecision/cpp_dec_float.hpp>
#include <numeric>
#include <utility>

#include "support/expect_error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"
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

/// A one-shot game of two routes with these rewards of their counts.
CongestionGame two_routes(std::size_t players, std::vector<double> rewards) {
  return {Frame({.num_players = players,
                 .horizon = 1,
                 .num_states = {1},
                 .num_actions = std::vector<std::uint32_t>(players, 2),
                 .ranges = std::vector<RewardRange>(players, {-1.0, 1.0})}),
          {.num_routes = 2, .rewards = std::move(rewards), .transitions = {1.0, 1.0}}};
}

/// backup_all() where player i takes the first route with chances[i], [player][route].
std::vector<double> backed_up(const CongestionGame& game, const std::vector<double>& chances) {
  const auto begins = game.frame().action_begins(Step(0), State(0));
  std::vector<double> policies;
  for (const double p : chances) policies.insert(policies.end(), {p, 1.0 - p});
  std::vector<double> q(policies.size());
  Workspace workspace;
  game.backup_all({Step(0), State(0), Profile(begins, policies)}, NextValues(),
                  ActionValues(begins, q), workspace);
  return q;
}

/// What player j earns on a route that player i is on with chances[i]: the whole count, of all the
/// others, and nothing dropped.
double plain_value(const std::vector<double>& chances,
                   std::span<const double> rewards,
                   std::size_t j) {
  std::vector<long double> law = {1.0L};
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (i == j) continue;
    const long double p = chances[i];
    law.push_back(0.0L);
    for (std::size_t n = law.size() - 1; n > 0; --n) law[n] = (1.0L - p) * law[n] + p * law[n - 1];
    law[0] *= 1.0L - p;
  }
  long double value = 0.0L;
  for (std::size_t n = 0; n < law.size(); ++n) value += law[n] * rewards[n];
  return static_cast<double>((value + 1.0L) / 2.0L);
}

std::vector<std::vector<double>> awkward_chances(std::size_t m) {
  Draws draws({.seed = 4, .purpose = Purpose::test});
  std::vector<std::vector<double>> all(9, std::vector<double>(m));
  for (std::size_t i = 0; i < m; ++i) {
    const bool early = 2 * i < m;
    const double u = draws.uniform();
    const std::array<double, 9> chances = {0.1,
                                           0.5,
                                           early ? 1.0 : 0.0,  // a count without one is another
                                           early ? 0.0 : 1.0,
                                           i % 2 == 0 ? 1.0 : 1e-300,
                                           u,
                                           u < 0.9 ? 0.0 : 1.0,
                                           early ? 1.0 - 1e-12 : 1e-12,
                                           static_cast<double>(i + 1) / static_cast<double>(m + 1)};
    for (std::size_t k = 0; k < chances.size(); ++k) all[k][i] = chances[k];
  }
  return all;
}

TEST(Congestion, DropsNoCountThatMatters) {
  for (const std::size_t m : {1U, 2U, 3U, 7U, 8U, 9U, 16U, 17U, 100U, 257U, 1000U}) {
    Draws draws({.seed = m, .purpose = Purpose::test});
    std::vector<double> rewards(2 * m);
    for (double& reward : rewards) reward = 2.0 * draws.uniform() - 1.0;
    const CongestionGame game = two_routes(m, rewards);
    const std::vector<std::vector<double>> cases = awkward_chances(m);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const std::vector<double>& first = cases[k];
      std::vector<double> second;
      for (const double p : first) second.push_back(1.0 - p);
      const std::vector<double> q = backed_up(game, first);
      for (const std::size_t j : {std::size_t{0}, m / 3, m / 2, m - 1}) {
        EXPECT_NEAR(q[2 * j], plain_value(first, std::span(rewards).first(m), j), 1e-13)
            << m << " players, case " << k << ", player " << j;
        EXPECT_NEAR(q[2 * j + 1], plain_value(second, std::span(rewards).last(m), j), 1e-13)
            << m << " players, case " << k << ", player " << j;
      }
    }
  }
}

TEST(Congestion, CountsTheSameBitsInEveryInstructionSet) {
  for (const std::size_t m : {3U, 10U, 300U}) {
    Draws draws({.seed = m, .purpose = Purpose::test});
    std::vector<double> rewards(2 * m);
    for (double& reward : rewards) reward = 2.0 * draws.uniform() - 1.0;
    const CongestionGame game = two_routes(m, rewards);
    for (const std::vector<double>& chances : awkward_chances(m)) {
      const std::vector<double> best = backed_up(game, chances);
      for (const std::string& target : simd_targets()) {
        use_simd_target(target);
        EXPECT_EQ(backed_up(game, chances), best) << target << ", " << m << " players";
      }
      use_simd_target("");
    }
  }
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
