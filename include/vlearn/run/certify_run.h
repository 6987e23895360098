// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of runs that are on the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/certify/certify.h"
#include "vlearn/certify/sampled.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/game_io.h"
#include "vlearn/policy/history.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// Names and hashes of files, none where there is no history.
[[nodiscard]] CertificateTitle certificate_title(const RunTitle& run,
                                                 const LoadedGame& game,
                                                 std::span<const std::filesystem::path> policies);

/// Why executions of a run do not follow a certificate: it is of another game, other policies or
/// other weights, or of an output that its players cannot execute. Empty where they follow it.
/// Throws Error where a policy file cannot be read.
[[nodiscard]] std::string what_differs(const Certificate& certificate,
                                       const StoredRun& run,
                                       const Frame& frame);

/// Which certificate of a run.
struct CertifyOptions {
  CertifiedOutput output = CertifiedOutput::nested;
  /// Markov outputs have no `uniform`. `best` plays the visits again to find it.
  CertifiedStart start = CertifiedStart::best;
  /// Of a Markov output: k, if it is known already; then `start` does not count.
  std::uint64_t best_episode = 0;
  ParallelOptions parallel = {};
};

/// From its files alone, the same bytes as while it was learned. Throws Error for what it does not
/// have.
[[nodiscard]] Certificate certify_stored(const StoredRun& run,
                                         const LoadedGame& game,
                                         const CertifyOptions& options);

/// The same by sampling, of the run's Markov output (certify/sampled.h). `tell` hears what it will
/// take before it begins. Throws Error for a run without policy files.
[[nodiscard]] Certificate certify_stored_sampled(
    const StoredRun& run,
    const LoadedGame& game,
    const SampledOptions& options,
    const std::function<void(const SampledPlan&)>& tell = {});

}  // namespace vlearn
