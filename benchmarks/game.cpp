// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/backup_both.h"

namespace vlearn::bench {
namespace {

/// Steps of uniform-ish play, actions made from a counter so that the game itself is timed.
template <KnownGame G>
Work sampling(G game) {
  return [game = std::move(game)](std::size_t operations) {
    const Frame& frame = game.frame();
    std::vector<Action> joint(frame.num_players());
    std::vector<double> rewards(frame.num_players());
    double sum = 0.0;
    State s = game.start(Nature(1, Episode(0), Step()));
    for (std::size_t i = 0; i < operations; ++i) {
      const Step h(i % frame.horizon());
      if (h == Step()) s = game.start(Nature(1, Episode(i), Step()));
      for (const Player player : all<Player>(frame.num_players())) {
        const std::size_t count = frame.num_actions(player, h, s);
        joint[player.index()] = Action((i + player.index()) % count);
      }
      s = game.sample(h, s, joint, Nature(1, Episode(i), h), rewards);
      sum += rewards[0];
    }
    return sum;
  };
}

/// What certificates do at a visit, both backups, and how.
enum class Both : std::uint8_t { no, at_once, one_by_one };

/// backup_all, or both backups, at the first state of the first step, policies uniform.
template <KnownGame G>
Work backing_up(G game, Both both = Both::no) {
  return [game = std::move(game), both](std::size_t operations) {
    const Frame& frame = game.frame();
    const auto begins = frame.action_begins(Step(), State());
    std::vector<double> policies(begins.back());
    std::vector<double> q(begins.back());
    const PlayerRows<double> profile(begins, policies);
    for (const Player player : all<Player>(frame.num_players())) {
      std::fill(profile[player].begin(), profile[player].end(),
                1.0 / static_cast<double>(profile[player].size()));
    }
    const std::size_t states = frame.num_states(Step(1));
    const std::vector<double> next_values(frame.num_players() * states, 0.5);
    const NextValues next(next_values, states);
    const Stage stage{Step(), State(), profile};
    const ActionValues rows(begins, q);
    std::vector<double> values(frame.num_players());
    Workspace workspace;
    double sum = 0.0;
    for (std::size_t i = 0; i < operations; ++i) {
      if (both == Both::at_once) {
        backup_both(game, stage, next, next, values, rows, workspace);
        sum += values[i % values.size()];
      } else {
        if (both == Both::one_by_one) game.backup_all(stage, next, rows, workspace);
        game.backup_all(stage, next, rows, workspace);
      }
      sum += q[i % q.size()];
    }
    return sum;
  };
}

Work sampling_of(const std::string& name) {
  return std::visit([](auto model) { return sampling(std::move(model)); }, make_game(name));
}

Work backing_up_of(const std::string& name, Both both = Both::no) {
  return std::visit([&](auto model) { return backing_up(std::move(model), both); },
                    make_game(name));
}

/// The law of the dense game as a function: what enumeration without the table's order costs.
CallbackGame as_callback(const DenseGame& game) {
  return {game.frame(), "benchmark",
          [&game](Step h, State s, std::span<const Action> joint, Outcome& outcome) {
            const std::size_t cell = game.frame().cell(h, s);
            const std::size_t offset = joint_offset(game.frame().begins_of_cell(cell), joint);
            for (const Player player : all<Player>(joint.size())) {
              outcome.rewards[player.index()] = game.reward(player, cell, offset);
            }
            game.rows().for_each(cell, offset, [&](State next, double p) {
              outcome.successors.emplace_back(next, p);
            });
          }};
}

}  // namespace

std::vector<Measurement> game() {
  const std::string dense = "random:players=4,actions=3,states=4,horizon=5";
  const DenseGame table = std::get<DenseGame>(make_game(dense));
  std::vector<Measurement> list;
  const auto sample_row = [&](const std::string& label, const std::string& name) {
    list.push_back(measure("step of " + label, sampling_of(name)));
  };
  sample_row("dense, 4 players", dense);
  sample_row("sparse (soccer)", "soccer");
  sample_row("congestion, 10 players", "congestion-10");
  sample_row("congestion, 100 players", "congestion-100");
  sample_row("polymatrix, 10 players", "random:players=10,kind=polymatrix");
  list.push_back(measure("step of callback, 4 players", sampling(as_callback(table))));
  list.push_back(compare("backup, dense 4x3, 4 states", backing_up_of(dense), "by callback",
                         backing_up(as_callback(table))));
  list.push_back(measure("backup, soccer", backing_up_of("soccer")));
  const auto both_row = [&](const std::string& label, const std::string& name) {
    list.push_back(compare("backup_both, " + label, backing_up_of(name, Both::at_once),
                           "two backups", backing_up_of(name, Both::one_by_one)));
  };
  for (const auto& [players, actions] : {std::pair{2, 4}, {3, 4}, {6, 2}}) {
    both_row(fmt::format("dense {}x{}, 4 states", players, actions),
             fmt::format("random:players={},actions={},states=4,horizon=5", players, actions));
  }
  both_row("soccer", "soccer");
  list.push_back(
      measure("backup, polymatrix 10x3", backing_up_of("random:players=10,kind=polymatrix")));
  list.push_back(measure("backup, congestion 10x10", backing_up_of("congestion-10")));
  list.push_back(measure("backup, congestion 100x10", backing_up_of("congestion-100")));
  list.push_back(measure("backup, congestion 1000x10", backing_up_of("congestion-1000")));
  return list;
}

}  // namespace vlearn::bench
