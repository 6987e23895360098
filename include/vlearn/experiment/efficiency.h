// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How many fewer episodes a preset needs than another one, the reference
// (docs/sample_efficiency.md): `fast` and `paper` if nothing else is said. For a game and a seed,
// which is that of a generated game and of the run:
//
//   reference   the certified gap of the reference after so many episodes, the smallest one at
//               looks of their last three quarters; `paper` has a smaller bonus (c = 0.01)
//   wanted      that gap, but not less than default_gap(): 1e-4 of what an episode can pay
//   preset      the episodes after which the preset certifies what is wanted, and holds it
//               (hold_search.h), looked at at ceil(1.25^n) episodes
//   ratio       episodes of the reference / episodes of the preset; if it never gets there within
//               the episodes of the reference, 1, which says "at most"
//
// Zero-sum games are learned with target nash, whose gap is that of both players together. Beside
// the suite there are games without a reference, whose horizon is long or whose reward is hidden.
#pragma once

#include <array>
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
#include "vlearn/experiment/quartiles.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/learn.h"

namespace vlearn {

enum class Measure : std::uint8_t {
  ratio,  ///< as above
  gap,    ///< the certified gap of the preset after 0.3 times the episodes of a reference
  share,  ///< what the preset is worth after 0.1 times those episodes, as a share of the optimum
};

struct SuiteGame {
  std::string_view name;  ///< in tables and settings
  /// What load_game() takes, with %d in the place of the seed where there is one.
  std::string_view pattern;
  Measure measure = Measure::ratio;
};

/// All games, in the order of tables.
[[nodiscard]] std::span<const SuiteGame> efficiency_suite() noexcept;
/// What load_game() takes.
[[nodiscard]] std::string word_of(const SuiteGame& game, std::uint64_t seed);

/// Everything that determines the results.
struct EfficiencySettings {
  /// cce (nash where the game is zero-sum, optimal where there is one player) or ce.
  Target target = Target::cce;
  Preset preset = Preset::fast;
  Preset reference = Preset::paper;
  std::vector<SuiteGame> games;  ///< in the order of the suite
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 5;  ///< first_seed, first_seed + 1, ...
  std::uint64_t reference_episodes = 1'000'000;
};

inline constexpr std::uint64_t kMaxExperimentSeeds = 1000;
inline constexpr std::uint64_t kMaxFirstSeed = 1'000'000'000;

/// The games with these names, or all that suit the target where there are none: for ce the games
/// of two players. Throws Error (usage) for a name that is not known, or does not suit.
[[nodiscard]] std::vector<SuiteGame> select_games(Target target,
                                                  std::span<const std::string> names);

/// What the reference learns with: the preset, but for the bonus of `paper`.
[[nodiscard]] LearnConfig reference_config(
    const AnyGame& game, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed);

enum class Part : std::uint8_t { reference, preset, gap, share };
inline constexpr std::array<std::string_view, 4> kPartNames = {"reference", "preset", "gap",
                                                               "share"};

/// One part of the work, done.
struct PartResult {
  std::size_t game = 0;  ///< place in the settings
  std::uint64_t seed = 1;
  Part part = Part::reference;
  /// Of the preset those that it needed, or if it has not reached the gap those that it played;
  /// else those after which it was looked at.
  std::uint64_t episodes = 0;
  /// Certified after these episodes, in the user's units.
  double gap = 0.0;
  double wanted = 0.0;   ///< of a reference
  bool reached = false;  ///< of the preset
  double share = 0.0;    ///< of a share
  friend bool operator==(const PartResult&, const PartResult&) = default;
};

/// Parts that a game has, in the order in which they are done.
[[nodiscard]] std::span<const Part> parts_of(Measure measure) noexcept;

struct EfficiencyHooks {
  /// What is known already; nothing: it is to be done.
  std::function<std::optional<PartResult>(std::size_t game, std::uint64_t seed, Part part)> find;
  /// A part was done. From any thread, one at a time.
  std::function<void(const PartResult& result)> done;
  ParallelOptions parallel = {};
  CancelToken cancel = {};
};

/// Does what is to be done, game by game and seed by seed in parallel. Returns whether all is done:
/// not when the token fired.
bool measure_efficiency(const EfficiencySettings& settings, const EfficiencyHooks& hooks);

/// A game of which all is known.
struct EfficiencyRow {
  SuiteGame game;
  Target target = Target::cce;
  std::vector<double> values = {};  ///< of each seed: ratio, gap or share
  Quartiles value = {};
  // Of ratios:
  Quartiles wanted = {};               ///< gap
  Quartiles episodes = {};             ///< of the preset; if it has not arrived, of the reference
  std::uint64_t reached = 0;           ///< seeds
  std::vector<PartResult> parts = {};  ///< of all seeds
};

struct EfficiencySummary {
  EfficiencySettings settings;
  std::vector<EfficiencyRow> rows;
  /// Of the medians of games, and the least of them; nothing where no ratio was measured.
  std::optional<Quartiles> over_games;
  double least = 0.0;
};

/// Of results of all parts.
[[nodiscard]] EfficiencySummary summarize(
    const EfficiencySettings& settings,
    const std::function<std::optional<PartResult>(std::size_t game, std::uint64_t seed, Part part)>&
        find);

}  // namespace vlearn
