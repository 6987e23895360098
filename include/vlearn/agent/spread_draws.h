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
//
// Taken in the order of i, what one player learns from a visit goes together with what the others
// do at the next: a bias that does not fade. So after 4096 visits of a cell the 512 places come in
// a shuffled order, another one each time, which all players know. The first visits keep the order
// of i, in which any few places in a row are even too.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vlearn/core/id.h"

namespace vlearn {

/// Visits between two draws.
inline constexpr std::uint64_t kSpreadBits = 9;
inline constexpr std::uint64_t kSpreadVisits = std::uint64_t{1} << kSpreadBits;
/// Visits after which their places are shuffled.
inline constexpr std::uint64_t kOrderedVisits = 4096;
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

/// A permutation of 0, ..., 511 for each number of a block: its steps are products with odd numbers
/// and exclusive ors with higher bits, which can be undone.
[[nodiscard]] inline std::uint64_t shuffled_place(std::uint64_t place,
                                                  std::uint64_t block) noexcept {
  constexpr std::uint64_t mask = kSpreadVisits - 1;
  // SplitMix64's finaliser: blocks that follow each other have nothing in common.
  std::uint64_t key = (block + 1) * 0x9E3779B97F4A7C15U;
  key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9U;
  key = (key ^ (key >> 27U)) * 0x94D049BB133111EBU;
  key ^= key >> 31U;
  for (unsigned round = 0; round < 3; ++round) {
    place = (place * (key | 1U) + (key >> kSpreadBits)) & mask;
    place ^= place >> 5U;
    key >>= 2 * kSpreadBits;
  }
  return place;
}

/// i of a visit, counted from 1: alike for all players.
[[nodiscard]] inline std::uint64_t spread_place(std::uint64_t visit) noexcept {
  const std::uint64_t i = (visit - 1) % kSpreadVisits;
  return visit > kOrderedVisits ? shuffled_place(i, (visit - 1) / kSpreadVisits) : i;
}

/// The u of a visit at its place; `first` is the cell's u_0, and `u` becomes it when it is due.
[[nodiscard]] inline double spread_draw(
    double& first, double stride, std::uint64_t visit, std::uint64_t place, double u) noexcept {
  if ((visit - 1) % kSpreadVisits == 0) first = u;
  const double at = first + static_cast<double>(place) * stride;
  return at - std::floor(at);
}
[[nodiscard]] inline double spread_draw(double& first,
                                        double stride,
                                        std::uint64_t visit,
                                        double u) noexcept {
  return spread_draw(first, stride, visit, spread_place(visit), u);
}

}  // namespace vlearn
