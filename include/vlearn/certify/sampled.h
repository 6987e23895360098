// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate by sampling: how much a player could gain by deviating from a Markov policy, in a
// game that can only be played, from any (step, state) on. For games whose joint actions nobody can
// enumerate. All its numbers hold at once with a stated confidence, over the draws of the
// certificate; nothing is assumed of how the policy was found.
//
//   best reply     N draws of the policy at every (step, state), from the last step to the first.
//                  One draw serves all players: player j's own action is replaced by each other
//                  one, and with the next state s' of that
//                    W_h(s) = max over replies of the mean of r_j + W_{h+1}(s')
//                  A reply is an own action (cce, nash, optimal), or an own action for each one
//                  that was drawn (ce). At the start W is above the truth by no more than a radius
//                  that grows like the root of H, not like H (chain_radius()).
//   value          8 N plays of the policy, from the start to the end
//   witness        2 N plays in which player j plays the reply that looked best
//
// so that   gap <= W + radius - (value - radius)   and   gap >= (witness - radius) - (value +
// radius). docs/theory/sampled_certificate.md has the proof and the split of 1 - confidence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/certify/certify.h"
#include "vlearn/certify/drawn_policy.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/history.h"

namespace vlearn {

struct SampledOptions {
  /// N, at least 2; 0: as many as some 10^7 steps of the game allow, 100 at least.
  std::uint64_t samples = 0;
  double confidence = 0.99;  ///< between 0 and 1, both excluded
  /// To be chosen before anything is known of the outcome: the best of many seeds has no
  /// confidence.
  std::uint64_t seed = 1;
  /// The game and the policy are asked by all threads at the same time.
  ParallelOptions parallel = {};
};

/// What a sampled certificate will take, and at least achieve.
struct SampledPlan {
  std::uint64_t samples = 0;  ///< N
  double game_steps = 0.0;    ///< that are sampled in all
  /// The upper end of any player's gap is at most so much above W - value as they come out, in the
  /// user's units: by Hoeffding's bound. Where rewards spread less than they could, it is much
  /// less.
  double radius = 0.0;
};
/// Throws Error (usage) for options that are none, and for a game whose first state has a law that
/// nobody knows.
[[nodiscard]] SampledPlan plan_sampled(const Frame& frame,
                                       Target target,
                                       const SampledOptions& options);

/// A number, and how far it may be off.
struct SampledNumber {
  double estimate = 0.0;
  double radius = 0.0;
};

/// Of one player, in units of [0, 1] rewards. With the confidence, for all players at once:
struct SampledPlayer {
  SampledNumber best;     ///< the best deviation is worth at most estimate + radius
  SampledNumber value;    ///< on both sides
  SampledNumber witness;  ///< this deviation is worth at least estimate - radius
  WitnessPlan plan;
};
[[nodiscard]] std::vector<SampledPlayer> assess_sampled(GameRef game,
                                                        Target target,
                                                        const DrawnPolicy& policy,
                                                        const SampledOptions& options);

/// The certificate of a run's Markov output: `markov`, and for nash `marginals`, of the files'
/// target. Throws Error (input) for files that are not of one run, (usage) as plan_sampled().
[[nodiscard]] Certificate certify_sampled(GameRef game,
                                          std::span<const PolicyFile> files,
                                          const SampledOptions& options = {},
                                          const CertificateTitle& title = {});

}  // namespace vlearn
