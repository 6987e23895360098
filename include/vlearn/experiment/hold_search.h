// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// When has a run reached a gap for good? A run is looked at at certain episodes. The first look
// that finds the gap that is wanted is a candidate, which has to hold: until 8 times as many
// episodes no look may find more than twice the gap. A candidate that does not hold is dropped, and
// the search goes on behind the look that refuted it. Candidates come up to a limit of episodes.
#pragma once

#include <cstdint>
#include <optional>

namespace vlearn {

/// The next of the episodes ceil(1.25^n): 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, ...
[[nodiscard]] std::uint64_t next_geometric(std::uint64_t episodes) noexcept;

class HoldSearch {
 public:
  static constexpr double kSlack = 2.0;
  static constexpr std::uint64_t kHold = 8;

  HoldSearch(double wanted, std::uint64_t limit) noexcept : wanted_(wanted), limit_(limit) {}

  /// The next look, at more episodes than the one before. Returns whether the search goes on.
  bool see(std::uint64_t episodes, double gap) noexcept;

  /// Whether the search has ended,
  [[nodiscard]] bool over() const noexcept { return over_; }
  /// and with what: the episodes of a candidate that held, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> found() const noexcept {
    return over_ ? candidate_ : std::nullopt;
  }

 private:
  double wanted_;
  std::uint64_t limit_;
  std::optional<std::uint64_t> candidate_;
  bool over_ = false;
};

}  // namespace vlearn
