// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// V-learning, one player's view (the paper's Algorithm 1). A learner sees states, its own actions
// and its own rewards. It does not see the game, the others, or their rewards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/agent/options.h"
#include "vlearn/policy/seat.h"
#include "vlearn/agent/visit_clock.h"
#include "vlearn/bandit/bank.h"
#include "vlearn/core/random.h"

namespace vlearn {

/// What a visit changed.
struct Learned {
  Increment increment = {};  ///< what the rule added: a history keeps it
  bool value_fell = false;   ///< V_h(s) is strictly less than before
};

/// One visit as its player sees it.
struct Experience {
  Step h;
  std::size_t cell = 0;  ///< of (h, s_h)
  Action action;
  double reward = 0.0;        ///< in [0, 1]
  std::size_t next_cell = 0;  ///< of (h + 1, s_{h+1}); the number of cells after the last step
};

/// The tables of one player: V, V-tilde, and the bandits. Who keeps the counters is not said here:
/// VLearner below has its own, players of one process share them.
template <BanditRule Rule>
class ValueTable {
 public:
  ValueTable(Rule rule, const LearnerOptions& options, const BonusSchedule& bonus, const Seat& seat)
      : bank_(std::move(rule), seat.num_actions), monotone_(options.monotone) {
    for (std::size_t h = 0; h < seat.horizon; ++h) {
      most_.push_back(bonus.most(Step(h)));
      scale_.push_back(bonus.scale(Step(h)));
      value_.resize(seat.first_cell[h + 1], most_.back());
    }
    average_ = value_;      // alpha_1 = 1 erases it
    value_.push_back(0.0);  // V_{H+1}
    for (const double most : value_) estimate_.push_back(0.5 * most);
    if (options.pessimistic) {
      low_average_.resize(seat.num_cells());
      low_.resize(value_.size());
    }
    if (monotone_) {
      for (std::size_t i = 0; i < bank_.size(); ++i) {
        policy_begin_.push_back(mean_policy_.size());
        const std::span<const double> policy = bank_.policy(i);
        mean_policy_.insert(mean_policy_.end(), policy.begin(), policy.end());
      }
    }
  }

  /// Line 5: an action from pi_h(. | s); u uniform in [0, 1), the player's own secret.
  [[nodiscard]] Action act(std::size_t cell, double u) const noexcept {
    return Action(sample(bank_.policy(cell), u));
  }

  /// Lines 7 to 9, after line 6 has counted the visit.
  Learned observe(const VisitPlan& plan, const Experience& seen) noexcept {
    const std::size_t h = seen.h.index();
    const std::size_t cell = seen.cell;
    const double keep = 1.0 - plan.alpha;
    const double target = seen.reward + value_[seen.next_cell];
    if (monotone_) average_policy(cell, plan.alpha);
    // 7: the average of r + V + beta
    average_[cell] = keep * average_[cell] + plan.alpha * (target + plan.beta);
    // 8: cut off at what can still come
    double value = std::min(most_[h], average_[cell] + plan.lift);
    if (monotone_) value = std::min(value, value_[cell]);
    const bool fell = value < value_[cell];
    value_[cell] = value;
    if (!low_.empty()) {
      const double low_target = seen.reward + low_[seen.next_cell] - plan.beta;
      low_average_[cell] = keep * low_average_[cell] + plan.alpha * low_target;
      low_[cell] = std::max(0.0, low_average_[cell] - plan.drop);
    }
    estimate_[cell] =
        keep * estimate_[cell] + plan.alpha * (seen.reward + estimate_[seen.next_cell]);
    // 9: the loss has no bonus in it
    const double loss = (scale_[h] - target) / scale_[h];
    return {bank_.update(cell, seen.action, loss, plan.steps), fell};
  }

  /// V_h(s), and 0 for the cell after the last.
  [[nodiscard]] double value(std::size_t cell) const noexcept { return value_[cell]; }
  [[nodiscard]] std::span<const double> values() const noexcept { return value_; }
  /// V-tilde_h(s).
  [[nodiscard]] std::span<const double> averages() const noexcept { return average_; }
  /// The same average with no bonus and no cut, half of what can come before the first visit: an
  /// estimate of what the output policy is worth, from the player's own experience.
  [[nodiscard]] std::span<const double> estimates() const noexcept { return estimate_; }
  /// From below, where options ask for it; else empty.
  [[nodiscard]] std::span<const double> low_values() const noexcept { return low_; }
  /// pi_h(. | s).
  [[nodiscard]] std::span<const double> policy(std::size_t cell) const noexcept {
    return bank_.policy(cell);
  }
  /// sum_i alpha_t^i pi^{k^i}_h(. | s): of monotone learners.
  [[nodiscard]] std::span<const double> mean_policy(std::size_t cell) const noexcept {
    return std::span(mean_policy_).subspan(policy_begin_[cell], bank_.policy(cell).size());
  }
  [[nodiscard]] const BanditBank<Rule>& bank() const noexcept { return bank_; }

 private:
  void average_policy(std::size_t cell, double alpha) noexcept {
    const std::span<const double> policy = bank_.policy(cell);
    double* const mean = mean_policy_.data() + policy_begin_[cell];
    for (std::size_t b = 0; b < policy.size(); ++b) {
      mean[b] = (1.0 - alpha) * mean[b] + alpha * policy[b];
    }
  }

  BanditBank<Rule> bank_;
  bool monotone_;
  std::vector<double> most_;     // H_h of each step
  std::vector<double> scale_;    // of the losses of each step
  std::vector<double> value_;    // V
  std::vector<double> average_;  // V-tilde without its bound: sum_i alpha_t^i (r + V + beta_i)
  std::vector<double> estimate_;
  std::vector<double> low_average_;
  std::vector<double> low_;
  std::vector<std::size_t> policy_begin_;
  std::vector<double> mean_policy_;
};

/// A player on its own, anywhere: act(), then observe() what came of it.
template <BanditRule Rule>
class VLearner {
 public:
  VLearner(Rule rule, const LearnerOptions& options, Seat seat)
      : seat_(std::move(seat)),
        bonus_(options, seat_),
        clock_(rule, bonus_, seat_),
        table_(std::move(rule), options, bonus_, seat_) {}

  [[nodiscard]] Action act(Step h, State s, double u) const noexcept {
    return table_.act(seat_.cell(h, s), u);
  }
  /// After the last step `next` means nothing.
  Learned observe(Step h, State s, Action action, double reward, State next) noexcept {
    const std::size_t cell = seat_.cell(h, s);
    const bool last = h.index() + 1 == seat_.horizon;
    const std::size_t next_cell = last ? seat_.num_cells() : seat_.cell(h.next(), next);
    const Learned learned = table_.observe(clock_.plan(cell), {h, cell, action, reward, next_cell});
    clock_.advance(h, cell);  // 6: t = N_h(s) + 1, for the next visit
    return learned;
  }

  [[nodiscard]] const ValueTable<Rule>& table() const noexcept { return table_; }
  [[nodiscard]] const VisitClock<Rule>& clock() const noexcept { return clock_; }

 private:
  Seat seat_;
  BonusSchedule bonus_;
  VisitClock<Rule> clock_;
  ValueTable<Rule> table_;
};

}  // namespace vlearn
