// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The exponential of the project (exp-inl.h has the formula and the argument for its bounds):
// at most 1 ulp, monotone, the same bits from one lane or eight, from gcc or clang, from -O0 or
// -O3. Everything that ends up in a result uses it, nothing uses libm's.
#pragma once

#include <span>

namespace vlearn {

[[nodiscard]] double exp(double x) noexcept;

/// out[i] = exp(in[i]); both of one size, and either the same memory or disjoint.
void exp(std::span<const double> in, std::span<double> out) noexcept;

}  // namespace vlearn
