// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/quartiles.h"

#include <algorithm>
#include <vector>

#include "vlearn/core/assert.h"
#include "vlearn/core/percentile.h"

namespace vlearn {

Quartiles quartiles_of(std::span<const double> numbers) {
  VLEARN_ASSERT(!numbers.empty());
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  return {percentile(sorted, 25.0), percentile(sorted, 50.0), percentile(sorted, 75.0)};
}

}  // namespace vlearn
