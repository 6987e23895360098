// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The second half of a game file: its law, by rules over joint actions, routes or pairs of players,
// and the solutions that are known. Each reads its own section and builds its own model.
#pragma once

#include <vector>

#include "json_shape.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

/// Ranges as the file states them, or none.
[[nodiscard]] std::vector<RewardRange> read_ranges(const JsonValue& root,
                                                   std::size_t num_players,
                                                   bool zero_sum);
/// `options` is complete but for ranges that the file leaves open.
[[nodiscard]] AnyGame read_table(const JsonValue& rules,
                                 const GameShape& shape,
                                 FrameOptions options);
[[nodiscard]] AnyGame read_congestion(const JsonValue& section,
                                      const NameList& routes,
                                      const GameShape& shape,
                                      FrameOptions options);
[[nodiscard]] AnyGame read_polymatrix(const JsonValue& section,
                                      const GameShape& shape,
                                      FrameOptions options);

[[nodiscard]] std::vector<KnownSolution> read_known(const JsonValue& list,
                                                    const GameShape& shape,
                                                    const Frame& frame);

/// title, source, note and known of an object, and the names of the shape.
[[nodiscard]] GameAbout read_about(const JsonValue& root,
                                   const GameShape& shape,
                                   const Frame& frame);

}  // namespace vlearn
