// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The policy files of all players after some training, in memory, whatever the rule.
#pragma once

#include <string>
#include <vector>

#include "vlearn/policy/history.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {

inline std::vector<PolicyFile> trained_files(GameRef game,
                                             RuleName rule,
                                             bool control_variate,
                                             std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = rule;
  options.control_variate = control_variate;
  options.horizon_episodes = episodes;
  const auto trainer = make_trainer(game, options, 1);
  std::vector<std::vector<std::byte>> bytes;
  for (const Player player : all<Player>(game.frame().num_players())) {
    const std::string header = encode_header(trainer->policy_header(player));
    const std::span<const std::byte> head = std::as_bytes(std::span(header));
    bytes.emplace_back(head.begin(), head.end());
  }
  trainer->keep_history([&](Player player, std::span<const std::byte> more) {
    std::vector<std::byte>& own = bytes[player.index()];
    own.insert(own.end(), more.begin(), more.end());
  });
  trainer->play_until(episodes, {});
  trainer->hand_out_rest();
  std::vector<PolicyFile> files;
  for (const std::vector<std::byte>& own : bytes) {
    const std::string source = "policy of player " + std::to_string(files.size() + 1);
    files.push_back(PolicyFile::parse(FileBytes::copy(own), source, make_replayer));
  }
  return files;
}

}  // namespace vlearn::test
