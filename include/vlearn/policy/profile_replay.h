// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What all players of a run played at every visit, in the order of play. Policies are replayed
// state by state in parallel, some episodes at a time; who looks on sees them one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vlearn/core/id.h"
#include "vlearn/core/parallel.h"
#include "vlearn/policy/history.h"

namespace vlearn {

/// Throws Error (input) unless these are the files of all players of one run, in their order: they
/// say the same of it, and have had the same visits as far as all were played.
void check_one_run(std::span<const PolicyFile> files, std::uint64_t episodes);

/// The policies of all players at one visit, one player after the other.
using SeeProfile = std::function<void(Step h, State s, std::span<const double> policies)>;

/// see() for all visits of the first `episodes` episodes, which all files have. Throws Error
/// (input) for files that are not of one run.
void replay_profiles(std::span<const PolicyFile> files,
                     std::uint64_t episodes,
                     const ParallelOptions& options,
                     const SeeProfile& see);

}  // namespace vlearn
