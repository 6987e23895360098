// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the output policies of a run are made of: for each (step, state) the visits, numbered from 1
// on, with their episodes and what everybody played. Visit 0 stands for "never been here": uniform
// play.
//
// Episodes count from 0; "k" is the beginning of episode k, so k = K is the end of training.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/recorded_run.h"
#include "vlearn/core/alpha.h"
#include "vlearn/game/tabular.h"
#include "vlearn/policy/execute.h"

namespace vlearn::test {

class MixtureRecord {
 public:
  /// Game and run must outlive it. A taper is of Markov outputs alone.
  MixtureRecord(const DenseGame& game, const RecordedRun& run, const OutputWeights& weights)
      : game_(game),
        run_(run),
        seat_(seat_of(game.frame(), Player(0))),
        alpha_(weights.c()),
        markov_weights_(weights) {
    for (const Player player : all<Player>(frame().num_players())) {
      std::vector<std::vector<double>>& policies = uniform_.emplace_back();
      for (const std::uint32_t n : seat_of(frame(), player).num_actions) {
        policies.emplace_back(n, 1.0 / static_cast<double>(n));
      }
    }
    for (const State s : all<State>(frame().num_states(Step(0)))) episodes_ += visits(Step(0), s);
  }

  [[nodiscard]] const DenseGame& game() const { return game_; }
  [[nodiscard]] const Frame& frame() const { return game_.frame(); }
  [[nodiscard]] const AlphaWeights& alpha() const { return alpha_; }
  [[nodiscard]] const OutputWeights& markov_weights() const { return markov_weights_; }
  /// K.
  [[nodiscard]] std::uint64_t episodes() const { return episodes_; }

  [[nodiscard]] std::size_t visits(Step h, State s) const { return of(Player(0), h, s).size(); }
  /// N^k_h(s).
  [[nodiscard]] std::size_t visits_before(Step h, State s, std::uint64_t k) const {
    const std::vector<RecordedVisit>& all_visits = of(Player(0), h, s);
    const auto before = [](const RecordedVisit& visit, std::uint64_t end) {
      return visit.episode < end;
    };
    const auto end = std::lower_bound(all_visits.begin(), all_visits.end(), k, before);
    return static_cast<std::size_t>(end - all_visits.begin());
  }
  /// k^i.
  [[nodiscard]] std::uint64_t episode(Step h, State s, std::size_t i) const {
    return of(Player(0), h, s)[i - 1].episode;
  }
  [[nodiscard]] std::span<const double> policy(Player player,
                                               Step h,
                                               State s,
                                               std::size_t i) const {
    if (i == 0) return uniform_[player.index()][seat_.cell(h, s)];
    return of(player, h, s)[i - 1].policy;
  }
  /// The chance of a joint action, or of a part of it, at visit i.
  [[nodiscard]] double chance(std::span<const Player> players,
                              Step h,
                              State s,
                              std::size_t i,
                              std::span<const Action> joint) const {
    double product = 1.0;
    for (const Player player : players) {
      product *= policy(player, h, s, i)[joint[player.index()].index()];
    }
    return product;
  }

  /// The episodes that an execution may begin from, all equally likely.
  [[nodiscard]] std::vector<std::uint64_t> starts(const StartRule& start) const {
    if (start.kind == StartRule::Kind::last) return {episodes_};
    if (start.kind == StartRule::Kind::at) return {start.episode - 1};
    std::vector<std::uint64_t> starts;
    for (std::uint64_t k = 0; k < episodes_; ++k) starts.push_back(k);
    return starts;
  }

 private:
  [[nodiscard]] const std::vector<RecordedVisit>& of(Player player, Step h, State s) const {
    return run_.visits[player.index()][seat_.cell(h, s)];
  }

  const DenseGame& game_;
  const RecordedRun& run_;
  Seat seat_;
  AlphaWeights alpha_;
  OutputWeights markov_weights_;
  std::uint64_t episodes_ = 0;
  std::vector<std::vector<std::vector<double>>> uniform_;  // [player][cell]
};

/// Calls visit(h, s, profile) for everything played in the episodes [begin, end), in its order.
template <class Visit>
void for_each_visit(const MixtureRecord& record,
                    std::uint64_t begin,
                    std::uint64_t end,
                    const Visit& visit) {
  const Frame& frame = record.frame();
  for (std::uint64_t k = begin; k < end; ++k) {
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        const std::size_t i = record.visits_before(h, s, k + 1);
        if (i == record.visits_before(h, s, k)) continue;
        std::vector<double> profile;
        for (const Player player : all<Player>(frame.num_players())) {
          const std::span<const double> policy = record.policy(player, h, s, i);
          profile.insert(profile.end(), policy.begin(), policy.end());
        }
        visit(h, s, Profile(frame.action_begins(h, s), profile));
      }
    }
  }
}

/// Everybody, and everybody but one.
inline std::vector<Player> everybody(const Frame& frame) {
  std::vector<Player> players;
  for (const Player player : all<Player>(frame.num_players())) players.push_back(player);
  return players;
}
inline std::vector<Player> others_of(const Frame& frame, Player left_out) {
  std::vector<Player> players;
  for (const Player player : all<Player>(frame.num_players())) {
    if (player.index() != left_out.index()) players.push_back(player);
  }
  return players;
}

/// The joint action with another one of player's.
inline std::vector<Action> with_action(std::span<const Action> joint, Player player, Action b) {
  std::vector<Action> changed(joint.begin(), joint.end());
  changed[player.index()] = b;
  return changed;
}

}  // namespace vlearn::test
