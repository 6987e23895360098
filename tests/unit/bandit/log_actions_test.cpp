// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/bandit/log_actions.h"

#include <gtest/gtest.h>

namespace vlearn {
namespace {

TEST(LogActions, IsTheSameFromTheTable) {
  for (std::size_t n = 1; n < 1000; ++n) {
    EXPECT_EQ(log_actions(n), vlearn::log(static_cast<double>(n)));
  }
}

}  // namespace
}  // namespace vlearn
