// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The best that one player can do against the nested mixture, exactly. What the deviator knows are
// the states, everybody's actions, and (`recommended`) the actions that were drawn for it, before
// it plays; all of it is remembered. What it does not know is the visit i that the mixture has
// drawn. So it plays a decision problem whose hidden state is i, and its belief is
//
//   x(i)   the chance of everything that it has seen, but for the draws of the game and what it did
//          itself, together with visit i of (h, s); i = 0: the mixture has come to a state that was
//          new, and plays uniformly to the end
//
// A belief does not depend on what the deviator did, so
//
//   V(h, s, x) = sum_b max_b' sum_{a_-j} ( |y| r_j(b', a_-j) + sum_s' P(s' | b', a_-j) V(h+1, s',
//   x') )
//
// where y(i) = x(i) pi^i_j(b) pi^i_-j(a_-j), and x' is y after the mixture's next draw at s'. A
// deviator who sees no recommendation has no sum over b and no factor pi^i_j(b).
//
// Players who draw their visits independently of each other: with two of them this is the best
// response too, since nothing of the deviator's own draws enters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "support/mixture_record.h"
#include "support/plain_game.h"

namespace vlearn::test {

/// What a deviator is told before it plays.
enum class Told : std::uint8_t {
  nothing,      ///< cce, nash, optimal
  recommended,  ///< ce: the action that was drawn for it
};

class ExactDeviation {
 public:
  /// The record must outlive it.
  ExactDeviation(const MixtureRecord& record, Player player, Told told)
      : record_(record), player_(player), told_(told) {
    const Frame& frame = record.frame();
    std::size_t most = 0;
    for (const Step h : all<Step>(frame.horizon())) {
      cells_.emplace_back();
      for (const State s : all<State>(frame.num_states(h))) {
        cells_.back().push_back(tables_of(h, s));
        most = std::max(most, record.visits(h, s));
      }
    }
    for (std::size_t i = 0; i <= most + 1; ++i) {
      rates_.push_back(i == 0 ? 1.0 : record.alpha().rate(i));
    }
  }

  /// In units of [0, 1] rewards.
  [[nodiscard]] double value(const StartRule& start) const {
    const std::vector<std::uint64_t> starts = record_.starts(start);
    const std::span<const double> initial = record_.frame().initial();
    double sum = 0.0;
    for (std::size_t s = 0; s < initial.size(); ++s) {
      std::vector<double> visits(record_.visits(Step(0), State(s)) + 1, 0.0);
      for (const std::uint64_t k : starts) {
        visits[record_.visits_before(Step(0), State(s), k)] +=
            1.0 / static_cast<double>(starts.size());
      }
      sum += initial[s] * best(Step(0), State(s), draw(std::move(visits)));
    }
    return sum;
  }

 private:
  struct Successor {
    std::size_t state;
    double chance;
  };
  /// What may be seen of one draw of the mixture: the others' actions, and the own recommendation.
  struct Seen {
    std::vector<double> chance;  // [i]
    /// Of each own action.
    std::vector<double> rewards;
    std::vector<std::vector<Successor>> next;
  };
  struct Tables {
    std::size_t actions;                           // own
    std::vector<std::vector<Seen>> seen;           // [recommendation][others' actions]
    std::vector<std::vector<std::size_t>> visits;  // [s'][i]: N^{k^i}_{h+1}(s')
  };

