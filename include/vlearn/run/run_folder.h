// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run leaves behind. docs/reference/run_folder.md has the files; all but timing.jsonl are
// the same bytes for the same config, whatever the machine, the number of threads or the hour.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/file.h"
#include "vlearn/core/json.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/checkpoint.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/solve_game.h"

namespace vlearn {

// Where a run keeps the policy of each player, its private seed, and the seeds of the indices: one
// for all players, or for nash one for each.
[[nodiscard]] std::filesystem::path policy_path(const std::filesystem::path& run, Player player);
/// Of those that have one: the Markov policy as a table.
[[nodiscard]] std::filesystem::path markov_path(const std::filesystem::path& run, Player player);
[[nodiscard]] std::filesystem::path private_seed_path(const std::filesystem::path& run,
                                                      Player player);
[[nodiscard]] std::filesystem::path index_seed_path(const std::filesystem::path& run,
                                                    Target target,
                                                    Player player);

/// "rps" for the game `rps` or `games/rps.json`: of the word, of a file its name without folder and
/// ending; letters, digits and -_.=,
[[nodiscard]] std::string file_name(std::string_view game);
/// "rps-1" for the game `rps` and seed 1.
[[nodiscard]] std::string run_name(std::string_view game, std::uint64_t seed);

/// With more players than this, rows of metrics.jsonl have the smallest, mean and largest of each
/// number.
inline constexpr std::size_t kPlayersInRows = 100;

/// A run as people name it, beside what determines it.
struct RunTitle {
  std::string game;  ///< the word that was given
  std::string preset;
  std::string game_hash;  ///< of the law of the game, as hex digits
};

/// The resolved config as JSON, `vlearn.config/1`: everything that determines the run.
[[nodiscard]] std::string config_to_json(const RunTitle& title, const LearnConfig& config);

/// Where a run keeps its certificate.
[[nodiscard]] std::filesystem::path certificate_path(const std::filesystem::path& run);
/// One with a confidence stands beside it: it says less, and executions do not go by it.
[[nodiscard]] std::filesystem::path sampled_path(const std::filesystem::path& run);

/// Writes the index seeds of a run that can be executed, and in them how executions go: as its
/// certificate says, so that a player alone does what all do together.
void write_index_seeds(const std::filesystem::path& run,
                       const LearnConfig& config,
                       std::size_t num_players,
                       const std::optional<Certificate>& certificate);

/// What an index seed says of executions that a certificate is about (write_seed()).
[[nodiscard]] std::string start_in_seed(const Certificate& certificate);

/// The config of a game that was planned, `vlearn.solve-config/1`.
[[nodiscard]] std::string config_to_json(const RunTitle& title, const SolveConfig& config);

/// A run that somebody else may have written. Of one that was planned, or learned by a baseline,
/// `config` has the target and the seed, and that there is no history.
struct StoredRun {
  std::filesystem::path path;
  RunTitle title;
  LearnConfig config;
  std::string version;         ///< of the program that began it
  bool planned = false;        ///< it was written as a whole, with a table as its output
  std::string algorithm = {};  ///< of a baseline
};
/// The output that players execute where no certificate says otherwise.
[[nodiscard]] CertifiedOutput returned_output(const StoredRun& run);
/// Reads config.json. Throws Error that names the file and the key.
[[nodiscard]] StoredRun read_run(const std::filesystem::path& path);
/// The same from the text of that file.
[[nodiscard]] StoredRun parse_run(std::string_view config, const std::filesystem::path& path);

/// Members of the result, `vlearn.learn/1`; the object is open, more may follow.
void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const GameNames& names,
                  const LearnConfig& config,
                  const std::string& config_hash,
                  const LearnResult& result,
                  const std::optional<Certificate>& certificate);

/// "gap": {"upper": ..., "lower": ...}, as results have it.
void write_gap(JsonWriter& json,
               std::string_view key,
               double upper,
               const std::optional<double>& lower);
