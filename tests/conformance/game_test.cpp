// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of SampledGame and KnownGame, for every model.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "game_instances.h"
#include "support/best_response.h"
#include "support/chi_square.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/backup_both.h"
#include "vlearn/game/evaluate.h"

namespace vlearn::test {
namespace {

/// Random policies for every player, some actions with probability 0.
std::vector<double> random_profile(const Frame& frame, Step h, State s, std::uint64_t seed) {
  Draws draws({.seed = seed, .purpose = Purpose::test});
  std::vector<double> values(frame.action_begins(h, s).back());
  const PlayerRows<double> rows(frame.action_begins(h, s), values);
  for (const Player player : all<Player>(frame.num_players())) {
    for (double& p : rows[player]) p = draws.below(4) == 0 ? 0.0 : draws.uniform();
    rows[player][draws.below(rows[player].size())] += 0.25;
    EXPECT_TRUE(normalise(rows[player]));
  }
  return values;
}

std::size_t next_states(const Frame& frame, Step h) {
  return frame.is_last(h) ? 0 : frame.num_states(h.next());
}

/// Random values of every player at the next step, in [0, 5].
std::vector<double> random_next(const Frame& frame, Step h, std::uint64_t seed) {
  Draws draws({.seed = seed, .purpose = Purpose::test, .step = Step(1)});
  std::vector<double> values(frame.num_players() * next_states(frame, h));
  for (double& value : values) value = 5.0 * draws.uniform();
  return values;
}

/// Calls visit(instance, h, s) for all cells of all instances.
template <class G, class Visit>
void for_each_place(const std::vector<Instance<G>>& instances, const Visit& visit) {
  for (const Instance<G>& instance : instances) {
    SCOPED_TRACE(instance.name);
    const Frame& frame = instance.game.frame();
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        SCOPED_TRACE(testing::Message() << "h = " << h.number() << ", s = " << s.number());
        visit(instance, h, s);
      }
    }
  }
}

template <class G>
class GameConformance : public testing::Test {};

using Models = testing::Types<DenseGame, SparseGame, CongestionGame, PolymatrixGame, CallbackGame>;
TYPED_TEST_SUITE(GameConformance, Models);

TYPED_TEST(GameConformance, DistributionsSumToOne) {
  for_each_place(instances_of<TypeParam>(), [](const auto& instance, Step h, State s) {
    const Frame& frame = instance.game.frame();
    const auto initial = frame.initial();
    EXPECT_NEAR(std::accumulate(initial.begin(), initial.end(), 0.0), 1.0, 1e-12);
    if (frame.is_last(h)) return;
    for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
      const PlainOutcome outcome = instance.law(h, s, joint);
      EXPECT_NEAR(
          static_cast<double>(std::accumulate(outcome.next.begin(), outcome.next.end(), 0.0L)), 1.0,
          1e-12);
    });
  });
}

/// What a reward of this mean squares to on average.
double mean_square(RewardNoise noise, double mean) {
  if (noise == RewardNoise::bernoulli) return mean;
  if (noise == RewardNoise::none) return mean * mean;
  const double width = std::min(mean, 1.0 - mean);
  return mean * mean + width * width / 3.0;
}

constexpr std::uint64_t kSamples = 3000;
// Numbers in [0, 1] have a standard deviation of at most 1/2: five standard errors of their mean.
const double kMeanTolerance = 5.0 * 0.5 / std::sqrt(static_cast<double>(kSamples));

