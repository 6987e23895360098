// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Players who execute what a recorded run has learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "support/recorded_run.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/game/any_game.h"
#include "vlearn/policy/execute.h"

namespace vlearn::test {

template <class Rule>
RecordedRun run_of(GameRef game, RuleName name, std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = name;
  return record(game, Rule(game.frame().horizon()), options, episodes, 64);
}

/// The same file with other output weights.
inline PolicyFile with_weights(const RecordedRun& run,
                               std::size_t player,
                               std::uint64_t c,
                               bool taper = false) {
  const PolicyFile file = run.file(player);
  PolicyHeader header = file.header();
  const std::size_t begin = encode_header(header).size();
  header.weights = c;
  header.taper = taper;
  const std::string text = encode_header(header);
  std::vector<std::byte> bytes;
  append(bytes, std::as_bytes(std::span(text)));
  append(bytes, std::span(run.files[player]).subspan(begin));
  return PolicyFile::parse(FileBytes::copy(bytes), "policy", make_replayer);
}

inline std::vector<PolicyFile> files_of(const RecordedRun& run) {
  std::vector<PolicyFile> files;
  for (std::size_t j = 0; j < run.files.size(); ++j) files.push_back(run.file(j));
  return files;
}

/// Of all players, with the shared index seed.
inline ExecuteOptions options_of(std::uint64_t seed, const PolicyFile& file) {
  return {.index_seed = derive_seed(seed, "index", 0),
          .private_seed = derive_seed(seed, "private", file.header().player.number())};
}

inline std::vector<PolicyPlayer> players_of(const std::vector<PolicyFile>& files,
                                            const StartRule& start,
                                            OutputKind output,
                                            std::uint64_t seed) {
  std::vector<PolicyPlayer> players;
  for (const PolicyFile& file : files) {
    ExecuteOptions options = options_of(seed, file);
    options.start = start;
    options.output = output;
    players.emplace_back(file, options);
  }
  return players;
}

/// One state at each of two steps, so that the number of visits before an episode is the number of
/// episodes before it.
inline const RecordedRun& narrow_run() {
  static const AnyGame game = make_game("random:players=2,states=1,actions=2,horizon=2,seed=1");
  static const RecordedRun run =
      run_of<Ftrl<>>(GameRef(std::get<DenseGame>(game)), RuleName::ftrl, 50);
  return run;
}

}  // namespace vlearn::test
