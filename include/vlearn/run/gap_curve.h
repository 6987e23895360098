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
  /// What a run with a Markov output returns that ends now: the smallest gap of this look and of
  /// those at the rows of metrics in the last three quarters. Nested outputs, started at that
  /// episode, are looked at alike. In the user's units: what a player can gain at most; for nash,
  /// if the output is a Markov one, looks are chosen by that, but this is the sum of what both can
  /// gain (the duality gap).
  double gap = 0.0;
  /// The same of this look alone.
  double last_gap = 0.0;
  /// What the output (a nested one that starts now) is worth to each player, in the user's units;
  /// of nested ones for nash it is not known.
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
