// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/concentration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vlearn/core/log.h"

namespace vlearn {
namespace {

/// Values of the parameter that a chain's bound may choose from, each sqrt(1/2) of the one before:
/// from the largest useful one down to 2^-15 of it.
constexpr int kChainChoices = 31;

}  // namespace

double Moments::variance(std::uint64_t n) const noexcept {
  const auto count = static_cast<double>(n);
  return std::max(0.0, (squares - sum * (sum / count)) / (count - 1.0));
}

double bernstein_radius(double variance,
                        std::uint64_t n,
                        double width,
                        double log_events) noexcept {
  const auto count = static_cast<double>(n);
  const double half = log_events + log(2.0);  // for the mean, and as much for its variance
  return std::sqrt(2.0 * variance * half / count) + 7.0 * width * half / (3.0 * (count - 1.0));
}

double mean_radius(double variance, std::uint64_t n, double width, double log_events) noexcept {
  const double half = log_events + log(2.0);  // of the failure probability for each of the two
  const double hoeffding = width * std::sqrt(half / (2.0 * static_cast<double>(n)));
  return std::min(hoeffding, bernstein_radius(variance, n, width, half));
}

double deviation_bound(double variance, std::uint64_t n, double width, double log_events) noexcept {
  return std::sqrt(variance) + width * std::sqrt(2.0 * log_events / (static_cast<double>(n) - 1.0));
}

double chain_radius(std::span<const ChainStep> steps,
                    std::uint64_t n,
                    double largest_width,
                    double log_events) noexcept {
  const auto count = static_cast<double>(n);
  double total = log_events + log(static_cast<double>(kChainChoices));
  for (const ChainStep& step : steps) total += step.log_choices;
  double least = std::numeric_limits<double>::infinity();
  double u = 1.5 / largest_width;  // lambda / n: where Bernstein's denominator is 1/2
  for (int choice = 0; choice < kChainChoices; ++choice, u *= 0x1.6a09e667f3bcdp-1) {
    double exponents = 0.0;  // divided by n u^2
    for (const ChainStep& step : steps) {
      const double hoeffding = step.width * step.width / 8.0;
      const double bernstein = step.spread * step.spread / (2.0 * (1.0 - u * step.width / 3.0));
      exponents += std::min(hoeffding, bernstein);
    }
    least = std::min(least, u * exponents + total / (count * u));
  }
  return least;
}

}  // namespace vlearn
