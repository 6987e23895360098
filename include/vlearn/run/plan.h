// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How many episodes the theorems ask for: the smallest K at which the bound that a proof gives is
// at most eps. The paper states its bounds up to constants; these are the constants of its proofs,
// which docs/algorithms.md derives. The bound contains iota = log(m H S A K / delta), and so K.
//
//   Theorem 4   one player      e S H^2/K +  8 e c sqrt(H^5 S A iota/K)
//   Theorem 5   Nash          2 e S H^2/K + 16 e c sqrt(H^5 S A iota/K)
//   Theorem 6   CCE             e S H^2/K +  8 e c sqrt(H^5 S A iota/K)
//   Theorem 7   CE              e S H^2/K +  8 e c A sqrt(H^5 S iota/K)
//   Theorem 8   monotone      2 e S H^2/K +  8 e c sqrt(H^5 S A iota/K)
//
// The preset `rigorous` has a bound of its own, with its own bonus in place of the paper's:
//
//   W (S/K) (1 + sum_{n=1..K/S} g_n),    W = sum_h (1 + 1/H)^(h-1) H_h
//   g_n = b_{h,n}/H_h + sqrt(iota Q_n/2),   iota = log(4 A m H S K / delta), for CE with A^2
//
// So has the preset `proven`, whose g_n (docs/theory/optimistic_rule.md) bounds V - V_low where
// that is positive:
//
//   W (S/K) (1 + sum_{n=1..K/S} min(1, g_n)),   iota = log(4 m H S K / delta)
//
// What is not guaranteed: that fewer episodes do not do. These are upper bounds for the worst game
// of its size; a certificate of what was learned is usually much better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/target.h"

namespace vlearn {

struct PlanOptions {
  std::size_t num_players = 0;  ///< m
  std::size_t horizon = 0;      ///< H
  std::size_t max_states = 0;   ///< S, the most of any step
  std::size_t max_actions = 0;  ///< A, the most of any player anywhere
  bool zero_sum = false;        ///< two players whose rewards sum to a constant
  double eps = 0.1;             ///< the gap that is wanted, for rewards in [0, 1]; below H
  double delta = 0.01;          ///< the probability with which the bound may fail
  double bonus_constant = kPaperBonusConstant;  ///< c; the proofs want 11 or more
  /// Only what leads to this target; nothing: all that the game has.
  std::optional<Target> target = std::nullopt;
};

/// The paper's numbers.
enum class Theorem : std::uint8_t { single_agent = 4, nash = 5, cce = 6, ce = 7, monotone = 8 };

struct PlannedRun {
  Theorem theorem = Theorem::cce;
  Preset preset = Preset::paper;  ///< or rigorous or proven, whose bound takes its place
  Target target = Target::cce;
  std::string promise;
  std::string formula;
  std::optional<double> constant;            ///< c; the presets rigorous and proven have none
  double iota = 0.0;                         ///< at K episodes
  std::optional<std::uint64_t> episodes;     ///< K; nothing above kMostPlannedEpisodes
  double episodes_log10 = 0.0;               ///< log10 K, however large
  std::optional<std::uint64_t> agent_steps;  ///< m H K; nothing where it does not fit 64 bits
};

/// 2^63 - 1, about 9.2e18.
inline constexpr std::uint64_t kMostPlannedEpisodes = (std::uint64_t{1} << 63U) - 1;

/// What the proof of a theorem, or of the preset rigorous or proven in its place, bounds the gap
/// with after K >= 1 episodes, for rewards in [0, 1]. Theorem 8 has the paper's bound only.
[[nodiscard]] double gap_bound(Theorem theorem,
                               Preset preset,
                               const PlanOptions& options,
                               double episodes);

/// The iota inside that bound.
[[nodiscard]] double iota_of(Theorem theorem,
                             Preset preset,
                             const PlanOptions& options,
                             double episodes);

/// The sum over n = 1..K/S of g_n above, or slightly more: the first visits are added one by one,
/// later ones in blocks that grow by 1/64, with the largest term of a block for each of it. Below
/// 1 % too much in all where H <= 100.
[[nodiscard]] double sum_of_rigorous_bounds(bool swap, const PlanOptions& options, double episodes);

/// The sum over n = 1..K/S of min(1, g_n) of the preset proven, added up as above.
[[nodiscard]] double sum_of_proven_bounds(bool swap, const PlanOptions& options, double episodes);

/// One run for each theorem that the game has, each followed by the rigorous and the proven one if
/// there are such.
/// K is the smallest for which gap_bound(), in doubles, is at most eps: above 2^53 it is one of the
/// K that round to the same double.
/// Throws Error (usage) for options out of range.
[[nodiscard]] std::vector<PlannedRun> plan_episodes(const PlanOptions& options);

}  // namespace vlearn
