// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the models share about laws: the checks of their tables, and the way a law goes into its
// hash.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"

namespace vlearn {

/// How far the sum of a row of probabilities may be from one. Rows within it are kept verbatim.
inline constexpr double kRowTolerance = 1e-12;

/// What is wrong with a distribution: an entry that is not a probability, or its sum.
[[nodiscard]] std::optional<std::string> flaw_of(std::span<const double> probabilities);

/// |sum - 1|: at least, and above it by less than n 2^-99 and 2^-50 of itself.
[[nodiscard]] double row_defect(std::span<const double> probabilities) noexcept;

/// Throws Error (input) at place() unless all values are finite, non-negative and sum to one.
template <std::invocable Place>
void check_distribution(const Place& place, std::span<const double> probabilities) {
  if (const std::optional<std::string> flaw = flaw_of(probabilities)) {
    throw Error(ErrorKind::input, place(), *flaw);
  }
}

/// Deals out a table block by block and makes sure that it is exactly as long as its blocks.
class TableCursor {
 public:
  TableCursor(const char* what, std::size_t size) noexcept : what_(what), size_(size) {}

  /// Where the next block of (product of the sizes) numbers begins. Throws Error (input) when the
  /// table is too short for it.
  std::size_t take(std::initializer_list<std::uint64_t> sizes);
  /// Throws Error (input) when numbers are left over.
  void finish() const;

 private:
  const char* what_;
  std::size_t size_;
  std::uint64_t taken_ = 0;
};

/// sum_i a[i] b[i], added in the order of i; `b` has at least as many values as `a`.
[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Adds numbers to a hash, each as eight little-endian bytes; lists and texts with their length
/// before them.
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
  LawHash& add_text(std::string_view text) {
    add(text.size());
    hash_.update(std::as_bytes(std::span(text)));
    return *this;
  }

 private:
  Sha256& hash_;
};

}  // namespace vlearn
