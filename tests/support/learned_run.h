// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run folder as `vlearn learn` leaves it, certified from its files.
#pragma once

#include <filesystem>
#include <string>

#include "vlearn/core/hash.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/run_folder.h"

namespace vlearn::test {

struct LearnedRun {
  std::string game;
  std::string preset = "practical";
  LearnConfig config;
  CertifiedStart start = CertifiedStart::last;
  bool records_gaps = false;  ///< in its rows, as the command does
};

/// The config of a preset; `certify` says what the command would.
inline LearnedRun learned_run(const std::string& game,
                              Preset preset,
                              Target target,
                              std::uint64_t episodes) {
  LearnedRun run{game, std::string(kPresetNames.at(static_cast<std::size_t>(preset))),
                 preset_config(load_game(game).game, preset, target, episodes, 1)};
  run.config.episodes = episodes;
  run.config.certify = true;
  return run;
}

inline void write_run(const std::filesystem::path& path, const LearnedRun& run) {
  const LoadedGame game = load_game(run.game);
  const Frame& frame = frame_of(game.game);
  const RunTitle title{run.game, run.preset, to_hex(law_hash_of(game.game))};
  const std::string config = config_to_json(title, run.config);
  const auto trainer = make_trainer(ref_of(game.game), run.config.learner, run.config.seed);
  RunFolder folder(path, config, run.config.history ? frame.num_players() : 0,
                   RunFolder::Existing::refuse);
  const RunState state{*trainer, nullptr};
  folder.open(state, title, run.config, [](const std::string&) {});
  LearnHooks hooks;
  std::optional<RunCertifier> certifier;
  if (run.records_gaps) {
    certifier.emplace(game.game, run.config.learner.target,
                      output_weights(run.config.learner, frame), run.config.output);
    trainer->watch(
        [&](Step h, State s, const Profile& profile) { certifier->visit(h, s, profile); });
    hooks.certifier = &*certifier;
  }
  hooks.row = [&](const MetricsRow& row) { folder.add(row, 0.25); };
  const LearnResult result = learn(*trainer, frame, run.config, hooks);
  folder.finish_history(state);
  std::optional<Certificate> certificate;
  if (run.config.certify) {
    certificate = certify_stored({path, title, run.config, {}}, game,
                                 {.output = run.config.output, .start = run.start});
  }
  JsonWriter json;
  json.begin_object();
  write_result(json, title, game.about.names, run.config,
               to_hex(sha256(std::as_bytes(std::span(config)))), result, certificate);
  folder.finish(json.end_object().text() + "\n", *trainer, frame, run.config, certificate,
                result.stopped);
}

}  // namespace vlearn::test
