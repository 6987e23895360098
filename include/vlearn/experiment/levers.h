// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What each choice of preset `fast` is worth: the certified gap after so many episodes with that
// one choice undone, over that of `fast` as it is, in the games of the efficiency measure
// (efficiency.h) with seeds of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/cancel.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/target.h"
#include "vlearn/experiment/efficiency.h"
#include "vlearn/run/learn.h"

namespace vlearn {

/// One choice, undone.
struct Lever {
  std::string_view name;  ///< in tables
  void (*undo)(LearnConfig& config);
};

/// The first is `fast` as it is.
[[nodiscard]] std::span<const Lever> levers() noexcept;

/// Not one of those that the efficiency measure takes by default.
inline constexpr std::uint64_t kFirstLeverSeed = 101;
/// A gap below it counts as this one: what is left then is rounding, and no ratio is made of it.
inline constexpr double kLeastLeverGap = 1e-6;

/// Everything that determines the results.
struct LeverSettings {
  std::vector<SuiteGame> games;
  std::uint64_t seeds = 8;  ///< of games and runs, from kFirstLeverSeed on
  std::uint64_t episodes = 10'000;
};

/// The games of the suite with these names; where there are none, all that are done soon. Throws
/// Error (usage) for a name that is not known.
[[nodiscard]] std::vector<SuiteGame> select_lever_games(std::span<const std::string> names);

struct LeverResults {
  LeverSettings settings;
  std::vector<Target> targets;  ///< of the games
  /// [lever][game][seed]: certified after the last episode, in the user's units.
  std::vector<std::vector<std::vector<double>>> gaps;

  /// Geometric mean over the seeds of gap / gap of `fast`.
  [[nodiscard]] double ratio(std::size_t lever, std::size_t game) const;
  /// Geometric mean of these over the games.
  [[nodiscard]] double ratio(std::size_t lever) const;
};

struct LeverHooks {
  /// So many of all runs have ended. From any thread, one at a time.
  std::function<void(std::size_t runs, std::size_t all)> progress = {};
  ParallelOptions parallel = {};
  CancelToken cancel = {};
};

/// Nothing when the token fired.
[[nodiscard]] std::optional<LeverResults> measure_levers(const LeverSettings& settings,
                                                         const LeverHooks& hooks);

/// For people: a row for each lever, a column for each game.
[[nodiscard]] std::string to_text(const LeverResults& results);
/// vlearn.levers/1, with the gap of every run.
[[nodiscard]] std::string to_json(const LeverResults& results);

}  // namespace vlearn
