// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the nested mixture of V-learning (the paper's Algorithm 3) is worth, and what a deviator can
// make of it, kept up visit by visit from the policies that were played; no history is needed.
//
// From (h, s) on, after n visits, the mixture draws visit i with probability alpha_n^i and goes on
// as it stood at the beginning of that visit's episode. So all numbers of (h, s) are averages with
// the weights alpha_n^i, and the n-th visit, which played the profile pi, does
//
//   U       <- (1 - alpha_n) U       + alpha_n E_{a ~ pi} [r + U_{h+1}]
//   Q(b)    <- (1 - alpha_n) Q(b)    + alpha_n E_{a_-j ~ pi_-j} [r(b, .) + W_{h+1}]
//   C(b,b') <- (1 - alpha_n) C(b,b') + alpha_n pi_j(b) E_{a_-j ~ pi_-j} [r(b', .) + Wc_{h+1}]
//   W = max_b Q(b),   Wc = sum_b max_b' C(b, b')
//
//   U    is the value of the mixture, exactly
//   W    bounds what a player can get who ignores what was drawn for it. It is the value of a
//        deviator who is told, one step late, which visit was drawn.
//   Wc   the same for a player who sees the action drawn for it and may play another
//
// Without visits the mixture plays uniformly to the end. Values are in units of [0, 1] rewards.
//
// Where the mixture begins from an episode k drawn uniformly, U, W and Wc are averaged over k. A
// deviator need not be told k at the first step either, which gives smaller bounds there:
//
//   max_b mean_k Q^k(b),   sum_b max_b' mean_k C^k(b, b')
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/game/concepts.h"

namespace vlearn::test {

template <KnownGame G>
class NestedBounds {
 public:
  explicit NestedBounds(const G& game) : NestedBounds(game, game.frame().horizon()) {}
  /// c of the output weights.
  NestedBounds(const G& game, std::uint64_t c)
      : game_(game), alpha_(c), sums_(game.frame().num_players(), num_starts()) {
    const Frame& frame = game_.frame();
    for (const Step h : all<Step>(frame.horizon())) {
      steps_.emplace_back(frame.num_players(), frame.num_states(h));
    }
    // A weight of 1 erases whatever was there: uniform play is a visit of no number.
    std::vector<double> uniform(frame.max_profile_size());
    for (std::size_t h = frame.horizon(); h-- > 0;) {
      for (const State s : all<State>(frame.num_states(Step(h)))) {
        const PlayerRows<double> rows(frame.action_begins(Step(h), s), uniform);
        for (const Player player : all<Player>(frame.num_players())) {
          const std::span<double> row = rows[player];
          std::fill(row.begin(), row.end(), 1.0 / static_cast<double>(row.size()));
        }
        average({Step(h), s, rows}, 1.0);
      }
    }
  }

  /// All visits of an episode in the order of its steps: so the numbers of step h + 1 are still
  /// those of the beginning of the episode when step h needs them.
  void visit(Step h, State s, const Profile& profile) {
    const std::uint64_t n = ++steps_[h.index()].visits[s.index()];
    average({h, s, profile}, alpha_.rate(n));
  }

  /// U.
  [[nodiscard]] double value(Player player, Step h, State s) const {
    return at(player, h, s).value;
  }
  /// W.
  [[nodiscard]] double deviating(Player player, Step h, State s) const {
    return at(player, h, s).deviating;
  }
  /// Wc.
  [[nodiscard]] double modifying(Player player, Step h, State s) const {
    return at(player, h, s).modifying;
  }
  /// Q(b).
  [[nodiscard]] double answer(Player player, Step h, State s, Action b) const {
    return at(player, h, s).answers[b.index()];
  }
  /// C(b, b').
  [[nodiscard]] double modification(Player player, Step h, State s, Action b, Action other) const {
    const Bounds& bounds = at(player, h, s);
    return bounds.modifications[b.index() * bounds.answers.size() + other.index()];
  }

  /// U, W and Wc over the law of the first state.
  struct FromStart {
    double value = 0.0;
    double deviating = 0.0;
    double modifying = 0.0;
  };
  /// Of the mixture that begins from now.
  [[nodiscard]] FromStart from_now(Player player) const {
    return from_start([&](State s) { return three_of(at(player, Step(0), s)); });
  }

