// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and spread of numbers that come one by one (Welford 1962): no large sums whose difference
// would be lost in rounding.
#pragma once

#include <cmath>
#include <cstdint>

namespace vlearn {

class RunningMean {
 public:
  void add(double number) noexcept {
    ++count_;
    const double before = number - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (number - mean_);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// 0 where there is no number.
  [[nodiscard]] double mean() const noexcept { return mean_; }
  /// With n - 1 in the denominator; of one number or none 0.
  [[nodiscard]] double variance() const noexcept {
    return count_ < 2 ? 0.0 : squares_ / static_cast<double>(count_ - 1);
  }
  /// Of the mean, the numbers being drawn independently; of one number or none 0.
  [[nodiscard]] double standard_error() const noexcept {
    return count_ == 0 ? 0.0 : std::sqrt(squares_) / static_cast<double>(count_);
  }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  // of deviations from the mean, summed
};

}  // namespace vlearn
