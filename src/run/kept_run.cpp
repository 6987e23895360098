// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/kept_run.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vlearn/core/error.h"
#include "vlearn/core/file.h"

namespace vlearn {

LearnConfig markov_config(
    const Frame& frame, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed) {
  LearnConfig config;
  config.learner = preset_options(preset, target);
  config.learner.horizon_episodes = episodes;
  config.output = target == Target::nash ? CertifiedOutput::marginals : CertifiedOutput::markov;
  config.learner.output_weights = natural_weights(preset, config.output, frame.horizon());
  config.episodes = episodes;
  config.seed = seed;
  return config;
}

KeptRun learn_kept(GameRef game, const LearnConfig& config, const LearnHooks& hooks) {
  if (!config.history) {
    throw Error(ErrorKind::usage, "history", "is not kept by this config", "set history to true");
  }
  const std::unique_ptr<Trainer> trainer = make_trainer(game, config.learner, config.seed);
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
  KeptRun run;
  run.result = learn(*trainer, game.frame(), config, hooks);
  trainer->hand_out_rest();
  for (std::vector<std::byte>& own : bytes) {
    run.files.push_back(PolicyFile::parse(FileBytes::copy(own), "policy", make_replayer));
    own = {};
  }
  return run;
}

}  // namespace vlearn
