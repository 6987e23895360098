// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Chi-square tests with a stated chance of failing: seeds are fixed, so a test that passes passes
// for ever; the level says how surprising a failure would have been when the seed was chosen.
#pragma once

#include <boost/math/distributions/chi_squared.hpp>
#include <cstddef>
#include <span>

namespace vlearn::test {

inline constexpr double kLevel = 1e-6;

/// The value that a right sampler exceeds with probability kLevel.
inline double chi_square_limit(std::size_t degrees_of_freedom) {
  const boost::math::chi_squared law(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(boost::math::complement(law, kLevel));
}

inline double chi_square(std::span<const double> counts, std::span<const double> expected) {
  double sum = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  return sum;
}

}  // namespace vlearn::test
