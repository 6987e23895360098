// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The game of a run that is on the disk. A config.json of a few hundred bytes can name a generated
// game of gigabytes, so what it names is measured before it is built: against what the run's own
// files say about the sizes of their game.
#pragma once

#include <cstdint>

#include "vlearn/game/game_io.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// Numbers, in the tables of the game and of its learners together, up to which a generated game is
/// built without a look at the run's files: 32 MiB, a fraction of a second.
inline constexpr std::uint64_t kMostUncheckedNumbers = std::uint64_t{1} << 22U;

/// Throws Error (input) that names config.json where it names a generated game that does not fit
/// the run's own files, or a large one where there are no files to compare it with. Files are, in
/// this order: player 1's policy, player 1's Markov table, tables.safetensors, a checkpoint.
void check_named_game(const StoredRun& run);

/// The game that config.json names, after check_named_game(). Throws Error that names config.json.
[[nodiscard]] LoadedGame load_named_game(const StoredRun& run);

}  // namespace vlearn
