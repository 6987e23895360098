// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "payoffs.h"

#include <fmt/format.h>

#include <algorithm>

#include "vlearn/core/error.h"

namespace vlearn::lp {

Unit unit_of(std::span<const double> payoffs, std::size_t first) {
  double least = payoffs[0];
  double largest = payoffs[0];
  bool finite = true;
  for (const double payoff : payoffs) {
    finite = finite && std::isfinite(payoff);
    least = std::min(least, payoff);
    largest = std::max(largest, payoff);
  }
  if (!finite) {
    std::size_t i = 0;
    while (std::isfinite(payoffs[i])) ++i;
    throw Error(ErrorKind::input, fmt::format("payoffs[{}]", first + i),
                fmt::format("is {}", payoffs[i]), "payoffs are finite numbers");
  }
  if (!std::isfinite(largest - least)) {
    throw Error(ErrorKind::input, "payoffs",
                fmt::format("reach from {} to {}, too far for a double", least, largest),
                "use larger units");
  }
  Unit unit;
  unit.least = least;
  unit.range = std::frexp(largest - least, &unit.exponent);
  return unit;
}

void scale(std::span<const double> payoffs, const Unit& unit, std::span<double> scaled) noexcept {
  // Two factors: one power of two could overflow where payoffs are subnormal.
  const double first = std::ldexp(1.0, -unit.exponent / 2);
  const double second = std::ldexp(1.0, -unit.exponent - (-unit.exponent / 2));
  for (std::size_t i = 0; i < payoffs.size(); ++i) {
    scaled[i] = (payoffs[i] - unit.least) * first * second;
  }
}

}  // namespace vlearn::lp