/// Rewards and next states of one joint action over many draws, against its law.
template <class G>
void check_sampling(
    const G& game, Step h, State s, const std::vector<Action>& joint, const PlainOutcome& law) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  std::vector<double> counts(next_states(frame, h), 0.0);
  std::vector<double> sums(m, 0.0);
  std::vector<double> squares(m, 0.0);
  double products = 0.0;  // of the first two players
  std::vector<double> rewards(m);
  for (std::uint64_t k = 0; k < kSamples; ++k) {
    const State next = game.sample(h, s, joint, Nature(7, Episode(k), h), rewards);
    for (std::size_t i = 0; i < m; ++i) {
      ASSERT_GE(rewards[i], 0.0);
      ASSERT_LE(rewards[i], 1.0);
      if (frame.noise() == RewardNoise::bernoulli) {
        ASSERT_TRUE(rewards[i] == 0.0 || rewards[i] == 1.0);
      }
      sums[i] += rewards[i] / kSamples;
      squares[i] += rewards[i] * rewards[i] / kSamples;
    }
    if (m > 1) products += rewards[0] * rewards[1] / kSamples;
    if (frame.zero_sum()) {
      ASSERT_EQ(rewards[1], 1.0 - rewards[0]);
    }
    if (!counts.empty()) counts.at(next.index()) += 1.0;
  }
  for (std::size_t i = 0; i < m; ++i) {
    const auto mean = static_cast<double>(law.rewards[i]);
    const double tolerance = frame.noise() == RewardNoise::none ? 1e-12 : kMeanTolerance;
    EXPECT_NEAR(sums[i], mean, tolerance);
    EXPECT_NEAR(squares[i], mean_square(frame.noise(), mean), tolerance);
  }
  if (m > 1 && !frame.zero_sum()) {  // players' rewards are drawn independently
    EXPECT_NEAR(products, static_cast<double>(law.rewards[0] * law.rewards[1]), kMeanTolerance);
  }
  std::vector<double> seen;
  std::vector<double> expected;
  for (std::size_t state = 0; state < counts.size(); ++state) {
    if (law.next[state] == 0.0L) {
      EXPECT_EQ(counts[state], 0.0);
      continue;
    }
    seen.push_back(counts[state]);
    expected.push_back(static_cast<double>(kSamples * law.next[state]));
  }
  if (seen.size() > 1) {
    EXPECT_LT(chi_square(seen, expected), chi_square_limit(seen.size() - 1));
  }
}

TYPED_TEST(GameConformance, SamplingFollowsTheLaw) {
  for_each_place(instances_of<TypeParam>(), [](const auto& instance, Step h, State s) {
    int tried = 0;
    for_each_joint(instance.game.frame(), h, s, [&](const std::vector<Action>& joint) {
      if (++tried % 5 == 1) check_sampling(instance.game, h, s, joint, instance.law(h, s, joint));
    });
  });
}

TYPED_TEST(GameConformance, BackupEqualsEnumeration) {
  Workspace workspace;
  for_each_place(instances_of<TypeParam>(), [&](const auto& instance, Step h, State s) {
    const Frame& frame = instance.game.frame();
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<double> policies = random_profile(frame, h, s, seed);
      const std::vector<double> next = random_next(frame, h, seed);
      const Profile profile(frame.action_begins(h, s), policies);
      const NextValues next_values(next, next_states(frame, h));
      std::vector<double> q(policies.size());
      const ActionValues all_q(frame.action_begins(h, s), q);
      instance.game.backup_all({h, s, profile}, next_values, all_q, workspace);
      for (const Player player : all<Player>(frame.num_players())) {
        const std::span<const double> own_next =
            next.empty() ? std::span<const double>() : next_values[player];
        const std::vector<long double> plain =
            plain_backup(frame, instance.law, h, s, profile, player, own_next);
        std::vector<double> alone(plain.size());
        instance.game.backup({h, s, profile}, player, own_next, alone, workspace);
        const double bound = instance.game.backup_error(5.0);
        EXPECT_LT(bound, 1e-12);
        for (std::size_t b = 0; b < plain.size(); ++b) {
          const double slack = bound + 1e-18;  // enumeration has 64 bits
          EXPECT_NEAR(all_q[player][b], static_cast<double>(plain[b]), slack);
          EXPECT_NEAR(alone[b], static_cast<double>(plain[b]), slack);
        }
      }
    }
  });
}

/// What backup_both gives, and what two backups do.
struct BothBackups {
  std::vector<double> values;
  std::vector<double> q;
};

