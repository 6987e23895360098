// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of runs that are on the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vlearn/certify/certify.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/game_io.h"
#include "vlearn/policy/history.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// The policy files of all players. Throws Error (input) where they do not fit the game or each
/// other.
[[nodiscard]] std::vector<PolicyFile> open_policies(const StoredRun& run, const Frame& frame);

/// The tables of all players. Throws Error (input) where they are of another game; certify_table()
/// looks at their shape.
[[nodiscard]] std::vector<MarkovTable> open_tables(const std::filesystem::path& run,
                                                   const std::string& game_hash,
                                                   std::size_t num_players);

/// The files that a certificate of this output is about.
[[nodiscard]] std::vector<std::filesystem::path> policy_paths(const std::filesystem::path& run,
                                                              std::size_t num_players,
                                                              CertifiedOutput output);

/// Names and hashes of files, none where there is no history.
[[nodiscard]] CertificateTitle certificate_title(const RunTitle& run,
                                                 const LoadedGame& game,
                                                 std::span<const std::filesystem::path> policies);

/// Which certificate of a run.
struct CertifyOptions {
  CertifiedOutput output = CertifiedOutput::nested;
  CertifiedStart start = CertifiedStart::best;  ///< of the nested output
  ParallelOptions parallel = {};
};

/// From its files alone, the same bytes as while it was learned. Throws Error for what it does not
/// have.
[[nodiscard]] Certificate certify_stored(const StoredRun& run,
                                         const LoadedGame& game,
                                         const CertifyOptions& options);

}  // namespace vlearn
