// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The paper's step-size lemma (its identities and closed forms) in exact integers, the double
// forms against them, and the index sampler: its law exactly, and by chi-square.
#include "vlearn/core/alpha.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_dec_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/chi_square.h"
#include "vlearn/core/error.h"

namespace vlearn {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;
using Decimal = boost::multiprecision::cpp_dec_float_50;

constexpr std::uint64_t kMaxC = 64;
constexpr std::uint64_t kMaxT = 2000;

/// C(n, k) for n <= kMaxC + kMaxT and k <= kMaxC + 1, by Pascal's rule.
class Binomials {
 public:
  Binomials() {
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      rows_[n].assign(kMaxC + 2, 0);
      rows_[n][0] = 1;
      for (std::size_t k = 1; n > 0 && k < rows_[n].size(); ++k) {
        rows_[n][k] = rows_[n - 1][k - 1] + rows_[n - 1][k];
      }
    }
  }
  [[nodiscard]] const Integer& operator()(std::uint64_t n, std::uint64_t k) const {
    return rows_.at(n).at(k);
  }

 private:
  std::vector<std::vector<Integer>> rows_ = std::vector<std::vector<Integer>>(kMaxC + kMaxT + 1);
};

const Binomials& binomial() {
  static const Binomials table;
  return table;
}

/// alpha_t^i = C(c+i-1, c) / C(c+t, c+1).
Rational exact_weight(std::uint64_t c, std::uint64_t t, std::uint64_t i) {
  return {binomial()(c + i - 1, c), binomial()(c + t, c + 1)};
}

// With weights C(c+i-1, c) / C(c+t, c+1), every claim below is an identity between integers.
TEST(StepSizeLemma, HoldsExactly) {
  const Binomials& b = binomial();
  for (std::uint64_t c = 1; c <= kMaxC; ++c) {
    Integer sum = 0;          // sum_{i<=t} C(c+i-1, c)
    Integer inverse_sum = 0;  // c sum_{i<=t} C(c+i-1, c) / i
    for (std::uint64_t t = 1; t <= kMaxT; ++t) {
      const Integer& numerator = b(c + t - 1, c);
      const Integer& denominator = b(c + t, c + 1);
      sum += numerator;
      // alpha_t^t = alpha_t = (c+1)/(c+t).
      ASSERT_EQ(numerator * (c + t), denominator * (c + 1));
      // alpha_t^i = (1 - alpha_t) alpha_{t-1}^i, with 1 - alpha_t = (t-1)/(c+t), for all i < t.
      if (t > 1) {
        ASSERT_EQ(denominator * (t - 1), b(c + t - 1, c + 1) * (c + t));
      }
      // The weights sum to one: also the closed form of the cumulative weights.
      ASSERT_EQ(sum, denominator);
      // sum_i alpha_t^i / i = (c+1)/(c t) (1 - 1/C(c+t, c)).
      ASSERT_EQ(numerator * c % t, 0);
      inverse_sum += numerator * c / t;
      ASSERT_EQ(inverse_sum * t * b(c + t, c), denominator * (c + 1) * (b(c + t, c) - 1));
      // The tail telescopes: 1/C(c+t, c+1) = (c+1)/c (1/C(c+t-1, c) - 1/C(c+t, c)), so
      // sum_{t>=i} alpha_t^i = C(c+i-1, c) (c+1)/c 1/C(c+i-1, c) = 1 + 1/c.
      ASSERT_EQ(b(c + t - 1, c) * b(c + t, c) * c,
                denominator * (c + 1) * (b(c + t, c) - b(c + t - 1, c)));
    }
  }
}

