// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes that come from outside are multiplied and added with these only: S * A1 * ... * Am * H
// of a hostile file wraps 64 bits silently otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace vlearn {

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a,
                                                                 std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a,
                                                                      std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// The product of all factors (1 for none), or nothing when it does not fit 64 bits. A zero
/// factor makes it 0 whatever the others are.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_product(
    std::span<const std::uint64_t> factors) noexcept {
  for (const std::uint64_t factor : factors) {
    if (factor == 0) return 0;
  }
  std::optional<std::uint64_t> product = 1;
  for (const std::uint64_t factor : factors) {
    product = checked_multiply(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

}  // namespace vlearn
