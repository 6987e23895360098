// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run leaves behind. docs/reference/run_folder.md has the files; all but timing.jsonl are
// the same bytes for the same config, whatever the machine, the number of threads or the hour.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "vlearn/core/file.h"
#include "vlearn/core/json.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/learn.h"

namespace vlearn {

// Where a run keeps the policy of each player, its private seed, and the seeds of the indices: one
// for all players, or for nash one for each.
[[nodiscard]] std::filesystem::path policy_path(const std::filesystem::path& run, Player player);
[[nodiscard]] std::filesystem::path private_seed_path(const std::filesystem::path& run,
                                                      Player player);
[[nodiscard]] std::filesystem::path index_seed_path(const std::filesystem::path& run,
                                                    Target target,
                                                    Player player);

/// A run that somebody else may have written.
struct StoredRun {
  std::filesystem::path path;
  std::string game;  ///< the word that was given
  std::string game_hash;
  Target target = Target::cce;
  std::uint64_t seed = 0;
};
/// Reads config.json. Throws Error that names the file and the key.
[[nodiscard]] StoredRun read_run(const std::filesystem::path& path);

/// "rps-1" for the game `rps` and seed 1: letters, digits and -_.=, of the word, of a file its name
/// without folder and ending.
[[nodiscard]] std::string run_name(std::string_view game, std::uint64_t seed);

/// A run as people name it, beside what determines it.
struct RunTitle {
  std::string game;  ///< the word that was given
  std::string preset;
};

/// The resolved config as JSON, `vlearn.config/1`: everything that determines the run.
[[nodiscard]] std::string config_to_json(const RunTitle& title,
                                         const LoadedGame& game,
                                         const LearnConfig& config);

/// Members of the result, `vlearn.learn/1`; the object is open, more may follow.
void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const LoadedGame& game,
                  const LearnConfig& config,
                  const LearnResult& result);

class RunFolder {
 public:
  /// Throws Error (usage) when something is there already, unless it is a run and `force` is set.
  static void check(const std::filesystem::path& path, bool force);
  /// After the same check removes the files of the old run, and nothing else; makes the folder and
  /// writes config.json.
  RunFolder(std::filesystem::path path, bool force, std::string_view config);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes the heads of all policy files and the seeds, and lets the trainer write on. Before the
  /// first episode.
  void keep_history(Trainer& trainer, const LoadedGame& game, const LearnConfig& config);

  /// To metrics.jsonl and metrics.csv; and how long it took, to timing.jsonl.
  void add(const MetricsRow& row, double seconds);
  /// result.json and tables.safetensors; the last call.
  void finish(std::string_view result, const Trainer& trainer, const Frame& frame, bool monotone);

 private:
  std::filesystem::path path_;
  std::string config_hash_;
  std::optional<AppendFile> metrics_;
  std::optional<AppendFile> table_;
  std::optional<AppendFile> timing_;
};

}  // namespace vlearn
