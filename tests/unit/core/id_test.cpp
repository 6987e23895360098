// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/id.h"

#include <gtest/gtest.h>

#include <vector>

#include "vlearn/core/checked.h"

namespace vlearn {
namespace {

TEST(Id, CountsFromZeroInsideAndFromOneOutside) {
  const Player first(0);
  EXPECT_EQ(first.index(), 0U);
  EXPECT_EQ(first.number(), 1U);
  EXPECT_EQ(Player::from_number(7), Player(6));
  EXPECT_EQ(State(3).next(), State(4));
  EXPECT_LT(Step(1), Step(2));
}

TEST(Id, RangeVisitsEachOnceInOrder) {
  std::vector<State> seen;
  for (const State s : all<State>(3)) seen.push_back(s);
  EXPECT_EQ(seen, (std::vector<State>{State(0), State(1), State(2)}));
  for (const State s : all<State>(0)) FAIL() << s.value();
}

TEST(Id, EpisodesAndVisitsReachBeyond32Bits) {
  const std::uint64_t large = std::uint64_t{1} << 55U;
  EXPECT_EQ(Episode(large).value(), large);
  EXPECT_EQ(Visit(large).next().value(), large + 1);
}

#if VLEARN_ASSERTIONS
TEST(Id, AssertsThatTheValueFits) {
  EXPECT_THROW(static_cast<void>(State(-1)), AssertionFailure);
  EXPECT_THROW(static_cast<void>(State(std::uint64_t{1} << 32U)), AssertionFailure);
  EXPECT_THROW(static_cast<void>(Player::from_number(0)), AssertionFailure);
}
#endif

TEST(Checked, RefusesWhatDoesNotFit) {
  EXPECT_EQ(checked_add(1, 2), 3U);
  EXPECT_EQ(checked_add(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32U, std::uint64_t{1} << 31U),
            std::uint64_t{1} << 63U);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32U, std::uint64_t{1} << 32U), std::nullopt);
}

TEST(Checked, ProductOfSizes) {
  const auto product = [](std::vector<std::uint64_t> factors) { return checked_product(factors); };
  EXPECT_EQ(product({}), 1U);
  EXPECT_EQ(product({2, 3, 4}), 24U);
  // 2^16 states and eight players with 8 actions each, squared: 2^80.
  EXPECT_EQ(product({1U << 16U, 1U << 24U, 1U << 16U, 1U << 24U}), std::nullopt);
  // A zero makes it 0 even where the others overflow.
  EXPECT_EQ(product({UINT64_MAX, UINT64_MAX, 0}), 0U);
}

}  // namespace
}  // namespace vlearn
