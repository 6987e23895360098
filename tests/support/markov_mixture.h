// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Markov correlated policies, written out: at each (h, s) the chance of every joint action. What
// they are worth and the best that a deviator makes of them, by backward induction and by trying
// all deterministic Markov deviations. Since every step is drawn anew, what happened before tells a
// deviator nothing, and no other deviations are better.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/exact_deviation.h"
#include "support/mixture_record.h"
#include "support/plain_game.h"

namespace vlearn::test {

/// [step][state][joint action].
using MarkovMixture = std::vector<std::vector<std::vector<double>>>;

/// What `players` play together: sum_i alpha_N^i prod_j pi^i_j(a_j) over all N visits of (h, s).
inline double mean_chance(const MixtureRecord& record,
                          const std::vector<Player>& players,
                          Step h,
                          State s,
                          const std::vector<Action>& joint) {
  const std::size_t n = record.visits(h, s);
  if (n == 0) return record.chance(players, h, s, 0, joint);
  double sum = 0.0;
  for (std::size_t i = 1; i <= n; ++i) {
    sum += record.markov_weights().weight(n, i) * record.chance(players, h, s, i, joint);
  }
  return sum;
}

template <class Chance>
MarkovMixture markov_of(const Frame& frame, const Chance& chance) {
  MarkovMixture mixture;
  for (const Step h : all<Step>(frame.horizon())) {
    mixture.emplace_back();
    for (const State s : all<State>(frame.num_states(h))) {
      std::vector<double>& chances = mixture.back().emplace_back();
      for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
        chances.push_back(chance(h, s, joint));
      });
    }
  }
  return mixture;
}

/// All players draw the same visit, anew at every step.
inline MarkovMixture markov_mixture(const MixtureRecord& record) {
  const std::vector<Player> players = everybody(record.frame());
  return markov_of(record.frame(), [&](Step h, State s, const std::vector<Action>& joint) {
    return mean_chance(record, players, h, s, joint);
  });
}

/// Each draws its own: the product of the averaged policies.
inline MarkovMixture marginal_mixture(const MixtureRecord& record) {
  return markov_of(record.frame(), [&](Step h, State s, const std::vector<Action>& joint) {
    double product = 1.0;
    for (const Player player : everybody(record.frame())) {
      product *= mean_chance(record, {player}, h, s, joint);
    }
    return product;
  });
}

/// A player in a game where this is the policy. All values in units of [0, 1] rewards.
class MarkovPlayer {
 public:
  /// Game and mixture must outlive it.
  MarkovPlayer(const DenseGame& game, const MarkovMixture& mixture, Player player)
      : game_(game), mixture_(mixture), player_(player) {}

  /// Who follows.
  [[nodiscard]] double value() const {
    return backward([](const std::vector<std::vector<double>>& worth) {
      double sum = 0.0;
      for (std::size_t b = 0; b < worth.size(); ++b) sum += worth[b][b];
      return sum;
    });
  }
  /// Who deviates as well as possible.
  [[nodiscard]] double best(Told told) const {
    return backward([told](const std::vector<std::vector<double>>& worth) {
      const auto best = [](const std::vector<double>& row) {
        return *std::max_element(row.begin(), row.end());
      };
      double sum = 0.0;
      std::vector<double> whatever_is_drawn(worth.size(), 0.0);
      for (const std::vector<double>& row : worth) {
        sum += best(row);
        for (std::size_t b = 0; b < row.size(); ++b) whatever_is_drawn[b] += row[b];
      }
      return told == Told::recommended ? sum : best(whatever_is_drawn);
    });
  }

