// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of numbers that are computed with: intervals, and where a history is short exact
// rationals. What follows is written once, for both.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vlearn/game/frame.h"
#include "vlearn/verify/interval.h"

namespace vlearn {

using Rational = boost::multiprecision::cpp_rational;

[[nodiscard]] inline Rational larger(const Rational& a, const Rational& b) { return a < b ? b : a; }

class RationalMean {
 public:
  void move(const Rational& x, std::uint64_t part, std::uint64_t whole) {
    if (part == whole) {
      mean_ = x;
      return;
    }
    mean_ += (x - mean_) * Rational(part, whole);
  }
  [[nodiscard]] const Rational& value() const { return mean_; }

 private:
  Rational mean_ = 0;
};

template <class Num>
struct Numbers;

template <>
struct Numbers<Interval> {
  using Mean = IntervalMean;
  [[nodiscard]] static Interval of(double number) { return Interval::of(number); }
  [[nodiscard]] static Interval enclose(const Interval& number) { return number; }

  /// A reward in [0, 1].
  [[nodiscard]] static Interval unit(double reward, const RewardRange& range) {
    if (range.low == 0.0 && range.high == 1.0) return Interval::of(reward);
    // Each difference is within 2^-53 of itself, however small it is.
    const double ratio = (reward - range.low) / (range.high - range.low);
    return {detail::below(detail::below(ratio)), detail::above(detail::above(ratio))};
  }
  [[nodiscard]] static Interval one_minus(const Interval& x) {
    // The difference of nearby numbers is exact; of others it is off by 2^-53 at most.
    return {std::max(0.0, 1.0 - x.high - 0x1p-52), std::max(0.0, 1.0 - x.low) + 0x1p-52};
  }
};

template <>
struct Numbers<Rational> {
  using Mean = RationalMean;
  [[nodiscard]] static Rational of(double number) { return {number}; }
  [[nodiscard]] static Interval enclose(const Rational& number) {
    const auto near = number.convert_to<double>();  // within an ulp or two
    return {detail::below(near), detail::above(near)};
  }
  [[nodiscard]] static Rational unit(double reward, const RewardRange& range) {
    const Rational low(range.low);
    return {(Rational(reward) - low) / (Rational(range.high) - low)};
  }
  [[nodiscard]] static Rational one_minus(const Rational& x) { return {1 - x}; }
};

}  // namespace vlearn
