// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/stored_policies.h"

#include <fmt/format.h>

#include "vlearn/core/error.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

PolicyFile open_policy(const StoredRun& run, const Frame& frame, Player player) {
  const std::filesystem::path path = policy_path(run.path, player);
  PolicyFile file = PolicyFile::open(path, make_replayer);
  const PolicyHeader& header = file.header();
  if (header.player != player) {
    throw Error(ErrorKind::input, path.string(),
                fmt::format("is the policy of player {}", header.player.number()));
  }
  // The hash is what the file says; whoever forged it may have other sizes.
  const Seat seat = seat_of(frame, player);
  if (header.game_hash != run.title.game_hash || header.seat.first_cell != seat.first_cell ||
      header.seat.num_actions != seat.num_actions) {
    throw Error(ErrorKind::input, path.string(), "is of another game than its run");
  }
  return file;
}

void check_history(const StoredRun& run) {
  if (run.planned) {
    throw Error(ErrorKind::usage, run.path.string(), "has a table, and no history of visits",
                "use --output table, and where there is a method --method exact");
  }
  if (!run.config.history) {
    throw Error(ErrorKind::input, run.path.string(), "has no policy files",
                "learn without --history none");
  }
}

std::vector<PolicyFile> open_policies(const StoredRun& run, const Frame& frame) {
  std::vector<PolicyFile> files;
  for (const Player player : all<Player>(frame.num_players())) {
    files.push_back(open_policy(run, frame, player));
    if (files.back().episodes() != files.front().episodes()) {
      throw Error(ErrorKind::input, run.path.string(), "has policy files of different lengths",
                  "mend them: vlearn learn --resume RUN");
    }
  }
  return files;
}

std::vector<std::filesystem::path> policy_paths(const std::filesystem::path& run,
                                                std::size_t num_players,
                                                CertifiedOutput output) {
  std::vector<std::filesystem::path> paths;
  for (const Player player : all<Player>(num_players)) {
    paths.push_back(output == CertifiedOutput::table ? markov_path(run, player)
                                                     : policy_path(run, player));
  }
  return paths;
}

std::vector<MarkovTable> open_tables(const std::filesystem::path& run,
                                     const std::string& game_hash,
                                     std::size_t num_players) {
  std::vector<MarkovTable> tables;
  for (const std::filesystem::path& path : policy_paths(run, num_players, CertifiedOutput::table)) {
    tables.push_back(read_markov(path));
    if (tables.back().game_hash != game_hash) {
      throw Error(ErrorKind::input, path.string(), "is of another game than its run");
    }
  }
  return tables;
}

}  // namespace vlearn
