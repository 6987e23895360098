// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Where things are in grid games, and which number a state has: for who plays them (grid_games.cpp)
// and who draws them (board.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vlearn::grid {

struct Cell {
  int row = 0;
  int column = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// North, south, east, west, stand.
inline constexpr std::array<Cell, 5> kMoves = {{{-1, 0}, {1, 0}, {0, 1}, {0, -1}, {0, 0}}};

[[nodiscard]] inline Cell moved(Cell from, std::size_t move) {
  return {from.row + kMoves.at(move).row, from.column + kMoves.at(move).column};
}

/// The number of two places that are not the same, and back.
[[nodiscard]] inline int pair_of(int first, int second, int places) {
  return first * (places - 1) + (second > first ? second - 1 : second);
}

[[nodiscard]] inline std::array<int, 2> places_of(int pair, int places) {
  const int first = pair / (places - 1);
  const int rest = pair % (places - 1);
  return {first, rest >= first ? rest + 1 : rest};
}

// ------------------------------------------------------------------------------------- soccer

inline constexpr int kRows = 4;
inline constexpr int kColumns = 5;
inline constexpr int kPlaces = kRows * kColumns;

/// Where the two players are and who has the ball.
struct Pitch {
  std::array<Cell, 2> at;
  int owner = 0;
};

inline constexpr std::array<Cell, 2> kKickOff = {
    {{2, 3}, {1, 1}}};  // player 1 right, player 2 left

[[nodiscard]] inline int place_of(Cell cell) { return cell.row * kColumns + cell.column; }

/// Players never share a square: 20 * 19 pairs, times the owner of the ball.
[[nodiscard]] inline std::uint32_t state_of(const Pitch& pitch) {
  const int pair = pair_of(place_of(pitch.at[0]), place_of(pitch.at[1]), kPlaces);
  return static_cast<std::uint32_t>(2 * pair + pitch.owner);
}

[[nodiscard]] inline Pitch pitch_of(std::uint32_t state) {
  const auto [first, second] = places_of(static_cast<int>(state / 2), kPlaces);
  return {{Cell{first / kColumns, first % kColumns}, Cell{second / kColumns, second % kColumns}},
          static_cast<int>(state % 2)};
}

// ------------------------------------------------------------------------------- corner games

inline constexpr int kSide = 3;
inline constexpr std::array<Cell, 2> kCorners = {
    {{2, 0}, {2, 2}}};  // where player 1 and player 2 start

struct CornerRules {
  std::array<Cell, 2> goals;
  bool barriers = false;
};

inline constexpr CornerRules kGridGame1 = {.goals = {{{0, 2}, {0, 0}}}, .barriers = false};
inline constexpr CornerRules kGridGame2 = {.goals = {{{0, 1}, {0, 1}}}, .barriers = true};

}  // namespace vlearn::grid
