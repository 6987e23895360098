// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/law.h"

#include <fmt/format.h>

#include <cmath>

#include "vlearn/core/error.h"
#include "vlearn/core/simplex.h"

namespace vlearn {

void check_distribution(const std::string& place, std::span<const double> probabilities) {
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (!std::isfinite(probabilities[i]) || probabilities[i] < 0.0) {
      throw Error(ErrorKind::input, place, fmt::format("entry {} is {}", i + 1, probabilities[i]),
                  "a probability lies in [0, 1]");
    }
  }
  const double sum = fixed_sum(probabilities);
  if (!(std::abs(sum - 1.0) <= kRowTolerance)) {
    throw Error(ErrorKind::input, place, fmt::format("sums to {:.15g}", sum), "want 1");
  }
}

}  // namespace vlearn
