// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that leaves nothing on the disk: its policies are kept in memory, as files would have them.
// For programs that learn a game of their own and certify what came out (certify/sampled.h).
#pragma once

#include <cstdint>
#include <vector>

#include "vlearn/game/game_ref.h"
#include "vlearn/policy/history.h"
#include "vlearn/run/learn.h"

namespace vlearn {

/// A preset whose run returns a Markov output, whatever the game: `markov`, for nash `marginals`.
[[nodiscard]] LearnConfig markov_config(
    const Frame& frame, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed);

struct KeptRun {
  LearnResult result;
  std::vector<PolicyFile> files;  ///< of each player
};
/// Learns as learn() does, and keeps every visit. Throws Error (usage) where the config keeps no
/// history.
[[nodiscard]] KeptRun learn_kept(GameRef game,
                                 const LearnConfig& config,
                                 const LearnHooks& hooks = {});

}  // namespace vlearn
