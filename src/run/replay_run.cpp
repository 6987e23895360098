// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/replay_run.h"

#include "vlearn/certify/stream_hash.h"
#include "vlearn/run/learn.h"

namespace vlearn {

std::string replay_run(const StoredRun& run,
                       const LoadedGame& game,
                       std::uint64_t episodes,
                       const std::filesystem::path& folder,
                       const CancelToken& cancel) {
  const Frame& frame = frame_of(game.game);
  LearnConfig config = run.config;
  config.episodes = episodes;
  config.max_seconds.reset();
  config.until_gap.reset();
  config.certify = false;
  config.history = true;
  const auto trainer = make_trainer(ref_of(game.game), config.learner, config.seed);
  StreamHash hash(frame);
  trainer->watch([&](Step h, State s, const Profile& profile) { hash.visit(h, s, profile); });
  const RunState state{*trainer, nullptr};
  RunFolder kept(folder, config_to_json(run.title, config), frame.num_players(),
                 RunFolder::Existing::refuse);
  kept.open(state, run.title, config, {});
  LearnHooks hooks;
  hooks.cancel = cancel;
  static_cast<void>(learn(*trainer, frame, config, hooks));
  kept.finish_history(state);
  return hash.hex();
}

}  // namespace vlearn