template <class G>
BothBackups both_backups(const G& game, Step h, State s, std::uint64_t seed, Workspace& workspace) {
  const Frame& frame = game.frame();
  const std::vector<double> policies = random_profile(frame, h, s, seed);
  const std::vector<double> follow = random_next(frame, h, seed);
  const std::vector<double> deviate = random_next(frame, h, seed + 100);
  const std::size_t states = next_states(frame, h);
  BothBackups both{std::vector<double>(frame.num_players(), -1.0),
                   std::vector<double>(policies.size(), -1.0)};
  const auto begins = frame.action_begins(h, s);
  backup_both(game, {h, s, Profile(begins, policies)}, NextValues(follow, states),
              NextValues(deviate, states), both.values, ActionValues(begins, both.q), workspace);
  return both;
}

TYPED_TEST(GameConformance, BackupBothIsTwoBackups) {
  Workspace workspace;
  for_each_place(instances_of<TypeParam>(), [&](const auto& instance, Step h, State s) {
    const Frame& frame = instance.game.frame();
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const BothBackups both = both_backups(instance.game, h, s, seed, workspace);
      const std::vector<double> policies = random_profile(frame, h, s, seed);
      const std::vector<double> follow = random_next(frame, h, seed);
      const std::vector<double> deviate = random_next(frame, h, seed + 100);
      const auto begins = frame.action_begins(h, s);
      const Profile profile(begins, policies);
      const double slack = instance.game.backup_error(5.0) + 1e-18;  // enumeration has 64 bits
      for (const Player player : all<Player>(frame.num_players())) {
        const auto plain = [&](const std::vector<double>& next) {
          return plain_backup(frame, instance.law, h, s, profile, player,
                              next.empty() ? std::span<const double>()
                                           : NextValues(next, next_states(frame, h))[player]);
        };
        long double value = 0.0L;
        const std::vector<long double> followed = plain(follow);
        for (std::size_t b = 0; b < followed.size(); ++b) value += profile[player][b] * followed[b];
        EXPECT_NEAR(both.values[player.index()], static_cast<double>(value), slack);
        const std::vector<long double> deviated = plain(deviate);
        for (std::size_t b = 0; b < deviated.size(); ++b) {
          EXPECT_NEAR(both.q[begins[player.index()] + b], static_cast<double>(deviated[b]), slack);
        }
      }
      std::vector<double> q(policies.size());
      instance.game.backup_all({h, s, profile}, NextValues(deviate, next_states(frame, h)),
                               ActionValues(begins, q), workspace);
      EXPECT_EQ(both.q, q);  // whichever way a model does it
    }
  });
}

// What a certificate says must not depend on the machine.
TYPED_TEST(GameConformance, BackupBothHasTheSameBitsOnEveryTarget) {
  Workspace workspace;
  for_each_place(instances_of<TypeParam>(), [&](const auto& instance, Step h, State s) {
    const BothBackups best = both_backups(instance.game, h, s, 1, workspace);
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      const BothBackups other = both_backups(instance.game, h, s, 1, workspace);
      EXPECT_EQ(best.values, other.values) << target;
      EXPECT_EQ(best.q, other.q) << target;
    }
    use_simd_target("");
  });
}

TYPED_TEST(GameConformance, UniformPlayAgreesWithMonteCarlo) {
  for (const auto& instance : instances_of<TypeParam>()) {
    SCOPED_TRACE(instance.name);
    const std::vector<double> exact = uniform_value(instance.game);
    const std::vector<PlayedValue> played = play_uniformly(instance.game, 20'000, 3);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(played[i].mean, exact[i], 4.0 * played[i].standard_error + 1e-12);
      EXPECT_GT(played[i].standard_error, 0.0);
      EXPECT_LT(played[i].standard_error, 0.02);
    }
  }
}

