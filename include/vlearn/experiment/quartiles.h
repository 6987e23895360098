// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Median and interquartile range: what is said of the seeds of a measurement.
#pragma once

#include <span>

namespace vlearn {

struct Quartiles {
  double lower = 0.0;
  double median = 0.0;
  double upper = 0.0;
  friend bool operator==(const Quartiles&, const Quartiles&) = default;
};

/// Of one number at least. Between two numbers they are interpolated: of 1, 2, 3, 4, 5 they are 2,
/// 3 and 4, of 1, 2 they are 1.25, 1.5 and 1.75.
[[nodiscard]] Quartiles quartiles_of(std::span<const double> numbers);

}  // namespace vlearn
