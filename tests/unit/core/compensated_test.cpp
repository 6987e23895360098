// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/compensated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "vlearn/core/random.h"

namespace vlearn {
namespace {

TEST(Compensated, AveragesOfMillionsAreAsGoodAsAveragesOfAFew) {
  double head = 0.0;
  double tail = 0.0;
  double plain = 0.0;
  long double wanted = 0.0L;
  double worst = 0.0;
  double worst_plain = 0.0;
  const auto off = [&](double number) {
    return static_cast<double>(std::abs(static_cast<long double>(number) - wanted));
  };
  for (std::uint64_t n = 1; n <= 3'000'000; ++n) {
    const double x = Draws({.seed = 1, .purpose = Purpose::test, .episode = Episode(n)}).uniform();
    const double share = 4.0 / static_cast<double>(n + 3);
    move_compensated(head, tail, share, x);
    plain += share * (x - plain);
    wanted += static_cast<long double>(share) * (static_cast<long double>(x) - wanted);
    worst = std::max(worst, off(head));
    worst_plain = std::max(worst_plain, off(plain));
  }
  // Six roundings of numbers up to 1 at most, whatever n; a plain average has lost more.
  EXPECT_LE(worst, 6.0 * 0x1p-53);
  EXPECT_GT(worst_plain, 6.0 * 0x1p-53);
}

TEST(Compensated, AFirstShareOfOneForgetsWhatWasThere) {
  double head = 1e300;
  double tail = 1.0;
  move_compensated(head, tail, 1.0, 0.1);
  EXPECT_EQ(head, 0.1);
  EXPECT_EQ(tail, 0.0);
}

TEST(Compensated, SumsKeepWhatIsTooSmallForThem) {
  double head = 1.0;
  double tail = 0.0;
  for (int i = 0; i < 1'000'000; ++i) add_compensated(head, tail, 0x1p-60);
  EXPECT_EQ(head, 1.0 + 1e6 * 0x1p-60);
}

}  // namespace
}  // namespace vlearn
