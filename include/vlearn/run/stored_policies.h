// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The policies of a run that is on the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "vlearn/core/certificate.h"
#include "vlearn/game/frame.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/markov.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// The policy of a player of a run. Throws Error (input) unless it is of that player and of the
/// run's game, to which the frame belongs: a state or action of the game is one of the file.
[[nodiscard]] PolicyFile open_policy(const StoredRun& run, const Frame& frame, Player player);
/// Those of all players. Throws Error (input) where they do not fit the game or each other.
/// Throws Error (input) where a run has no policy files; the message says what it has.
void check_history(const StoredRun& run);
[[nodiscard]] std::vector<PolicyFile> open_policies(const StoredRun& run, const Frame& frame);

/// The tables of all players. Throws Error (input) where they are of another game; check_tables()
/// looks at their shape.
[[nodiscard]] std::vector<MarkovTable> open_tables(const std::filesystem::path& run,
                                                   const std::string& game_hash,
                                                   std::size_t num_players);

/// The files that a certificate of this output is about.
[[nodiscard]] std::vector<std::filesystem::path> policy_paths(const std::filesystem::path& run,
                                                              std::size_t num_players,
                                                              CertifiedOutput output);

}  // namespace vlearn
