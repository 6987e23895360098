// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "vlearn/game/any_game.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

/// North, south, east, west, stand.
Square moved(Square from, std::size_t move) {
  constexpr int rows[] = {-1, 1, 0, 0, 0};
  constexpr int columns[] = {0, 0, 1, -1, 0};
  return {from.row + rows[move], from.column + columns[move]};
}

bool inside(const Board& board, Square square) {
  return square.row >= 0 && square.row < board.rows && square.column >= 0 &&
         square.column < board.columns;
}

/// see(state, moves, next state, chance) of all of a game.
template <class See>
void for_each_move(const SparseGame& game, bool legal_only, const Board& board, const See& see) {
  const Frame& frame = game.frame();
  for (const State s : all<State>(frame.num_states(Step()))) {
    const BoardPosition& at = board.positions[s.index()];
    if (at.players.empty()) continue;
    std::vector<std::vector<std::size_t>> moves(2);
    for (const Player player : all<Player>(2)) {
      const std::size_t count = frame.num_actions(player, Step(), s);
      for (std::size_t move = 0; move < (legal_only ? 5 : count); ++move) {
        if (!legal_only || inside(board, moved(at.players[player.index()], move))) {
          moves[player.index()].push_back(move);
        }
      }
      ASSERT_EQ(moves[player.index()].size(), count);
    }
    std::size_t joint = 0;
    for (const std::size_t first : moves[0]) {
      for (const std::size_t second : moves[1]) {
        game.rows().for_each(frame.cell(Step(), s), joint++, [&](State next, double chance) {
          see(at, std::vector{first, second}, board.positions[next.index()], chance);
        });
      }
    }
  }
}

/// Nobody is in the way of anybody.
bool is_free(const Board& board, const BoardPosition& at, const std::vector<std::size_t>& moves) {
  const Square first = moved(at.players[0], moves[0]);
  const Square second = moved(at.players[1], moves[1]);
  return inside(board, first) && inside(board, second) && first != second &&
         first != at.players[1] && second != at.players[0];
}

TEST(Board, SoccerPlayersMoveAsTheyWant) {
  const Board board = board_of("soccer").value();
  const AnyGame game = make_game("soccer");
  ASSERT_EQ(board.positions.size(), frame_of(game).num_states(Step()));
  std::size_t free = 0;
  const auto kick_off = [](const BoardPosition& to) {
    return to.players == std::vector<Square>{{2, 3}, {1, 1}};
  };
  for_each_move(std::get<SparseGame>(game), false, board,
                [&](const BoardPosition& at, const std::vector<std::size_t>& moves,
                    const BoardPosition& to, double chance) {
                  for (std::size_t j = 0; j < 2; ++j) {
                    EXPECT_TRUE(to.players[j] == at.players[j] || kick_off(to) ||
                                to.players[j] == moved(at.players[j], moves[j]));
                  }
                  if (!is_free(board, at, moves)) return;
                  ++free;
                  EXPECT_EQ(chance, 1.0);
                  EXPECT_EQ(to.players[0], moved(at.players[0], moves[0]));
                  EXPECT_EQ(to.players[1], moved(at.players[1], moves[1]));
                  EXPECT_EQ(to.ball, at.ball);
                });
  EXPECT_GT(free, 5000U);
  // Who has the ball beside its goal scores: the first player to the left.
  const Frame& frame = frame_of(game);
  for (const State s : all<State>(board.positions.size())) {
    const BoardPosition& at = board.positions[s.index()];
    const Square own = at.players[0];
    if (at.ball != Player(0) || own.column != 0 || (own.row != 1 && own.row != 2)) continue;
    const std::size_t west_and_stand = 3 * 5 + 4;
    EXPECT_EQ(
        std::get<SparseGame>(game).user_reward(Player(0), frame.cell(Step(), s), west_and_stand),
        1.0);
  }
}

TEST(Board, WhoFleesSlipsAndWhoChasesDoesNot) {
  for (const char* word : {"pursuit", "pursuit:size=5,horizon=3"}) {
    const Board board = board_of(word).value();
    const LoadedGame game = load_game(word);
    ASSERT_EQ(board.positions.size(), frame_of(game.game).num_states(Step()));
    for_each_move(std::get<SparseGame>(game.game), true, board,
                  [&](const BoardPosition& at, const std::vector<std::size_t>& moves,
                      const BoardPosition& to, double chance) {
                    if (to.players.empty()) return;  // caught
                    EXPECT_EQ(to.players[0], moved(at.players[0], moves[0]));
                    const bool slipped = to.players[1] == at.players[1];
                    EXPECT_TRUE(slipped || to.players[1] == moved(at.players[1], moves[1]));
                    if (!slipped) {
                      EXPECT_EQ(chance, 0.8);
                    }
                  });
    EXPECT_TRUE(board.positions.back().players.empty());
  }
}

TEST(Board, CornerGamesEndAtTheirGoals) {
  for (const char* word : {"grid-game-1", "grid-game-2"}) {
    const Board board = board_of(word).value();
    const AnyGame game = make_game(word);
    ASSERT_EQ(board.positions.size(), frame_of(game).num_states(Step()));
    std::size_t arrivals = 0;
    for_each_move(std::get<SparseGame>(game), false, board,
                  [&](const BoardPosition& at, const std::vector<std::size_t>& moves,
                      const BoardPosition& to, double chance) {
                    std::size_t arrived = 0;
                    for (std::size_t j = 0; j < 2; ++j) {
                      const Square wanted = moved(at.players[j], moves[j]);
                      for (const BoardMark& mark : board.marks) {
                        const std::string own = j == 0 ? "G1" : "G2";
                        if (mark.square == wanted && (mark.label == "G" || mark.label == own))
                          ++arrived;
                      }
                      if (to.players.empty()) continue;
                      EXPECT_TRUE(to.players[j] == at.players[j] || to.players[j] == wanted);
                    }
                    if (!to.players.empty() || !is_free(board, at, moves)) return;
                    // Over for sure after an arrival; else one time in ten.
                    if (arrived > 0 && chance == 1.0) ++arrivals;
                    if (arrived == 0) {
                      EXPECT_NEAR(chance, 0.1, 1e-12);
                    }
                  });
    EXPECT_GT(arrivals, 20U);
    // Both start in the lower corners.
    const auto initial = frame_of(game).initial();
    const auto start = std::find(initial.begin(), initial.end(), 1.0) - initial.begin();
    const std::vector<Square> corners = {{2, 0}, {2, 2}};
    EXPECT_EQ(board.positions[static_cast<std::size_t>(start)].players, corners);
  }
}

TEST(Board, OtherGamesHaveNone) {
  for (const char* word : {"rps", "random", "soccer.json", "games/soccer.json", "", "-",
                           "pursuit:size=99", "pursuit:size=x"}) {
    EXPECT_FALSE(board_of(word)) << word;
  }
  // Boards are of the catalogue's games too: they are the families' own.
  for (const char* word : {"soccer", "pursuit", "grid-game-1", "grid-game-2"}) {
    EXPECT_EQ(law_hash_of(load_game(word).game), law_hash_of(make_game(word))) << word;
  }
}

}  // namespace
}  // namespace vlearn
