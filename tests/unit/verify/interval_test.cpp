// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/interval.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace vlearn {
namespace {

using Rational = boost::multiprecision::cpp_rational;

bool holds(const Interval& interval, const Rational& number) {
  return Rational(interval.low) <= number && number <= Rational(interval.high);
}

/// Of all sizes, zero and subnormals among them.
double some_number(std::mt19937_64& bits) {
  if (bits() % 16 == 0) return 0.0;
  return std::ldexp(static_cast<double>(bits() >> 11U),
                    -static_cast<int>(bits() % (bits() % 8 == 0 ? 1120 : 60)) - 30);
}

TEST(Interval, HoldsSumsAndProducts) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 100'000; ++i) {
    const double a = some_number(bits);
    const double b = some_number(bits);
    const Interval sum = Interval::of(a) + Interval::of(b);
    const Interval product = Interval::of(a) * Interval::of(b);
    ASSERT_TRUE(holds(sum, Rational(a) + Rational(b))) << a << " + " << b;
    ASSERT_TRUE(holds(product, Rational(a) * Rational(b))) << a << " * " << b;
    ASSERT_LE(sum.high - sum.low, 2e-15 * (a + b) + 1e-300);
    ASSERT_LE(product.high - product.low, 2e-15 * (a * b) + 1e-300);
  }
}

TEST(Interval, MeansHoldTheirMean) {
  std::mt19937_64 bits(2);
  IntervalMean mean;
  Rational exact = 0;
  const std::uint64_t c = 3;
  for (std::uint64_t n = 1; n <= 400; ++n) {
    const double x = 5.0 * static_cast<double>(bits() >> 11U) * 0x1p-53;
    mean.move(Interval::of(x), c + 1, c + n);
    exact += (Rational(x) - exact) * Rational(c + 1, c + n);
    ASSERT_TRUE(holds(mean.value(), exact)) << n;
    ASSERT_LE(mean.value().high - mean.value().low, 1e-13);
  }
}

TEST(Interval, MeansOfManyStayNarrow) {
  std::mt19937_64 bits(3);
  IntervalMean mean;
  IntervalMean start;
  for (std::uint64_t n = 1; n <= 3'000'000; ++n) {
    const double x = static_cast<double>(bits() >> 11U) * 0x1p-53;
    mean.move(Interval::of(x), 4, 3 + n);
    start.move(Interval::of(x), 1, n);
  }
  EXPECT_LT(mean.value().high - mean.value().low, 1e-14);
  EXPECT_LT(start.value().high - start.value().low, 1e-14);
  EXPECT_NEAR(start.value().middle(), 0.5, 1e-3);
}

}  // namespace
}  // namespace vlearn
