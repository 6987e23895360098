// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player does at one (step, state) when it executes its file, on average: the visit i is
// drawn with the output weight a_n^i (OutputWeights) among the first n, and then the policy pi_i of
// that visit is played.
//
//   averaged   sum_i a_n^i pi_i            by X_i = (1 - rate(n, i)) X_{i-1} + rate(n, i) pi_i
//   played     sum_i a_n^i 1{a_i = a}      the same of the actions that were drawn then
//
// This is the marginal of one player: of players who share their indices the product of their
// averages is another policy than the one that they execute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/parallel.h"
#include "vlearn/policy/history.h"

namespace vlearn {

struct CellAverage {
  std::uint64_t visits = 0;      ///< n; where it is 0 all below is uniform, and `played` is empty
  std::vector<double> averaged;  ///< for each action
  std::vector<double> played;
  std::vector<double> last;  ///< pi_n
};

/// Of the first n visits of a cell, which has had so many.
[[nodiscard]] CellAverage average_of(const PolicyFile& file,
                                     std::size_t cell,
                                     std::uint64_t n,
                                     ReplayMemory& memory);

/// The same of all cells of all players, as arrays that are 0 where there is no such state or
/// action.
struct AverageTable {
  std::vector<std::uint64_t> shape;   ///< m, H, S, A: players, steps, most states, most actions
  std::vector<std::uint64_t> visits;  ///< [step][state], alike for all players
  std::vector<double> averaged;       ///< [player][step][state][action]
  std::vector<double> last;
};

/// Of the visits in the first `episodes` episodes. Throws Error (input) for files that are not of
/// one run.
[[nodiscard]] AverageTable table_of(std::span<const PolicyFile> files,
                                    std::uint64_t episodes,
                                    const ParallelOptions& options = {});

/// How many of the most recent visits have a share of the weight, 0 < share < 1, between them: the
/// least j with a_n^n + ... + a_n^{n-j+1} >= share. n >= 1.
[[nodiscard]] std::uint64_t recent_visits(const OutputWeights& weights,
                                          std::uint64_t n,
                                          double share) noexcept;

/// 1 / sum_i (a_n^i)^2: equal weights on so many visits would be as concentrated. n >= 1.
[[nodiscard]] double effective_visits(const OutputWeights& weights, std::uint64_t n) noexcept;

}  // namespace vlearn
