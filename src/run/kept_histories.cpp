// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/kept_histories.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

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
  // What is not a whole segment yet is handed out here and comes again as a part of one.
  std::vector<std::vector<std::byte>> whole = files_;
  try {
    trainer_.hand_out_rest();
  } catch (...) {
    files_ = std::move(whole);
    throw;
  }
  std::swap(files_, whole);
  std::vector<PolicyFile> policies;
  for (std::size_t j = 0; j < whole.size(); ++j) {
    policies.push_back(PolicyFile::parse(
        FileBytes::copy(whole[j]), fmt::format("the history of player {}", j + 1), make_replayer));
    whole[j] = {};
  }
  return policies;
}

}  // namespace vlearn
