// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The (step, state) pairs that a report looks at closely: which, and what is to be seen there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assess_cells.h"
#include "output_policy.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/game_io.h"
#include "vlearn/report/run_view.h"

namespace vlearn {

/// Players whose policies are shown: the first ones of many.
inline constexpr std::size_t kShownPlayers = 8;
/// Numbers of policies, mixtures and pairs over all cells that are shown.
inline constexpr std::size_t kShownNumbers = 40'000;
/// Parts of a mixture.
inline constexpr std::size_t kShownParts = 12;
/// Joint actions of two players, at most.
inline constexpr std::size_t kShownPairs = 400;

/// Everything that the cells of a view are made of.
struct CellSources {
  const LoadedGame& game;
  const OutputPolicy& policy;
  const AssessedCells& assessed;
  const std::optional<Certificate>& certificate;
  std::span<const std::uint64_t> visits;  ///< of all cells; empty: of tables
};

/// Fills RunView::cells and ::correlates, and adds remarks. The view has its shown players. Throws
/// Error (input) for a witness of another game.
void fill_cells(RunView& view, const CellSources& sources, const ParallelOptions& options);

}  // namespace vlearn