// The paper's bounds: max_i alpha_t^i <= 2c/t; sum_i (alpha_t^i)^2 <= 2c/t;
// 1/sqrt(t) <= sum_i alpha_t^i / sqrt(i) <= 2/sqrt(t).
TEST(StepSizeLemma, BoundsHold) {
  for (const std::uint64_t c : {1U, 2U, 3U, 5U, 10U, 20U, 64U}) {
    const AlphaWeights weights(c);
    for (const std::uint64_t t : {1U, 2U, 3U, 7U, 20U, 100U, 1000U}) {
      double largest = 0.0;
      double squares = 0.0;
      double roots = 0.0;
      for (std::uint64_t i = 1; i <= t; ++i) {
        const double weight = weights.weight(t, i);
        largest = std::max(largest, weight);
        squares += weight * weight;
        roots += weight / std::sqrt(static_cast<double>(i));
      }
      const double limit = 2.0 * static_cast<double>(c) / static_cast<double>(t);
      const double root = 1.0 / std::sqrt(static_cast<double>(t));
      EXPECT_LE(largest, limit * (1 + 1e-12));
      EXPECT_LE(squares, limit * (1 + 1e-12));
      EXPECT_GE(roots, root * (1 - 1e-12));
      EXPECT_LE(roots, 2.0 * root * (1 + 1e-12));
    }
  }
}

double relative_error(double value, const Rational& exact) {
  const Decimal truth = Decimal(numerator(exact)) / Decimal(denominator(exact));
  return static_cast<double>(abs(Decimal(value) - truth) / truth);
}

TEST(AlphaWeights, DoubleFormsAreAccurate) {
  for (const std::uint64_t c : {1U, 2U, 5U, 10U, 33U, 64U}) {
    const AlphaWeights weights(c);
    for (const std::uint64_t t : {1U, 2U, 3U, 10U, 63U, 64U, 65U, 500U, 2000U}) {
      EXPECT_LE(relative_error(weights.rate(t), Rational(c + 1, c + t)), 0x1p-53);
      if (t > 1) {
        EXPECT_LE(relative_error(weights.decay(t), Rational(t - 1, c + t - 1)), 0x1p-53);
      }
      const Rational inverse = Rational(c + 1, c * t) * (1 - Rational(1, binomial()(c + t, c)));
      EXPECT_LE(relative_error(weights.sum_of_inverse_visits(t), inverse), 1e-14);
      for (std::uint64_t i = 1; i <= t; i += 1 + t / 40) {
        const double terms = static_cast<double>(std::min(c + 1, t - i));
        const double bound = 2.0 * (terms + 2.0) * 0x1p-53;
        EXPECT_LE(relative_error(weights.weight(t, i), exact_weight(c, t, i)), bound);
        const Rational cdf(binomial()(c + i, c + 1), binomial()(c + t, c + 1));
        EXPECT_LE(relative_error(weights.cdf(t, i), cdf), bound);
      }
    }
  }
}

