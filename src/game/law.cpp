// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/law.h"

#include <fmt/format.h>

#include <cmath>

#include "vlearn/core/checked.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/simplex.h"

namespace vlearn {

std::optional<std::string> flaw_of(std::span<const double> probabilities) {
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (!std::isfinite(probabilities[i]) || probabilities[i] < 0.0) {
      return fmt::format("entry {} is {}; a probability lies in [0, 1]", i + 1, probabilities[i]);
    }
  }
  const double sum = fixed_sum(probabilities);
  if (std::abs(sum - 1.0) <= kRowTolerance) return std::nullopt;
  return fmt::format("sums to {:.15g}, want 1", sum);
}

double row_defect(std::span<const double> probabilities) noexcept {
  double sum = 0.0;
  double lost = 0.0;
  for (const double p : probabilities) add_compensated(sum, lost, p);
  // sum - 1 is exact, because the two are close; each term was lost by 2^-104 of the sum at most.
  return std::abs((sum - 1.0) + lost) * (1.0 + 0x1p-51) +
         static_cast<double>(probabilities.size()) * 0x1p-100;
}

std::size_t TableCursor::take(std::initializer_list<std::uint64_t> sizes) {
  const std::optional<std::uint64_t> count =
      checked_product(std::span(sizes.begin(), sizes.size()));
  const std::optional<std::uint64_t> end = count ? checked_add(taken_, *count) : std::nullopt;
  if (!end || *end > size_) {
    throw Error(
        ErrorKind::input, what_,
        fmt::format("has {} numbers, too few: its players, states and actions need more", size_));
  }
  const std::uint64_t begin = taken_;
  taken_ = *end;
  return begin;
}

void TableCursor::finish() const {
  if (taken_ != size_) {
    throw Error(ErrorKind::input, what_, fmt::format("has {} numbers, want {}", size_, taken_));
  }
}

}  // namespace vlearn
