// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "vlearn/core/assert.h"

namespace vlearn {

/// Of numbers in rising order, at least one; between two of them on the line through both.
[[nodiscard]] inline double percentile(std::span<const double> sorted, double percent) {
  VLEARN_ASSERT(!sorted.empty() && percent >= 0.0 && percent <= 100.0);
  const double place = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

}  // namespace vlearn
