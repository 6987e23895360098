// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints of a run: the newest and the one before while it lasts, one when it has ended.
// Each is written whole or not at all, and checked as a whole when it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vlearn/certify/certify.h"
#include "vlearn/core/container.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

/// What a run is made of while it lasts.
struct RunState {
  Trainer& trainer;
  RunCertifier* certifier = nullptr;  ///< where the run is certified

  void save(ContainerWriter& writer) const {
    trainer.save(writer);
    if (certifier != nullptr) certifier->save(writer);
  }
  void load(ContainerArrays& arrays) const {
    trainer.load(arrays);
    if (certifier == nullptr) return;
    certifier->load(arrays);
    if (certifier->episodes() != trainer.episodes()) {
      throw arrays.header().error("certify.visits", "are of other episodes than the players'",
                                  "the file is damaged");
    }
  }
};

/// How much of the files that grow belongs to a checkpoint, in bytes.
struct FileSizes {
  std::uint64_t metrics = 0;
  std::uint64_t table = 0;
  std::vector<std::uint64_t> policies = {};  ///< of each player; none without a history
};

class Checkpoints {
 public:
  Checkpoints(std::filesystem::path folder, std::string config_hash)
      : folder_(std::move(folder)), config_hash_(std::move(config_hash)) {}

  /// The newest; the one before stays.
  void save(const RunState& state, const FileSizes& sizes) const;
  /// The run has ended: the newest alone stays.
  void keep_newest() const;
  void remove_all() const;

  /// Hears of each checkpoint that cannot be used, and why.
  using Tell = std::function<void(const std::string& message)>;
  /// Throws Error (input) where files do not have as much; changes nothing.
  using CheckFiles = std::function<void(const FileSizes& sizes)>;
  /// Puts the run where its newest good checkpoint left it. Nothing where there is none yet; where
  /// there are some and none is good throws Error (input).
  [[nodiscard]] std::optional<FileSizes> load(const RunState& state,
                                              const CheckFiles& check_files,
                                              const Tell& tell) const;

 private:
  std::filesystem::path folder_;
  std::string config_hash_;
};

}  // namespace vlearn
