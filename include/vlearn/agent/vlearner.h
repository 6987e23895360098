// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// V-learning, one player's view (the paper's Algorithm 1). A learner sees states, its own actions
// and its own rewards. It does not see the game, the others, or their rewards.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/agent/options.h"
#include "vlearn/agent/spread_draws.h"
#include "vlearn/agent/visit_clock.h"
#include "vlearn/bandit/bank.h"
#include "vlearn/core/random.h"
#include "vlearn/policy/seat.h"

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
  /// Whether the rule computes several policies at once.
  static constexpr bool kTogether =
      requires(const Rule& rule) { rule.apply_together(std::span<const VisitedCell>()); };

  ValueTable(Rule rule,
             const LearnerOptions& options,
             const BonusSchedule& bonus,
             const Seat& seat,
             Player player)
      : bank_(std::move(rule), seat.num_actions),
        num_cells_(seat.num_cells()),
        monotone_(options.monotone),
        pessimistic_(options.pessimistic),
        reads_estimates_(options.bonus == Bonus::estimates),
        spread_(options.action_draws == ActionDraws::spread &&
                seat.num_players <= kMostSpreadPlayers),
        stride_(spread_ ? spread_stride(player, seat.num_players) : 0.0),
        numbers_(((pessimistic_ ? 5U : 3U) + (spread_ ? 1U : 0U)) * (num_cells_ + 1), 0.0) {
    for (std::size_t h = 0; h < seat.horizon; ++h) {
      for (std::size_t i = seat.first_cell[h]; i < seat.first_cell[h + 1]; ++i) {
        value()[i] = bonus.most(Step(h));
        estimate()[i] = 0.5 * bonus.most(Step(h));
      }
    }
    if (monotone_) {
      for (std::size_t i = 0; i < bank_.size(); ++i) {
        policy_begin_.push_back(mean_policy_.size());
        const std::span<const double> policy = bank_.policy(i);
        mean_policy_.insert(mean_policy_.end(), policy.begin(), policy.end());
      }
    }
  }

  /// Line 5: an action from pi_h(. | s), with the floor of the rule; u uniform in [0, 1), the
  /// player's own secret.
  [[nodiscard]] Action act(std::size_t cell, const VisitPlan& plan, double u) noexcept {
    if (spread_) u = spread_draw(first_draw()[cell], stride_, plan.visit, plan.place, u);
    return bank_.draw(cell, plan.steps, u);
  }

  /// Lines 7 to 9, after line 6 has counted the visit.
  Learned observe(const VisitPlan& plan, const Experience& seen) noexcept {
    const MovedValue moved = move_values(plan, seen);
    const Increment increment = bank_.update(seen.cell, seen.action, moved.loss, plan.steps);
    return {increment, read_value(plan, seen.cell) || moved.fell};
  }

  /// observe() for visits of different players or cells, a few of them together where the rule
  /// takes them so. V of a cell is read before it changes by a visit that was added later. A
  /// player may occur more than once only if its rule uses no scratch. Plans must stay until
  /// finish().
  class Batch {
   public:
    /// `learned` gets what observe() returns, when it is known.
    void add(ValueTable& table,
             const VisitPlan& plan,
             const Experience& seen,
             Learned& learned) noexcept {
      if constexpr (kTogether) {
        const MovedValue moved = table.move_values(plan, seen);
        const BanditCell cell = table.bank_.cell(seen.cell);
        const Increment increment =
            table.bank_.rule().measure(cell, seen.action, moved.loss, plan.steps);
        learned = {increment, moved.fell};
        visited_[count_] = {cell, seen.action, increment, &plan.steps};
        visits_[count_] = {&table, &plan, seen.cell, &learned};
        if (++count_ == kMostTogether) finish();
      } else {
        learned = table.observe(plan, seen);
      }
    }
    void finish() noexcept {
      if (count_ == 0) return;
      if constexpr (kTogether) {
        visits_[0].table->bank_.rule().apply_together(std::span(visited_).first(count_));
        for (std::size_t i = 0; i < count_; ++i) {
          const auto& [table, plan, cell, learned] = visits_[i];
          if (table->read_value(*plan, cell)) learned->value_fell = true;
        }
      }
      count_ = 0;
    }

   private:
    struct Visit {
      ValueTable* table;
      const VisitPlan* plan;
      std::size_t cell;
      Learned* learned;
    };
    std::size_t count_ = 0;
    std::array<VisitedCell, kMostTogether> visited_;
    std::array<Visit, kMostTogether> visits_;
  };

  /// Asks for the memory that a visit of the cell will use.
  void fetch(std::size_t cell) const noexcept {
    __builtin_prefetch(numbers_.data() + cell);
    bank_.fetch(cell);
  }

  // A number for each cell, and one for what comes after the last step, which is 0.
  /// V_h(s).
  [[nodiscard]] std::span<const double> values() const noexcept { return part(0); }
  [[nodiscard]] double value(std::size_t cell) const noexcept { return numbers_[cell]; }
  /// The average of r + V with no bonus and no cut, half of what can come before the first visit:
  /// an estimate of what the output policy is worth, from the player's own experience.
  [[nodiscard]] std::span<const double> estimates() const noexcept { return part(1); }
  /// V-tilde_h(s); with a bonus that has bounds without its bound. It has no meaning before a
  /// visit.
  [[nodiscard]] std::span<const double> averages() const noexcept { return part(2); }
  /// V from below, where options ask for it; else empty.
  [[nodiscard]] std::span<const double> low_values() const noexcept {
    return pessimistic_ ? part(3) : std::span<const double>();
  }
  /// pi_h(. | s).
  [[nodiscard]] std::span<const double> policy(std::size_t cell) const noexcept {
    return bank_.policy(cell);
  }
  /// sum_i alpha_t^i pi^{k^i}_h(. | s): of monotone learners.
  [[nodiscard]] std::span<const double> mean_policy(std::size_t cell) const noexcept {
    return std::span(mean_policy_).subspan(policy_begin_[cell], bank_.policy(cell).size());
  }
  [[nodiscard]] const BanditBank<Rule>& bank() const noexcept { return bank_; }

  /// Whether all numbers are such as play may leave; for those that come from outside.
  [[nodiscard]] bool sound(const Seat& seat) const noexcept {
    const auto all_within = [](std::span<const double> numbers, double low, double high) {
      return std::all_of(numbers.begin(), numbers.end(),
                         [&](double x) { return x >= low && x <= high; });
    };
    for (std::size_t h = 0; h < seat.horizon; ++h) {
      const std::size_t begin = seat.first_cell[h];
      const std::size_t count = seat.first_cell[h + 1] - begin;
      const auto most = static_cast<double>(seat.horizon - h);
      if (!all_within(values().subspan(begin, count), 0.0, most)) return false;
    }
    return bank_.sound() && values().back() == 0.0 && all_within(numbers_, -0x1p100, 0x1p100) &&
           all_within(mean_policy_, 0.0, 1.0) &&
           (!spread_ || all_within(part(pessimistic_ ? 5 : 3), 0.0, 1.0));
  }
  /// Everything that changes: what a checkpoint keeps, and puts back.
  [[nodiscard]] std::array<std::span<double>, 3> state() noexcept {
    return {numbers_, bank_.memory(), mean_policy_};
  }
  [[nodiscard]] std::array<std::span<const double>, 3> state() const noexcept {
    return {numbers_, bank_.memory(), mean_policy_};
  }

 private:
  struct MovedValue {
    double loss = 0.0;  ///< what the rule learns from
    bool fell = false;  ///< V_h(s) is strictly less than before
  };
  MovedValue move_values(const VisitPlan& plan, const Experience& seen) noexcept {
    const std::size_t cell = seen.cell;
    const double alpha = plan.alpha;
    const double keep = 1.0 - alpha;
    const double target = seen.reward + value()[seen.next_cell];
    if (monotone_) average_policy(cell, alpha);
    // 7: the average of r + V + beta
    average()[cell] = keep * average()[cell] + alpha * (target + plan.beta);
    // 8: cut off at what can still come
    const double before = value()[cell];
    if (!reads_estimates_) value()[cell] = std::min(plan.most, average()[cell] + plan.lift);
    if (monotone_) value()[cell] = std::min(value()[cell], before);
    const bool fell = value()[cell] < before;
    estimate()[cell] = keep * estimate()[cell] + alpha * (seen.reward + estimate()[seen.next_cell]);
    if (pessimistic_) {
      const double low_target = seen.reward + low()[seen.next_cell] - plan.beta;
      low_average()[cell] = keep * low_average()[cell] + alpha * low_target;
      low()[cell] = std::max(0.0, low_average()[cell] - plan.drop);
    }
    // 9: the loss has no bonus in it
    return {(plan.scale - target) / plan.scale, fell};
  }

  /// V where the rule's estimates bound it, once they have the visit in them. True if it fell.
  bool read_value(const VisitPlan& plan, std::size_t cell) noexcept {
    if constexpr (requires(const Rule& rule, const BanditCell& its) { rule.least_estimate(its); }) {
      if (!reads_estimates_) return false;
      const double least = bank_.rule().least_estimate(bank_.cell(cell));
      const double before = value()[cell];
      const double bound = plan.scale * (1.0 - plan.alpha * least) + plan.lift;
      value()[cell] = std::clamp(bound, 0.0, plan.most);
      return value()[cell] < before;
    }
    return false;
  }

  void average_policy(std::size_t cell, double alpha) noexcept {
    const std::span<const double> policy = bank_.policy(cell);
    double* const mean = mean_policy_.data() + policy_begin_[cell];
    for (std::size_t b = 0; b < policy.size(); ++b) {
      mean[b] = (1.0 - alpha) * mean[b] + alpha * policy[b];
    }
  }

  // One array for all numbers of a player: they are used together.
  [[nodiscard]] std::span<const double> part(std::size_t i) const noexcept {
    return std::span(numbers_).subspan(i * (num_cells_ + 1), num_cells_ + 1);
  }
  [[nodiscard]] double* row(std::size_t i) noexcept {
    return numbers_.data() + i * (num_cells_ + 1);
  }
  [[nodiscard]] double* value() noexcept { return row(0); }
  [[nodiscard]] double* estimate() noexcept { return row(1); }
  [[nodiscard]] double* average() noexcept { return row(2); }
  [[nodiscard]] double* low() noexcept { return row(3); }
  [[nodiscard]] double* low_average() noexcept { return row(4); }
  [[nodiscard]] double* first_draw() noexcept { return row(pessimistic_ ? 5 : 3); }

  BanditBank<Rule> bank_;
  std::size_t num_cells_;
  bool monotone_;
  bool pessimistic_;
  bool reads_estimates_;
  bool spread_;
  double stride_;
  std::vector<double> numbers_;
  std::vector<std::size_t> policy_begin_;
  std::vector<double> mean_policy_;
};

/// A player on its own, anywhere: act(), then observe() what came of it.
template <BanditRule Rule>
class VLearner {
 public:
  VLearner(Rule rule, const LearnerOptions& options, Seat seat, Player player)
      : seat_(std::move(seat)),
        bonus_(options, seat_),
        clock_(rule, bonus_, seat_, options.action_draws),
        table_(std::move(rule), options, bonus_, seat_, player) {}

  [[nodiscard]] Action act(Step h, State s, double u) noexcept {
    const std::size_t cell = seat_.cell(h, s);
    return table_.act(cell, clock_.plan(cell), u);
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
