// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/agent/bonus.h"

#include "vlearn/core/log.h"

namespace vlearn {
namespace {

/// The terms of b_{h,t} that docs/theory/rigorous_bonus.md derives.
template <Regret kRegret>
double regret_bound(double log_events,
                    double horizon,
                    double alpha,
                    std::size_t num_actions,
                    std::uint64_t visit,
                    const VisitSums& sums) noexcept {
  const RigorousSteps<kRegret> steps{log_events};
  const double gamma = steps.gamma(horizon, num_actions, visit);
  // gamma_i = gamma_1 / sqrt(i), so S_t = sum_i alpha_t^i gamma_i is a multiple of a sum that all
  // players share.
  const double sum_of_gamma = steps.gamma(horizon, num_actions, 1) * sums.inverse_roots;
  const auto actions = to_double(num_actions);
  const double experts = kRegret == Regret::external ? 1.0 : actions;
  const double iota = experts * steps.iota(num_actions);
  return alpha * experts * log_actions(num_actions) / gamma + 1.5 * actions * sum_of_gamma +
         0.75 * alpha * iota + alpha * iota / (2.0 * gamma);
}

/// alpha_t Lambda / nu_t: what all comparators cost.
template <Regret kRegret>
double comparator_bound(double log_events,
                        double horizon,
                        double alpha,
                        std::size_t num_actions,
                        std::uint64_t visit) noexcept {
  const OptimisticRigorousSteps<kRegret> steps{log_events};
  return alpha * steps.comparators(num_actions) / steps.gamma(horizon, num_actions, visit);
}

}  // namespace

BonusSchedule::BonusSchedule(const LearnerOptions& options, const Seat& seat)
    : bonus_(options.bonus),
      swap_(has_swap_regret(options.rule)),
      loss_scale_(options.loss_scale),
      value_weights_(options.value_weights),
      constant_(options.bonus_constant),
      horizon_(static_cast<double>(seat.horizon)) {
  // One logarithm after the other: the product may not be a double.
  const double log_cells = log(static_cast<double>(seat.num_players)) + log(horizon_) +
                           log(static_cast<double>(seat.max_states)) +
                           log(to_double(options.horizon_episodes)) - log(options.delta);
  iota_ = log_cells + log(static_cast<double>(seat.max_actions));
  log_events_ = log_cells + log(4.0);
  rule_events_ = log_events_;
  if (has_bounding_estimates(options.rule)) {
    const double episodes = to_double(options.horizon_episodes);
    rule_events_ += log(optimistic_rigorous::grid_size(horizon_, episodes)) - log(episodes);
  }
}

double BonusSchedule::bound(Step h,
                            std::size_t num_actions,
                            std::uint64_t visit,
                            const VisitSums& sums) const noexcept {
  const double alpha = this->alpha(h, visit);
  if (bonus_ == Bonus::estimates) {
    return scale(h) * (swap_ ? comparator_bound<Regret::swap>(rule_events_, horizon_, alpha,
                                                              num_actions, visit)
                             : comparator_bound<Regret::external>(rule_events_, horizon_, alpha,
                                                                  num_actions, visit));
  }
  const double regret =
      swap_
          ? regret_bound<Regret::swap>(log_events_, horizon_, alpha, num_actions, visit, sums)
          : regret_bound<Regret::external>(log_events_, horizon_, alpha, num_actions, visit, sums);
  return scale(h) * regret;
}

double BonusSchedule::low_bound(Step h,
                                std::size_t num_actions,
                                const VisitSums& sums) const noexcept {
  double iota = log_events_;
  if (bonus_ == Bonus::rigorous) {
    iota = swap_ ? RigorousSteps<Regret::swap>{log_events_}.iota(num_actions)
                 : RigorousSteps<Regret::external>{log_events_}.iota(num_actions);
  }
  return most(h) * std::sqrt(0.5 * iota * sums.squares);
}

}  // namespace vlearn