// In other units the same game: the values inside are the same up to rounding, so best responses
// are, and the user gets back what the units say.
TYPED_TEST(GameConformance, UnitsDoNotMatterInside) {
  const auto plain = instances_of<TypeParam>();
  for (const RewardUnits units : {RewardUnits{16.0, -4.0}, RewardUnits{0.25, 1024.0}}) {
    const auto shifted = instances_of<TypeParam>(units);
    ASSERT_EQ(plain.size(), shifted.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::vector<double> value = uniform_value(plain[i].game);
      const std::vector<double> same = uniform_value(shifted[i].game);
      const auto horizon = static_cast<double>(plain[i].game.frame().horizon());
      for (const Player player : all<Player>(value.size())) {
        EXPECT_NEAR(value[player.index()], same[player.index()], 1e-11);
        EXPECT_NEAR(best_response_value(plain[i].game, player),
                    best_response_value(shifted[i].game, player), 1e-11);
        const RewardRange& range = shifted[i].game.frame().range(player);
        EXPECT_NEAR(range.from_unit(same[player.index()], horizon),
                    horizon * range.low + (range.high - range.low) * value[player.index()], 1e-9);
      }
    }
  }
}

TYPED_TEST(GameConformance, HashIsOfTheLaw) {
  const auto once = instances_of<TypeParam>();
  const auto twice = instances_of<TypeParam>();
  std::vector<Sha256Digest> hashes;
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(law_hash(once[i].game), law_hash(twice[i].game));
    hashes.push_back(law_hash(once[i].game));
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

// Sparse rows of a game with many more states than successors are not spread over the states.
TEST(TableGames, FewSuccessorsAmongManyStates) {
  const auto game = std::get<SparseGame>(make_game("soccer"));
  const Frame& frame = game.frame();
  ASSERT_GT(frame.num_states(Step()), 8 * game.rows().longest());
  const double slack = 2.0 * game.backup_error(5.0);
  Workspace workspace;
  for (std::size_t state = 0; state < frame.num_states(Step()); state += 7) {
    const State s(state);
    const auto begins = frame.action_begins(Step(), s);
    const BothBackups both = both_backups(game, Step(), s, state, workspace);
    const std::vector<double> policies = random_profile(frame, Step(), s, state);
    const std::vector<double> follow = random_next(frame, Step(), state);
    const std::vector<double> deviate = random_next(frame, Step(), state + 100);
    const Profile profile(begins, policies);
    for (const Player player : all<Player>(frame.num_players())) {
      const std::size_t states = frame.num_states(Step(1));
      std::vector<double> q(profile[player].size());
      game.backup({Step(), s, profile}, player, NextValues(follow, states)[player], q, workspace);
      EXPECT_NEAR(both.values[player.index()],
                  std::inner_product(q.begin(), q.end(), profile[player].begin(), 0.0), slack);
      game.backup({Step(), s, profile}, player, NextValues(deviate, states)[player], q, workspace);
      for (std::size_t b = 0; b < q.size(); ++b) {
        EXPECT_NEAR(both.q[begins[player.index()] + b], q[b], slack);
      }
    }
  }
}

// Every compiler that runs this suite gives these bits; a change of them says why.
TEST(TableGames, BackupsHaveTheBitsOnRecord) {
  const auto hash_of = [](const auto& instances) {
    std::vector<double> numbers;
    Workspace workspace;
    for_each_place(instances, [&](const auto& instance, Step h, State s) {
      const BothBackups both = both_backups(instance.game, h, s, 1, workspace);
      numbers.insert(numbers.end(), both.values.begin(), both.values.end());
      numbers.insert(numbers.end(), both.q.begin(), both.q.end());
    });
    return xxh3(std::as_bytes(std::span(numbers)));
  };
  EXPECT_EQ(hash_of(instances_of<DenseGame>()), 0xba8c05f6df25aca4U);
  EXPECT_EQ(hash_of(instances_of<SparseGame>()), 0xba8c05f6df25aca4U);
}

TEST(TableGames, DenseAndSparseFormsOfOneLawHaveOneHash) {
  const auto dense = instances_of<DenseGame>();
  const auto sparse = instances_of<SparseGame>();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    EXPECT_EQ(law_hash(dense[i].game), law_hash(sparse[i].game));
  }
}

}  // namespace
}  // namespace vlearn::test
