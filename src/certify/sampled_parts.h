// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The two things that a sampled certificate looks at: replies at every (step, state), from the last
// step to the first, and plays from the start to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/certify/concentration.h"
#include "vlearn/certify/drawn_policy.h"
#include "vlearn/certify/nested.h"
#include "vlearn/core/target.h"
#include "vlearn/game/game_ref.h"

namespace vlearn {

/// Numbers are summed in blocks of so many, and blocks one after the other: the number of threads
/// does not show, and errors do not pile up.
inline constexpr std::size_t kSampleBlock = 512;
/// Actions, or numbers, that are kept at a time.
inline constexpr std::size_t kSampleMemory = std::size_t{1} << 22U;

/// A variance of n numbers in an interval of this width, summed in such blocks about its centre, is
/// too small by no more than this. Its root would be off by much more than other numbers are.
[[nodiscard]] inline double lost_variance(std::uint64_t n, double width) noexcept {
  constexpr auto block = static_cast<double>(kSampleBlock);
  return width * width * (2.0 * block + static_cast<double>(n) / block + 8.0) * 0x1p-50;
}

/// The game and its policy, and who draws how.
struct SampledSetting {
  GameRef game;
  Target target;
  const DrawnPolicy& policy;
  ParallelOptions parallel = {};
};

/// Where each cell's answers begin in a player's plan: one for each cell, for ce one for each own
/// action there.
class PlanLayout {
 public:
  PlanLayout(const Frame& frame, Target target);

  /// Of (step, state) pairs.
  [[nodiscard]] std::size_t num_cells() const noexcept { return first_cell_.back(); }
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell_[h.index()] + s.index();
  }
  [[nodiscard]] std::size_t size(Player player) const noexcept {
    return begins_[player.index()].back();
  }
  [[nodiscard]] std::size_t begin(Player player, std::size_t cell) const noexcept {
    return begins_[player.index()][cell];
  }
  /// The place of the answer to a drawn action.
  [[nodiscard]] std::size_t place(Player player, std::size_t cell, Action drawn) const noexcept {
    return begin(player, cell) + (per_action_ ? drawn.index() : 0);
  }

 private:
  bool per_action_;
  std::vector<std::size_t> first_cell_;           // of each step
  std::vector<std::vector<std::size_t>> begins_;  // of each player and cell
};

/// log of the number of replies at a place with so many actions: n, and for ce n^n.
[[nodiscard]] double log_replies(Target target, std::size_t num_actions) noexcept;

/// Of one player.
struct FoundReplies {
  double best = 0.0;  ///< at the start, averaged over the first state
  WitnessPlan plan;
  std::vector<ChainStep> chain;  ///< from the last step to the first
};
/// Spreads are bounded with exp(-log_events) for each player and cell.
[[nodiscard]] std::vector<FoundReplies> find_replies(const SampledSetting& setting,
                                                     const PlanLayout& layout,
                                                     std::uint64_t samples,
                                                     std::uint64_t seed,
                                                     double log_events);

/// What plays have earned a player.
struct PlayedSum {
  double mean = 0.0;
  double variance = 0.0;
};
/// `plays` plays of the policy, of all players,
[[nodiscard]] std::vector<PlayedSum> play_along(const SampledSetting& setting,
                                                std::uint64_t plays,
                                                std::uint64_t seed);
/// and as many for each player in which it answers by its plan.
[[nodiscard]] std::vector<PlayedSum> play_plans(const SampledSetting& setting,
                                                const PlanLayout& layout,
                                                std::span<const WitnessPlan> plans,
                                                std::uint64_t plays,
                                                std::uint64_t seed);

}  // namespace vlearn
