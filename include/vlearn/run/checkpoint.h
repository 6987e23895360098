// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints of a run: two while it lasts, of which the older is replaced, and one when it has
// ended. Each is written whole or not at all, and checked as a whole when it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "vlearn/core/container.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

/// How much of the files that grow belongs to a checkpoint, in bytes.
struct FileSizes {
  std::uint64_t metrics = 0;
  std::uint64_t table = 0;
  std::vector<std::uint64_t> policies;  ///< of each player; none without a history
};

class Checkpoints {
 public:
  Checkpoints(std::filesystem::path folder, std::string config_hash);

  /// In place of the older of the two.
  void save(const Trainer& trainer, const FileSizes& sizes);
  /// The one that stays.
  void save_last(const Trainer& trainer, const FileSizes& sizes);
  /// Removes those that the last one has made needless.
  void remove_others();
  void remove_all();

  /// Hears of each checkpoint that cannot be used, and why.
  using Tell = std::function<void(const std::string& message)>;
  /// Opens the files that grow, cut to these sizes; throws Error (input) where one is shorter.
  using OpenFiles = std::function<void(const FileSizes& sizes)>;
  /// Puts the trainer where the newest good checkpoint left it. False where there is none yet;
  /// where there are some and none is good throws Error (input).
  [[nodiscard]] bool load(Trainer& trainer, const OpenFiles& open_files, const Tell& tell);

 private:
  struct Found {
    const char* name = nullptr;
    std::uint64_t episodes = 0;
  };
  [[nodiscard]] std::vector<Found> newest_first(const Tell& tell) const;
  void write(const char* name, const Trainer& trainer, const FileSizes& sizes) const;

  std::filesystem::path folder_;
  std::string config_hash_;
  std::size_t next_ = 0;  // of the two
};

}  // namespace vlearn
