// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Policy files of a trained game in a folder, and what the library's own reader makes of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/temporary_folder.h"
#include "vlearn/game/any_game.h"
#include "vlearn/policy/history.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

struct Training {
  std::string game = {};
  Target target = Target::cce;
  RuleName rule = RuleName::ftrl;
  bool control_variate = false;
  std::uint64_t episodes = 40;
  std::uint64_t weights = 0;  ///< 0: the learner's
  bool taper = false;
};

class TrainedRun {
 public:
  explicit TrainedRun(const Training& training) : TrainedRun(make_game(training.game), training) {}
  /// Of a game that has no name.
  TrainedRun(AnyGame game, const Training& training) : game_(std::move(game)) {
    LearnerOptions options = preset_options(Preset::practical, training.target);
    options.rule = training.rule;
    options.control_variate = training.control_variate;
    options.horizon_episodes = training.episodes;
    const auto trainer = std::visit(
        [&](const auto& model) { return make_trainer(GameRef(model), options, 1); }, game_);
    for (const Player player : all<Player>(frame_of(game_).num_players())) {
      PolicyHeader header = trainer->policy_header(player);
      if (training.weights != 0) header.weights = training.weights;
      header.taper = training.taper;
      const std::string text = encode_header(header);
      const std::span<const std::byte> head = std::as_bytes(std::span(text));
      bytes_.emplace_back(head.begin(), head.end());
    }
    trainer->keep_history([&](Player player, std::span<const std::byte> more) {
      std::vector<std::byte>& own = bytes_[player.index()];
      own.insert(own.end(), more.begin(), more.end());
    });
    trainer->play_until(training.episodes, {});
    trainer->hand_out_rest();
    for (std::size_t j = 0; j < bytes_.size(); ++j) {
      paths_.push_back(folder_ / ("player-" + std::to_string(j + 1) + ".policy"));
      write_bytes(paths_.back(), bytes_[j]);
      files_.push_back(PolicyFile::parse(FileBytes::copy(bytes_[j]), "policy", make_replayer));
    }
  }

  [[nodiscard]] const AnyGame& game() const { return game_; }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t player) const {
    return bytes_[player];
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return paths_; }
  [[nodiscard]] std::span<const PolicyFile> files() const { return files_; }

 private:
  TemporaryFolder folder_;
  AnyGame game_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::filesystem::path> paths_;
  std::vector<PolicyFile> files_;
};

}  // namespace vlearn::test
