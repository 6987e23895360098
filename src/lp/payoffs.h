// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Payoffs in any units, brought to [0, 1): minus the least, times a power of two. Only the
// subtraction rounds, so ties stay ties, and doubled payoffs give the same program bit by bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace vlearn::lp {

struct Unit {
  double least = 0.0;
  double range = 0.0;  ///< after scaling: in [1/2, 1), or 0 where all payoffs are equal
  int exponent = 0;

  /// A scaled payoff, and a difference of such, in the caller's units.
  [[nodiscard]] double value(double scaled) const noexcept { return least + difference(scaled); }
  [[nodiscard]] double difference(double scaled) const noexcept {
    return std::ldexp(scaled, exponent);
  }
};

/// Throws Error (input) for payoffs that are not finite, or too far apart for a double. `first` is
/// the index, for people to read, of the first of them.
[[nodiscard]] Unit unit_of(std::span<const double> payoffs, std::size_t first = 0);

void scale(std::span<const double> payoffs, const Unit& unit, std::span<double> scaled) noexcept;

}  // namespace vlearn::lp
