// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/hold_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "vlearn/experiment/quartiles.h"

namespace vlearn {
namespace {

using Looks = std::vector<std::pair<std::uint64_t, double>>;

struct Outcome {
  std::optional<std::uint64_t> found;
  std::uint64_t last = 0;  // look at which it was over; 0: it is not
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A gap of 1 is wanted, within 1000 episodes.
Outcome search(const Looks& looks) {
  HoldSearch search(1.0, 1000);
  for (const auto& [episodes, gap] : looks) {
    EXPECT_FALSE(search.over());
    EXPECT_EQ(search.found(), std::nullopt);
    if (!search.see(episodes, gap)) {
      EXPECT_TRUE(search.over());
      return {search.found(), episodes};
    }
  }
  EXPECT_FALSE(search.over());
  return {};
}

TEST(HoldSearch, TheFirstLookThatHolds) {
  const Looks looks = {{1, 9.0}, {5, 1.5}, {10, 1.0}, {20, 0.5}, {79, 1.9}, {80, 2.0}, {100, 0.1}};
  EXPECT_EQ(search(looks), (Outcome{10, 80}));
}

TEST(HoldSearch, GoesOnUntilEightTimesTheEpisodes) {
  EXPECT_EQ(search({{10, 1.0}, {79, 1.0}}), Outcome{});
  // A look beyond them tells that they are over, whatever it finds itself.
  EXPECT_EQ(search({{10, 1.0}, {79, 1.0}, {81, 50.0}}), (Outcome{10, 81}));
}

TEST(HoldSearch, ARiseDropsTheCandidate) {
  EXPECT_EQ(search({{10, 1.0}, {20, 2.1}, {40, 1.5}, {50, 0.9}, {400, 1.0}}), (Outcome{50, 400}));
  // Twice the gap is still within, eight times the episodes too.
  EXPECT_EQ(search({{10, 1.0}, {80, 2.1}, {90, 1.0}, {720, 2.0}}), (Outcome{90, 720}));
}

TEST(HoldSearch, NeverIsAnAnswer) {
  EXPECT_EQ(search({{10, 1.1}, {999, 1.1}, {1000, 1.1}}), (Outcome{std::nullopt, 1000}));
  EXPECT_EQ(search({{10, 1.1}, {1001, 0.1}}), (Outcome{std::nullopt, 1001}));
  // What came at the limit may still hold, or not.
  EXPECT_EQ(search({{1000, 1.0}, {8000, 1.0}}), (Outcome{1000, 8000}));
  EXPECT_EQ(search({{1000, 1.0}, {4000, 3.0}}), (Outcome{std::nullopt, 4000}));
}

TEST(HoldSearch, NoNumberIsNoGap) {
  EXPECT_EQ(search({{10, 1.0}, {20, std::nan("")}, {1000, std::nan("")}}),
            (Outcome{std::nullopt, 1000}));
}

TEST(NextGeometric, IsTheNextPower) {
  std::uint64_t at = 0;
  // By integers: 5^n / 4^n, rounded up.
  std::uint64_t five = 1;
  std::uint64_t four = 1;
  for (int n = 0; n <= 22; ++n, five *= 5, four *= 4) {
    const std::uint64_t power = (five + four - 1) / four;
    if (power == at) continue;
    EXPECT_EQ(next_geometric(at), power);
    EXPECT_EQ(next_geometric(power - 1), power);
    at = power;
  }
  for (; at < 100'000'000; at = next_geometric(at)) {
    const double ratio = static_cast<double>(next_geometric(at)) / static_cast<double>(at);
    EXPECT_NEAR(ratio, 1.25, 0.01);
  }
}

TEST(Quartiles, AreInterpolated) {
  EXPECT_EQ(quartiles_of(std::vector{5.0, 1.0, 3.0, 2.0, 4.0}), (Quartiles{2.0, 3.0, 4.0}));
  EXPECT_EQ(quartiles_of(std::vector{2.0, 1.0}), (Quartiles{1.25, 1.5, 1.75}));
  EXPECT_EQ(quartiles_of(std::vector{7.0}), (Quartiles{7.0, 7.0, 7.0}));
}

}  // namespace
}  // namespace vlearn
