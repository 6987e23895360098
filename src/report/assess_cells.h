// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the output of a run is worth from every (step, state) on, what deviating there is worth, and
// where a player's gap arises.
//
// Of a Markov output let U be the value, W the best deviation's value, and
//
//   F(h, s) = E_pi [r + W_{h+1}]      follow here, deviate from the next step on
//
// Then W_1 - U_1 = sum over h of E_pi [W_h - F_h]: the share of (h, s) is the chance of coming
// there, by following, times W - F, which is what deviating right there gains. This is the
// difference of values of two policies, step by step: U is followed everywhere, and each W - F
// trades one step of following for deviating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "output_policy.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/report/run_view.h"

namespace vlearn {

/// In the user's units; [cell * players + player] over all cells of all steps. Empty: not known.
struct AssessedCells {
  std::vector<double> values;
  std::vector<double> deviations;
  std::vector<double> shares;
  std::vector<double> reach;  ///< of each cell
  /// Of each cell: those of all joint actions, the last player's varying fastest.
  std::vector<std::vector<double>> chances;
  std::string remark;  ///< why something is not known; may be empty
};

/// Multiplications that assess() takes, counted and not timed. The policy need not have all
/// players.
[[nodiscard]] double assess_work(const AnyGame& game, const OutputPolicy& policy);
/// No report takes more than this for one thing: about half a minute.
inline constexpr double kMostWork = 2e10;

[[nodiscard]] AssessedCells assess(const AnyGame& game,
                                   const OutputPolicy& policy,
                                   const ParallelOptions& options);

/// The states of a game that is small enough to be drawn, and the ways between them, where joint
/// actions have these chances at each cell; none: under uniform play. Nothing for games that have
/// no table.
[[nodiscard]] std::optional<StateGraph> graph_of(const AnyGame& game,
                                                 std::span<const std::vector<double>> chances);

/// Where the (step, state) pairs of each step begin among those of all steps; at last their number.
[[nodiscard]] std::vector<std::size_t> first_cells(const Frame& frame);
/// (Step, state) pairs of a game, over all steps.
[[nodiscard]] std::size_t count_cells(const Frame& frame);

}  // namespace vlearn
