// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "support/chi_square.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

// The three vectors for philox4x32 with 10 rounds in Random123's kat_vectors.
TEST(Philox, PublishedKnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  EXPECT_EQ(philox4x32_10({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (PhiloxBlock{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(philox4x32_10({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U},
                          {0xa4093822U, 0x299f31d0U}),
            (PhiloxBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(RandomBlock, PlacesEveryPartOfTheKeyAsDocumented) {
  const StreamKey key{.seed = 0x1122334455667788U,
                      .purpose = Purpose::index,
                      .player = Player(0xABCDEFU),
                      .episode = Episode(0x12345678'9ABCDEU),
                      .step = Step(0x54321U)};
  const PhiloxBlock counter = {0x789ABCDEU, 0x05123456U, 0xCDABCDEFU, 0x3AB54321U};
  EXPECT_EQ(random_block(key, 0x3ABCDU), philox4x32_10(counter, {0x55667788U, 0x11223344U}));
}

TEST(RandomBlock, NeighbouringKeysGiveDifferentBlocks) {
  std::set<PhiloxBlock> seen;
  const StreamKey base{.seed = 5, .purpose = Purpose::action};
  std::vector<StreamKey> keys(6, base);
  keys[1].seed = 6;
  keys[2].purpose = Purpose::index;
  keys[3].player = Player(1);
  keys[4].episode = Episode(1);
  keys[5].step = Step(1);
  for (const StreamKey& key : keys) {
    for (std::uint32_t block = 0; block < 3; ++block) seen.insert(random_block(key, block));
  }
  EXPECT_EQ(seen.size(), 18U);
}

TEST(Draws, FollowTheBitRecipe) {
  const StreamKey key{.seed = 9, .purpose = Purpose::test};
  const PhiloxBlock first = random_block(key, 0);
  const PhiloxBlock second = random_block(key, 1);
  Draws draws(key);
  EXPECT_EQ(draws.bits(), first[0] | std::uint64_t{first[1]} << 32U);
  const std::uint64_t bits = first[2] | std::uint64_t{first[3]} << 32U;
  EXPECT_EQ(draws.uniform(), std::ldexp(static_cast<double>(bits >> 11U), -53));
  EXPECT_EQ(draws.bits(), second[0] | std::uint64_t{second[1]} << 32U);
}

TEST(DrawsAhead, AreTheDrawsOfTheirKeys) {
  std::vector<StreamKey> keys;
  for (std::size_t i = 0; i < 21; ++i) {
    keys.push_back({.seed = 0xFEDCBA9876543210U,
                    .purpose = i % 2 == 0 ? Purpose::action : Purpose::transition,
                    .player = Player((i * 0x123457) % kMaxPlayers),
                    .step = Step((i * 0x12345) % kMaxSteps)});
  }
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    DrawsAhead ahead(keys[0].seed, keys);
    for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{0x3456789A}, kMaxEpisodes - 1}) {
      ahead.fill(Episode(k));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i].episode = Episode(k);
        EXPECT_EQ(ahead.block(i), random_block(keys[i], 0));
        EXPECT_EQ(ahead.uniform(i), Draws(keys[i]).uniform());
        Draws known(keys[i], ahead.block(i));
        Draws fresh(keys[i]);
        for (int n = 0; n < 5; ++n) EXPECT_EQ(known.bits(), fresh.bits());
      }
    }
  }
  use_simd_target("");
}

TEST(Draws, BelowIsTheHighHalfOfTheProduct) {
  const StreamKey key{.seed = 10, .purpose = Purpose::test};
  Draws bits(key);
  Draws draws(key);
  for (int i = 0; i < 1000; ++i) {
    // No surplus for powers of two: the top bits.
    EXPECT_EQ(draws.below(std::uint64_t{1} << 40U), bits.bits() >> 24U);
  }
  EXPECT_EQ(draws.below(1), 0U);
}

TEST(Draws, BelowSkipsTheSurplus) {
  // n = 2^63 + 1: 2^64 mod n = 2^63 - 1, so about half of all draws are surplus. The recipe, by
  // hand:
  const std::uint64_t n = (std::uint64_t{1} << 63U) + 1;
  __extension__ using Wide = unsigned __int128;
  const StreamKey key{.seed = 11, .purpose = Purpose::test};
  Draws bits(key);
  Draws draws(key);
  int skipped = 0;
  for (int i = 0; i < 1000; ++i) {
    Wide product = Wide{bits.bits()} * n;
    while (static_cast<std::uint64_t>(product) < (std::uint64_t{1} << 63U) - 1) {
      ++skipped;
      product = Wide{bits.bits()} * n;
    }
    ASSERT_EQ(draws.below(n), static_cast<std::uint64_t>(product >> 64U));
  }
  EXPECT_GT(skipped, 800);
  EXPECT_LT(skipped, 1200);
}

TEST(Draws, UniformDoublesFillTheirCells) {
  constexpr std::size_t cells = 1000;
  constexpr std::size_t count = 1'000'000;
  std::vector<double> counts(cells, 0.0);
  const std::vector<double> expected(cells, static_cast<double>(count) / cells);
  for (std::size_t i = 0; i < count; ++i) {
    // A fresh key each time, as a learner draws.
    const double u = Draws({.seed = 1, .purpose = Purpose::test, .episode = Episode(i)}).uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    counts[static_cast<std::size_t>(u * cells)] += 1.0;
  }
  EXPECT_LT(test::chi_square(counts, expected), test::chi_square_limit(cells - 1));
}

TEST(Draws, BelowIsUniform) {
  constexpr std::size_t cells = 97;
  constexpr std::size_t count = 970'000;
  std::vector<double> counts(cells, 0.0);
  const std::vector<double> expected(cells, static_cast<double>(count) / cells);
  Draws draws({.seed = 2, .purpose = Purpose::test});
  for (std::size_t i = 0; i < count; ++i) counts[draws.below(cells)] += 1.0;
  EXPECT_LT(test::chi_square(counts, expected), test::chi_square_limit(cells - 1));
}

TEST(Sample, TakesTheFirstWhoseCumulativeSumExceedsU) {
  const std::vector<double> p = {0.25, 0.0, 0.5, 0.25};
  EXPECT_EQ(sample(p, 0.0), 0U);
  EXPECT_EQ(sample(p, std::nextafter(0.25, 0.0)), 0U);
  EXPECT_EQ(sample(p, 0.25), 2U);
  EXPECT_EQ(sample(p, std::nextafter(0.75, 0.0)), 2U);
  EXPECT_EQ(sample(p, 0.75), 3U);
  EXPECT_EQ(sample(p, std::nextafter(1.0, 0.0)), 3U);
}

TEST(Sample, NeverTakesProbabilityZero) {
  const std::vector<double> leading = {0.0, 1.0};
  EXPECT_EQ(sample(leading, 0.0), 1U);
  // A sum a little below one: what lies beyond goes to the last positive entry.
  const std::vector<double> trailing = {0.5, 0.5 - 1e-12, 0.0, 0.0};
  EXPECT_EQ(sample(trailing, std::nextafter(1.0, 0.0)), 1U);
}

TEST(Sample, FollowsTheDistribution) {
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  std::vector<double> counts(p.size(), 0.0);
  std::vector<double> expected;
  constexpr double count = 400'000.0;
  for (const double probability : p) expected.push_back(probability * count);
  Draws draws({.seed = 3, .purpose = Purpose::test});
  for (int i = 0; i < 400'000; ++i) counts[sample(p, draws.uniform())] += 1.0;
  EXPECT_LT(test::chi_square(counts, expected), test::chi_square_limit(p.size() - 1));
}

}  // namespace
}  // namespace vlearn
