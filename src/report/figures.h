// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them. What bounds from above is rounded up, what bounds from below down:
// a shortened bound is still one.
#pragma once

#include <cstdint>
#include <string>

namespace vlearn {

enum class Rounding : std::uint8_t { nearest, up, down };

/// With so many significant digits: 0.0095, 12.5, 1.2e-6.
[[nodiscard]] std::string figure(double number,
                                 int digits = 4,
                                 Rounding rounding = Rounding::nearest);

/// 1 234 567, with spaces at which no line ends.
[[nodiscard]] std::string count(std::uint64_t number);

/// A number that is known exactly, or between two bounds: each is rounded outwards.
[[nodiscard]] std::string bounds(double lower, double upper);

/// Of a confidence: never more than it is.
[[nodiscard]] std::string confidence_text(double confidence);

/// Of a chance: 12.3 %.
[[nodiscard]] std::string percent(double chance);

/// "3 states", "1 state".
[[nodiscard]] std::string plural(std::uint64_t number, const std::string& thing);

/// 1, 10, 100, 1k, 10k, 1M: a tick of an axis.
[[nodiscard]] std::string tick_label(double number);

}  // namespace vlearn
