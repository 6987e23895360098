// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// results.jsonl: what has been measured, a line for each part, added as soon as it is done. The
// first line has the settings. A program that is killed leaves at worst half a line at the end,
// which is dropped; the next one goes on from there.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "vlearn/core/file.h"
#include "vlearn/experiment/efficiency.h"

namespace vlearn {

class EfficiencyLog {
 public:
  /// Makes the folder where there is none, and keeps other processes out of it. Throws Error:
  /// usage for a folder with results of other settings, input for a file that is none of ours.
  EfficiencyLog(const std::filesystem::path& folder, EfficiencySettings settings);

  [[nodiscard]] std::optional<PartResult> find(std::size_t game,
                                               std::uint64_t seed,
                                               Part part) const;
  [[nodiscard]] std::size_t size() const noexcept { return results_.size(); }

  /// On the disk when it returns.
  void add(const PartResult& result);
  /// All lines in the order of games, seeds and parts, whoever was done first. The last call.
  void put_in_order();

 private:
  using Key = std::tuple<std::size_t, std::uint64_t, Part>;
  /// Reads lines; returns the bytes of those that are whole.
  std::uint64_t read(std::string_view text);

  std::filesystem::path file_;
  EfficiencySettings settings_;
  std::string header_;
  std::map<Key, PartResult> results_;
  std::optional<FolderLock> lock_;
  std::optional<AppendFile> append_;
};

/// The lines without their ends.
[[nodiscard]] std::string header_line(const EfficiencySettings& settings);
[[nodiscard]] std::string result_line(const EfficiencySettings& settings, const PartResult& result);
/// Throws Error that names `source` and the key.
[[nodiscard]] PartResult parse_result_line(const EfficiencySettings& settings,
                                           std::string_view line,
                                           const std::string& source);

}  // namespace vlearn
