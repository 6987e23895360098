// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run of the engine, watched beside the exact values of what was played.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/nested_bounds.h"
#include "support/theory_run.h"

namespace vlearn::test {

/// The averages that the bandits of a run are measured by: with V_{h+1} as it stood at the
/// beginning of each visit's episode,
///
///   mean       sum_i alpha_t^i E_{a ~ pi^{k^i}} [r + V_{h+1}^{k^i}]
///   fixed      the most that one own action would have had in place of the own policies
///   modified   the most of one answer to each own action
template <KnownGame G>
class LocalRegret {
 public:
  struct Averages {
    double mean = 0.0;
    double fixed = 0.0;
    double modified = 0.0;
    std::vector<double> answers;        // of each own action
    std::vector<double> modifications;  // [own action][answer]
  };

  LocalRegret(const G& game, std::size_t cells)
      : game_(game), cells_(cells), averages_(game.frame().num_players() * cells) {}

  [[nodiscard]] const Averages& at(Player player, std::size_t cell) const {
    return averages_[player.index() * cells_ + cell];
  }

  /// The first visit has alpha = 1.
  void visit(const Stage& stage,
             Player player,
             std::size_t cell,
             std::span<const double> next,
             double alpha) {
    Averages& of = averages_[player.index() * cells_ + cell];
    const std::span<const double> policy = stage.profile[player];
    const std::size_t n = policy.size();
    of.answers.resize(n, 0.0);
    of.modifications.resize(n * n, 0.0);
    std::vector<double> q(n);
    game_.backup(stage, player, next, q, workspace_);
    double mean = 0.0;
    of.modified = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      mean += policy[b] * q[b];
      of.answers[b] += alpha * (q[b] - of.answers[b]);
      double best = 0.0;
      for (std::size_t answer = 0; answer < n; ++answer) {
        double& sum = of.modifications[b * n + answer];
        sum += alpha * (policy[b] * q[answer] - sum);
        best = std::max(best, sum);
      }
      of.modified += best;
    }
    of.mean += alpha * (mean - of.mean);
    of.fixed = *std::max_element(of.answers.begin(), of.answers.end());
  }

 private:
  const G& game_;
  std::size_t cells_;
  std::vector<Averages> averages_;
  Workspace workspace_;
};

/// What was seen in a run. Every visit counts twice for every player: before and after it.
struct Sightings {
  std::uint64_t checks = 0;
  std::uint64_t not_optimistic = 0;   // V < W, for correlated equilibria V < Wc
  std::uint64_t regretful = 0;        // V below what one action (ce: answer) would have had, by V
  std::uint64_t not_pessimistic = 0;  // V_low > U
  std::uint64_t below_clip = 0;       // V < H_h
  std::uint64_t above_zero = 0;       // V_low > 0
  std::vector<double> from_data;      // of each player: mean of (V - V_low)(s_1)
  std::vector<double> from_law;       // of each player: mean of (W - U)(s_1)
  std::vector<double> value;          // of each player: mean of U(s_1)

  [[nodiscard]] double share(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(checks);
  }
};

template <KnownGame G>
double upper_bound(const NestedBounds<G>& nested, Target target, Player player, Step h, State s) {
  return target == Target::ce ? nested.modifying(player, h, s) : nested.deviating(player, h, s);
}

template <class Rule, KnownGame G>
Sightings watch(const G& game,
                const Rule& rule,
                const LearnerOptions& options,
                std::uint64_t seed,
                std::uint64_t episodes) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  SelfPlay<Rule> play(GameRef(game), rule, options, seed);
  NestedBounds<G> nested(game);
  LocalRegret<G> local(game, play.seat().num_cells());
  const AlphaWeights alpha(frame.horizon());
  Sightings seen;
  seen.from_data.resize(m);
  seen.from_law.resize(m);
  seen.value.resize(m);
  const auto check = [&](Step h, State s) {
    const std::size_t cell = play.seat().cell(h, s);
    for (const Player player : all<Player>(m)) {
      const double value = play.table(player).value(cell);
      const double room = value - upper_bound(nested, options.target, player, h, s);
      ++seen.checks;
      if (room < -kRounding) ++seen.not_optimistic;
      const auto& averages = local.at(player, cell);
      const double hindsight = options.target == Target::ce ? averages.modified : averages.fixed;
      if (value < hindsight - kRounding) ++seen.regretful;
      if (value < most(frame, h)) ++seen.below_clip;
      if (!options.pessimistic) continue;
      const double low = play.table(player).low_values()[cell];
      const double room_below = nested.value(player, h, s) - low;
      if (room_below < -kRounding) ++seen.not_pessimistic;
      if (low > 0.0) ++seen.above_zero;
    }
  };
  const double weight = 1.0 / static_cast<double>(episodes);
  std::vector<State> path(frame.horizon());
  for (std::uint64_t k = 0; k < episodes; ++k) {
    for (const Player player : all<Player>(m)) {
      const ValueTable<Rule>& table = play.table(player);
      for (std::size_t s = 0; s < frame.initial().size(); ++s) {
        const double chance = weight * frame.initial()[s];
        const double value = nested.value(player, Step(0), State(s));
        const double low = options.pessimistic ? table.low_values()[s] : 0.0;
        seen.from_data[player.index()] += chance * (table.value(s) - low);
        seen.from_law[player.index()] +=
            chance * (upper_bound(nested, options.target, player, Step(0), State(s)) - value);
        seen.value[player.index()] += chance * value;
      }
    }
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      check(visit.h, visit.s);
      path[visit.h.index()] = visit.s;
      const std::vector<double> policies = profile_of(play, visit.cell);
      const Profile profile(frame.action_begins(visit.h, visit.s), policies);
      nested.visit(visit.h, visit.s, profile);
      for (const Player player : all<Player>(m)) {
        local.visit({visit.h, visit.s, profile}, player, visit.cell,
                    next_values(play, player, visit.h), alpha.rate(play.visits(visit.cell) + 1));
      }
    });
    for (const Step h : all<Step>(frame.horizon())) check(h, path[h.index()]);
  }
  return seen;
}

/// The same with the rule that proves bounds for the target.
template <KnownGame G>
Sightings watch_rigorous(const G& game,
                         const LearnerOptions& options,
                         std::uint64_t seed,
                         std::uint64_t episodes) {
  Sightings seen;
  with_rigorous_rule(game.frame(), options,
                     [&](const auto& rule) { seen = watch(game, rule, options, seed, episodes); });
  return seen;
}

template <KnownGame G>
Sightings watch_proven(const G& game,
                       const LearnerOptions& options,
                       std::uint64_t seed,
                       std::uint64_t episodes) {
  Sightings seen;
  with_proven_rule(game.frame(), options,
                   [&](const auto& rule) { seen = watch(game, rule, options, seed, episodes); });
  return seen;
}

}  // namespace vlearn::test
