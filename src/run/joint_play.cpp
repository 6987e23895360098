// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/joint_play.h"

#include <fmt/format.h>

#include <algorithm>

#include "vlearn/core/error.h"
#include "vlearn/core/running_mean.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/stored_policies.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

JointPlay::JointPlay(const StoredRun& run, GameRef game, const StartRule& start, OutputKind output)
    : game_(game), files_(open_policies(run, game.frame())) {
  const std::size_t m = game.frame().num_players();
  players_.reserve(m);
  for (const Player player : all<Player>(m)) {
    players_.emplace_back(
        files_[player.index()],
        ExecuteOptions{start, output,
                       read_seed(index_seed_path(run.path, run.config.learner.target, player)),
                       read_seed(private_seed_path(run.path, player))});
  }
}

JointPlay::JointPlay(const std::filesystem::path& run,
                     const std::string& game_hash,
                     GameRef game,
                     Target target)
    : game_(game), tables_(open_tables(run, game_hash, game.frame().num_players())) {
  check_tables(game.frame(), target, tables_);
  for (const MarkovTable& table : tables_) {
    table_players_.emplace_back(table, read_seed(index_seed_path(run, target, table.player)),
                                read_seed(private_seed_path(run, table.player)));
  }
}

std::vector<PlayedValue> JointPlay::play(std::uint64_t episodes,
                                         std::uint64_t seed,
                                         const See& see) {
  const Frame& frame = game_.frame();
  const std::size_t m = frame.num_players();
  std::vector<RunningMean> returns(m);
  std::vector<Action> joint(m);
  std::vector<double> rewards(m);
  std::vector<double> earned(m);
  std::vector<PolicyPlayer::Move> moves(m);
  for (std::uint64_t k = 0; k < episodes; ++k) {
    std::fill(earned.begin(), earned.end(), 0.0);
    State s = game_.start(Nature(seed, Episode(k), Step()));
    for (PolicyPlayer& player : players_) player.begin(Episode(k));
    for (MarkovPlayer& player : table_players_) player.begin(Episode(k));
    for (const Step h : all<Step>(frame.horizon())) {
      for (std::size_t j = 0; j < m; ++j) {
        moves[j] = players_.empty() ? table_players_[j].act(h, s) : players_[j].act(h, s);
        joint[j] = moves[j].action;
      }
      if (see) see({Episode(k), h, s, moves});
      s = game_.sample(h, s, joint, Nature(seed, Episode(k), h), rewards);
      for (std::size_t j = 0; j < m; ++j) earned[j] += rewards[j];
    }
    for (std::size_t j = 0; j < m; ++j) returns[j].add(earned[j]);
  }
  std::vector<PlayedValue> values;
  for (const Player player : all<Player>(m)) {
    const RewardRange& range = frame.range(player);
    const RunningMean& of = returns[player.index()];
    values.push_back({range.from_unit(of.mean(), static_cast<double>(frame.horizon())),
                      (range.high - range.low) * of.standard_error()});
  }
  return values;
}

}  // namespace vlearn
