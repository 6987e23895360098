// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/table.h"

#include <gtest/gtest.h>

#include <numeric>

namespace vlearn {
namespace {

using Values = Table<double, Step, State>;
using Policy = Table<double, Step, State, Action>;

TEST(Table, LastIndexVariesFastest) {
  Policy policy({2, 3, 4});
  std::iota(policy.flat().begin(), policy.flat().end(), 0.0);
  // The offset of (h, s, a) is (h * 3 + s) * 4 + a.
  EXPECT_EQ(policy(Step(0), State(0), Action(3)), 3.0);
  EXPECT_EQ(policy(Step(0), State(2), Action(1)), 9.0);
  EXPECT_EQ(policy(Step(1), State(2), Action(3)), 23.0);
}

TEST(Table, RowIsAViewOfTheLastIndex) {
  Policy policy({2, 3, 4}, 0.5);
  const std::span<double> row = policy.row(Step(1), State(0));
  EXPECT_EQ(row.size(), 4U);
  row[2] = 7.0;
  EXPECT_EQ(policy(Step(1), State(0), Action(2)), 7.0);
  EXPECT_EQ(policy(Step(1), State(1), Action(2)), 0.5);
}

TEST(Table, RefusesSizesThatOverflow) {
  const std::size_t large = std::size_t{1} << 33U;
  EXPECT_THROW(Values({large, large}), Error);
  EXPECT_THROW(Values({std::size_t{1} << 30U, std::size_t{1} << 30U}), Error);  // 2^63 bytes
}

TEST(Table, MayBeEmpty) {
  EXPECT_TRUE(Values({0, 5}).flat().empty());
  EXPECT_TRUE(Values().flat().empty());
}

#if VLEARN_ASSERTIONS
TEST(Table, AssertsItsBounds) {
  Values values({2, 3});
  EXPECT_THROW(static_cast<void>(values(Step(2), State(0))), AssertionFailure);
  EXPECT_THROW(static_cast<void>(values(Step(0), State(3))), AssertionFailure);
}
#endif

TEST(RaggedTable, RowsHaveTheirOwnLengths) {
  const std::vector<std::uint32_t> lengths = {1, 0, 3, 2};
  RaggedTable<int, Step, State> table({2, 2}, lengths);
  EXPECT_EQ(table.flat().size(), 6U);
  EXPECT_EQ(table.row(Step(0), State(1)).size(), 0U);
  table.row(Step(1), State(0))[2] = 5;
  EXPECT_EQ(table.flat()[3], 5);
  EXPECT_EQ(table.row(Step(1), State(1)).data(), table.flat().data() + 4);
}

TEST(RaggedTable, WantsOneLengthPerRow) {
  const std::vector<std::uint32_t> lengths = {1, 2, 3};
  EXPECT_THROW((RaggedTable<int, Step, State>({2, 2}, lengths)), Error);
  // Refused before an exabyte is asked for.
  EXPECT_THROW((RaggedTable<int, Step, State>({1U << 29U, 1U << 28U}, lengths)), Error);
}

}  // namespace
}  // namespace vlearn
