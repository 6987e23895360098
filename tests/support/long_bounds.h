// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The recursions of nested_bounds.h in more digits than certificates have, from the law as it is
// written and policies that sum to one: what the rounding of a certificate is measured by.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "support/plain_game.h"

namespace vlearn::test {

class LongBounds {
 public:
  /// Plays player j's action witness(j, h, s, b) where b was drawn for it.
  using Witness = std::function<std::size_t(Player, Step, State, std::size_t)>;

  /// What a deviator gets who ignores what was drawn (0), or sees it (1), what one gets who follows
  /// (2), and what the witness gets (3).
  static constexpr std::size_t kKinds = 4;
  using Numbers = std::array<long double, kKinds>;
  static constexpr std::size_t kIgnore = 0;
  static constexpr std::size_t kModify = 1;
  static constexpr std::size_t kFollow = 2;
  static constexpr std::size_t kWitness = 3;

  LongBounds(const Frame& frame, const PlainLaw& law, std::uint64_t c, Witness witness)
      : frame_(frame), c_(c), witness_(std::move(witness)) {
    for (const Step h : all<Step>(frame.horizon())) {
      steps_.emplace_back();
      for (const State s : all<State>(frame.num_states(h))) {
        Cell& cell = steps_.back().emplace_back();
        for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
          cell.outcomes.emplace_back(joint, law(h, s, joint));
        });
        for (const Player player : all<Player>(frame.num_players())) {
          cell.players.emplace_back().resize(frame.num_actions(player, h, s));
        }
      }
    }
    sums_ = steps_.front();
    for (std::size_t h = frame.horizon(); h-- > 0;) {
      for (const State s : all<State>(frame.num_states(Step(h)))) {
        std::vector<double> uniform;
        for (const Player player : all<Player>(frame.num_players())) {
          uniform.resize(uniform.size() + frame.num_actions(player, Step(h), s), 1.0);
        }
        average(Step(h), s, uniform, 1.0L);
      }
    }
  }

  /// At the beginning of each episode that a uniform start can begin from.
  void add_start() {
    ++starts_;
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      for (std::size_t j = 0; j < frame_.num_players(); ++j) {
        sums_[s].players[j].add(steps_.front()[s].players[j]);
      }
    }
  }
  void visit(Step h, State s, std::span<const double> policies) {
    const std::uint64_t n = ++steps_[h.index()][s.index()].visits;
    average(h, s, policies, static_cast<long double>(c_ + 1) / static_cast<long double>(c_ + n));
  }

  [[nodiscard]] Numbers from_now(Player player) const {
    return over_starts([&](std::size_t s) { return steps_.front()[s].players[player.index()]; });
  }
  [[nodiscard]] Numbers from_uniform(Player player) const {
    return over_starts([&](std::size_t s) {
      OfPlayer mean = sums_[s].players[player.index()];
      mean.divide(static_cast<long double>(starts_));
      return mean;
    });
  }

 private:
  struct OfPlayer {
    Numbers numbers = {};
    std::vector<long double> answers;        // Q
    std::vector<long double> modifications;  // C

    void resize(std::size_t n) {
      answers.resize(n, 0.0L);
      modifications.resize(n * n, 0.0L);
    }
    void add(const OfPlayer& other) {
      const auto plus = [](auto& sums, const auto& more) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
      };
      plus(numbers, other.numbers);
      plus(answers, other.answers);
      plus(modifications, other.modifications);
    }
    void divide(long double by) {
      for (long double& x : numbers) x /= by;
      for (long double& x : answers) x /= by;
      for (long double& x : modifications) x /= by;
      take_maxima();
    }
    void take_maxima() {
      const auto n = static_cast<std::ptrdiff_t>(answers.size());
      numbers[kIgnore] = *std::max_element(answers.begin(), answers.end());
      numbers[kModify] = 0.0L;
      for (auto row = modifications.begin(); row != modifications.end(); row += n) {
        numbers[kModify] += *std::max_element(row, row + n);
      }
    }
  };
  struct Cell {
    std::uint64_t visits = 0;
    std::vector<std::pair<std::vector<Action>, PlainOutcome>> outcomes;
    std::vector<OfPlayer> players;
  };

  template <class Of>
  [[nodiscard]] Numbers over_starts(const Of& of) const {
    Numbers result = {};
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      const OfPlayer from = of(s);
      for (std::size_t i = 0; i < kKinds; ++i) {
        result[i] += static_cast<long double>(frame_.initial()[s]) * from.numbers[i];
      }
    }
    return result;
  }

  void average(Step h, State s, std::span<const double> policies, long double alpha) {
    Cell& cell = steps_[h.index()][s.index()];
    const std::size_t m = frame_.num_players();
    std::vector<std::vector<long double>> profile(m);
    std::size_t begin = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t n = cell.players[j].answers.size();
      profile[j].assign(policies.begin() + static_cast<std::ptrdiff_t>(begin),
                        policies.begin() + static_cast<std::ptrdiff_t>(begin + n));
      const long double sum = std::accumulate(profile[j].begin(), profile[j].end(), 0.0L);
      for (long double& p : profile[j]) p /= sum;
      begin += n;
    }
    for (std::size_t j = 0; j < m; ++j) {
      OfPlayer& own = cell.players[j];
      const std::size_t n = own.answers.size();
      std::vector<Numbers> q(n, Numbers{});
      for (const auto& [joint, outcome] : cell.outcomes) {
        long double weight = 1.0L;
        for (std::size_t i = 0; i < m; ++i) {
          if (i != j) weight *= profile[i][joint[i].index()];
        }
        for (std::size_t kind = 0; kind < kKinds; ++kind) {
          long double value = outcome.rewards[j];
          for (std::size_t to = 0; !frame_.is_last(h) && to < outcome.next.size(); ++to) {
            value += outcome.next[to] * steps_[h.index() + 1][to].players[j].numbers[kind];
          }
          q[joint[j].index()][kind] += weight * value;
        }
      }
      const auto move = [alpha](long double& mean, long double x) { mean += alpha * (x - mean); };
      long double follow = 0.0L;
      long double witness = 0.0L;
      for (std::size_t b = 0; b < n; ++b) {
        follow += profile[j][b] * q[b][kFollow];
        if (witness_) witness += profile[j][b] * q[witness_(Player(j), h, s, b)][kWitness];
        move(own.answers[b], q[b][kIgnore]);
        for (std::size_t other = 0; other < n; ++other) {
          move(own.modifications[b * n + other], profile[j][b] * q[other][kModify]);
        }
      }
      move(own.numbers[kFollow], follow);
      move(own.numbers[kWitness], witness);
      own.take_maxima();
    }
  }

  const Frame& frame_;
  std::uint64_t c_;
  Witness witness_;
  std::vector<std::vector<Cell>> steps_;  // [step][state]
  std::vector<Cell> sums_;                // of the first step, over starts
  std::uint64_t starts_ = 0;
};

}  // namespace vlearn::test
