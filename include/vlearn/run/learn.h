// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of learning: config in, result out. What it reports is in the user's reward units.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/certificate.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

/// Everything that determines a run.
struct LearnConfig {
  LearnerOptions learner = {};
  std::uint64_t seed = 1;
  /// When to stop; without either the run goes on until it is cancelled.
  std::optional<std::uint64_t> episodes = std::nullopt;
  std::optional<double> max_seconds = std::nullopt;
  /// Whether every visit is kept, so that the output policy can be executed.
  bool history = true;
  /// Whether the output is certified while it is learned,
  bool certify = false;
  /// and the gap in the user's units at which that is enough.
  std::optional<double> until_gap = std::nullopt;
  /// Which of its policies a run returns, and certifies: nested, markov or, for nash, marginals.
  CertifiedOutput output = CertifiedOutput::nested;
};

/// Throws Error (usage) that names the field where a choice is no enumerator of its type.
void check_choices(const LearnConfig& config);

/// The output that suits a preset in a game. Of `paper`, `rigorous` and `proven` the nested
/// policy, which their theorems are about. Of others the averages for nash, whose gap is known
/// exactly; of `fast` the Markov mixture where joint actions can be listed; else the nested policy.
[[nodiscard]] CertifiedOutput natural_output(const AnyGame& game, Preset preset, Target target);
/// c of its weights, for LearnerOptions; nothing: H.
[[nodiscard]] std::optional<std::uint64_t> natural_weights(Preset preset,
                                                           CertifiedOutput output,
                                                           std::size_t horizon);
/// Whether they fade out at the end.
[[nodiscard]] bool natural_taper(Preset preset, CertifiedOutput output) noexcept;
/// What a run's output is made with.
[[nodiscard]] OutputWeights output_weights(const LearnerOptions& options, const Frame& frame);

/// A preset in a game, with the output that suits it.
[[nodiscard]] LearnConfig preset_config(
    const AnyGame& game, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed);

/// Throws Error (usage) where players of this target cannot play that output,
void check_executable(Target target, CertifiedOutput output);
/// where a run that learns does not return it,
void check_output(Target target, CertifiedOutput output);
/// and where it cannot be certified while this game is learned.
void check_certifiable(const AnyGame& game, CertifiedOutput output);
/// How much longer than learning alone (relative_cost()) a run may take for a certificate that
/// nobody asked for.
inline constexpr double kMostCertifyCost = 25.0;

/// guarantee_of() of agent/options.h, of the output that the run returns.
[[nodiscard]] std::string guarantee_of(const LearnConfig& config, std::uint64_t episodes);

/// One player after so many episodes.
struct PlayerMetrics {
  // At the start, averaged over the first state:
  double value = 0.0;                          ///< estimate of what the output policy is worth
  double upper = 0.0;                          ///< V_1
  std::optional<double> lower = std::nullopt;  ///< V_1 from below
  /// What was earned per episode since the row before; nothing where nothing was played.
  std::optional<double> mean_return = std::nullopt;
  /// Trainer::gap_bound().
  std::optional<double> gap_bound = std::nullopt;
};

struct MetricsRow {
  std::uint64_t episode = 0;  ///< episodes played
  std::uint64_t visited_cells = 0;
  std::vector<PlayerMetrics> players;
  /// Of a certified run: the gap of executions that start now, at most.
  std::optional<double> certified_gap = std::nullopt;
};

enum class Stopped : std::uint8_t { episodes, time, interrupt, gap };
[[nodiscard]] std::string_view name_of(Stopped stopped) noexcept;

struct LearnResult {
  Stopped stopped = Stopped::episodes;
  std::uint64_t agent_steps = 0;  ///< players x steps x episodes
  std::uint64_t signature = 0;    ///< Trainer::signature()
  /// At the end; mean_return is over all episodes.
  MetricsRow last;
  /// Of runs whose values are bounds, with no names and no hashes: run/data_certificate.h.
  std::optional<Certificate> data_certificate = std::nullopt;
};

/// What a run tells while it lasts. Rows come at fixed episode numbers (next_row_episode), progress
/// when it suits.
struct LearnHooks {
  std::function<void(const MetricsRow&)> row = {};
  std::function<void(std::uint64_t episodes)> progress = {};
  /// Keeps everything for a run that is killed: between episodes, whenever so many seconds have
  /// passed, and at the multiples of so many episodes.
  std::function<void()> checkpoint = {};
  std::optional<double> checkpoint_seconds = std::nullopt;
  std::optional<std::uint64_t> checkpoint_episodes = std::nullopt;
  /// Sees every visit already; gaps are looked at with every row.
  RunCertifier* certifier = nullptr;
  CancelToken cancel = {};
  /// What max_seconds counts from; several runs may share it.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, ... : the next of them
/// after so many episodes.
[[nodiscard]] std::uint64_t next_row_episode(std::uint64_t episodes) noexcept;

/// The last of the rows is at `config.episodes` too. A trainer that has played already goes on.
/// Throws whatever the game or a hook throws.
[[nodiscard]] LearnResult learn(Trainer& trainer,
                                const Frame& frame,
                                const LearnConfig& config,
                                const LearnHooks& hooks = {});

}  // namespace vlearn
