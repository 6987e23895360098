// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run with its policy files in memory, and with every policy that was played beside them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "vlearn/policy/history.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {

struct RecordedVisit {
  std::uint64_t episode;
  Action action;
  std::vector<double> policy;
};

struct RecordedRun {
  std::vector<std::vector<std::byte>> files;                    // of each player
  std::vector<std::vector<std::vector<RecordedVisit>>> visits;  // [player][cell]

  [[nodiscard]] PolicyFile file(std::size_t player) const {
    return PolicyFile::parse(FileBytes::copy(files[player]), "policy", make_replayer);
  }
};

inline void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// `rule` is what options.rule names.
template <class Rule>
RecordedRun record(GameRef game,
                   const Rule& rule,
                   const LearnerOptions& options,
                   std::uint64_t episodes,
                   std::uint64_t segment,
                   std::uint64_t seed = 1) {
  SelfPlay<Rule> play(game, rule, options, seed);
  const std::size_t m = game.frame().num_players();
  RecordedRun run;
  std::vector<Seat> seats;
  for (const Player player : all<Player>(m)) {
    PolicyHeader header;
    header.player = player;
    header.seat = play.seat(player);
    header.target = options.target;
    header.rule = kRuleNames[static_cast<std::size_t>(options.rule)];
    header.control_variate = options.control_variate;
    header.rule_parameter = BonusSchedule(options, header.seat).log_events();
    header.weights = header.seat.horizon;
    header.segment_episodes = segment;
    const std::string text = encode_header(header);
    run.files.emplace_back();
    append(run.files.back(), std::as_bytes(std::span(text)));
    seats.push_back(header.seat);
  }
  run.visits.assign(m, std::vector<std::vector<RecordedVisit>>(seats.front().num_cells()));
  VisitLog log(seats, segment, options.control_variate);
  play.keep_log(&log);
  std::uint64_t first = 0;
  const auto flush = [&](std::uint64_t end) {
    log.sort();
    for (std::size_t j = 0; j < m; ++j) append(run.files[j], log.encode(j, first));
    log.clear();
    first = end;
  };
  for (std::uint64_t k = 0; k < episodes; ++k) {
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      for (const Player player : all<Player>(m)) {
        const std::span<const double> policy = play.table(player).policy(visit.cell);
        run.visits[player.index()][visit.cell].push_back(
            {k, visit.joint[player.index()], {policy.begin(), policy.end()}});
      }
    });
    if (log.full()) flush(k + 1);
  }
  if (log.episodes() > 0) flush(episodes);
  return run;
}

}  // namespace vlearn::test
