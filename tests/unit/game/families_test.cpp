// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The games that names stand for: their laws as documented, and what can be known of them by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/expect_error.h"
#include "support/plain_game.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/evaluate.h"

namespace vlearn {
namespace {

using test::error_of;

TEST(Families, TheSameNameIsTheSameGame) {
  for (const GameFamily& family : game_families()) {
    const std::string name(family.name);
    EXPECT_EQ(law_hash_of(make_game(name)), law_hash_of(make_game(name))) << name;
    // The pattern spells the defaults.
    EXPECT_EQ(law_hash_of(make_game(name)), law_hash_of(make_game(family.pattern))) << name;
  }
  EXPECT_EQ(law_hash_of(make_game("congestion-10")),
            law_hash_of(make_game("congestion:players=10,routes=10,states=3,horizon=3,seed=5")));
  EXPECT_NE(law_hash_of(make_game("random:seed=1")), law_hash_of(make_game("random:seed=2")));
  EXPECT_NE(law_hash_of(make_game("lock:seed=1")), law_hash_of(make_game("lock:seed=2")));
}

TEST(Families, RefuseBadNamesWithAdvice) {
  const auto message = [](const char* name) {
    return error_of(ErrorKind::usage, [&] { static_cast<void>(make_game(name)); });
  };
  EXPECT_NE(message("socer").find("did you mean 'soccer'?"), std::string::npos);
  EXPECT_NE(message("").find("there are random"), std::string::npos);
  EXPECT_NE(message("random:player=3").find("did you mean 'players'?"), std::string::npos);
  EXPECT_NE(message("random:players").find("key=value"), std::string::npos);
  EXPECT_NE(message("random:players=0").find("from 1 to"), std::string::npos);
  EXPECT_NE(message("random:players=2.5").find("want an integer"), std::string::npos);
  EXPECT_NE(message("random:players=2,players=3").find("twice"), std::string::npos);
  EXPECT_NE(message("random:kind=chaos").find("want one of"), std::string::npos);
  EXPECT_NE(message("random:players=3,kind=zero-sum").find("players=2"), std::string::npos);
  EXPECT_NE(message("lock:success=2").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(message("lock:success=nan").find("want a number"), std::string::npos);
  EXPECT_NE(message("congestion-1e9").find("want an integer"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::resource,
                     [] { static_cast<void>(make_game("random:players=40,actions=10")); })
                .find("more bytes than can be counted"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::resource,
                     [] { static_cast<void>(make_game("random:players=9,actions=10")); })
                .find("bytes"),
            std::string::npos);
}

TEST(Families, RandomKinds) {
  const AnyGame zero_sum = make_game("random:kind=zero-sum");
  EXPECT_TRUE(frame_of(zero_sum).zero_sum());
  const auto& team = std::get<DenseGame>(make_game("random:players=3,kind=team"));
  for (std::size_t joint = 0; joint < 27; ++joint) {
    EXPECT_EQ(team.reward(Player(0), 5, joint), team.reward(Player(2), 5, joint));
  }
  EXPECT_EQ(model_of(make_game("random:players=30,kind=polymatrix")), "polymatrix");
  EXPECT_EQ(uniform_value(std::get<PolymatrixGame>(make_game("random:players=30,kind=polymatrix")))
                .size(),
            30U);
}

// Rows are uniform on the simplex: the first of S entries has mean 1/S and variance
// (S - 1)/(S^2 (S + 1)); six standard errors over the rows of a larger game.
TEST(Families, RandomRowsAreDirichlet) {
  const auto game = std::get<DenseGame>(make_game("random:states=5,actions=10,horizon=8,seed=3"));
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;
  double rewards = 0.0;
  for (std::size_t cell = 0; cell < 35; ++cell) {
    for (std::size_t joint = 0; joint < 100; ++joint) {
      double first = 0.0;
      double total = 0.0;
      game.rows().for_each(cell, joint, [&](State s, double p) {
        if (s == State(0)) first = p;
        total += p;
      });
      EXPECT_NEAR(total, 1.0, 1e-15);
      sum += first;
      squares += first * first;
      count += 1.0;
      rewards += game.reward(Player(1), cell, joint);
    }
  }
  const double variance = 4.0 / (25.0 * 6.0);
  EXPECT_NEAR(sum / count, 0.2, 6.0 * std::sqrt(variance / count));
  EXPECT_NEAR(squares / count - 0.04, variance, 6.0 * variance * 3.0 / std::sqrt(count));
  EXPECT_NEAR(rewards / count, 0.5, 6.0 / std::sqrt(12.0 * count));
}

// All players on route b at once: the reward is g (1 - 0.9) = 0.1 g, and with nobody else g.
TEST(Families, CongestionPaysAsDocumented) {
  const auto game = std::get<CongestionGame>(make_game("congestion-100"));
  const Frame& frame = game.frame();
  EXPECT_EQ(frame.num_players(), 100U);
  EXPECT_EQ(frame.num_actions(Player(7), Step(1), State(2)), 10U);
  EXPECT_EQ(frame.horizon(), 3U);
  std::vector<double> crowded(100);
  std::vector<double> alone(100);
  std::vector<Action> joint(100, Action(4));
  game.sample(Step(0), State(0), joint, Nature(1, Episode(0), Step(0)), crowded);
  std::fill(joint.begin() + 1, joint.end(), Action(5));
  game.sample(Step(0), State(0), joint, Nature(1, Episode(0), Step(0)), alone);
  EXPECT_NEAR(crowded[0], 0.1 * alone[0], 1e-15);
  EXPECT_GE(alone[0], 0.4);
  EXPECT_LE(alone[0], 1.0);
  EXPECT_LT(game.backup_error(3.0), 1e-12);
}

/// The best value that one player can reach when the others play uniformly (all, for one player).
template <KnownGame G>
double best_response_value(const G& game, Player player) {
  const Frame& frame = game.frame();
  std::vector<double> values(frame.max_states(), 0.0);
  std::vector<double> policies(frame.max_profile_size());
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    std::vector<double> now(frame.max_states(), 0.0);
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const PlayerRows<double> profile(frame.action_begins(Step(h), s), policies);
      for (const Player other : all<Player>(frame.num_players())) {
        const auto policy = profile[other];
        std::fill(policy.begin(), policy.end(), 1.0 / static_cast<double>(policy.size()));
      }
      std::vector<double> q(frame.num_actions(player, Step(h), s));
      game.backup(Step(h), s, profile, player, values, q, workspace);
      now[s.index()] = *std::max_element(q.begin(), q.end());
    }
    values = now;
  }
  double sum = 0.0;
  for (std::size_t s = 0; s < frame.initial().size(); ++s) sum += frame.initial()[s] * values[s];
  return sum;
}

TEST(Families, LockHasItsKnownBestValue) {
  // One player: success^(H-1) for the last reward.
  for (const char* name :
       {"lock:horizon=6,success=0.9", "lock:horizon=4,actions=5,success=1,seed=9"}) {
    const auto game = std::get<DenseGame>(make_game(name));
    const double success = std::string(name).find("0.9") != std::string::npos ? 0.9 : 1.0;
    const auto steps = static_cast<double>(game.frame().horizon() - 1);
    EXPECT_NEAR(best_response_value(game, Player(0)), std::pow(success, steps), 1e-12);
  }
  // Out of the chain nobody has a choice.
  const auto two = std::get<DenseGame>(make_game("lock:players=2"));
  EXPECT_EQ(two.frame().num_actions(Player(1), Step(2), State(1)), 1U);
  EXPECT_EQ(two.frame().num_actions(Player(1), Step(2), State(0)), 3U);
}

TEST(Soccer, IsLittmansPitch) {
  const auto game = std::get<SparseGame>(make_game("soccer"));
  const Frame& frame = game.frame();
  EXPECT_EQ(frame.num_states(Step(0)), 760U);
  EXPECT_EQ(frame.horizon(), 10U);
  EXPECT_TRUE(frame.zero_sum());
  EXPECT_EQ(std::count(frame.initial().begin(), frame.initial().end(), 0.5), 2);
  // By symmetry (turn the pitch by half a turn and swap the players) uniform play is worth 0 to
  // both, which is 1/2 per step inside.
  const std::vector<double> value = uniform_value(game);
  EXPECT_NEAR(value[0], 5.0, 1e-12);
  EXPECT_NEAR(value[1], 5.0, 1e-12);
  EXPECT_NEAR(frame.range(Player(0)).from_unit(value[0], 10.0), 0.0, 1e-12);
  // A best response wins something, and by the same symmetry both players win the same.
  const double best = frame.range(Player(0)).from_unit(best_response_value(game, Player(0)), 10.0);
  EXPECT_GT(best, 0.1);
  const double other = frame.range(Player(1)).from_unit(best_response_value(game, Player(1)), 10.0);
  EXPECT_NEAR(best, other, 1e-12);
}

// What the words say: one step from goal with the ball, moving in scores unless the other takes the
// ball first.
TEST(Soccer, ScoresBlocksAndTurnsOver) {
  const auto game = std::get<SparseGame>(make_game("soccer:horizon=2"));
  // State of: player 1 at (row 1, column 0), player 2 at (row 3, column 4), ball with player 1.
  const auto number = [](int first, int second, int owner) {
    return State(static_cast<std::uint32_t>(
        2 * (first * 19 + (second > first ? second - 1 : second)) + owner));
  };
  const std::size_t west = 3;
  const std::size_t stand = 4;
  const State free_shot = number(5, 19, 0);
  EXPECT_EQ(game.reward(Player(0), free_shot.index(), west * 5 + stand), 1.0);  // +1 for sure
  EXPECT_EQ(game.reward(Player(0), free_shot.index(), stand * 5 + stand), 0.5);
  // Without the ball no goal.
  EXPECT_EQ(game.reward(Player(0), number(5, 19, 1).index(), west * 5 + stand), 0.5);
  // Player 2 at (1, 1) walks west into player 1 at (1, 0), who stands: ball stays, nobody moves.
  const std::size_t bump = stand * 5 + west;
  game.rows().for_each(number(5, 6, 0).index(), bump, [&](State next, double p) {
    EXPECT_EQ(next, number(5, 6, 0));
    EXPECT_EQ(p, 1.0);
  });
  // With the ball player 2 loses it by the same move.
  game.rows().for_each(number(5, 6, 1).index(), bump, [&](State next, double p) {
    EXPECT_EQ(next, number(5, 6, 0));
    EXPECT_EQ(p, 1.0);
  });
}

TEST(Pursuit, EndsEarlyAndPaysOnce) {
  const auto game = std::get<SparseGame>(make_game("pursuit:size=3,horizon=50"));
  const Frame& frame = game.frame();
  EXPECT_EQ(frame.num_states(Step(0)), 82U);
  // In a corner three moves are legal, in the middle five, when caught one.
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(8)), 3U);
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(4 * 9)), 5U);
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(81)), 1U);
  // Against a random walker a chaser catches almost surely in 50 steps: the user's value is the
  // probability of it, below one, and the walker's is its negative.
  const double best = frame.range(Player(0)).from_unit(best_response_value(game, Player(0)), 50.0);
  EXPECT_GT(best, 0.999);
  EXPECT_LE(best, 1.0 + 1e-12);
  const std::vector<double> value = uniform_value(game);
  const double chaser = frame.range(Player(0)).from_unit(value[0], 50.0);
  const double walker = frame.range(Player(1)).from_unit(value[1], 50.0);
  EXPECT_NEAR(chaser, -walker, 1e-12);
  EXPECT_GT(chaser, 0.9);
  EXPECT_LT(chaser, 1.0);
}

