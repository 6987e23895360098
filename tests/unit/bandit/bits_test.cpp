// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "support/numeric_bits.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

TEST(Bits, AreTheRecordedOnesForEveryVectorWidth) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    EXPECT_EQ(hash_of_everything(), kRecordedBits) << target;
  }
  use_simd_target("");
}

}  // namespace
}  // namespace vlearn
