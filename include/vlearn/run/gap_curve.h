// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How the certified gap of a run falls with its episodes: nothing is kept, nothing is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "vlearn/core/cancel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/learn.h"

namespace vlearn {

struct GapPoint {
  std::uint64_t episodes = 0;
  /// Of what a run returns that ends now, of the nested output of executions that start now; in
  /// the user's units: what a player can gain at most; for nash the sum of what both can (the
  /// duality gap), whatever the output.
  double gap = 0.0;
  /// The same of the policy that draws from all visits: what a run returns that nothing certifies.
  /// Of the nested output the same as `gap`.
  double last_gap = 0.0;
  /// What the output is worth to each player, in the user's units; of nested ones for nash nobody
  /// knows.
  std::vector<double> values = {};
};

/// Learns as `config` says, of which only `learner`, `output` and `seed` count, and certifies the
/// output when next(episodes so far) episodes have been played, again and again: until see(point)
/// returns false, or the token fires.
void follow_gap(const AnyGame& game,
                const LearnConfig& config,
                const std::function<std::uint64_t(std::uint64_t episodes)>& next,
                const std::function<bool(const GapPoint& point)>& see,
                const CancelToken& cancel = {});

/// The one point of a run that ends there; nothing when the token fired.
[[nodiscard]] std::optional<GapPoint> gap_after(const AnyGame& game,
                                                const LearnConfig& config,
                                                std::uint64_t episodes,
                                                const CancelToken& cancel = {});

}  // namespace vlearn
