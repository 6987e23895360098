// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/log.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/mpfr.hpp>
#include <cmath>

#include "vlearn/core/random.h"

namespace vlearn {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<50>>;

double ulps(double x) {
  const Real exact = log(Real(x));
  const auto near = static_cast<double>(exact);
  if (near == 0.0) return vlearn::log(x) == 0.0 ? 0.0 : 1e9;
  const double unit = std::abs(std::nextafter(near, 1e300) - near);
  return static_cast<double>(abs(exact - vlearn::log(x)) / unit);
}

TEST(Log, IsRightToTwoUlp) {
  static_assert(vlearn::log(1.0) == 0.0);
  double worst = 0.0;
  for (int n = 1; n <= 100'000; ++n) worst = std::max(worst, ulps(n));
  Draws draws({.seed = 3, .purpose = Purpose::game});
  for (int i = 0; i < 100'000; ++i) {
    worst =
        std::max(worst, ulps(std::ldexp(1.0 + draws.uniform(), static_cast<int>(i % 1000) - 500)));
    worst = std::max(worst, ulps(1.0 + (draws.uniform() - 0.5) * 0x1p-8));
  }
  EXPECT_LE(worst, 2.0);
}

}  // namespace
}  // namespace vlearn
