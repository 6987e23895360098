// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The weights of the paper's incremental averages, as a family in an integer c >= 1 (the paper's
// is c = H):
//
//   alpha_t     = (c + 1) / (c + t)                      alpha_1 = 1
//   alpha_t^i   = alpha_i prod_{j=i+1..t} (1 - alpha_j) = C(c+i-1, c) / C(c+t, c+1),  1 <= i <= t
//   F_t(i)      = sum_{l<=i} alpha_t^l = prod_{j=0..c} (i+j)/(t+j) = prod_{j=i+1..t} (j-1)/(c+j)
//   w_t         = alpha_t^t / alpha_t^1 = C(c+t-1, c)    never formed: it overflows
//
// Any X_t = sum_i alpha_t^i x_i obeys X_t = (1 - alpha_t) X_{t-1} + alpha_t x_t, and since
// alpha_1 = 1 no initial value matters. Visits t and i count from 1 here, as in the paper.
#pragma once

#include <cstdint>

#include "vlearn/core/random.h"

namespace vlearn {

namespace detail {

/// One draw of Floyd's algorithm for a uniform subset of {1..j}, seen through its maximum alone:
/// the set has `size` elements of {1..j-1} and this maximum, r is uniform on {1..j}. Floyd takes
/// r, or j where r is taken already. Of the j outcomes, `size` hit the set (then the new maximum is
/// j), maximum - size lie below the maximum beside the set (it stays), and each r above it becomes
/// the maximum. Which of those below are the hits does not matter: let it be the upper ones.
[[nodiscard]] constexpr std::uint64_t grow_maximum(std::uint64_t maximum,
                                                   std::uint64_t size,
                                                   std::uint64_t j,
                                                   std::uint64_t r) noexcept {
  if (r > maximum) return r;
  return r > maximum - size ? j : maximum;
}

}  // namespace detail

class AlphaWeights {
 public:
  /// Throws Error unless 1 <= c < kMaxSteps.
  explicit AlphaWeights(std::uint64_t c);

  [[nodiscard]] std::uint64_t c() const noexcept { return c_; }

  /// alpha_t, t >= 1.
  [[nodiscard]] double rate(std::uint64_t t) const noexcept {
    return static_cast<double>(c_ + 1) / to_double(c_ + t);
  }
  /// w_{t-1} / w_t = (t - 1) / (c + t - 1): what a normalised cumulative sum is multiplied with.
  [[nodiscard]] double decay(std::uint64_t t) const noexcept {
    return to_double(t - 1) / to_double(c_ + t - 1);
  }
  /// alpha_t^i, 1 <= i <= t; relative error at most 2 (min(c + 1, t - i) + 2) 2^-53 unless it
  /// underflows, where c + t <= 2^53.
  [[nodiscard]] double weight(std::uint64_t t, std::uint64_t i) const noexcept {
    return rate(i) * cdf(t, i);
  }
  /// F_t(i), 0 <= i <= t; relative error as weight().
  [[nodiscard]] double cdf(std::uint64_t t, std::uint64_t i) const noexcept;
  /// sum_i alpha_t^i / i = (c + 1)/(c t) (1 - 1/C(c+t, c)).
  [[nodiscard]] double sum_of_inverse_visits(std::uint64_t t) const noexcept;

  /// i in {1, ..., t} with probability alpha_t^i, exactly, in integers alone: every machine and
  /// language draws the same index from a shared seed. Takes c + 1 draws of below() whatever the
  /// outcome (each may skip some bits, alike for all who share the key); t + c < 2^63.
  [[nodiscard]] std::uint64_t sample(std::uint64_t t, Draws& draws) const noexcept;

 private:
  /// Below 2^63; a signed number converts in one instruction.
  static double to_double(std::uint64_t number) noexcept {
    return static_cast<double>(static_cast<std::int64_t>(number));
  }

  std::uint64_t c_;
};

/// The weights of an output whose visit is drawn anew at every step: alpha_n^i, or tapered, which
/// lets the last visits fade out:
///
///   a_n^i = alpha_n^i (n + 1 - i)(c + 2)/(c + n + 1)
///         = sum_{j=i..n} alpha_n^j[c + 1] alpha_j^i[c]         an average of the averages so far
///
/// Where play goes round in circles, an average is biased by the last circle, which is cut off.
/// With weights that fall to nothing at the end that circle hardly counts.
class OutputWeights {
 public:
  /// Throws as AlphaWeights does; tapered, c + 1 has to be below kMaxSteps too.
  OutputWeights(std::uint64_t c, bool tapered = false);

  [[nodiscard]] std::uint64_t c() const noexcept { return alpha_.c(); }
  [[nodiscard]] bool tapered() const noexcept { return tapered_; }

  /// What visit i counts in the average of the first i, if n are to come: with
  /// X_i = (1 - rate) X_{i-1} + rate x_i from i = 1 on, X_n is the average.
  [[nodiscard]] double rate(std::uint64_t n, std::uint64_t i) const noexcept {
    if (!tapered_) return alpha_.rate(i);
    const double left = static_cast<double>(c() + 2) * static_cast<double>(n + 1 - i);
    return alpha_.rate(i) * (left / (left + static_cast<double>(i - 1)));
  }
  /// a_n^i, 1 <= i <= n.
  [[nodiscard]] double weight(std::uint64_t n, std::uint64_t i) const noexcept;
  /// The sum of the first i of them, 0 <= i <= n.
  [[nodiscard]] double cdf(std::uint64_t n, std::uint64_t i) const noexcept;
  /// i with probability a_n^i, exactly, in integers alone: tapered, j among n with c + 1, and then
  /// i among j with c.
  [[nodiscard]] std::uint64_t sample(std::uint64_t n, Draws& draws) const noexcept;

 private:
  AlphaWeights alpha_;
  AlphaWeights next_;  // c + 1, where it is tapered
  bool tapered_;
};

}  // namespace vlearn
