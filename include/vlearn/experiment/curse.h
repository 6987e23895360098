// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The curse of many agents (docs/experiments.md): what it takes to certify a gap, as players are
// added. Games have three actions, three states and three steps, and are of two families:
//
//   random       tables of all joint actions, which the game itself already has exponentially many
//   congestion   rewards that depend on how many are on a route: small however many players
//
// For each family, number of players, method and seed, which is that of the game and of the run:
// the episodes after which the gap, looked at at fixed numbers of episodes, is at most 0.05 H; the
// processor time until then; and the bytes of the method's tables. A run ends without it when it
// has taken too much time or would take too much memory. A method for which no seed has reached it
// with m players is not asked with more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "vlearn/core/cancel.h"
#include "vlearn/core/parallel.h"
#include "vlearn/experiment/results_file.h"

namespace vlearn {

enum class CurseFamily : std::uint8_t { random, congestion };
inline constexpr std::array<std::string_view, 2> kCurseFamilyNames = {"random", "congestion"};

/// Those that find a cce in games of any number of players. The gap of multi-ce-vi is that of a
/// ce, which is at least that of a cce.
enum class CurseMethod : std::uint8_t { paper, fast, multi_cce_vi, multi_ce_vi, plug_in };
inline constexpr std::array<std::string_view, 5> kCurseMethodNames = {
    "v-learning-paper", "v-learning-fast", "multi-cce-vi", "multi-ce-vi", "plug-in"};

/// Everything that determines the results, but for the machine's speed.
struct CurseSettings {
  std::uint64_t first_players = 2;
  std::uint64_t last_players = 12;
  std::uint64_t seeds = 3;  ///< 1, 2, ...
  double gap_share = 0.05;  ///< of what an episode can pay
  double max_seconds = 60.0;
  std::uint64_t max_bytes = std::uint64_t{4'000'000'000};
};

inline constexpr std::uint64_t kMostCursePlayers = 64;

/// In the units of the games' rewards.
[[nodiscard]] double wanted_gap(const CurseSettings& settings) noexcept;
/// Members of an open object.
void write_settings(JsonWriter& json, const CurseSettings& settings);

/// What load_game() takes.
[[nodiscard]] std::string curse_game(CurseFamily family, std::uint64_t players, std::uint64_t seed);

enum class CurseEnd : std::uint8_t { reached, time, memory };
inline constexpr std::array<std::string_view, 3> kCurseEndNames = {"reached", "time", "memory"};

struct CurseRun {
  CurseFamily family = CurseFamily::random;
  CurseMethod method = CurseMethod::paper;
  std::uint64_t players = 2;
  std::uint64_t seed = 1;
  CurseEnd end = CurseEnd::reached;
  std::uint64_t episodes = 0;  ///< that were played
  double gap = 0.0;            ///< the last that was certified; 0 where none was
  /// Of the processor, without making the game: playing, learning and planning,
  double learn_seconds = 0.0;
  /// and looking at the gap besides.
  double seconds = 0.0;
  /// Tables of the method; the game's own are not counted, but have to find room beside them.
  std::uint64_t bytes = 0;
  std::uint64_t game_bytes = 0;
  /// Of uniform play, exactly: where it is small there is little to learn. 0 where nobody looked.
  double uniform_gap = 0.0;
  friend bool operator==(const CurseRun&, const CurseRun&) = default;
};

/// results.jsonl of the experiment.
class CurseLog {
 public:
  CurseLog(const std::filesystem::path& folder, const CurseSettings& settings);

  [[nodiscard]] const CurseRun* find(CurseFamily family,
                                     CurseMethod method,
                                     std::uint64_t players,
                                     std::uint64_t seed) const;
  /// In the order of families, methods, players and seeds.
  [[nodiscard]] std::vector<CurseRun> runs() const;
  void add(const CurseRun& run);
  void put_in_order();

 private:
  using Key = std::tuple<CurseFamily, CurseMethod, std::uint64_t, std::uint64_t>;
  static Key key_of(const CurseRun& run) { return {run.family, run.method, run.players, run.seed}; }
  std::map<Key, CurseRun> runs_;
  ResultsFile file_;
};

[[nodiscard]] std::string header_line(const CurseSettings& settings);
[[nodiscard]] std::string result_line(const CurseRun& run);
/// Throws Error that names `source` and the key.
[[nodiscard]] CurseRun parse_curse_line(std::string_view line, const std::string& source);

/// One run. Nothing when the token fired.
[[nodiscard]] std::optional<CurseRun> run_curse(const CurseSettings& settings,
                                                CurseFamily family,
                                                CurseMethod method,
                                                std::uint64_t players,
                                                std::uint64_t seed,
                                                const CancelToken& cancel = {});

struct CurseHooks {
  std::function<void(const CurseRun& run)> done = {};  ///< one at a time
  ParallelOptions parallel = {};                       ///< over families and methods
  CancelToken cancel = {};
};

/// Does what is not in the log, and adds it. Returns whether all is done: not when the token fired.
bool measure_curse(const CurseSettings& settings, CurseLog& log, const CurseHooks& hooks);

// What people and programs read of it.
[[nodiscard]] std::string curse_markdown(const CurseSettings& settings, const CurseLog& log);
/// vlearn.curse/1.
[[nodiscard]] std::string curse_json(const CurseSettings& settings, const CurseLog& log);
[[nodiscard]] std::string curse_csv(const CurseLog& log);
/// Processor time against players, a line for each method, with a cross where it stops.
[[nodiscard]] std::string curse_svg(const CurseSettings& settings, const CurseLog& log);

}  // namespace vlearn
