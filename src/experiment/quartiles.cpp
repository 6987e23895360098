// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/quartiles.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "vlearn/core/assert.h"

namespace vlearn {

Quartiles quartiles_of(std::span<const double> numbers) {
  VLEARN_ASSERT(!numbers.empty());
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](std::size_t quarters) {
    const std::size_t position = quarters * (sorted.size() - 1);  // in quarters
    const std::size_t below = position / 4;
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = static_cast<double>(position % 4) / 4.0;
    return sorted[below] + share * (sorted[above] - sorted[below]);
  };
  return {at(1), at(2), at(3)};
}

}  // namespace vlearn
