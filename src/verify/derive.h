// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a policy is worth and what deviations from it are, from the visits that it is made of. With
// the weights alpha_n = (c + 1)/(c + n), the n-th visit of a (step, state), which played pi, does
//
//   follow        U     <- (1 - alpha_n) U     + alpha_n E_{a ~ pi} [r + U_{h+1}]
//   deviate       Q(b)  <- (1 - alpha_n) Q(b)  + alpha_n E_{a_-j} [r(b, .) + W_{h+1}]
//   ce            C(b, b') <- ... + alpha_n pi_j(b) E_{a_-j} [r(b', .) + W_{h+1}]
//   the witness   L     <- (1 - alpha_n) L     + alpha_n E_{a_-j} [r(w, .) + L_{h+1}]
//   W = max_b Q(b), for ce W = sum_b max_b' C(b, b')
//
// Nested output: visits in the order of play; step h + 1 is as it stood at the beginning of the
// episode. Markov output: the last step first, so that step h + 1 is complete; tables likewise,
// with the weights that they have. Marginals: each player's policies are averaged first. Where
// nothing was visited, play is uniform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vlearn/core/certificate.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/verify/interval.h"
#include "vlearn/verify/policy_log.h"
#include "vlearn/verify/policy_parts.h"

namespace vlearn {

struct DeriveTask {
  const AnyGame* game = nullptr;
  /// Of each player one of either; they fit the game and each other.
  std::span<const PolicyLog> logs = {};
  std::span<const PolicyParts> tables = {};
  Target target = Target::cce;
  CertifiedOutput output = CertifiedOutput::nested;
  std::uint64_t weights = 1;  ///< c
  bool tapered = false;       ///< of Markov outputs: visit i of n counts n + 1 - i times as much
  /// The tables as they stand before this episode, counted from 1. Nothing: of the nested output
  /// their mean over all, of Markov outputs as they stand after the last.
  std::optional<std::uint64_t> start_episode = std::nullopt;
  /// Of each player; empty where none is to be evaluated.
  std::vector<std::span<const std::uint32_t>> witnesses = {};
  ParallelOptions parallel = {};
};

/// In units of [0, 1] rewards, averaged over the first state.
struct Derived {
  Interval follow = {};
  Interval deviate = {};
  std::optional<Interval> earned = std::nullopt;  ///< by the witness
  Interval optimum = {};  ///< the best answer to others who play uniformly: with one player, best
  std::vector<std::uint32_t> best = {};  ///< what the last tables would answer, as a witness
};

template <class Num>
[[nodiscard]] std::vector<Derived> derive(const DeriveTask& task);

}  // namespace vlearn
