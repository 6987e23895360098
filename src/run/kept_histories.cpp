// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/kept_histories.h"

#include <fmt/format.h>

#include <span>
#include <string>

namespace vlearn {

KeptHistories::KeptHistories(Trainer& trainer) : trainer_(trainer) {
  for (const Player player : all<Player>(trainer.seat(Player(0)).num_players)) {
    const std::string header = encode_header(trainer.policy_header(player));
    const std::span<const std::byte> bytes = std::as_bytes(std::span(header));
    files_.emplace_back(bytes.begin(), bytes.end());
  }
  trainer.keep_history([this](Player player, std::span<const std::byte> bytes) {
    std::vector<std::byte>& file = files_[player.index()];
    file.insert(file.end(), bytes.begin(), bytes.end());
  });
}

std::vector<PolicyFile> KeptHistories::policies() {
  std::vector<std::size_t> sizes;
  sizes.reserve(files_.size());
  for (const std::vector<std::byte>& file : files_) sizes.push_back(file.size());
  trainer_.hand_out_rest();
  std::vector<PolicyFile> policies;
  for (std::size_t j = 0; j < files_.size(); ++j) {
    policies.push_back(PolicyFile::parse(
        FileBytes::copy(files_[j]), fmt::format("the history of player {}", j + 1), make_replayer));
    // What is not a whole segment yet will come again as a part of one.
    files_[j].resize(sizes[j]);
  }
  return policies;
}

}  // namespace vlearn
