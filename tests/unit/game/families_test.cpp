// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The games that names stand for: their laws as documented, and what can be known of them by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "support/best_response.h"
#include "support/expect_error.h"
#include "support/plain_game.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/evaluate.h"

namespace vlearn {
namespace {

using test::best_response_value;
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

TEST(Families, SizesAreKnownBeforeAGameIsBuilt) {
  for (const char* name :
       {"random", "random:players=1,states=7,actions=2,horizon=4", "random:players=3,kind=team",
        "random:players=2,states=3,actions=5,kind=zero-sum",
        "random:players=6,states=2,actions=3,horizon=2,kind=polymatrix", "congestion-7",
        "congestion:players=4,routes=6,states=5,horizon=9", "lock", "lock:players=2,actions=7",
        "soccer:horizon=3", "pursuit:size=2", "pursuit:size=3", "pursuit:size=5,horizon=7",
        "grid-game-1:horizon=2", "grid-game-2"}) {
    const GameSize size = size_of_family(name);
    const AnyGame game = make_game(name);
    const Frame& frame = frame_of(game);
    EXPECT_EQ(size.players, frame.num_players()) << name;
    EXPECT_EQ(size.horizon, frame.horizon()) << name;
    EXPECT_EQ(size.states, frame.max_states()) << name;
    EXPECT_EQ(size.actions, frame.max_actions()) << name;
    // About as many as the tables really hold.
    const std::size_t held = std::visit(
        []<class Game>(const Game& model) -> std::size_t {
          if constexpr (std::is_same_v<Game, DenseGame>) {
            return model.rewards().size() + model.rows().tables().size();
          } else if constexpr (std::is_same_v<Game, SparseGame>) {
            return model.rewards().size() + model.rows().tables().probabilities.size();
          } else {
            return 0;
          }
        },
        game);
    ASSERT_TRUE(size.numbers);
    EXPECT_LE(held, 2 * *size.numbers) << name;
    if (held > 0) {
      EXPECT_LE(*size.numbers, 8 * held) << name;
    }
  }
  // Far too large, and known at once.
  EXPECT_EQ(size_of_family("random:players=2,states=1000,actions=10,horizon=10").numbers,
            1'002'000'000U);
  EXPECT_EQ(size_of_family("random:players=40,actions=10").numbers, std::nullopt);
  EXPECT_NE(error_of(ErrorKind::usage, [] { static_cast<void>(size_of_family("random:player=3")); })
                .find("did you mean 'players'?"),
            std::string::npos);
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
                .find("more numbers than can be counted"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::resource,
                     [] { static_cast<void>(make_game("random:players=9,actions=10")); })
                .find("numbers of 8 bytes"),
            std::string::npos);
  // Sizes are refused before anything is built; just below the limit there is nothing to refuse.
  for (const char* name : {"lock:horizon=10000,actions=1000,players=2",
                           "random:players=1,states=32769,actions=1,horizon=1",
                           "random:players=100,actions=100,states=100,kind=polymatrix"}) {
    error_of(ErrorKind::resource, [&] { static_cast<void>(make_game(name)); });
  }
  EXPECT_EQ(frame_of(make_game("congestion:players=1e1")).num_players(), 10U);
}

// A name means the same game on every machine and in every version: a change here breaks users'
// results and needs a reason in the commit.
TEST(Families, NamesKeepTheirMeaning) {
  const auto hash = [](const char* name) {
    return to_hex(law_hash_of(make_game(name))).substr(0, 16);
  };
  EXPECT_EQ(hash("random"), "c1097976f8edb4f6");
  EXPECT_EQ(hash("random:kind=zero-sum"), "85a4f5471d72c2e0");
  EXPECT_EQ(hash("random:players=3,kind=team"), "8547b4f487d3248f");
  EXPECT_EQ(hash("random:players=3,kind=polymatrix"), "bd31bf533d236905");
  EXPECT_EQ(hash("congestion-10"), "8e55f2f712b5d052");
  EXPECT_EQ(hash("lock"), "eb2a79c48515d738");
  EXPECT_EQ(hash("soccer"), "a30ca3e3dfad434e");
  EXPECT_EQ(hash("pursuit"), "a5a736c6f9256423");
  EXPECT_EQ(hash("grid-game-1"), "736e9fdedff97ad0");
  EXPECT_EQ(hash("grid-game-2"), "73295c9cabf555af");
}

TEST(Families, RandomKinds) {
  const AnyGame zero_sum = make_game("random:kind=zero-sum");
  EXPECT_TRUE(frame_of(zero_sum).zero_sum());
  const auto team = std::get<DenseGame>(make_game("random:players=3,kind=team"));
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

// With everybody on one route the next state follows that route's law: P1 for the first, and one P0
// for all others.
TEST(Families, CongestionMovesAsDocumented) {
  const auto game = std::get<CongestionGame>(make_game("congestion-10"));
  const auto begins = game.frame().action_begins(Step(0), State(0));
  const std::vector<double> next = {1.0, 0.0, 0.0};
  const std::vector<double> nothing = {0.0, 0.0, 0.0};
  Workspace workspace;
  std::vector<double> to_first;  // probability of the first state, everybody on route b
  for (std::size_t b = 0; b < 10; ++b) {
    std::vector<double> policies(100, 0.0);
    for (std::size_t i = 0; i < 10; ++i) policies[10 * i + b] = 1.0;
    std::vector<double> with(10);
    std::vector<double> without(10);
    game.backup({Step(0), State(0), Profile(begins, policies)}, Player(3), next, with, workspace);
    game.backup({Step(0), State(0), Profile(begins, policies)}, Player(3), nothing, without,
                workspace);
    to_first.push_back(with[b] - without[b]);
  }
  for (std::size_t b = 2; b < 10; ++b) EXPECT_NEAR(to_first[b], to_first[1], 1e-14);
  EXPECT_GT(std::abs(to_first[0] - to_first[1]), 0.01);
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
  // Where the chain is worth less than the lure, the lure is best.
  EXPECT_NEAR(best_response_value(std::get<DenseGame>(make_game("lock:success=0.5")), Player(0)),
              0.1, 1e-12);
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
  // After a goal both kick-offs are as likely.
  std::vector<double> kick_off;
  game.rows().for_each(free_shot.index(), west * 5 + stand,
                       [&](State, double p) { kick_off.push_back(p); });
  EXPECT_EQ(kick_off, (std::vector<double>{0.5, 0.5}));
  // Only the two middle rows are goal: from (0, 0) the way west is the wall.
  EXPECT_EQ(game.reward(Player(0), number(0, 19, 0).index(), west * 5 + stand), 0.5);
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

// On a 3 by 3 board, both in the top row: the chaser in the corner, the other next to it.
TEST(Pursuit, CatchesOnTheSquareAndOnTheWay) {
  const auto game = std::get<SparseGame>(make_game("pursuit:size=3"));
  const std::size_t state = 0 * 9 + 1;
  // Legal moves in the corner: south, east, stand; in the middle of the edge: south, east, west,
  // stand.
  const auto caught = [&](std::size_t chaser, std::size_t other) {
    return game.reward(Player(0), state, chaser * 4 + other);
  };
  EXPECT_NEAR(caught(1, 3), 1.0, 1e-15);  // east onto one who stands
  EXPECT_NEAR(caught(1, 2), 1.0, 1e-15);  // swapping places, or onto one who slipped
  EXPECT_NEAR(caught(1, 1), 0.2, 1e-15);  // away in time, unless it slips
  EXPECT_NEAR(caught(2, 2), 0.8, 1e-15);  // the other walks into one who stands, unless it slips
  EXPECT_EQ(caught(0, 3), 0.0);
}

TEST(Pursuit, EndsEarlyAndPaysOneInTotal) {
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

// The corner games: squares are numbered row by row, 0 to 8; players start on 6 and 8.
class CornerGames : public ::testing::Test {
 protected:
  static constexpr std::size_t north = 0;
  static constexpr std::size_t south = 1;
  static constexpr std::size_t east = 2;
  static constexpr std::size_t west = 3;
  static constexpr std::size_t over = 72;

  using Row = std::map<std::size_t, double>;

  static std::size_t state(std::size_t first, std::size_t second) {
    return 8 * first + (second > first ? second - 1 : second);
  }
  static Row row(const SparseGame& game, std::size_t state, std::size_t first, std::size_t second) {
    Row row;
    game.rows().for_each(state, 4 * first + second, [&](State s, double p) { row[s.index()] = p; });
    return row;
  }
  /// Both players' rewards in the user's units.
  static std::vector<double> paid(const SparseGame& game,
                                  std::size_t state,
                                  std::size_t first,
                                  std::size_t second) {
    std::vector<double> rewards;
    for (const Player player : all<Player>(2)) {
      const double share = game.reward(player, state, 4 * first + second);
      rewards.push_back(std::round(1e9 * game.frame().range(player).from_unit(share, 1.0)) / 1e9);
    }
    return rewards;
  }

  const SparseGame one = std::get<SparseGame>(make_game("grid-game-1:discount=1"));
  const SparseGame two = std::get<SparseGame>(make_game("grid-game-2:discount=1"));
  const std::vector<double> nothing = {0.0, 0.0};
  const std::vector<double> fined = {-1.0, -1.0};
};

TEST_F(CornerGames, MoveAndCollide) {
  EXPECT_EQ(one.frame().num_states(Step(0)), 73U);
  EXPECT_EQ(one.frame().initial()[state(6, 8)], 1.0);
  // Both want the middle of the lower row.
  EXPECT_EQ(paid(one, state(6, 8), east, west), fined);
  EXPECT_EQ(row(one, state(6, 8), east, west), (Row{{state(6, 8), 1.0}}));
  // Each wants the other's square.
  EXPECT_EQ(paid(one, state(3, 4), east, west), fined);
  EXPECT_EQ(row(one, state(3, 4), east, west), (Row{{state(3, 4), 1.0}}));
  // One follows the other.
  EXPECT_EQ(paid(one, state(3, 4), east, east), nothing);
  EXPECT_EQ(row(one, state(3, 4), east, east), (Row{{state(4, 5), 1.0}}));
  // One stays at the wall, alone or with the other walking into it.
  EXPECT_EQ(paid(one, state(6, 8), west, north), nothing);
  EXPECT_EQ(row(one, state(6, 8), west, north), (Row{{state(6, 5), 1.0}}));
  EXPECT_EQ(paid(one, state(6, 7), south, west), fined);
  EXPECT_EQ(row(one, state(6, 7), south, west), (Row{{state(6, 7), 1.0}}));
}

TEST_F(CornerGames, GoalsPayAndEnd) {
  // In the first game player 1 is at home in the upper right, player 2 in the upper left.
  EXPECT_EQ(paid(one, state(5, 3), north, north), (std::vector<double>{100.0, 100.0}));
  EXPECT_EQ(paid(one, state(5, 4), north, north), (std::vector<double>{100.0, 0.0}));
  EXPECT_EQ(row(one, state(5, 4), north, north), (Row{{over, 1.0}}));
  EXPECT_EQ(paid(one, state(3, 5), north, north), nothing);  // each on the other's goal
  EXPECT_EQ(row(one, state(3, 5), north, north), (Row{{state(0, 2), 1.0}}));
  EXPECT_EQ(paid(one, state(1, 5), east, north), fined);  // only one of them is at home there
  // In the second both are in the upper middle, and may arrive together.
  EXPECT_EQ(paid(two, state(0, 2), east, west), (std::vector<double>{100.0, 100.0}));
  EXPECT_EQ(row(two, state(0, 2), east, west), (Row{{over, 1.0}}));
  EXPECT_EQ(paid(one, state(0, 2), east, west), fined);
  // When it is over, it is over.
  EXPECT_EQ(one.frame().num_actions(Player(1), Step(0), State(over)), 1U);
  EXPECT_EQ(row(one, over, 0, 0), (Row{{over, 1.0}}));
  EXPECT_EQ(paid(one, over, 0, 0), nothing);
}

TEST_F(CornerGames, BarriersHoldOneTimeInTwo) {
  EXPECT_EQ(row(two, state(6, 8), north, west), (Row{{state(3, 7), 0.5}, {state(6, 7), 0.5}}));
  EXPECT_EQ(
      row(two, state(6, 8), north, north),
      (Row{{state(3, 5), 0.25}, {state(3, 8), 0.25}, {state(6, 5), 0.25}, {state(6, 8), 0.25}}));
  EXPECT_EQ(row(two, state(7, 3), north, north), (Row{{state(4, 0), 1.0}}));  // elsewhere none
  EXPECT_EQ(row(one, state(6, 8), north, north), (Row{{state(3, 5), 1.0}}));
  // Held back and walked into: a fine, one time in two.
  EXPECT_EQ(paid(two, state(6, 7), north, west), (std::vector<double>{-0.5, -0.5}));
}

// The discount is the probability of going on.
TEST_F(CornerGames, EndByTheDiscount) {
  const auto game = std::get<SparseGame>(make_game("grid-game-2:discount=0.75"));
  EXPECT_EQ(row(game, state(6, 8), north, west),
            (Row{{state(3, 7), 0.375}, {state(6, 7), 0.375}, {over, 0.25}}));
  EXPECT_EQ(row(game, state(0, 2), east, west), (Row{{over, 1.0}}));
  const auto brief = std::get<SparseGame>(make_game("grid-game-2:discount=0"));
  EXPECT_EQ(row(brief, state(6, 8), north, west), (Row{{over, 1.0}}));
}

// Four moves lead to the goal of the first game: both can be there in the fourth step, which pays
// 100 * 0.9^3, and no behaviour of the other makes it more.
TEST_F(CornerGames, ShortestPathsWinTheFirst) {
  const auto game = std::get<SparseGame>(make_game("grid-game-1"));
  const std::vector<std::array<std::size_t, 2>> path = {{{6, 8}}, {{7, 5}}, {{8, 2}}, {{5, 1}}};
  const std::vector<std::array<std::size_t, 2>> moves = {
      {{east, north}}, {{east, north}}, {{north, west}}, {{north, west}}};
  double alive = 1.0;
  for (std::size_t k = 0; k < path.size(); ++k) {
    const std::size_t here = state(path[k][0], path[k][1]);
    const Row next = row(game, here, moves[k][0], moves[k][1]);
    const bool last = k + 1 == path.size();
    EXPECT_EQ(paid(game, here, moves[k][0], moves[k][1]),
              (last ? std::vector<double>{100.0, 100.0} : nothing));
    if (!last) alive *= next.at(state(path[k + 1][0], path[k + 1][1]));
    EXPECT_NEAR(next.at(over), last ? 1.0 : 0.1, 1e-15);
  }
  EXPECT_NEAR(100.0 * alive, 72.9, 1e-12);
  const RewardRange range = game.frame().range(Player(0));
  for (const Player player : all<Player>(2)) {
    const double best = range.from_unit(best_response_value(game, player), 10.0);
    EXPECT_GT(best, 30.0);
    EXPECT_LE(best, 72.9 + 1e-9);
  }
  // In three steps nobody gets there.
  const auto brief = std::get<SparseGame>(make_game("grid-game-1:horizon=3"));
  EXPECT_LE(range.from_unit(best_response_value(brief, Player(0)), 3.0), 1e-9);
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
                       .ranges = {range},
                       .ends_early = true});
    return SparseGame(frame, {1.0, 0.0, 0.75, 0.5, 0.0},
                      {{0, 1, 2, 3, 4, 5}, {2, 1, 2, 2, 2}, {1, 1, 1, 1, 1}});
  };
  // The last range lacks 0 and is extended by it.
  for (const RewardRange given :
       {RewardRange{0.0, 1.0}, RewardRange{-3.0, 5.0}, RewardRange{0.5, 1.0}}) {
    const SparseGame game = make(given);
    const RewardRange range = game.frame().range(Player(0));
    EXPECT_LE(range.low, 0.0);
    EXPECT_NEAR(range.from_unit(best_response_value(game, Player(0)), 2.0), 1.0, 1e-12);
    const std::vector<double> policy(2, 0.5);
    const Profile profile(game.frame().action_begins(Step(0), State(0)), policy);
    std::vector<double> next(3);
    for (std::size_t s = 0; s < 3; ++s) next[s] = range.to_unit(s == 1 ? 0.75 : 0.0);
    next[0] = 0.0;
    std::vector<double> q(2);
    Workspace workspace;
    game.backup({Step(0), State(0), profile}, Player(0), next, q, workspace);
    EXPECT_NEAR(range.from_unit(q[0], 2.0), 1.0, 1e-12);
    EXPECT_NEAR(range.from_unit(q[1], 2.0), 0.75, 1e-12);
  }
}

}  // namespace
}  // namespace vlearn
