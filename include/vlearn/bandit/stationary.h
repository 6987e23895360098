// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The stationary distribution of a Markov chain by Grassmann, Taksar and Heyman's elimination
// (1985): Gaussian elimination without a single subtraction, so every entry keeps its relative
// precision however far the entries of the chain are apart.
#pragma once

#include <cstddef>
#include <span>

namespace vlearn {

/// pi = pi T for the row-stochastic T, [from][to], which is used up. Entries below 1e-300 count as
/// 1e-300, so that the chain is irreducible; the diagonal is not looked at. pi sums to one and has
/// as many entries as T has rows.
void stationary_distribution(std::span<double> transition, std::span<double> pi) noexcept;

}  // namespace vlearn