/// "players", "gap" and "sum_of_gaps" of a certificate whose values are exact.
void write_exact(JsonWriter& json, const Certificate& certificate);

/// Members of the result of planning, `vlearn.solve/1`; the object is open, more may follow.
void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const SolveConfig& config,
                  const SolveResult& result);

/// A run that is written as a whole when it has ended, with a Markov policy as its output.
struct WholeRun {
  std::string config;  ///< the text of config.json
  Target target = Target::cce;
  std::uint64_t seed = 0;  ///< of the players who execute it
  std::span<const MarkovTable> tables;
  std::string metrics;      ///< the text of metrics.jsonl
  std::string timing = {};  ///< and of timing.jsonl, which is not written where this is empty
  std::string result;       ///< and of result.json
};

/// The folder of a run that this process plays; no other process may at the same time.
class RunFolder {
 public:
  enum class Existing : std::uint8_t {
    refuse,   ///< only a folder with nothing in it
    replace,  ///< a run that is there is removed
    resume,   ///< a run that is there is gone on with
  };
  /// Throws Error (usage) when something is there that stands in the way.
  static void check(const std::filesystem::path& path, Existing existing);
  /// Writes the folder of a game that was planned as a whole: tables, seeds, certificate and
  /// result, which gets the hashes of the tables. Throws as check() does.
  static void write_planned(const std::filesystem::path& path,
                            Existing existing,
                            const RunTitle& title,
                            const SolveConfig& config,
                            SolveResult& result);

  /// The same of any run of that kind; `certificate` gets the hashes of the tables.
  static void write_whole(const std::filesystem::path& path,
                          Existing existing,
                          const WholeRun& run,
                          Certificate& certificate);

  /// Makes the folder where there is none. `config` is the text of config.json; as many players
  /// have policy files, none without a history.
  RunFolder(std::filesystem::path path,
            std::string config,
            std::size_t num_policies,
            Existing existing);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& config_hash() const noexcept { return config_hash_; }

  /// Goes on from the newest good checkpoint of a run that is resumed; `tell` hears of those that
  /// are not. Begins from the start where there is none yet, and every other run: removes the files
  /// of an old one, and nothing else.
  void open(const RunState& state,
            const RunTitle& title,
            const LearnConfig& config,
            const Checkpoints::Tell& tell);

  /// To metrics.jsonl and metrics.csv; and how long it took, to timing.jsonl.
  void add(const MetricsRow& row, double seconds);
  /// What a killed run goes on from.
  void save_checkpoint(const RunState& state);
  /// A checkpoint, and what is left of the history: the policy files are whole.
  void finish_history(const RunState& state);
  /// Whether a run that is resumed had ended already: then nothing is written any more.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// tables.safetensors, tables of Markov policies, certificate.json and result.json; the last
  /// call. A run that was interrupted has not ended, and keeps the checkpoint before too.
  void finish(std::string_view result,
              const Trainer& trainer,
              const Frame& frame,
              const LearnConfig& config,
              const std::optional<Certificate>& certificate,
              Stopped stopped);

 private:
  void begin(Trainer& trainer, const RunTitle& title, const LearnConfig& config);
  [[nodiscard]] bool go_on(const RunState& state,
                           const LearnConfig& config,
                           const Checkpoints::Tell& tell);
  void keep_history(Trainer& trainer);
  void sync();
  [[nodiscard]] FileSizes sizes() const;

  std::filesystem::path path_;
  Existing existing_;
  std::string config_;
  std::string config_hash_;
  std::string game_hash_;
  FolderLock lock_;
  Checkpoints checkpoints_;
  std::optional<AppendFile> metrics_;
  std::optional<AppendFile> table_;
  std::optional<AppendFile> timing_;
  std::vector<std::uint64_t> policy_sizes_;  // of each player; none without a history
  std::size_t num_executing_ = 0;  // players who can execute what they have, so need seeds
  bool policies_grew_ = false;     // since they were synced
  bool complete_ = false;          // resumed, and there is nothing left to do
};

}  // namespace vlearn
