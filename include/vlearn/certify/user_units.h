// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What all certificates begin with, and how numbers get into the user's units.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "vlearn/certify/certify.h"

namespace vlearn {

[[nodiscard]] inline double horizon_of(const Frame& frame) {
  return static_cast<double>(frame.horizon());
}

[[nodiscard]] inline double width_of(const Frame& frame, Player player) {
  return frame.range(player).high - frame.range(player).low;
}

/// A value in the user's units is off by this where it is off by `rounding` in units of [0, 1].
[[nodiscard]] inline double user_rounding(const Frame& frame, Player player, double rounding) {
  const RewardRange& range = frame.range(player);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  return width_of(frame, player) * rounding + 8.0 * 0x1p-53 * largest * horizon_of(frame);
}

[[nodiscard]] inline double to_user(const Frame& frame, Player player, double value) {
  return frame.range(player).from_unit(value, horizon_of(frame));
}

/// The next number, so that a bound stays one whatever was rounded last.
[[nodiscard]] inline double up(double x) {
  return std::nextafter(x, std::numeric_limits<double>::infinity());
}
[[nodiscard]] inline double down(double x) {
  return std::nextafter(x, -std::numeric_limits<double>::infinity());
}

[[nodiscard]] Certificate begin_certificate(const Frame& frame,
                                            const CertificateTitle& title,
                                            Target target,
                                            std::uint64_t weights,
                                            std::uint64_t episodes);

}  // namespace vlearn
