// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/running_mean.h"

#include <gtest/gtest.h>

namespace vlearn {
namespace {

TEST(RunningMean, OfNothingAndOfOneNumber) {
  RunningMean mean;
  EXPECT_EQ(mean.count(), 0U);
  EXPECT_EQ(mean.mean(), 0.0);
  EXPECT_EQ(mean.standard_error(), 0.0);
  mean.add(7.5);
  EXPECT_EQ(mean.count(), 1U);
  EXPECT_EQ(mean.mean(), 7.5);
  EXPECT_EQ(mean.standard_error(), 0.0);
}

TEST(RunningMean, KeepsSmallSpreadsFarFromZero) {
  // 1, 2, 3, 4 around 10^9: variance 5/4, so the mean of four is off by sqrt(5/16).
  RunningMean mean;
  for (const double number : {1.0, 2.0, 3.0, 4.0}) mean.add(1e9 + number);
  EXPECT_EQ(mean.mean(), 1e9 + 2.5);
  EXPECT_NEAR(mean.standard_error(), std::sqrt(5.0 / 16.0), 1e-12);
}

}  // namespace
}  // namespace vlearn
