// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws that are spread evenly: at the visits of a cell, player j of m picks its action by
//
//   u_i = fraction of (u_0 + i phi^-j),   i = 0, ..., 511,   phi^(m+1) = phi + 1
//
// and then draws a new u_0. Each u_i is uniform, and what all players do together fills the square
// (the cube, ...) of their draws evenly, faster than independent draws do (Roberts's generalised
// golden ratio). So the others' average play shows through after fewer visits. Who knows u_0
// could foresee what comes: no bound on regret allows for that, and none is claimed. The players
// need to agree on nothing but their numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vlearn/core/id.h"

namespace vlearn {

/// Visits between two draws.
inline constexpr std::uint64_t kSpreadVisits = 512;
/// The strides of more players lie too close to each other: these draw independently.
inline constexpr std::size_t kMostSpreadPlayers = 8;

/// phi^-j of player j = 1, ..., m, by operations that round alike everywhere.
[[nodiscard]] inline double spread_stride(Player player, std::size_t num_players) noexcept {
  double low = 1.0;
  double high = 2.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    double power = middle;
    for (std::size_t k = 0; k < num_players; ++k) power *= middle;
    (power < middle + 1.0 ? low : high) = middle;
  }
  double stride = 1.0;
  for (std::size_t k = 0; k <= player.index(); ++k) stride /= low;
  return stride;
}

/// The u of a visit, counted from 1; `first` is the cell's u_0, and `u` becomes it when it is due.
[[nodiscard]] inline double spread_draw(double& first,
                                        double stride,
                                        std::uint64_t visit,
                                        double u) noexcept {
  const std::uint64_t i = (visit - 1) % kSpreadVisits;
  if (i == 0) first = u;
  const double place = first + static_cast<double>(i) * stride;
  return place - std::floor(place);
}

}  // namespace vlearn
