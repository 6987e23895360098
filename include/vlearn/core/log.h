// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The natural logarithm for step sizes: the same bits everywhere, because libm's may differ.
//
//   x = 2^k m, sqrt(1/2) <= m < sqrt(2);  log(x) = k ln2 + 2 artanh(s),  s = (m - 1)/(m + 1)
//
// Only + - * / in the order written. The series in s^2 ends where |s| <= 0.172 makes the rest less
// than 2^-58; the error is below 2 ulp. It is meant for constants, not for hot loops.
#pragma once

#include <bit>
#include <cstdint>

namespace vlearn {

/// x positive, finite and normal.
[[nodiscard]] constexpr double log(double x) noexcept {
  constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52U) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto k = static_cast<int>(bits >> 52U) - 1023;
  auto m = std::bit_cast<double>((bits & mantissa) | (std::uint64_t{1023} << 52U));
  if (m > 0x1.6a09e667f3bcdp+0) {  // sqrt(2)
    m *= 0.5;
    ++k;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double series = 0.0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * s2;
  // ln2 in two parts: the first times k is exact.
  constexpr double ln2_high = 0x1.62e42feep-1;
  constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  return k * ln2_high + (2.0 * s + (2.0 * s * series + k * ln2_low));
}

}  // namespace vlearn
