// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a mean of independent draws can be from what it estimates. Every bound fails with
// probability exp(-log_events) at most: log_events is the logarithm of (what shares a failure
// probability) / (that probability). docs/theory/sampled_certificate.md has the proofs.
#pragma once

#include <cstdint>
#include <span>

namespace vlearn {

/// Of numbers d_1, ..., d_n; sums of parts are added in a fixed order.
struct Moments {
  double sum = 0.0;
  double squares = 0.0;

  void add(double number) noexcept {
    sum += number;
    squares += number * number;
  }
  void add(const Moments& part) noexcept {
    sum += part.sum;
    squares += part.squares;
  }
  [[nodiscard]] double mean(std::uint64_t n) const noexcept { return sum / static_cast<double>(n); }
  /// With n - 1 in the denominator, n >= 2.
  [[nodiscard]] double variance(std::uint64_t n) const noexcept;
};

/// One side: the expectation of numbers in an interval of this width is at most so far above (or
/// below) the mean of n >= 2, which have this sample variance (Maurer, Pontil 2009, Theorem 4).
[[nodiscard]] double bernstein_radius(double variance,
                                      std::uint64_t n,
                                      double width,
                                      double log_events) noexcept;

/// The same, often less. The smaller of Hoeffding's bound and the empirical Bernstein bound,
/// which share the failure probability.
[[nodiscard]] double mean_radius(double variance,
                                 std::uint64_t n,
                                 double width,
                                 double log_events) noexcept;

/// The standard deviation of numbers in an interval of this width, n >= 2 of which have this sample
/// variance, is at most this.
[[nodiscard]] double deviation_bound(double variance,
                                     std::uint64_t n,
                                     double width,
                                     double log_events) noexcept;

/// One step of a chain: the largest of exp(log_choices) errors of means of n numbers each. Width
/// and spread are known before these are drawn.
struct ChainStep {
  double width = 0.0;   ///< of the interval that the numbers lie in
  double spread = 0.0;  ///< no standard deviation is larger
  double log_choices = 0.0;
};

/// The sum over the steps of (largest expectation - mean) is at most this. `largest_width` is known
/// beforehand, and no width is larger.
[[nodiscard]] double chain_radius(std::span<const ChainStep> steps,
                                  std::uint64_t n,
                                  double largest_width,
                                  double log_events) noexcept;

}  // namespace vlearn