  /// How many deviations are deterministic and Markov.
  [[nodiscard]] double count(Told told) const {
    const Frame& frame = game_.frame();
    double product = 1.0;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        const std::size_t n = frame.num_actions(player_, h, s);
        for (std::size_t b = 0; b < (told == Told::recommended ? n : 1); ++b) {
          product *= static_cast<double>(n);
        }
      }
    }
    return product;
  }

  /// What the best of them gets.
  [[nodiscard]] double best_of_all(Told told) const {
    const Frame& frame = game_.frame();
    // What is played at (h, s) where b was drawn: answers[first[h][s] + b].
    std::vector<std::vector<std::size_t>> first;
    std::vector<std::size_t> options;
    for (const Step h : all<Step>(frame.horizon())) {
      first.emplace_back();
      for (const State s : all<State>(frame.num_states(h))) {
        first.back().push_back(options.size());
        const std::size_t n = frame.num_actions(player_, h, s);
        options.insert(options.end(), told == Told::recommended ? n : 1, n);
      }
    }
    if (count(told) > double{1 << 20}) throw std::length_error("too many deviations to try");
    std::vector<std::size_t> answers(options.size(), 0);
    double best = -std::numeric_limits<double>::infinity();
    for (;;) {
      best = std::max(best, forward([&](Step h, State s, Action drawn) {
                        const std::size_t b = told == Told::recommended ? drawn.index() : 0;
                        return Action(answers[first[h.index()][s.index()] + b]);
                      }));
      std::size_t i = 0;
      while (i < answers.size() && ++answers[i] == options[i]) answers[i++] = 0;
      if (i == answers.size()) return best;
    }
  }

  /// Who plays answer(h, s, b) where b was drawn: the chances of all states, step by step.
  template <class Answer>
  [[nodiscard]] double forward(const Answer& answer) const {
    const Frame& frame = game_.frame();
    std::vector<double> reach(frame.initial().begin(), frame.initial().end());
    double paid = 0.0;
    for (const Step h : all<Step>(frame.horizon())) {
      std::vector<double> after(frame.is_last(h) ? 0 : frame.num_states(h.next()), 0.0);
      for (std::size_t s = 0; s < reach.size(); ++s) {
        for_each_draw(h, State(s), [&](const std::vector<Action>& drawn, double chance) {
          const Action b = answer(h, State(s), drawn[player_.index()]);
          const std::size_t cell = frame.cell(h, State(s));
          const std::size_t joint =
              joint_offset(frame.action_begins(h, State(s)), with_action(drawn, player_, b));
          paid += reach[s] * chance * game_.reward(player_, cell, joint);
          if (after.empty()) return;
          game_.rows().for_each(
              cell, joint, [&](State to, double p) { after[to.index()] += reach[s] * chance * p; });
        });
      }
      reach = std::move(after);
    }
    return paid;
  }

 private:
  template <class See>
  void for_each_draw(Step h, State s, const See& see) const {
    std::size_t index = 0;
    for_each_joint(game_.frame(), h, s, [&](const std::vector<Action>& joint) {
      see(joint, mixture_[h.index()][s.index()][index++]);
    });
  }

  /// value(worth) at every (h, s), worth[b][b']: the chance that b is drawn, times what b' earns
  /// then.
  template <class Value>
  [[nodiscard]] double backward(const Value& value) const {
    const Frame& frame = game_.frame();
    std::vector<double> next;
    for (std::size_t step = frame.horizon(); step-- > 0;) {
      const Step h(step);
      std::vector<double> now;
      for (const State s : all<State>(frame.num_states(h))) {
        const std::size_t n = frame.num_actions(player_, h, s);
        const std::size_t cell = frame.cell(h, s);
        std::vector<std::vector<double>> worth(n, std::vector<double>(n, 0.0));
        for_each_draw(h, s, [&](const std::vector<Action>& drawn, double chance) {
          for (std::size_t b = 0; b < n; ++b) {
            const std::size_t joint =
                joint_offset(frame.action_begins(h, s), with_action(drawn, player_, Action(b)));
            double& sum = worth[drawn[player_.index()].index()][b];
            sum += chance * game_.reward(player_, cell, joint);
            if (next.empty()) continue;
            game_.rows().for_each(
                cell, joint, [&](State to, double p) { sum += chance * p * next[to.index()]; });
          }
        });
        now.push_back(value(worth));
      }
      next = std::move(now);
    }
    double sum = 0.0;
    for (std::size_t s = 0; s < next.size(); ++s) sum += frame.initial()[s] * next[s];
    return sum;
  }

  const DenseGame& game_;
  const MarkovMixture& mixture_;
  Player player_;
};

}  // namespace vlearn::test
