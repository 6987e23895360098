// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A game solved by a planner: round by round, each with a smaller tolerance, and each certified.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/certify/certify.h"
#include "vlearn/core/cancel.h"
#include "vlearn/solve/planner.h"

namespace vlearn {

/// Everything that determines what is planned.
struct SolveConfig {
  Target target = Target::cce;
  PlanMethod method = PlanMethod::lp;
  Selection selection = {};
  /// The gap, in the user's units, at which oftrl is done; lp is exact in any case.
  double until_gap = 0.0;
  std::optional<double> max_seconds = std::nullopt;
  std::uint64_t max_iterations = 10'000'000;  ///< of a stage
  std::uint64_t seed = 1;                     ///< of the players who execute it
};

/// Throws Error (usage) that names the field where a choice is no enumerator of its type.
void check_choices(const SolveConfig& config);

/// "welfare", "egalitarian" or "player:2".
[[nodiscard]] std::string name_of(const Selection& selection);
/// Nothing for another word.
[[nodiscard]] std::optional<Selection> selection_named(std::string_view word);

/// The gap that is good enough where nobody said: 1e-4 of what an episode can pay a player.
[[nodiscard]] double default_gap(const Frame& frame);

/// A round that has ended.
struct SolveRow {
  std::uint64_t round = 0;
  std::uint64_t iterations = 0;  ///< of this round and those before
  double gap_upper = 0.0;
};

enum class SolveStopped : std::uint8_t {
  gap,    ///< it is small enough
  exact,  ///< lp: what is left of the gap is rounding
  limit,  ///< oftrl: iterations, or the precision of numbers, are at their end
  time,
  interrupt,
};
[[nodiscard]] std::string_view name_of(SolveStopped stopped) noexcept;

struct SolveResult {
  SolveStopped stopped = SolveStopped::gap;
  std::vector<MarkovTable> tables;
  Certificate certificate;  ///< without the hashes of files, which are still to be written
  std::vector<SolveRow> rows;
};

struct SolveHooks {
  std::function<void(const SolveRow&)> row = {};
  ParallelOptions parallel = {};
  CancelToken cancel = {};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// Nothing where it was stopped before the first round had ended. Throws what plan_policy() throws.
[[nodiscard]] std::optional<SolveResult> solve_game(const AnyGame& game,
                                                    const CertificateTitle& title,
                                                    const SolveConfig& config,
                                                    const SolveHooks& hooks = {});

}  // namespace vlearn