  /// To be called at the beginning of all episodes that a uniform start can begin from.
  void add_start() {
    ++sums_.visits.front();
    for (std::size_t x = 0; x < sums_.bounds.size(); ++x) {
      const Bounds& now = steps_.front().bounds[x];
      Bounds& sum = sums_.bounds[x];
      sum.value += now.value;
      sum.deviating += now.deviating;
      sum.modifying += now.modifying;
      add(sum.answers, now.answers);
      add(sum.modifications, now.modifications);
    }
  }
  /// Of the mixture that begins from any of them: what a deviator can make of it who is told k,
  [[nodiscard]] FromStart from_uniform_told(Player player) const {
    const auto count = static_cast<double>(sums_.visits.front());
    return from_start([&](State s) {
      const Bounds& sum = sums_.bounds[player.index() * sums_.states + s.index()];
      return FromStart{sum.value / count, sum.deviating / count, sum.modifying / count};
    });
  }
  /// and who is not.
  [[nodiscard]] FromStart from_uniform(Player player) const {
    const auto count = static_cast<double>(sums_.visits.front());
    return from_start([&](State s) {
      Bounds mean = sums_.bounds[player.index() * sums_.states + s.index()];
      mean.value /= count;
      for (double& q : mean.answers) q /= count;
      for (double& c : mean.modifications) c /= count;
      take_maxima(mean);
      return three_of(mean);
    });
  }

 private:
  struct Bounds {
    double value = 0.0;
    double deviating = 0.0;
    double modifying = 0.0;
    std::vector<double> answers;        // Q
    std::vector<double> modifications;  // C: [action drawn][action played]
  };
  struct StepTables {
    StepTables(std::size_t num_players, std::size_t num_states)
        : states(num_states), visits(num_states, 0), bounds(num_players * num_states) {}
    std::size_t states;
    std::vector<std::uint64_t> visits;
    std::vector<Bounds> bounds;  // [player][state]
  };

  [[nodiscard]] std::size_t num_starts() const { return game_.frame().num_states(Step(0)); }
  static FromStart three_of(const Bounds& bounds) {
    return {bounds.value, bounds.deviating, bounds.modifying};
  }
  static void add(std::vector<double>& sums, const std::vector<double>& more) {
    sums.resize(more.size(), 0.0);
    for (std::size_t x = 0; x < more.size(); ++x) sums[x] += more[x];
  }
  /// W and Wc from Q and C.
  static void take_maxima(Bounds& bounds) {
    const std::size_t n = bounds.answers.size();
    bounds.deviating = *std::max_element(bounds.answers.begin(), bounds.answers.end());
    bounds.modifying = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      const std::span<double> row = std::span(bounds.modifications).subspan(b * n, n);
      bounds.modifying += *std::max_element(row.begin(), row.end());
    }
  }
  template <class OfState>
  [[nodiscard]] FromStart from_start(const OfState& of_state) const {
    FromStart sum;
    for (const State s : all<State>(num_starts())) {
      const double chance = game_.frame().initial()[s.index()];
      const FromStart from = of_state(s);
      sum.value += chance * from.value;
      sum.deviating += chance * from.deviating;
      sum.modifying += chance * from.modifying;
    }
    return sum;
  }

  [[nodiscard]] const Bounds& at(Player player, Step h, State s) const {
    const StepTables& step = steps_[h.index()];
    return step.bounds[player.index() * step.states + s.index()];
  }

  /// E_{a_-j} [r(b, .) + next] for each own action b, where `what` is one of the three values.
  std::vector<double> backup(const Stage& stage, Player player, double Bounds::*what) {
    std::vector<double> next;
    if (!game_.frame().is_last(stage.h)) {
      const Step after = stage.h.next();
      for (const State s : all<State>(steps_[after.index()].states)) {
        next.push_back(at(player, after, s).*what);
      }
    }
    std::vector<double> q(stage.profile[player].size());
    game_.backup(stage, player, next, q, workspace_);
    return q;
  }

  void average(const Stage& stage, double alpha) {
    const auto move = [alpha](double& mean, double x) { mean = (1.0 - alpha) * mean + alpha * x; };
    StepTables& step = steps_[stage.h.index()];
    for (const Player player : all<Player>(game_.frame().num_players())) {
      Bounds& bounds = step.bounds[player.index() * step.states + stage.s.index()];
      const std::span<const double> policy = stage.profile[player];
      const std::size_t n = policy.size();
      bounds.answers.resize(n, 0.0);
      bounds.modifications.resize(n * n, 0.0);

      const std::vector<double> following = backup(stage, player, &Bounds::value);
      double value = 0.0;
      for (std::size_t b = 0; b < n; ++b) value += policy[b] * following[b];
      move(bounds.value, value);

      const std::vector<double> deviating = backup(stage, player, &Bounds::deviating);
      for (std::size_t b = 0; b < n; ++b) move(bounds.answers[b], deviating[b]);

      const std::vector<double> modifying = backup(stage, player, &Bounds::modifying);
      for (std::size_t b = 0; b < n; ++b) {
        for (std::size_t other = 0; other < n; ++other) {
          move(bounds.modifications[b * n + other], policy[b] * modifying[other]);
        }
      }
      take_maxima(bounds);
    }
  }

  const G& game_;
  AlphaWeights alpha_;
  std::vector<StepTables> steps_;
  StepTables sums_;  // of the first step over all starts; their number is the first one's visits
  Workspace workspace_;
};

}  // namespace vlearn::test
