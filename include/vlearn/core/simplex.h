// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Probability vectors: sums, normalisation, softmax. Each is defined down to the order of its
// additions, so that the vector width of the machine cannot show.
//
// fixed_sum(x): eight running sums, x[i] added to sum number i mod 8 in the order of i; then
// sum l takes sum l + 4 (l < 4), sum l takes sum l + 2 (l < 2), and sum 0 takes sum 1.
#pragma once

#include <span>

namespace vlearn {

/// The sum of all values in the order above; 0 for none.
[[nodiscard]] double fixed_sum(std::span<const double> values) noexcept;

/// values[i] *= 1 / fixed_sum(values), the inverse rounded first. False when the sum or its inverse
/// is not positive and finite: then the values are left as they were. Of non-negative values with
/// a sum below 2^1000 the new sum s has |s - 1| <= (n + 2) 2^-53.
[[nodiscard]] bool normalise(std::span<double> values) noexcept;

/// out[i] proportional to exp(scores[i]): e[i] = exp(scores[i] - max), out[i] = e[i] * (1 / sum)
/// with fixed_sum of all e. The scores are finite; at least one; `out` has the same size and is
/// either the same memory or disjoint.
void softmax(std::span<const double> scores, std::span<double> out) noexcept;

}  // namespace vlearn
