// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What could a player gain by deviating? Found by trying, in any game that can be played, known or
// a simulator: the others execute their policies, one player learns to do better, and what it has
// learned is played against them in fresh episodes.
//
// The learner plans in the model that it has counted so far, each action worth c H_h / sqrt(n) more
// than it looked like in n tries, and at the end without that (optimism as in UCBVI: Azar, Osband,
// Munos 2017; with c = 0.3 and 0.03 by turns, measured, no theorem). It forgets nothing that it has
// seen, so it finds what V-learning finds in small games, and much more where there are many
// states. It sees states only, for ce also the action that is recommended to it. So what it returns
// is one honest strategy, and what that gains is a lower bound on what the best deviation gains,
// however well or badly it was learned.
//
// Rollouts come in pairs, one with and one without the deviation, with the same draws of nature, of
// indices and of everybody's actions. With the mean D and the variance v (n - 1 in the
// denominator) of the n differences, which lie in [-H, H], and delta = (1 - confidence) / players:
//
//   lower = D - sqrt(2 v log(2/delta) / n) - 14 H log(2/delta) / (3 (n - 1))
//
// (empirical Bernstein bound: Maurer, Pontil 2009, Theorem 4, for numbers in [0, 1]; here the range
// is 2 H). There is no upper bound: what was not found may be there all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "vlearn/core/cancel.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

struct DeviateOptions {
  /// How histories are executed: what a certificate is about, so that both speak of one policy.
  StartRule start = {};
  OutputKind output = OutputKind::nested;
  std::optional<Player> player = std::nullopt;  ///< one alone; nothing: each in turn
  std::uint64_t episodes = 10'000;              ///< that each learns from
  std::uint64_t rollouts = 10'000;              ///< pairs, 2 at least
  double confidence = 0.99;                     ///< of all lower bounds at once
  std::uint64_t seed = 1;                       ///< of everything that is drawn
  CancelToken cancel = {};                      ///< fires: Cancelled
  /// How many episodes have been played, from time to time: of players x (episodes + rollouts) +
  /// rollouts in all.
  std::function<void(std::uint64_t episodes)> progress = {};
};

/// The best that was found for a player. Numbers are in the user's units.
struct FoundDeviation {
  Player player;
  double following = 0.0;       ///< estimate of what the policy is worth
  double gain = 0.0;            ///< estimate of what deviating adds; may be negative
  double standard_error = 0.0;  ///< of the gain
  double lower = 0.0;           ///< the best deviation gains this at least,
  double confidence = 0.0;      ///< with this probability, for all players at once
  std::uint64_t episodes = 0;   ///< played for it: to learn, to follow, to deviate
  /// The deviation, as PlayerCertificate::witness: actions counted from 0, of each cell, for ce of
  /// each cell and each action that was recommended.
  std::vector<std::uint32_t> plan = {};
};

/// Policies are those of all players in their order. Throws Error (input) where they do not fit the
/// game, Error (usage) for options that make no sense.
[[nodiscard]] std::vector<FoundDeviation> find_deviations(GameRef game,
                                                          std::span<const PolicyFile> policies,
                                                          const DeviateOptions& options = {});
[[nodiscard]] std::vector<FoundDeviation> find_deviations(GameRef game,
                                                          std::span<const MarkovTable> policies,
                                                          const DeviateOptions& options = {});

}  // namespace vlearn
