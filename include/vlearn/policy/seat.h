// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player knows of a game before it begins: how long it is, where it can be, which moves it
// has itself, and the few sizes that its bonus depends on. Nothing of rewards, transitions or what
// others do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vlearn/core/id.h"

namespace vlearn {

struct Seat {
  std::size_t horizon = 0;                 ///< H
  std::size_t num_players = 0;             ///< m
  std::size_t max_states = 0;              ///< S, the most of any step
  std::size_t max_actions = 0;             ///< A, the most of any player anywhere
  std::vector<std::size_t> first_cell;     ///< of each step; at last the number of all cells
  std::vector<std::uint32_t> num_actions;  ///< of this player, for each cell

  /// Cells are the (step, state): all states of step 1, then of step 2, ...
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell[h.index()] + s.index();
  }
  [[nodiscard]] std::size_t num_cells() const noexcept { return first_cell.back(); }

  friend bool operator==(const Seat&, const Seat&) = default;
};

}  // namespace vlearn
