// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain transcriptions of the numerical definitions in core: one value at a time, libm's rounding
// and scaling, no vectors. The kernels must give the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace vlearn::test {

/// exp-inl.h: x = k ln2 + r + c, exp(x) = 2^k (1 + (r + (r^2 P(r) + c))).
inline double plain_exp(double x) {
  if (std::isnan(x)) return x;
  const double bounded = std::min(std::max(x, -746.0), 710.0);
  const double k = std::nearbyint(bounded * 0x1.71547652b82fep+0);
  const double r_high = bounded - k * 0x1.62e42feep-1;
  const double r_low = k * 0x1.a39ef35793c76p-33;
  const double r = r_high - r_low;
  const double c = (r_high - r) - r_low;
  const std::array<double, 10> p = {
      0x1.000000000000cp-1,  0x1.555555555555cp-3,  0x1.555555554fe23p-5,  0x1.111111110eabfp-7,
      0x1.6c16c18601fbap-10, 0x1.a01a01b40924ap-13, 0x1.a01995c69b213p-16, 0x1.71ddeeed0ebb1p-19,
      0x1.28b0ece3c8a52p-22, 0x1.af6dcb9301b44p-26};
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double low = (p[0] + p[1] * r) + (p[2] + p[3] * r) * r2;
  const double high = ((p[4] + p[5] * r) + (p[6] + p[7] * r) * r2) + (p[8] + p[9] * r) * r4;
  const double sum = 1.0 + (r + (r2 * (low + high * r4) + c));
  return std::ldexp(sum, static_cast<int>(k));
}

/// simplex.h: eight running sums, then 8 -> 4 -> 2 -> 1.
inline double plain_sum(std::span<const double> values) {
  std::array<double, 8> sums{};
  for (std::size_t i = 0; i < values.size(); ++i) sums.at(i % 8) += values[i];
  for (std::size_t half = 4; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) sums.at(l) += sums.at(l + half);
  }
  return sums[0];
}

inline std::vector<double> plain_normalise(std::vector<double> values) {
  const double factor = 1.0 / plain_sum(values);
  for (double& value : values) value *= factor;
  return values;
}

inline std::vector<double> plain_softmax(std::span<const double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  for (const double score : scores) weights.push_back(plain_exp(score - largest));
  return plain_normalise(std::move(weights));
}

}  // namespace vlearn::test
