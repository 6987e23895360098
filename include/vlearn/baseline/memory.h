// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a centralised learner has to keep, counted before anything is allocated: its tables have an
// entry for every joint action, and these are the product of all players' actions.
#pragma once

#include <cstdint>
#include <optional>

#include "vlearn/baseline/options.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// Nothing stands for a number beyond 64 bits.
struct BaselineMemory {
  std::optional<std::uint64_t> joint_actions;  ///< the most of a (step, state)
  /// All tables together, with J joint actions of a (step, state) that leads to S' states, m' = 1
  /// for zero-sum games and else m, and room R for the joint actions of a plan:
  ///   sum over (step, state) of   J (4 + 8 m' + 4 S') + 3 (16 m + 16 + 16 R)
  /// and the payoffs of the largest stage, 16 m J, with the numbers of its linear program, 8 each.
  /// What a run returns and certifies comes on top: a part for each of the R.
  std::optional<std::uint64_t> bytes;
};

[[nodiscard]] BaselineMemory baseline_memory(const Frame& frame, const BaselineOptions& options);

/// Throws Error (resource) where they are more than options.max_memory, where a linear program is
/// larger than the solver takes, or where policies have too many cells.
void check_memory(const Frame& frame, const BaselineOptions& options);

}  // namespace vlearn
