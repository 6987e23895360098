// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of runs that are on the disk.
#pragma once

#include <cstddef>
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

/// Names and hashes; of as many policy files.
[[nodiscard]] CertificateTitle certificate_title(const StoredRun& run,
                                                 const LoadedGame& game,
                                                 std::size_t num_files);

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
