// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/bandit/stationary.h"

#include <algorithm>

#include "vlearn/core/assert.h"

namespace vlearn {

void stationary_distribution(std::span<double> transition, std::span<double> pi) noexcept {
  const std::size_t n = pi.size();
  VLEARN_ASSERT(n > 0 && transition.size() == n * n);
  const auto entry = [&](std::size_t from, std::size_t to) -> double& {
    return transition[from * n + to];
  };
  constexpr double least = 1e-300;
  for (double& chance : transition) chance = std::max(chance, least);
  // Take the states out from the last to the second: what led through state k leads on directly.
  for (std::size_t k = n - 1; k > 0; --k) {
    double leave = 0.0;  // from k to a state that is still there
    for (std::size_t j = 0; j < k; ++j) leave += entry(k, j);
    for (std::size_t j = 0; j < k; ++j) entry(k, j) /= leave;
    for (std::size_t i = 0; i < k; ++i) {
      const double through = entry(i, k);
      for (std::size_t j = 0; j < k; ++j) entry(i, j) += through * entry(k, j);
      // What flows into k, per unit of what flows out of it.
      entry(i, k) = through / leave;
    }
  }
  // Put them back one by one. Nothing overflows: the first state gets at least 1e-300 of what any
  // other has.
  pi[0] = 1.0;
  for (std::size_t k = 1; k < n; ++k) {
    pi[k] = 0.0;
    for (std::size_t i = 0; i < k; ++i) pi[k] += pi[i] * entry(i, k);
  }
  double sum = 0.0;
  for (const double mass : pi) sum += mass;
  for (double& mass : pi) mass /= sum;
}

}  // namespace vlearn
