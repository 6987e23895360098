// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/simplex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/plain.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

std::vector<double> random_values(std::uint64_t seed, std::size_t size, double scale) {
  Draws draws({.seed = seed, .purpose = Purpose::test});
  std::vector<double> values(size);
  for (double& value : values) value = scale * (draws.uniform() - 0.5);
  return values;
}

TEST(FixedSum, AddsInTheDocumentedOrder) {
  EXPECT_EQ(fixed_sum({}), 0.0);
  // 1 is lost beside 2^53 unless it meets the other 1 first: sums 1 and 5 meet, 0 and 4 meet.
  const std::vector<double> values = {0x1p53, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0};
  EXPECT_EQ(fixed_sum(values), 0x1p53 + 2.0);
  const std::vector<double> lost = {0x1p53, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0};
  EXPECT_EQ(fixed_sum(lost), 0x1p53);
}

TEST(Simplex, EveryVectorWidthGivesThePlainBits) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    for (std::size_t size = 1; size <= 70; ++size) {
      const std::vector<double> in = random_values(size, size, 60.0);
      EXPECT_EQ(fixed_sum(in), test::plain_sum(in)) << target << ", size " << size;

      std::vector<double> out(size);
      softmax(in, out);
      EXPECT_EQ(out, test::plain_softmax(in)) << target << ", size " << size;

      std::vector<double> in_place = in;
      softmax(in_place, in_place);
      EXPECT_EQ(in_place, out) << target << ", size " << size;

      std::vector<double> weights;
      for (const double x : in) weights.push_back(test::plain_exp(-0.25 * x));
      std::vector<double> normal = weights;
      ASSERT_TRUE(normalise(normal));
      EXPECT_EQ(normal, test::plain_normalise(weights)) << target << ", size " << size;
    }
  }
  use_simd_target("");
}

TEST(Softmax, StaysOnTheSimplex) {
  for (std::size_t size = 1; size <= 70; ++size) {
    for (const double scale : {1e-3, 1.0, 1e3, 1e300}) {
      std::vector<double> out(size);
      softmax(random_values(size, size, scale), out);
      double sum = 0.0;
      for (const double p : out) {
        EXPECT_GE(p, 0.0);
        EXPECT_LE(p, 1.0);
        sum += p;
      }
      EXPECT_NEAR(sum, 1.0, 4.0 * static_cast<double>(size) * 0x1p-52);
    }
  }
}

TEST(Softmax, ClosedForms) {
  std::vector<double> out(2);
  softmax(std::vector<double>{std::log(3.0), 0.0}, out);
  EXPECT_NEAR(out[0], 0.75, 1e-15);
  softmax(std::vector<double>{1000.0, -1000.0}, out);
  EXPECT_EQ(out, (std::vector<double>{1.0, 0.0}));
  softmax(std::vector<double>{7.0, 7.0}, out);
  EXPECT_EQ(out, (std::vector<double>{0.5, 0.5}));
  std::vector<double> one(1);
  softmax(std::vector<double>{-3.0}, one);
  EXPECT_EQ(one[0], 1.0);
}

// The bound of the header, for sums from tiny to huge.
TEST(Normalise, SumsToOneWithinItsBound) {
  for (std::size_t size = 1; size <= 200; ++size) {
    for (const double scale : {0x1p-900, 1e-3, 1.0, 3e7, 0x1p900}) {
      std::vector<double> values = random_values(size, size, scale);
      for (double& value : values) value = std::abs(value);
      ASSERT_TRUE(normalise(values));
      EXPECT_LE(std::abs(fixed_sum(values) - 1.0), static_cast<double>(size + 2) * 0x1p-53);
    }
  }
}

TEST(Normalise, DividesByTheSumOrSaysNo) {
  std::vector<double> values = {1.0, 3.0};
  EXPECT_TRUE(normalise(values));
  EXPECT_EQ(values, (std::vector<double>{0.25, 0.75}));
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& bad : std::vector<std::vector<double>>{
           {}, {0.0, 0.0}, {-1.0, 0.5}, {infinity, 1.0}, {nan, 1.0}, {5e-324, 0.0}}) {
    std::vector<double> copy = bad;
    EXPECT_FALSE(normalise(copy));
    EXPECT_EQ(copy.size(), bad.size());
    if (!bad.empty() && !std::isnan(bad[0])) {
      EXPECT_EQ(copy, bad);
    }
  }
}

}  // namespace
}  // namespace vlearn
