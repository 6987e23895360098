// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Does a preset converge where best replies go in circles (docs/experiments.md)? A run of a game, a
// target and a seed is looked at 12 times in every half decade of episodes, from 1000 on: at
// 10^(n/24). A half decade counts with its worst look, the largest certified gap. Two bars:
//
//   rise    once 10^5 is passed, a half decade is at most 1.2 times the one before
//   level   the half decade that ends at 10^7, and all that come later, are at most 0.002
//
// Gaps are in units of H times the width of the widest range of rewards. Less than 10^-4, negative
// ones included, counts as 10^-4. An episode visits every step once: after n episodes the first
// state, if it is always the same one, has had n visits, and the states of a later step n together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/target.h"
#include "vlearn/experiment/results_file.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

/// A game in which, from every pure profile, best replies in turns end in a cycle that has at least
/// three actions of each player, or all that it has. So there is no pure equilibrium.
struct CyclicGame {
  std::string name;   ///< in tables and settings
  std::string about;  ///< one line
  std::string game;   ///< what load_game() takes, or a text of the format vlearn.game/1
};

/// All of them, in the order of tables: made by hand first, then random ones.
[[nodiscard]] std::span<const CyclicGame> cyclic_games();
/// Those with these names, or all where there are none. Throws Error (usage) for a name that is not
/// known.
[[nodiscard]] std::vector<CyclicGame> select_cyclic_games(std::span<const std::string> names);
[[nodiscard]] AnyGame load_cyclic_game(const CyclicGame& game);

inline constexpr std::array<Target, 2> kConvergenceTargets = {Target::cce, Target::ce};
inline constexpr std::uint64_t kLeastConvergenceEpisodes = 3'162;  ///< one half decade
inline constexpr std::uint64_t kMostConvergenceEpisodes = 1'000'000'000;

/// Everything that determines the results.
struct ConvergenceSettings {
  std::vector<CyclicGame> games = {};
  std::vector<Target> targets = {kConvergenceTargets.begin(), kConvergenceTargets.end()};
  Preset preset = Preset::fast;
  std::uint64_t first_seed = 1;  ///< of runs; games have their own
  std::uint64_t seeds = 10;      ///< first_seed, first_seed + 1, ...
  /// A run ends with the last half decade that ends within these.
  std::uint64_t episodes = 10'000'000;
};

/// Where the half decades end that fit into so many episodes: 3162, 10^4, 31622, 10^5, ...
[[nodiscard]] std::vector<std::uint64_t> half_decades(std::uint64_t episodes);
/// The looks of these half decades, kLooks for each; the last is at its end.
inline constexpr std::size_t kLooks = 12;
[[nodiscard]] std::vector<std::uint64_t> convergence_looks(std::uint64_t episodes);

struct ConvergenceRun {
  std::size_t game = 0;  ///< place in the settings
  Target target = Target::cce;
  std::uint64_t seed = 1;
  /// Of each half decade the largest gap, as it was certified, in units of H times the range.
  std::vector<double> worst = {};
  /// The same of the policy that draws from all visits, which need not be what a run returns.
  std::vector<double> last = {};
  friend bool operator==(const ConvergenceRun&, const ConvergenceRun&) = default;
};

inline constexpr double kLeastShare = 1e-4;
inline constexpr double kMostRise = 1.2;
inline constexpr double kMostLevel = 0.002;

enum class BarVerdict : std::uint8_t {
  open,
  holds,
  broken
};  ///< open: the run is too short to say
inline constexpr std::array<std::string_view, 3> kBarVerdictNames = {"open", "holds", "broken"};
struct ConvergenceVerdict {
  BarVerdict rise = BarVerdict::open;
  BarVerdict level = BarVerdict::open;
  friend bool operator==(const ConvergenceVerdict&, const ConvergenceVerdict&) = default;
};
/// Of the worst gaps of the half decades of a run.
[[nodiscard]] ConvergenceVerdict judge_convergence(std::span<const double> worst);

/// results.jsonl of the experiment.
class ConvergenceLog {
 public:
  /// Throws as ResultsFile does.
  ConvergenceLog(const std::filesystem::path& folder, ConvergenceSettings settings);

  [[nodiscard]] const ConvergenceRun* find(std::size_t game,
                                           Target target,
                                           std::uint64_t seed) const;
  [[nodiscard]] std::size_t size() const noexcept { return runs_.size(); }
  /// On the disk when it returns.
  void add(const ConvergenceRun& run);
  /// All lines in the order of games, targets and seeds, whoever was done first. The last call.
  void put_in_order();

 private:
  using Key = std::tuple<std::size_t, Target, std::uint64_t>;
  ConvergenceSettings settings_;
  std::map<Key, ConvergenceRun> runs_;
  ResultsFile file_;
};

/// The lines without their ends.
[[nodiscard]] std::string header_line(const ConvergenceSettings& settings);
[[nodiscard]] std::string result_line(const ConvergenceSettings& settings,
                                      const ConvergenceRun& run);
/// Throws Error that names `source` and the key.
[[nodiscard]] ConvergenceRun parse_convergence_line(const ConvergenceSettings& settings,
                                                    std::string_view line,
                                                    const std::string& source);

/// One run. Nothing when the token fired.
[[nodiscard]] std::optional<ConvergenceRun> run_convergence(const ConvergenceSettings& settings,
                                                            std::size_t game,
                                                            Target target,
                                                            std::uint64_t seed,
                                                            const CancelToken& cancel = {});

struct ConvergenceHooks {
  std::function<void(const ConvergenceRun& run)> done = {};  ///< one at a time
  ParallelOptions parallel = {};                             ///< over all runs
  CancelToken cancel = {};
};

/// Does what is not in the log, and adds it. Returns whether all is done: not when the token fired.
bool measure_convergence(const ConvergenceSettings& settings,
                         ConvergenceLog& log,
                         const ConvergenceHooks& hooks);

/// Of all runs: broken where one is, open where none is broken and one is open.
[[nodiscard]] BarVerdict overall_verdict(const ConvergenceSettings& settings,
                                         const ConvergenceLog& log);

// What people and programs read of a log that has all runs.
[[nodiscard]] std::string convergence_markdown(const ConvergenceSettings& settings,
                                               const ConvergenceLog& log);
/// vlearn.convergence/1.
[[nodiscard]] std::string convergence_json(const ConvergenceSettings& settings,
                                           const ConvergenceLog& log);
/// A line for each run and half decade.
[[nodiscard]] std::string convergence_csv(const ConvergenceSettings& settings,
                                          const ConvergenceLog& log);

}  // namespace vlearn
