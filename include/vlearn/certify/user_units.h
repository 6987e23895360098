// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What all certificates begin with, and how numbers get into the user's units. With rewards in
// [low, high] a sum x of H rewards in [0, 1] is H low + (high - low) x, rounded to a double; the
// difference of two sums is (high - low) (x - y), in which no digit is lost to a low that is far
// from 0 (docs/theory/certificate_rounding.md).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "vlearn/certify/certify.h"
#include "vlearn/core/alpha.h"

namespace vlearn {

[[nodiscard]] inline double horizon_of(const Frame& frame) {
  return static_cast<double>(frame.horizon());
}

[[nodiscard]] inline double width_of(const Frame& frame, Player player) {
  return frame.range(player).high - frame.range(player).low;
}

/// A value, off by 2^-50 H max(|low|, |high|) at most.
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

/// In the user's units a difference of two numbers in those of [0, 1]: at least, and at most. The
/// difference, the width and their product are each off by 2^-53 of themselves; up() and down()
/// cover a product too small to have all digits.
[[nodiscard]] inline double difference_above(double width, double x) {
  const double product = width * x;
  return up(product + 0x1p-50 * std::abs(product));
}
[[nodiscard]] inline double difference_below(double width, double x) {
  return -difference_above(width, -x);
}

/// How far off a number is, in the user's units.
[[nodiscard]] inline double user_rounding(const Frame& frame, Player player, double rounding) {
  return difference_above(width_of(frame, player), rounding);
}

[[nodiscard]] Certificate begin_certificate(const Frame& frame,
                                            const CertificateTitle& title,
                                            Target target,
                                            const std::optional<OutputWeights>& weights,
                                            std::uint64_t episodes);

}  // namespace vlearn
