// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the models share about laws: the check of a distribution, and the way a law goes into its
// hash.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vlearn/core/hash.h"

namespace vlearn {

/// How far the sum of a row of probabilities may be from one. Rows within it are kept verbatim.
inline constexpr double kRowTolerance = 1e-12;

/// Throws Error (input) at `place` unless all values are finite, non-negative and sum to one.
void check_distribution(const std::string& place, std::span<const double> probabilities);

/// Adds numbers to a hash, each as eight little-endian bytes, texts with their length before them.
class LawHash {
 public:
  explicit LawHash(Sha256& hash) noexcept : hash_(hash) {}

  template <std::unsigned_integral Integer>
  LawHash& add(Integer number) {
    const std::uint64_t wide = number;
    hash_.update(std::as_bytes(std::span(&wide, 1)));
    return *this;
  }
  /// -0 counts as 0: it is the same law.
  LawHash& add(double number) {
    return add(std::bit_cast<std::uint64_t>(number == 0.0 ? 0.0 : number));
  }
  LawHash& add(std::span<const double> numbers) {
    add(numbers.size());
    for (const double number : numbers) add(number);
    return *this;
  }
  LawHash& add(const char* text) {
    const std::string_view view(text);
    add(view.size());
    hash_.update(std::as_bytes(std::span(view)));
    return *this;
  }

 private:
  Sha256& hash_;
};

}  // namespace vlearn
