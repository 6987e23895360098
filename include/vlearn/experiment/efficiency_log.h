// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// results.jsonl of the measurement of efficiency: a line for each part.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "vlearn/experiment/efficiency.h"
#include "vlearn/experiment/results_file.h"

namespace vlearn {

class EfficiencyLog {
 public:
  /// Throws as ResultsFile does.
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
  EfficiencySettings settings_;
  std::map<Key, PartResult> results_;
  ResultsFile file_;
};

/// The lines without their ends.
[[nodiscard]] std::string header_line(const EfficiencySettings& settings);
[[nodiscard]] std::string result_line(const EfficiencySettings& settings, const PartResult& result);
/// Throws Error that names `source` and the key.
[[nodiscard]] PartResult parse_result_line(const EfficiencySettings& settings,
                                           std::string_view line,
                                           const std::string& source);

}  // namespace vlearn
