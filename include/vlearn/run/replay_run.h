// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that was learned without a history, played again from its seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "vlearn/core/cancel.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// Plays so many episodes of a run again, with the history this time: the folder, which has nothing
/// in it, becomes a run folder with policy files. Returns the hash of all policies in the order of
/// play (StreamHash); where play is cancelled, of what was played.
[[nodiscard]] std::string replay_run(const StoredRun& run,
                                     const LoadedGame& game,
                                     std::uint64_t episodes,
                                     const std::filesystem::path& folder,
                                     const CancelToken& cancel);

}  // namespace vlearn