// An early end is padded with the user's 0, so widening the range (another affine map) moves
// nothing: the same game with rewards mapped into [-3, 5] has the same best responses and values.
TEST(EarlyEnd, RangesThatContainZeroAreEquivalent) {
  // Step 1: stop (1 now, then nothing) or go on (0 now, then 0.75 or 0.5 by a second choice).
  const auto make = [](RewardRange range) {
    const Frame frame({.num_players = 1,
                       .horizon = 2,
                       .num_states = {3},  // start, second, ended
                       .num_actions = {2, 2, 1},
                       .ranges = {range}});
    SparseRows rows(frame, JointIndex(frame), {0, 1, 2, 3, 4, 5}, {2, 1, 2, 2, 2}, {1, 1, 1, 1, 1});
    return SparseGame(frame, {1.0, 0.0, 0.75, 0.5, 0.0}, rows);
  };
  for (const RewardRange range : {RewardRange{0.0, 1.0}, RewardRange{-3.0, 5.0}}) {
    const SparseGame game = make(range);
    EXPECT_NEAR(range.from_unit(best_response_value(game, Player(0)), 2.0), 1.0, 1e-12);
    const std::vector<double> policy(2, 0.5);
    const Profile profile(game.frame().action_begins(Step(0), State(0)), policy);
    std::vector<double> next(3);
    for (std::size_t s = 0; s < 3; ++s) next[s] = range.to_unit(s == 1 ? 0.75 : 0.0);
    next[0] = 0.0;
    std::vector<double> q(2);
    Workspace workspace;
    game.backup(Step(0), State(0), profile, Player(0), next, q, workspace);
    EXPECT_NEAR(range.from_unit(q[0], 2.0), 1.0, 1e-12);
    EXPECT_NEAR(range.from_unit(q[1], 2.0), 0.75, 1e-12);
  }
}

}  // namespace
}  // namespace vlearn
