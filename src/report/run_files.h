// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The texts of a run folder, read as those of a stranger: sizes are bounded, and whatever is wrong
// is an Error that names file, line and key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vlearn/core/json.h"
#include "vlearn/report/run_view.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// The number under a key; nothing where there is none.
[[nodiscard]] std::optional<double> number_in(const JsonValue& object, std::string_view key);

/// config.json beside what it means.
struct ConfigFile {
  StoredRun run;
  RunView::Kind kind = RunView::Kind::learned;
  std::string hash;  ///< SHA-256 of the text
  JsonDocument document;
};
/// Throws Error (input) that says so for what is no run folder.
[[nodiscard]] ConfigFile read_config(const std::filesystem::path& run);
/// The same from the text of config.json in the folder `run`.
[[nodiscard]] ConfigFile parse_config(std::string_view text, const std::filesystem::path& run);

/// Its members in their order, values as the text has them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> members_of(
    const JsonDocument& config);
/// What is the same for runs that differ by their seed alone.
[[nodiscard]] std::string group_of(const std::vector<std::pair<std::string, std::string>>& members);

/// What result.json adds to the rest.
struct ResultFile {
  std::string stopped;
  std::uint64_t episodes = 0;  ///< or iterations
  std::string guarantee = {};
};
/// Nothing for a run that has not ended. Throws Error (input) for the result of another run.
[[nodiscard]] std::optional<ResultFile> read_result(const std::filesystem::path& run,
                                                    const ConfigFile& config);
/// The same from the text of a file, which errors name.
[[nodiscard]] ResultFile parse_result(std::string_view text,
                                      const std::filesystem::path& file,
                                      const ConfigFile& config);

/// Which rows are expected.
struct MetricsShape {
  RunView::Kind kind = RunView::Kind::learned;
  std::size_t num_players = 0;
  bool ended = true;          ///< else the last line may have been cut
  bool exact = true;          ///< gaps of a Markov output: the upper bound is the lower one too
  bool proven_bounds = true;  ///< of a baseline: whether its optimism gap bounds anything
};
struct Metrics {
  std::vector<std::string> series;  ///< "1", "2", ...; or "min", "mean", "max"; none of tables
  std::vector<CurvePoint> curve;
  bool cut = false;  ///< a last line was left out
};
[[nodiscard]] Metrics read_metrics(const std::filesystem::path& run, const MetricsShape& shape);
/// The same from the text of a file, which errors name.
[[nodiscard]] Metrics parse_metrics(std::string_view text,
                                    const std::filesystem::path& file,
                                    const MetricsShape& shape);

/// How often each (step, state) was visited, of runs that keep no history: from tables.safetensors.
/// Empty where it is missing. Throws Error for tables of another shape, before they are read:
/// input, or resource where they are larger than those of the game can be.
[[nodiscard]] std::vector<std::uint64_t> read_visits(const std::filesystem::path& run,
                                                     const Frame& frame);

}  // namespace vlearn
