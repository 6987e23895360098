// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Grid games as boards, for pictures. No part of the law.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/id.h"

namespace vlearn {

struct Square {
  int row = 0;  ///< from the top
  int column = 0;
  friend bool operator==(const Square&, const Square&) = default;
};

/// Where something is marked on the board: a goal, the place where a barrier stands.
struct BoardMark {
  Square square;
  std::string label;  ///< one or two letters
};

struct BoardPosition {
  std::vector<Square> players = {};  ///< of each; empty: the game is over
  std::optional<Player> ball = std::nullopt;
};

struct Board {
  int rows = 0;
  int columns = 0;
  std::vector<BoardMark> marks = {};
  std::vector<BoardPosition> positions = {};  ///< of each state, alike at all steps
};

/// The board of a grid game, by the word that names it ("soccer", "pursuit:size=5"); nothing for
/// all others.
[[nodiscard]] std::optional<Board> board_of(std::string_view word);

}  // namespace vlearn
