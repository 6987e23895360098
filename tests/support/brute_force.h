// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Deviations of tiny games by definition: all deterministic ones, one after the other, each with
// the sum over all that can happen. Nothing is shared between them but the law of what is drawn:
//
//   chance(states, joints)   that the output policy draws these joint actions, when the game goes
//                            through these states
//
// It does not depend on what is played. The deviator plays an action for each of its information
// sets: the states up to now, the others' actions before, and (`recommended`) what was drawn for it
// up to now. Own actions follow from these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/exact_deviation.h"
#include "support/mixture_record.h"
#include "support/plain_game.h"

namespace vlearn::test {

using States = std::vector<State>;                // s_1, ..., s_H
using Joints = std::vector<std::vector<Action>>;  // a_1, ..., a_H
using DrawLaw = std::function<double(const States&, const Joints&)>;

/// The nested mixture from step h on, as it stood at the beginning of episode k: the sum over all
/// sequences of visits. Of the draws of some players alone.
inline double nested_chance(const MixtureRecord& record,
                            const std::vector<Player>& players,
                            const States& states,
                            const Joints& joints,
                            std::size_t step,
                            std::uint64_t k) {
  if (step == states.size()) return 1.0;
  const Step h(step);
  const State s = states[step];
  const std::size_t t = record.visits_before(h, s, k);
  if (t == 0) {
    double product = 1.0;
    for (std::size_t later = step; later < states.size(); ++later) {
      product *= record.chance(players, Step(later), states[later], 0, joints[later]);
    }
    return product;
  }
  double sum = 0.0;
  for (std::size_t i = 1; i <= t; ++i) {
    sum += record.alpha().weight(t, i) * record.chance(players, h, s, i, joints[step]) *
           nested_chance(record, players, states, joints, step + 1, record.episode(h, s, i));
  }
  return sum;
}

inline double nested_chance(const MixtureRecord& record,
                            const std::vector<Player>& players,
                            const StartRule& start,
                            const States& states,
                            const Joints& joints) {
  const std::vector<std::uint64_t> starts = record.starts(start);
  double sum = 0.0;
  for (const std::uint64_t k : starts) {
    sum += nested_chance(record, players, states, joints, 0, k);
  }
  return sum / static_cast<double>(starts.size());
}

/// All players draw the same visits.
inline DrawLaw shared_draws(const MixtureRecord& record, const StartRule& start) {
  return [&record, start](const States& states, const Joints& joints) {
    return nested_chance(record, everybody(record.frame()), start, states, joints);
  };
}

/// Each draws its own.
inline DrawLaw independent_draws(const MixtureRecord& record, const StartRule& start) {
  return [&record, start](const States& states, const Joints& joints) {
    double product = 1.0;
    for (const Player player : everybody(record.frame())) {
      product *= nested_chance(record, {player}, start, states, joints);
    }
    return product;
  };
}

class BruteForce {
 public:
  /// The game must outlive it.
  BruteForce(const DenseGame& game, const DrawLaw& law, Player player, Told told)
      : game_(game), player_(player), told_(told) {
    add_paths(law, {}, {});
  }

  /// What the player gets who plays what is drawn.
  [[nodiscard]] double value() const {
    double sum = 0.0;
    for (const Path& path : paths_) {
      sum += outcome(path, [&](std::size_t h) { return path.joints[h][player_.index()]; });
    }
    return sum;
  }

  /// How many deterministic deviations there are.
  [[nodiscard]] double count() const {
    double product = 1.0;
    for (const std::size_t options : options_) product *= static_cast<double>(options);
    return product;
  }

  /// What best() does: a sum over all paths for each of them.
  [[nodiscard]] double work() const { return count() * static_cast<double>(paths_.size()); }

  /// What the best of them gets.
  [[nodiscard]] double best() const {
    if (work() > double{1 << 26}) throw std::length_error("too many deviations to try");
    double best = -std::numeric_limits<double>::infinity();
    std::vector<std::size_t> deviation(options_.size(), 0);  // an action for each information set
    for (;;) {
      double sum = 0.0;
      for (const Path& path : paths_) {
        sum += outcome(path, [&](std::size_t h) { return Action(deviation[path.sets[h]]); });
      }
      best = std::max(best, sum);
      std::size_t i = 0;
      while (i < deviation.size() && ++deviation[i] == options_[i]) deviation[i++] = 0;
      if (i == deviation.size()) return best;
    }
  }

 private:
  struct Path {
    States states;
    Joints joints;                  // what is drawn
    std::vector<std::size_t> sets;  // the information set at each step
    double chance;                  // of these draws in these states
  };

  void add_paths(const DrawLaw& law, const States& states, const Joints& joints) {
    const Frame& frame = game_.frame();
    if (states.size() == frame.horizon()) {
      Path path{states, joints, {}, law(states, joints)};
      for (std::size_t h = 0; h < states.size(); ++h) path.sets.push_back(set_of(path, h));
      paths_.push_back(std::move(path));
      return;
    }
    const Step h(states.size());
    for (const State s : all<State>(frame.num_states(h))) {
      if (h.index() == 0 && frame.initial()[s.index()] == 0.0) continue;
      for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
        States longer = states;
        longer.push_back(s);
        Joints drawn = joints;
        drawn.push_back(joint);
        add_paths(law, longer, drawn);
      });
    }
  }

  std::size_t set_of(const Path& path, std::size_t step) {
    std::vector<std::size_t> known;
    for (std::size_t h = 0; h <= step; ++h) {
      known.push_back(path.states[h].index());
      for (const Player player : all<Player>(game_.frame().num_players())) {
        const bool own = player.index() == player_.index();
        if (own ? told_ == Told::recommended : h < step) {
          known.push_back(path.joints[h][player.index()].index());
        }
      }
    }
    const auto [place, is_new] = sets_.try_emplace(known, options_.size());
    if (is_new) {
      options_.push_back(game_.frame().num_actions(player_, Step(step), path.states[step]));
    }
    return place->second;
  }

  /// The chance of a path times what it pays, where the player plays plays(h) instead.
  template <class Plays>
  [[nodiscard]] double outcome(const Path& path, const Plays& plays) const {
    const Frame& frame = game_.frame();
    double chance = frame.initial()[path.states[0].index()] * path.chance;
    double paid = 0.0;
    for (const Step h : all<Step>(frame.horizon())) {
      const State s = path.states[h.index()];
      const std::size_t cell = frame.cell(h, s);
      const std::size_t joint =
          joint_offset(frame.action_begins(h, s),
                       with_action(path.joints[h.index()], player_, plays(h.index())));
      paid += game_.reward(player_, cell, joint);
      if (frame.is_last(h)) break;
      double transition = 0.0;
      game_.rows().for_each(cell, joint, [&](State next, double p) {
        if (next == path.states[h.index() + 1]) transition = p;
      });
      chance *= transition;
    }
    return chance * paid;
  }

  const DenseGame& game_;
  Player player_;
  Told told_;
  std::vector<Path> paths_;
  std::map<std::vector<std::size_t>, std::size_t> sets_;
  std::vector<std::size_t> options_;  // own actions at each information set
};

}  // namespace vlearn::test
