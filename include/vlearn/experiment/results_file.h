// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// results.jsonl of an experiment: a first line with the settings, and a line for each result, added
// as soon as it is there. A program that is killed leaves at worst half a line at the end, which is
// dropped; the next one goes on from there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vlearn/core/file.h"
#include "vlearn/core/json.h"

namespace vlearn {

/// Of one line.
inline constexpr JsonLimits kResultLimits = {.max_bytes = 4096, .max_depth = 4, .max_values = 64};

class ResultsFile {
 public:
  /// Gets a line that is there, and its name for messages.
  using Take = std::function<void(std::string_view line, const std::string& source)>;

  /// Makes the folder where there is none, keeps other processes out of it, and hands out the lines
  /// behind the first. `header` is the first line without its end. Throws Error: usage for a folder
  /// with results of other settings, input for a file that is none of ours, and what `take` throws.
  ResultsFile(const std::filesystem::path& folder, std::string header, const Take& take);

  /// On the disk when it returns.
  void add(std::string_view line);
  /// All lines in another order. The last call.
  void rewrite(std::span<const std::string> lines);

 private:
  /// Returns the bytes of the lines that are whole.
  std::uint64_t read(std::string_view text, const Take& take) const;

  std::filesystem::path file_;
  std::string header_;
  std::optional<FolderLock> lock_;
  std::optional<AppendFile> append_;
};

}  // namespace vlearn
