// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/agent/spread_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "vlearn/core/random.h"

namespace vlearn {
namespace {

TEST(SpreadDraws, OnePlayerGoesByTheGoldenRatio) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  EXPECT_NEAR(spread_stride(Player(0), 1), golden, 0x1p-52);
}

TEST(SpreadDraws, StridesArePowersOfTheGeneralisedGoldenRatio) {
  for (std::size_t m = 1; m <= kMostSpreadPlayers; ++m) {
    const long double phi = 1.0L / static_cast<long double>(spread_stride(Player(0), m));
    EXPECT_NEAR(static_cast<double>(std::pow(phi, static_cast<long double>(m + 1)) - phi - 1.0L),
                0.0, 20 * 0x1p-52)
        << m << " players";
    for (std::size_t j = 0; j < m; ++j) {
      const double want = static_cast<double>(std::pow(phi, -static_cast<long double>(j + 1)));
      EXPECT_NEAR(spread_stride(Player(j), m), want, 0x1p-50) << j << " of " << m;
    }
  }
}

TEST(SpreadDraws, AreFractionsOfOneDrawAndItsSteps) {
  Draws draws({.seed = 1, .purpose = Purpose::test});
  for (std::size_t m = 1; m <= kMostSpreadPlayers; ++m) {
    for (std::size_t j = 0; j < m; ++j) {
      const double stride = spread_stride(Player(j), m);
      double first = 0.0;
      double begun_with = 0.0;
      for (std::uint64_t visit = 1; visit <= 3 * kSpreadVisits; ++visit) {
        const double own = draws.uniform();
        const std::uint64_t steps = (visit - 1) % 512;
        if (steps == 0) begun_with = own;  // visits 1, 513, 1025
        const double u = spread_draw(first, stride, visit, own);
        ASSERT_EQ(first, begun_with);
        ASSERT_TRUE(u >= 0.0 && u < 1.0) << u;
        const long double place =
            static_cast<long double>(begun_with) +
            static_cast<long double>(steps) * static_cast<long double>(stride);
        const double away = std::abs(u - static_cast<double>(place - std::floor(place)));
        ASSERT_LE(std::min(away, 1.0 - away), 0x1p-43) << visit;
      }
    }
  }
  // The largest first draw, and steps that come out at a whole number.
  double first = 0.0;
  EXPECT_EQ(spread_draw(first, 0.5, 1, 1.0 - 0x1p-53), 1.0 - 0x1p-53);
  first = 0.0;
  EXPECT_EQ(spread_draw(first, 0.5, 3, 0.25), 0.0);
}

TEST(SpreadDraws, AreShuffledAfterTheFirst) {
  // Each block in another order, and with the same places as in order.
  std::vector<std::uint64_t> before;
  for (std::uint64_t block = 8; block < 200; ++block) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < kSpreadVisits; ++i) places.push_back(shuffled_place(i, block));
    EXPECT_NE(places, before);
    before = places;
    std::sort(places.begin(), places.end());
    for (std::uint64_t i = 0; i < kSpreadVisits; ++i) ASSERT_EQ(places[i], i) << block;
  }
  double first = 0.0;
  EXPECT_EQ(spread_draw(first, 0.25, 8 * kSpreadVisits + 1, 0.125), [&] {
    const double place = 0.125 + 0.25 * static_cast<double>(shuffled_place(0, 8));
    return place - std::floor(place);
  }());
  EXPECT_EQ(first, 0.125);
}

/// What follows a visit must not depend on it. In order, the next place is always as far away; in a
/// shuffled order the product of neighbours is as that of independent draws.
TEST(SpreadDraws, ShuffledNeighboursAreNotRelated) {
  const double stride = spread_stride(Player(0), 2);
  const auto relation = [&](std::uint64_t begin) {
    double first = 0.0;
    double sum = 0.0;
    double last = 0.5;
    constexpr std::uint64_t visits = 400 * kSpreadVisits;
    for (std::uint64_t visit = begin + 1; visit <= begin + visits; ++visit) {
      // Blocks below begin at the same place of the clock: only the order differs.
      const std::uint64_t at = begin == 0 ? (visit - 1) % kOrderedVisits + 1 : visit;
      Draws own({.seed = 5, .purpose = Purpose::test, .episode = Episode(visit)});
      const double u = spread_draw(first, stride, at, own.uniform());
      sum += (u - 0.5) * (last - 0.5);
      last = u;
    }
    return 12.0 * sum / static_cast<double>(visits);
  };
  // A standard deviation is 1/sqrt(400 * 512) = 0.0022.
  EXPECT_LT(std::abs(relation(kOrderedVisits)), 0.011);
  EXPECT_GT(std::abs(relation(0)), 0.1);
}