TEST(AlphaWeights, EdgeValues) {
  const AlphaWeights weights(10);
  EXPECT_EQ(weights.rate(1), 1.0);
  EXPECT_EQ(weights.decay(1), 0.0);
  EXPECT_EQ(weights.cdf(5, 0), 0.0);
  EXPECT_EQ(weights.cdf(5, 5), 1.0);
  EXPECT_EQ(weights.cdf(1'000'000'000'000, 1'000'000'000'000), 1.0);
  EXPECT_GT(weights.weight(1'000'000'000'000, 999'999'999'999), 0.0);
  EXPECT_THROW(static_cast<void>(AlphaWeights(0)), Error);
  EXPECT_THROW(static_cast<void>(AlphaWeights(kMaxSteps)), Error);
}

/// How many of all sequences of draws lead the sampler to each maximum, given how many led to each
/// maximum one draw earlier. The sampler's own step decides; it is asked at the ends of the three
/// ranges of r between which it does not change its mind.
std::vector<Integer> advance(const std::vector<Integer>& ways,
                             std::uint64_t size,
                             std::uint64_t j) {
  using detail::grow_maximum;
  std::vector<Integer> next(j + 1, 0);
  Integer below = 0;  // ways that led to a maximum below the current r
  for (std::uint64_t maximum = 0; maximum < ways.size(); ++maximum) {
    if (maximum > 0) next[maximum] += below;
    if (ways[maximum] == 0) continue;
    const std::uint64_t stays = maximum - size;  // r in 1..stays keep the maximum
    if (stays > 0) {
      EXPECT_EQ(grow_maximum(maximum, size, j, 1), maximum);
      EXPECT_EQ(grow_maximum(maximum, size, j, stays), maximum);
    }
    if (size > 0) {  // r in stays+1..maximum hit the set
      EXPECT_EQ(grow_maximum(maximum, size, j, stays + 1), j);
      EXPECT_EQ(grow_maximum(maximum, size, j, maximum), j);
    }
    EXPECT_EQ(grow_maximum(maximum, size, j, maximum + 1), maximum + 1);
    EXPECT_EQ(grow_maximum(maximum, size, j, j), j);
    next[maximum] += ways[maximum] * stays;
    next[j] += ways[maximum] * size;
    below += ways[maximum];
  }
  for (std::uint64_t r = ways.size(); r <= j; ++r) next[r] += below;
  return next;
}

/// For one t and every c <= kMaxC: the law of the sampler equals alpha_t^i, in exact integers.
void check_sampler_law(std::uint64_t t) {
  std::vector<Integer> ways = {1};  // nothing drawn yet: maximum 0
  Integer sequences = 1;
  for (std::uint64_t size = 0; size <= kMaxC; ++size) {
    const std::uint64_t j = t + size;
    ways = advance(ways, size, j);
    sequences *= j;
    const std::uint64_t c = size;  // c + 1 draws made
    if (c == 0) continue;
    for (std::uint64_t i = 1; i <= t; ++i) {
      ASSERT_EQ(ways[c + i] * binomial()(c + t, c + 1), sequences * binomial()(c + i - 1, c))
          << "c = " << c << ", t = " << t << ", i = " << i;
    }
    for (std::uint64_t maximum = 0; maximum <= c; ++maximum) ASSERT_EQ(ways[maximum], 0);
  }
}

TEST(IndexSampler, HasExactlyTheLawOfTheWeights) {
  for (std::uint64_t t = 1; t <= 200; ++t) check_sampler_law(t);
  for (const std::uint64_t t : {777U, 2000U}) check_sampler_law(t);
}

TEST(AlphaSlow, IndexSamplerHasExactlyTheLawUpToTwoThousandVisits) {
  for (std::uint64_t t = 1; t <= kMaxT; ++t) check_sampler_law(t);
}

/// a_n^i by its definition: an average of the averages so far.
Rational exact_tapered(std::uint64_t c, std::uint64_t n, std::uint64_t i) {
  Rational sum = 0;
  for (std::uint64_t j = i; j <= n; ++j) sum += exact_weight(c + 1, n, j) * exact_weight(c, j, i);
  return sum;
}

TEST(TaperedWeights, AreAveragesOfAverages) {
  for (const std::uint64_t c : {1U, 2U, 3U, 7U, 40U}) {
    const OutputWeights weights(c, true);
    for (const std::uint64_t n : {1U, 2U, 3U, 10U, 61U}) {
      Rational sum = 0;
      Rational share;
      for (std::uint64_t i = 1; i <= n; ++i) {
        const Rational exact = exact_tapered(c, n, i);
        EXPECT_EQ(exact, exact_weight(c, n, i) * Rational((n + 1 - i) * (c + 2), c + n + 1));
        sum += exact;
        share = exact / sum;
        const auto near = [](double found, const Rational& wanted) {
          const auto number = wanted.convert_to<double>();
          EXPECT_NEAR(found, number, 1e-13 * number);
        };
        near(weights.weight(n, i), exact);
        near(weights.cdf(n, i), sum);
        near(weights.rate(n, i), share);
      }
      EXPECT_EQ(sum, 1);
      EXPECT_EQ(weights.cdf(n, 0), 0.0);
      EXPECT_EQ(weights.rate(n, 1), 1.0);
    }
  }
}

TEST(TaperedWeights, ComeFromTheSampler) {
  for (const std::uint64_t c : {1U, 3U, 20U}) {
    const OutputWeights weights(c, true);
    constexpr std::size_t n = 12;
    std::vector<double> counts(n, 0.0);
    std::vector<double> expected;
    for (std::uint64_t k = 0; k < 200'000; ++k) {
      Draws draws({.seed = c, .purpose = Purpose::test, .episode = Episode(k)});
      counts.at(weights.sample(n, draws) - 1) += 1.0;
    }
    std::vector<double> seen;
    for (std::size_t i = 1; i <= n; ++i) {
      const double count = 200'000.0 * exact_tapered(c, n, i).convert_to<double>();
      if (count < 10.0) continue;  // too rare to count
      expected.push_back(count);
      seen.push_back(counts[i - 1]);
    }
    EXPECT_LE(test::chi_square(seen, expected), test::chi_square_limit(expected.size()));
  }
}

// Every sequence of draws, one by one, through the sampler's step.
TEST(IndexSampler, EnumeratedByHandForSmallSizes) {
  constexpr std::uint64_t c = 3;
  constexpr std::uint64_t t = 5;
  std::vector<std::uint64_t> counts(t + 1, 0);
  for (std::uint64_t r1 = 1; r1 <= t; ++r1) {
    for (std::uint64_t r2 = 1; r2 <= t + 1; ++r2) {
      for (std::uint64_t r3 = 1; r3 <= t + 2; ++r3) {
        for (std::uint64_t r4 = 1; r4 <= t + 3; ++r4) {
          std::uint64_t maximum = detail::grow_maximum(0, 0, t, r1);
          maximum = detail::grow_maximum(maximum, 1, t + 1, r2);
          maximum = detail::grow_maximum(maximum, 2, t + 2, r3);
          maximum = detail::grow_maximum(maximum, 3, t + 3, r4);
          ++counts.at(maximum - c);
        }
      }
    }
  }
  for (std::uint64_t i = 1; i <= t; ++i) {
    EXPECT_EQ(Rational(counts[i], 5 * 6 * 7 * 8), exact_weight(c, t, i));
  }
}

TEST(IndexSampler, PassesChiSquare) {
  for (const std::uint64_t c : {1U, 5U, 20U, 300U}) {
    for (const std::uint64_t t : {1U, 4U, 50U, 1'000'000U}) {
      const AlphaWeights weights(c);
      // Cells of equal probability as far as the steps of the law allow.
      constexpr std::size_t cells = 20;
      std::vector<std::uint64_t> ends;
      std::vector<double> expected;
      constexpr int count = 40'000;
      double before = 0.0;
      for (std::size_t cell = 1; cell <= cells; ++cell) {
        const double quantile =
            std::pow(static_cast<double>(cell) / cells, 1.0 / static_cast<double>(c + 1));
        const auto end =
            cell == cells ? t : static_cast<std::uint64_t>(quantile * static_cast<double>(t));
        const double mass = weights.cdf(t, end) - before;
        if (mass * count < 20.0 && cell < cells) continue;
        ends.push_back(end);
        expected.push_back(mass * count);
        before += mass;
      }
      std::vector<double> counts(ends.size(), 0.0);
      for (std::uint64_t k = 0; k < count; ++k) {
        Draws draws({.seed = c * 7 + t, .purpose = Purpose::index, .episode = Episode(k)});
        const std::uint64_t i = weights.sample(t, draws);
        ASSERT_GE(i, 1U);
        ASSERT_LE(i, t);
        const auto cell = std::lower_bound(ends.begin(), ends.end(), i) - ends.begin();
        counts[static_cast<std::size_t>(cell)] += 1.0;
      }
      if (ends.size() > 1) {
        EXPECT_LT(test::chi_square(counts, expected), test::chi_square_limit(ends.size() - 1))
            << "c = " << c << ", t = " << t;
      }
    }
  }
}

}  // namespace
}  // namespace vlearn
