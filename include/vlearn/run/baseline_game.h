// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A game learned by a centralised baseline (baseline/options.h), and certified while it learns: the
// counterpart of learn.h and gap_curve.h for learners that see everything.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "vlearn/baseline/learner.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/cancel.h"
#include "vlearn/run/learn.h"

namespace vlearn {

/// Everything that determines a run.
struct BaselineConfig {
  BaselineOptions baseline;
  std::uint64_t seed = 1;
  /// When to stop, whichever comes first; one of them is given.
  std::optional<std::uint64_t> episodes = std::nullopt;
  std::optional<double> until_gap = std::nullopt;  ///< in the user's units
  std::optional<double> max_seconds = std::nullopt;
};

/// What somebody who looks at a run sees.
struct BaselineLook {
  std::uint64_t episodes = 0;
  std::uint64_t plans = 0;     ///< so far
  CertifiedGap gap;            ///< of the output, in the user's units, widened by its rounding
  std::vector<double> values;  ///< of the output, of each player, in the user's units
  std::optional<double> optimism_gap;  ///< BaselinePolicy
  /// Processor time of this thread for playing and planning so far, certificates left out.
  double cpu_seconds = 0.0;
  std::uint64_t bytes = 0;  ///< of all tables (baseline/memory.h)
};

/// Learns as `options` say and certifies the output when next(episodes so far) episodes have been
/// played, again and again: until see(look) returns false, next() says no more than has been played
/// or `stop` says true, which is asked before every episode and often within a plan. Throws what
/// BaselineLearner throws.
void follow_baseline(const AnyGame& game,
                     const BaselineOptions& options,
                     std::uint64_t seed,
                     const std::function<std::uint64_t(std::uint64_t episodes)>& next,
                     const std::function<bool(const BaselineLook& look)>& see,
                     const std::function<bool()>& stop = {});

/// 1, 2, 4, 8, ...: the next of them.
[[nodiscard]] std::uint64_t next_doubling(std::uint64_t episodes) noexcept;

struct BaselineResult {
  Stopped stopped = Stopped::episodes;
  std::vector<MarkovTable> tables;
  Certificate certificate;     ///< without the hashes of files, which are still to be written
  BaselineLook last;           ///< what `tables` are the output of
  std::uint64_t episodes = 0;  ///< that were played; no less than those of `last`
  std::vector<BaselineLook> looks;
};

struct BaselineHooks {
  std::function<void(const BaselineLook&)> look = {};
  std::function<void(std::uint64_t episodes)> progress = {};
  ParallelOptions parallel = {};  ///< of certificates
  CancelToken cancel = {};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// Looks at 1, 2, 4, 8, ... episodes and at the end. Where it is stopped on the way, returns what
/// it plays or the last look, whichever is better. Nothing where it was stopped before there was an
/// output. Throws what BaselineLearner throws.
[[nodiscard]] std::optional<BaselineResult> learn_baseline(const AnyGame& game,
                                                           const CertificateTitle& title,
                                                           const BaselineConfig& config,
                                                           const BaselineHooks& hooks = {});

}  // namespace vlearn
