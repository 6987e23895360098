// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/alpha.h"

#include <string>

#include "vlearn/core/assert.h"
#include "vlearn/core/error.h"

namespace vlearn {

AlphaWeights::AlphaWeights(std::uint64_t c) : c_(c) {
  if (c < 1 || c >= kMaxSteps) {
    throw Error(ErrorKind::usage, "alpha weights", "c is " + std::to_string(c),
                "choose 1 <= c < " + std::to_string(kMaxSteps));
  }
}

double AlphaWeights::cdf(std::uint64_t t, std::uint64_t i) const noexcept {
  VLEARN_ASSERT(i <= t);
  double product = 1.0;
  // Both products of the header are exact; the shorter one is cheaper and rounds less.
  if (t - i < c_ + 1) {
    for (std::uint64_t j = i + 1; j <= t; ++j) {
      product *= static_cast<double>(j - 1) / static_cast<double>(c_ + j);
    }
  } else {
    for (std::uint64_t j = 0; j <= c_; ++j) {
      product *= static_cast<double>(i + j) / static_cast<double>(t + j);
    }
  }
  return product;
}

double AlphaWeights::sum_of_inverse_visits(std::uint64_t t) const noexcept {
  VLEARN_ASSERT(t >= 1);
  double inverse_binomial = 1.0;  // 1/C(c+t, c) = prod_{j=1..c} j/(t+j)
  for (std::uint64_t j = 1; j <= c_; ++j) {
    inverse_binomial *= static_cast<double>(j) / static_cast<double>(t + j);
  }
  const auto c = static_cast<double>(c_);
  return (c + 1.0) / (c * static_cast<double>(t)) * (1.0 - inverse_binomial);
}

std::uint64_t AlphaWeights::sample(std::uint64_t t, Draws& draws) const noexcept {
  VLEARN_ASSERT(t >= 1);
  // F_t(i) = C(c+i, c+1)/C(c+t, c+1): the law of max(S) - c for a uniform (c+1)-subset S of
  // {1..c+t}, which Floyd's algorithm draws in c + 1 steps.
  std::uint64_t maximum = 0;
  for (std::uint64_t size = 0; size <= c_; ++size) {
    const std::uint64_t j = t + size;
    maximum = detail::grow_maximum(maximum, size, j, draws.below(j) + 1);
  }
  return maximum - c_;
}

OutputWeights::OutputWeights(std::uint64_t c, bool tapered)
    : alpha_(c), next_(tapered ? c + 1 : c), tapered_(tapered) {}

double OutputWeights::weight(std::uint64_t n, std::uint64_t i) const noexcept {
  const double weight = alpha_.weight(n, i);
  if (!tapered_) return weight;
  return weight * (static_cast<double>(n + 1 - i) * static_cast<double>(c() + 2) /
                   static_cast<double>(c() + n + 1));
}

double OutputWeights::cdf(std::uint64_t n, std::uint64_t i) const noexcept {
  const double cdf = alpha_.cdf(n, i);
  if (!tapered_ || i == 0) return cdf;
  const double left = static_cast<double>(c() + 2) * static_cast<double>(n + 1 - i);
  return cdf * ((left + static_cast<double>(i - 1)) / static_cast<double>(c() + n + 1));
}

std::uint64_t OutputWeights::sample(std::uint64_t n, Draws& draws) const noexcept {
  return alpha_.sample(tapered_ ? next_.sample(n, draws) : n, draws);
}

}  // namespace vlearn