  [[nodiscard]] Tables tables_of(Step h, State s) const {
    const Frame& frame = record_.frame();
    const DenseGame& game = record_.game();
    const std::size_t cell = frame.cell(h, s);
    const std::size_t n = record_.visits(h, s);
    const bool sees = told_ == Told::recommended;
    const std::vector<Player> drawn = sees ? everybody(frame) : others_of(frame, player_);
    Tables tables{frame.num_actions(player_, h, s), {}, {}};
    tables.seen.resize(sees ? tables.actions : 1);
    for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
      const std::size_t own = joint[player_.index()].index();
      if (!sees && own > 0) return;
      Seen& seen = tables.seen[own].emplace_back();
      for (std::size_t i = 0; i <= n; ++i)
        seen.chance.push_back(record_.chance(drawn, h, s, i, joint));
      for (std::size_t b = 0; b < tables.actions; ++b) {
        const std::size_t played =
            joint_offset(frame.action_begins(h, s), with_action(joint, player_, Action(b)));
        seen.rewards.push_back(game.reward(player_, cell, played));
        std::vector<Successor>& next = seen.next.emplace_back();
        if (frame.is_last(h)) continue;
        game.rows().for_each(cell, played, [&](State state, double chance) {
          next.push_back({state.index(), chance});
        });
      }
    });
    if (frame.is_last(h)) return tables;
    for (const State next : all<State>(frame.num_states(h.next()))) {
      std::vector<std::size_t>& visits = tables.visits.emplace_back(1, 0);
      for (std::size_t i = 1; i <= n; ++i) {
        visits.push_back(record_.visits_before(h.next(), next, record_.episode(h, s, i)));
      }
    }
    return tables;
  }

  /// From the chances of n visits to those of visit i drawn among n: sum_{n >= i} alpha_n^i z(n).
  [[nodiscard]] std::vector<double> draw(std::vector<double> chances) const {
    double later = 0.0;  // sum_{n >= i} prod_{i < l <= n} (1 - alpha_l) z(n)
    for (std::size_t i = chances.size(); i-- > 1;) {
      later = chances[i] + (1.0 - rates_[i + 1]) * later;
      chances[i] = rates_[i] * later;
    }
    return chances;
  }

  /// V(h, s, x); x may be shorter than all visits: those beyond have no chance.
  [[nodiscard]] double best(Step h, State s, const std::vector<double>& x) const {
    const Tables& tables = cells_[h.index()][s.index()];
    double sum = 0.0;
    for (const std::vector<Seen>& of_recommendation : tables.seen) {
      std::vector<double> q(tables.actions, 0.0);
      for (const Seen& seen : of_recommendation) {
        const double mass = std::inner_product(x.begin(), x.end(), seen.chance.begin(), 0.0);
        if (mass == 0.0) continue;
        const std::vector<double> next = after(h, s, x, seen);
        for (std::size_t b = 0; b < tables.actions; ++b) {
          q[b] += mass * seen.rewards[b];
          for (const Successor& to : seen.next[b]) q[b] += to.chance * next[to.state];
        }
      }
      sum += *std::max_element(q.begin(), q.end());
    }
    return sum;
  }

  /// V(h + 1, s', x') for all s' that some own action leads to.
  [[nodiscard]] std::vector<double> after(Step h,
                                          State s,
                                          const std::vector<double>& x,
                                          const Seen& seen) const {
    const Tables& tables = cells_[h.index()][s.index()];
    std::vector<double> values;
    for (std::size_t to = 0; to < tables.visits.size(); ++to) {
      values.push_back(0.0);
      const auto leads_there = [&](const std::vector<Successor>& row) {
        return std::any_of(row.begin(), row.end(),
                           [&](const Successor& n) { return n.state == to; });
      };
      if (std::none_of(seen.next.begin(), seen.next.end(), leads_there)) continue;
      // Later visits come from later episodes: the last one has the most visits before it.
      const std::vector<std::size_t>& visits = tables.visits[to];
      std::vector<double> chances(visits[x.size() - 1] + 1, 0.0);
      for (std::size_t i = 0; i < x.size(); ++i) chances[visits[i]] += x[i] * seen.chance[i];
      values.back() = best(h.next(), State(to), draw(std::move(chances)));
    }
    return values;
  }

  const MixtureRecord& record_;
  Player player_;
  Told told_;
  std::vector<std::vector<Tables>> cells_;  // [step][state]
  std::vector<double> rates_;               // alpha_i
};

}  // namespace vlearn::test
