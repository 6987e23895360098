// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Presets side by side in one game: the certified gap against the episodes, over some seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/parallel.h"
#include "vlearn/experiment/quartiles.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

struct CompareSettings {
  std::vector<Preset> presets;
  Target target = Target::cce;
  std::uint64_t seeds = 5;  ///< 1, 2, ..., seeds
  std::uint64_t episodes = 100'000;
};

/// Where the gap is looked at: ceil(1.25^n), 10, 30, 100, 300, ... and the last.
[[nodiscard]] std::vector<std::uint64_t> looks_of(std::uint64_t episodes);
/// Those of them that a table shows: 10, 30, 100, ... and the last.
[[nodiscard]] std::vector<std::uint64_t> shown_looks_of(std::uint64_t episodes);

struct PresetCurve {
  Preset preset = Preset::paper;
  /// Of each seed, in the user's units, at each of the looks.
  std::vector<std::vector<double>> gaps;
  /// Over the seeds.
  [[nodiscard]] Quartiles at(std::size_t look) const;
};

struct Comparison {
  CompareSettings settings;
  std::vector<std::uint64_t> looks;
  std::vector<PresetCurve> curves;
};

struct CompareHooks {
  /// So many of all runs have ended. From any thread, one at a time.
  std::function<void(std::size_t runs, std::size_t all)> progress = {};
  ParallelOptions parallel = {};
  CancelToken cancel = {};
};

/// Nothing when the token fired. Throws Error (usage) for presets that do not suit the game.
[[nodiscard]] std::optional<Comparison> compare_presets(const AnyGame& game,
                                                        const CompareSettings& settings,
                                                        const CompareHooks& hooks);

/// Who certified the smallest gap at the end, by medians, and from when on that preset was as good
/// as each other one was at the end.
struct CompareVerdict {
  std::size_t best = 0;  ///< place in the settings
  struct Other {
    std::size_t place = 0;
    double gap = 0.0;            ///< median at the end
    std::uint64_t episodes = 0;  ///< from which on the best preset had it
  };
  std::vector<Other> others;
};
[[nodiscard]] CompareVerdict judge(const Comparison& comparison);

/// For people: a table, and a sentence for each of the others.
[[nodiscard]] std::string to_text(const Comparison& comparison);
/// vlearn.compare/1.
[[nodiscard]] std::string to_json(const Comparison& comparison, const std::string& game);

}  // namespace vlearn