/// The largest |how often both fell into a corner [0, x) x [0, y) - x y| of corners on a grid,
/// after 512 visits of a cell by two players.
double uneven(std::uint64_t seed, bool spread, std::uint64_t before = 0) {
  std::array<Draws, 2> own = {Draws({.seed = seed, .purpose = Purpose::test, .player = Player(0)}),
                              Draws({.seed = seed, .purpose = Purpose::test, .player = Player(1)})};
  std::array<double, 2> first = {};
  std::vector<std::array<double, 2>> points(kSpreadVisits);
  for (std::uint64_t i = 0; i < kSpreadVisits; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const double u = own[j].uniform();
      points[i][j] =
          spread ? spread_draw(first[j], spread_stride(Player(j), 2), before + i + 1, u) : u;
    }
  }
  double largest = 0.0;
  for (int a = 1; a <= 16; ++a) {
    for (int b = 1; b <= 16; ++b) {
      const double x = a / 16.0;
      const double y = b / 16.0;
      const auto inside = std::count_if(points.begin(), points.end(),
                                        [&](const auto& p) { return p[0] < x && p[1] < y; });
      largest = std::max(largest, std::abs(static_cast<double>(inside) / 512.0 - x * y));
    }
  }
  return largest;
}

/// Joint play of any two policies is a sum of such corners. Independent draws stray by some
/// 1/sqrt(512), spread ones by a few 1/512: at most 7, where the others stray by 9 at least.
TEST(SpreadDraws, FillTheSquareOfTwoPlayersEvenly) {
  double most_spread = 0.0;
  double least_independent = 1.0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    most_spread = std::max(most_spread, uneven(seed, true));
    // Shuffled visits fill it with the same places.
    const std::uint64_t before = kOrderedVisits + seed * kSpreadVisits;
    EXPECT_EQ(uneven(seed, true, before), uneven(seed, true));
    least_independent = std::min(least_independent, uneven(seed, false));
  }
  RecordProperty("spread", std::to_string(most_spread * 512.0));
  RecordProperty("independent", std::to_string(least_independent * 512.0));
  EXPECT_LE(most_spread, 8.0 / 512.0);
  EXPECT_GE(least_independent, 8.0 / 512.0);
}

/// Frequencies of joint actions are the products of policies, up to a few visits.
TEST(SpreadDraws, JointActionsComeInProportion) {
  const std::array<double, 3> left = {0.5, 0.3, 0.2};
  const std::array<double, 2> right = {0.65, 0.35};
  const auto most_off = [&](bool spread) {
    std::array<Draws, 2> own = {Draws({.seed = 7, .purpose = Purpose::test, .player = Player(0)}),
                                Draws({.seed = 7, .purpose = Purpose::test, .player = Player(1)})};
    std::array<double, 2> first = {};
    std::array<std::array<double, 2>, 3> counts = {};
    for (std::uint64_t visit = 1; visit <= kSpreadVisits; ++visit) {
      std::array<double, 2> u = {own[0].uniform(), own[1].uniform()};
      for (std::size_t j = 0; spread && j < 2; ++j) {
        u[j] = spread_draw(first[j], spread_stride(Player(j), 2), visit, u[j]);
      }
      counts[sample(left, u[0])][sample(right, u[1])] += 1.0;
    }
    double most = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 2; ++b) {
        most = std::max(most, std::abs(counts[a][b] - 512.0 * left[a] * right[b]));
      }
    }
    return most;
  };
  EXPECT_LE(most_off(true), 4.0);
  EXPECT_GE(most_off(false), 4.0);
}

}  // namespace
}  // namespace vlearn
