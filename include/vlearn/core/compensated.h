// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of millions of terms that are as good as sums of a few: what the head loses is kept in a
// tail (two-sum, Moller 1965, Knuth 1969). A step is lost by 2^-104 of the sum at most.
#pragma once

namespace vlearn {

inline void add_compensated(double& head, double& tail, double step) noexcept {
  const double sum = head + step;
  const double taken = sum - head;
  tail += (head - (sum - taken)) + (step - taken);  // exactly what this sum has lost
  head = sum + tail;
  tail -= head - sum;
}

/// An average that goes a share of the way to x.
inline void move_compensated(double& head, double& tail, double share, double x) noexcept {
  if (share == 1.0) {
    head = x;
    tail = 0.0;
    return;
  }
  add_compensated(head, tail, share * ((x - head) - tail));
}

}  // namespace vlearn
