// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/board.h"

#include <array>

#include "grid.h"
#include "parameters.h"
#include "vlearn/core/error.h"

namespace vlearn {
namespace {

Square square_of(grid::Cell cell) { return {cell.row, cell.column}; }
Square square_at(int place, int columns) { return {place / columns, place % columns}; }

Board soccer_board() {
  Board board{.rows = grid::kRows, .columns = grid::kColumns};
  // Who scores goes through the two middle rows: the first player to the left.
  for (const int row : {1, 2}) {
    board.marks.push_back({{row, 0}, "G1"});
    board.marks.push_back({{row, grid::kColumns - 1}, "G2"});
  }
  const std::uint32_t states = 2 * grid::kPlaces * (grid::kPlaces - 1);
  for (std::uint32_t state = 0; state < states; ++state) {
    const grid::Pitch pitch = grid::pitch_of(state);
    board.positions.push_back(
        {{square_of(pitch.at[0]), square_of(pitch.at[1])}, Player(pitch.owner)});
  }
  return board;
}

/// All pairs of places, and at last: caught.
Board pursuit_board(int size) {
  Board board{.rows = size, .columns = size};
  const int places = size * size;
  for (int pair = 0; pair < places * places; ++pair) {
    board.positions.push_back({{square_at(pair / places, size), square_at(pair % places, size)}});
  }
  board.positions.emplace_back();
  return board;
}

/// All pairs of places that are not the same, and at last: over.
Board corner_board(const grid::CornerRules& rules) {
  Board board{.rows = grid::kSide, .columns = grid::kSide};
  const bool shared = rules.goals[0] == rules.goals[1];
  board.marks.push_back({square_of(rules.goals[0]), shared ? "G" : "G1"});
  if (!shared) board.marks.push_back({square_of(rules.goals[1]), "G2"});
  if (rules.barriers) {
    for (const grid::Cell corner : grid::kCorners) board.marks.push_back({square_of(corner), "B"});
  }
  constexpr int places = grid::kSide * grid::kSide;
  for (int pair = 0; pair < places * (places - 1); ++pair) {
    const auto [first, second] = grid::places_of(pair, places);
    board.positions.push_back({{square_at(first, grid::kSide), square_at(second, grid::kSide)}});
  }
  board.positions.emplace_back();
  return board;
}

}  // namespace

std::optional<Board> board_of(std::string_view word) {
  try {
    Parameters parameters(word);
    if (parameters.family() == "soccer") return soccer_board();
    if (parameters.family() == "pursuit") {
      return pursuit_board(static_cast<int>(parameters.integer("size", 4, 2, 12)));
    }
    if (parameters.family() == "grid-game-1") return corner_board(grid::kGridGame1);
    if (parameters.family() == "grid-game-2") return corner_board(grid::kGridGame2);
  } catch (const Error&) {
    // A word that is no family's is that of another game.
  }
  return std::nullopt;
}

}  // namespace vlearn
