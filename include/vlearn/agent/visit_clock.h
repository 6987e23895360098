// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The counters N_h(s) of the paper, and with each the numbers that the next visit will need: roots
// and divisions are done when a visit ends, so that nobody waits for them when the next begins.
// Players with the same moves everywhere count alike: in self-play they share a clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/agent/options.h"
#include "vlearn/agent/spread_draws.h"
#include "vlearn/bandit/rule.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

/// What is known of a visit before it happens, alike for all players of a clock.
struct alignas(64) VisitPlan {
  std::uint64_t visit = 0;  ///< t, from 1 on
  std::uint64_t place = 0;  ///< of spread draws
  double alpha = 0.0;       ///< alpha_t
  double beta = 0.0;        ///< beta_t
  double lift = 0.0;        ///< what is added to the average where a bonus is given as a bound
  double drop = 0.0;        ///< the same for values from below
  VisitSteps steps = {};    ///< of the bandit
  double most = 0.0;        ///< H_h
  double scale = 0.0;       ///< of the loss
};

template <BanditRule Rule>
class VisitClock {
 public:
  VisitClock(Rule rule, const BonusSchedule& bonus, Seat seat, ActionDraws draws)
      : rule_(std::move(rule)),
        bonus_(bonus),
        spread_(draws == ActionDraws::spread),
        seat_(std::move(seat)) {
    plans_.resize(seat_.num_cells());
    if (bonus_.has_bounds()) sums_.resize(seat_.num_cells());
    for (std::size_t h = 0; h < seat_.horizon; ++h) {
      for (std::size_t i = seat_.first_cell[h]; i < seat_.first_cell[h + 1]; ++i) {
        plan_visit(Step(h), i, 1);
      }
    }
  }

  /// The visit of a cell that comes next.
  [[nodiscard]] const VisitPlan& plan(std::size_t cell) const noexcept { return plans_[cell]; }
  /// N_h(s).
  [[nodiscard]] std::uint64_t visits(std::size_t cell) const noexcept {
    return plans_[cell].visit - 1;
  }
  /// The visit is over.
  void advance(Step h, std::size_t cell) noexcept { plan_visit(h, cell, plans_[cell].visit + 1); }

  /// What a checkpoint keeps beside the visits: nothing where the bonus needs no sums, else of
  /// every cell.
  [[nodiscard]] std::span<const VisitSums> sums() const noexcept { return sums_; }
  /// Goes on from there.
  void restore(std::span<const std::uint64_t> visits, std::span<const VisitSums> sums) noexcept {
    std::copy(sums.begin(), sums.end(), sums_.begin());
    for (std::size_t h = 0; h < seat_.horizon; ++h) {
      for (std::size_t i = seat_.first_cell[h]; i < seat_.first_cell[h + 1]; ++i) {
        fill_plan(Step(h), i, visits[i] + 1);
      }
    }
  }

 private:
  void plan_visit(Step h, std::size_t cell, std::uint64_t visit) noexcept {
    if (!sums_.empty()) sums_[cell].add(bonus_.alpha(h, visit), visit);
    fill_plan(h, cell, visit);
  }
  void fill_plan(Step h, std::size_t cell, std::uint64_t visit) noexcept {
    const std::size_t n = seat_.num_actions[cell];
    VisitPlan& plan = plans_[cell];
    plan.visit = visit;
    if (spread_) plan.place = spread_place(visit);
    plan.alpha = bonus_.alpha(h, visit);
    plan.beta = bonus_.beta(h, n, visit);
    plan.most = bonus_.most(h);
    plan.scale = bonus_.scale(h);
    plan.steps = rule_.steps(n, visit);
    if (sums_.empty()) return;
    plan.lift = bonus_.bound(h, n, visit, sums_[cell]);
    plan.drop = bonus_.low_bound(h, n, sums_[cell]);
  }

  Rule rule_;
  BonusSchedule bonus_;
  bool spread_;
  Seat seat_;
  std::vector<VisitPlan> plans_;
  std::vector<VisitSums> sums_;  // of each cell, where the bonus needs them
};

}  // namespace vlearn
