// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/crew.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "vlearn/core/parallel.h"

namespace vlearn {
namespace {

TEST(Crew, DealsEveryIndexOutOnce) {
  for (const std::size_t threads : {0U, 1U, 2U, 3U, 8U}) {
    Crew crew(threads);
    EXPECT_GE(crew.size(), 1U);
    EXPECT_LE(crew.size(), threads == 0 ? available_cores() : threads);
    for (const std::size_t count : {0U, 1U, 2U, 7U, 8U, 1000U}) {
      std::vector<int> runs(count, 0);
      std::vector<Crew::Share> shares(crew.size());
      crew.run(count, [&](const Crew::Share& share) {
        shares[share.member] = share;
        for (std::size_t i = share.begin; i < share.end; ++i) ++runs[i];
      });
      EXPECT_EQ(runs, std::vector<int>(count, 1));
      std::size_t end = 0;
      for (const Crew::Share& share : shares) {
        EXPECT_EQ(share.begin, end);
        EXPECT_LE(share.end - share.begin, count / crew.size() + 1);
        end = share.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

TEST(Crew, ComesBackForTheNextCall) {
  Crew crew(4);
  std::vector<std::size_t> sums(100, 0);
  for (std::size_t round = 1; round <= 2'000; ++round) {
    crew.run(sums.size(), [&](const Crew::Share& share) {
      for (std::size_t i = share.begin; i < share.end; ++i) sums[i] += round;
    });
    // What all have done is seen by the caller.
    ASSERT_EQ(sums.front(), round * (round + 1) / 2);
    ASSERT_EQ(sums.back(), round * (round + 1) / 2);
  }
}

TEST(Crew, ThrowsWhatTheLowestMemberThrows) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    Crew crew(threads);
    for (int repeat = 0; repeat < 100; ++repeat) {
      try {
        crew.run(10, [](const Crew::Share& share) {
          throw std::runtime_error(std::to_string(share.member));
        });
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "0");
      }
      // It is fit for work again.
      std::vector<int> runs(10, 0);
      crew.run(10, [&](const Crew::Share& share) {
        for (std::size_t i = share.begin; i < share.end; ++i) ++runs[i];
      });
      EXPECT_EQ(runs, std::vector<int>(10, 1));
    }
  }
}

TEST(Crew, IsForManyPlayersOnly) {
  EXPECT_EQ(Crew::for_players(2, 8), nullptr);
  ASSERT_NE(Crew::for_players(1000, 2), nullptr);
  EXPECT_LE(Crew::for_players(1000, 2)->size(), 2U);
}

}  // namespace
}  // namespace vlearn
