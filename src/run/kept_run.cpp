// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/kept_run.h"

#include <memory>

#include "vlearn/core/error.h"
#include "vlearn/run/kept_histories.h"

namespace vlearn {

LearnConfig markov_config(
    const Frame& frame, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed) {
  LearnConfig config;
  config.learner = preset_options(preset, target);
  config.learner.horizon_episodes = episodes;
  config.output = target == Target::nash ? CertifiedOutput::marginals : CertifiedOutput::markov;
  config.learner.output_weights = natural_weights(preset, config.output, frame.horizon());
  config.learner.output_taper = natural_taper(preset, config.output);
  config.episodes = episodes;
  config.seed = seed;
  return config;
}

KeptRun learn_kept(GameRef game, const LearnConfig& config, const LearnHooks& hooks) {
  if (!config.history) {
    throw Error(ErrorKind::usage, "history", "is not kept by this config", "set history to true");
  }
  const std::unique_ptr<Trainer> trainer = make_trainer(game, config.learner, config.seed);
  KeptHistories kept(*trainer);
  KeptRun run;
  run.result = learn(*trainer, game.frame(), config, hooks);
  run.files = kept.policies();
  return run;
}

}  // namespace vlearn
