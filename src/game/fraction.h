// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people write them in games: 3, -4, 0.25, 1e-3, 1/3, -7/2.
#pragma once

#include <optional>
#include <string_view>

namespace vlearn {

/// The nearest double, of two equally near ones the even one, whatever the locale; 0 is never -0.
/// Nothing for any other text: no plus sign, no blanks, both parts of a fraction whole and the
/// second positive, at most 1000 digits in either part, and a number that a double can hold.
[[nodiscard]] std::optional<double> parse_fraction(std::string_view text);

}  // namespace vlearn
