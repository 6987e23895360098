// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a player's values move at a visit, and how far up and down they are put beside it.
// Nothing here depends on what happens there: only on the step, the number of own actions and the
// number of the visit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vlearn/agent/options.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

/// With the weights ValueWeights::step, visits after which c_V has fallen by a square root of two.
inline constexpr double kForgettingVisits = 1000.0;

/// Sums over the visits of a cell, by X_t = (1 - alpha_t) X_{t-1} + alpha_t x_t.
struct VisitSums {
  double inverse_roots = 0.0;  ///< sum_i alpha_t^i / sqrt(i)
  double squares = 0.0;        ///< Q_t = sum_i (alpha_t^i)^2

  void add(double alpha, std::uint64_t visit) noexcept {
    const double rest = 1.0 - alpha;
    inverse_roots = rest * inverse_roots + alpha / std::sqrt(to_double(visit));
    squares = rest * rest * squares + alpha * alpha;
  }
};

class BonusSchedule {
 public:
  BonusSchedule(const LearnerOptions& options, const Seat& seat);

  /// H_h = H - h + 1.
  [[nodiscard]] double most(Step h) const noexcept {
    return horizon_ - static_cast<double>(h.value());
  }
  /// What losses are measured against at a step.
  [[nodiscard]] double scale(Step h) const noexcept {
    return loss_scale_ == LossScale::paper ? horizon_ : most(h);
  }

  /// alpha_t of the values.
  [[nodiscard]] double alpha(Step h, std::uint64_t visit) const noexcept {
    const double t = to_double(visit);
    double c = memory(h);
    if (value_weights_ == ValueWeights::step) c /= std::sqrt(1.0 + t / kForgettingVisits);
    return (c + 1.0) / (c + t);
  }

  /// beta_t of the bonuses that have no bounds instead.
  [[nodiscard]] double beta(Step h, std::size_t num_actions, std::uint64_t visit) const noexcept {
    if (bonus_ == Bonus::visits) {
      return constant_ * most(h) * (memory(h) + 1.0) * to_double(num_actions) / to_double(visit);
    }
    if (bonus_ != Bonus::paper && bonus_ != Bonus::practical) return 0.0;
    const double cube = bonus_ == Bonus::paper ? horizon_ * horizon_ * horizon_ : horizon_;
    const double factor = bonus_ == Bonus::paper ? constant_ : constant_ * scale(h);
    const auto actions = to_double(num_actions);
    if (swap_) return factor * actions * std::sqrt(cube * iota_ / to_double(visit));
    return factor * std::sqrt(cube * actions * iota_ / to_double(visit));
  }

  [[nodiscard]] bool has_bounds() const noexcept {
    return bonus_ == Bonus::rigorous || bonus_ == Bonus::estimates;
  }
  /// How far the value stands above the average of r + V, b_{h,t}; of values that are read off
  /// estimates, above what these say.
  [[nodiscard]] double bound(Step h,
                             std::size_t num_actions,
                             std::uint64_t visit,
                             const VisitSums& sums) const noexcept;
  /// How far the value from below stands under its average: H_h sqrt(iota Q_t / 2).
  [[nodiscard]] double low_bound(Step h,
                                 std::size_t num_actions,
                                 const VisitSums& sums) const noexcept;

  /// iota of the paper: log(m H S A K / delta).
  [[nodiscard]] double iota() const noexcept { return iota_; }
  /// What rules with a proof are made with: log(4 m H S K / delta), to which the rigorous iota adds
  /// the logarithm of its actions; of rules whose estimates bound values log(4 m H S N / delta).
  [[nodiscard]] double log_events() const noexcept { return rule_events_; }

 private:
  /// c_V of the first visits.
  [[nodiscard]] double memory(Step h) const noexcept {
    return value_weights_ == ValueWeights::paper ? horizon_ : most(h);
  }

  Bonus bonus_;
  bool swap_;
  LossScale loss_scale_;
  ValueWeights value_weights_;
  double constant_;
  double horizon_;
  double iota_;
  double log_events_;   // log(4 m H S K / delta)
  double rule_events_;  // see log_events()
};

}  // namespace vlearn
