// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are known to lie between two doubles. Every operation rounds outwards, so what was
// inside stays inside. All numbers here are non-negative: rewards in [0, 1], probabilities, sums
// of them.
//
// A sum or product x in doubles is within 2^-53 of the true one, relative to it, or within 2^-1075
// where it underflows. Moving it by 2^-51 relative and 2^-1000 absolute, itself rounded, passes it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vlearn {

struct Interval {
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] static Interval of(double number) noexcept { return {number, number}; }
  [[nodiscard]] double middle() const noexcept { return 0.5 * (low + high); }
  /// Half the width, or slightly more.
  [[nodiscard]] double radius() const noexcept { return 0.5 * (high - low) * (1.0 + 0x1p-50); }
  [[nodiscard]] bool contains(double number) const noexcept {
    return low <= number && number <= high;
  }
};

namespace detail {
inline constexpr double kTiny = 0x1p-1000;
[[nodiscard]] inline double below(double x) noexcept {
  return std::max(0.0, x * (1.0 - 0x1p-51) - kTiny);
}
[[nodiscard]] inline double above(double x) noexcept { return x * (1.0 + 0x1p-51) + kTiny; }
}  // namespace detail

[[nodiscard]] inline Interval operator+(const Interval& a, const Interval& b) noexcept {
  return {detail::below(a.low + b.low), detail::above(a.high + b.high)};
}
[[nodiscard]] inline Interval operator*(const Interval& a, const Interval& b) noexcept {
  return {detail::below(a.low * b.low), detail::above(a.high * b.high)};
}
inline Interval& operator+=(Interval& a, const Interval& b) noexcept { return a = a + b; }

/// Of the larger of two numbers.
[[nodiscard]] inline Interval larger(const Interval& a, const Interval& b) noexcept {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

/// An average of intervals that grows one by one, mean <- (1 - w) mean + w x. Rounding errors do
/// not pile up over millions of visits: ends are kept as sums of two doubles, and what is lost in
/// w (x - mean) is averaged too.
class IntervalMean {
 public:
  /// w = part / whole, 1 <= part <= whole <= 2^63.
  void move(const Interval& x, std::uint64_t part, std::uint64_t whole) noexcept {
    if (part == whole) {
      low_ = {x.low, 0.0};
      high_ = {x.high, 0.0};
      return;
    }
    const double w = static_cast<double>(part) / static_cast<double>(whole);
    low_.move(x.low, w, -1.0);
    high_.move(x.high, w, 1.0);
  }
  [[nodiscard]] Interval value() const noexcept {
    return {detail::below(low_.sum()), detail::above(high_.sum())};
  }

 private:
  struct End {
    double head = 0.0;
    double tail = 0.0;

    [[nodiscard]] double sum() const noexcept { return head + tail; }
    void move(double x, double w, double outwards) noexcept {
      // Of w and the counts in it, the two differences and the product: seven roundings at most,
      // 2^-53 each of w times what is subtracted. The margin has room for these and for the tail's
      // rounding, 2^-105.
      const double margin = w * 0x1p-49 * (x + head) + detail::kTiny;
      const double step = w * ((x - head) - tail) + outwards * margin;
      const double sum = head + step;
      const double taken = sum - head;
      tail += (head - (sum - taken)) + (step - taken);  // exactly what the sum has lost
      head = sum + tail;
      tail -= head - sum;
    }
  };

  End low_;
  End high_;
};

}  // namespace vlearn
