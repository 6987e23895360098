// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/exp.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/plain.h"
#include "vlearn/core/error.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// exp in 200 bits.
class TrueExp {
 public:
  TrueExp() {
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 200);
  }
  ~TrueExp() {
    mpfr_clear(x_);
    mpfr_clear(y_);
  }
  TrueExp(const TrueExp&) = delete;
  TrueExp& operator=(const TrueExp&) = delete;

  /// |approximation - exp(x)| in units in the last place of the double below the true value
  /// (2^-1074 where that is subnormal).
  double ulps(double x, double approximation) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_exp(y_, x_, MPFR_RNDN);
    const long exponent = std::max<long>(mpfr_get_exp(y_) - 53, -1074);
    mpfr_sub_d(y_, y_, approximation, MPFR_RNDN);
    mpfr_mul_2si(y_, y_, -exponent, MPFR_RNDN);
    return std::abs(mpfr_get_d(y_, MPFR_RNDN));
  }

 private:
  mpfr_t x_;
  mpfr_t y_;
};

/// Arguments of all sizes: the whole range, what policies use, small ones, and the subnormal end.
double argument(Draws& draws) {
  const double u = draws.uniform();
  switch (draws.below(4)) {
    case 0: return -745.2 + u * (709.7 + 745.2);
    case 1: return -40.0 * u;
    case 2: return std::ldexp(u - 0.5, -static_cast<int>(draws.below(40)));
    default: return -745.2 + 40.0 * u;
  }
}

double worst_ulps(std::uint64_t seed, std::size_t count) {
  TrueExp truth;
  double worst = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    Draws draws({.seed = seed, .purpose = Purpose::test, .episode = Episode(i)});
    const double x = argument(draws);
    worst = std::max(worst, truth.ulps(x, exp(x)));
  }
  return worst;
}

TEST(Exp, IsWithinOneUlp) { EXPECT_LT(worst_ulps(1, 500'000), 1.0); }

TEST(ExpSlow, IsWithinOneUlpOnAHundredMillionPoints) {
  constexpr std::size_t parts = 1000;
  std::vector<double> worst(parts);
  parallel_for(parts, {}, [&](std::size_t part) { worst[part] = worst_ulps(100 + part, 100'000); });
  const double overall = *std::max_element(worst.begin(), worst.end());
  EXPECT_LT(overall, 1.0);
  RecordProperty("worst_ulps", std::to_string(overall));
  std::printf("worst error: %.4f ulp\n", overall);
}

TEST(Exp, SpecialValues) {
  EXPECT_EQ(exp(0.0), 1.0);
  EXPECT_EQ(exp(-0.0), 1.0);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(exp(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(exp(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(exp(std::numeric_limits<double>::denorm_min()), 1.0);
  EXPECT_EQ(exp(1e300), kInfinity);
  EXPECT_EQ(exp(-1e300), 0.0);
  // The last finite result, the first infinite one; the last positive one, the first zero.
  EXPECT_TRUE(std::isfinite(exp(0x1.62e42fefa39efp+9)));
  EXPECT_EQ(exp(0x1.62e42fefa39fp+9), kInfinity);
  EXPECT_EQ(exp(-745.13), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(exp(-745.14), 0.0);
}

/// `count` neighbouring doubles from x on, upwards.
std::vector<double> neighbours(double x, std::size_t count) {
  std::vector<double> run;
  for (std::size_t i = 0; i < count; ++i) {
    run.push_back(x);
    x = std::nextafter(x, kInfinity);
  }
  return run;
}

bool increases(const std::vector<double>& arguments) {
  std::vector<double> values(arguments.size());
  exp(arguments, values);
  return std::is_sorted(values.begin(), values.end());
}

TEST(Exp, IsMonotoneWhereTheExponentChanges) {
  for (int k = -1076; k <= 1024; ++k) {
    double x = (k + 0.5) * std::log(2.0);
    for (int back = 0; back < 200; ++back) x = std::nextafter(x, -kInfinity);
    ASSERT_TRUE(increases(neighbours(x, 400))) << "near k = " << k;
  }
}

TEST(Exp, IsMonotoneOnNeighbours) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    Draws draws({.seed = 4, .purpose = Purpose::test, .episode = Episode(i)});
    const double x = argument(draws);
    ASSERT_TRUE(increases(neighbours(x, 200))) << "from " << x;
  }
}

TEST(ExpSlow, IsMonotoneOnAHundredMillionNeighbours) {
  parallel_for(1000, {}, [&](std::size_t part) {
    for (std::uint64_t i = 0; i < 500; ++i) {
      Draws draws({.seed = 200 + part, .purpose = Purpose::test, .episode = Episode(i)});
      const double x = argument(draws);
      if (!increases(neighbours(x, 200))) throw std::runtime_error(std::to_string(x));
    }
  });
}

/// Equal as bits, so that -0 and 0 differ and NaN equals itself.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

TEST(Exp, EveryVectorWidthGivesTheBitsOfThePlainOne) {
  std::vector<double> in = {0.0, -0.0, kInfinity, -kInfinity, 1e300, -1e300, 5e-324, -745.13};
  Draws draws({.seed = 5, .purpose = Purpose::test});
  for (int i = 0; i < 100'000; ++i) in.push_back(argument(draws));
  std::vector<double> plain;
  std::vector<double> one_by_one;
  for (const double x : in) {
    plain.push_back(test::plain_exp(x));
    one_by_one.push_back(exp(x));
  }
  EXPECT_TRUE(same_bits(one_by_one, plain));
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    // Every length up to three blocks, so that every kind of tail is met.
    for (std::size_t size = 0; size <= 24; ++size) {
      const std::vector<double> head(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(size));
      std::vector<double> out(size);
      exp(head, out);
      EXPECT_TRUE(
          same_bits(out, {plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(size)}))
          << target << ", size " << size;
    }
    std::vector<double> out(in.size());
    exp(in, out);
    EXPECT_TRUE(same_bits(out, plain)) << target;
    // In place.
    out = in;
    exp(out, out);
    EXPECT_TRUE(same_bits(out, plain)) << target << ", in place";
  }
  use_simd_target("");
}

TEST(Simd, KnowsItsTargets) {
  const std::vector<std::string> targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(simd_target(), targets.front());
  use_simd_target(targets.back());
  EXPECT_EQ(simd_target(), targets.back());
  EXPECT_EQ(simd_targets(), targets);
  EXPECT_EQ(simd_target(), targets.back());
  EXPECT_THROW(use_simd_target("abacus"), Error);
  EXPECT_EQ(simd_target(), targets.back());
  use_simd_target("");
  EXPECT_EQ(simd_target(), targets.front());
}

}  // namespace
}  // namespace vlearn
