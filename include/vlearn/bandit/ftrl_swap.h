// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// ftrl-swap: the paper's "FTRL for weighted swap regret". B experts, one for each action that might
// be recommended; expert b sees the loss times theta(b) and proposes row b of a Markov chain, whose
// stationary distribution is played.
//
//   eta_t = gamma_t = sqrt(H log B / t)              (no 1/B)
//   M_t(b, .) = (t-1)/(H+t-1) M_{t-1}(b, .) + theta_t(b) lhat_t(.)
//   row b of T ~ exp(-eta_t M_t(b, .)),   theta_{t+1} = theta_{t+1} T
//
// lhat as in follow_leader.h, with or without control variates. Weighted swap regret, with
// probability 1 - delta: at most 10 B sqrt(H log(B^2/delta) / t), the paper's corollary.
#pragma once

#include <cmath>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/log_actions.h"
#include "vlearn/bandit/stationary.h"

namespace vlearn {

struct FtrlSwapSteps {
  static constexpr std::string_view kName = "ftrl-swap";
  static constexpr Potential kPotential = Potential::entropy;

  [[nodiscard]] double gamma(double horizon, std::size_t n, std::uint64_t t) const noexcept {
    return std::sqrt(horizon * log_actions(n) / to_double(t));
  }
  [[nodiscard]] double rate(double /*horizon*/,
                            std::size_t /*n*/,
                            std::uint64_t /*t*/,
                            double gamma_of_t) const noexcept {
    return gamma_of_t;
  }
  /// iota = log(B^2 / delta).
  [[nodiscard]] double xi(double horizon,
                          std::size_t n,
                          std::uint64_t t,
                          double iota) const noexcept {
    return 10.0 * static_cast<double>(n) * std::sqrt(horizon * iota / to_double(t));
  }
};

template <class Steps, ControlVariate kVariate = ControlVariate::off>
class SwapLeader : public Leader<Steps, kVariate> {
 public:
  using Leader<Steps, kVariate>::Leader;

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return num_actions * (this->kRowsBegin + num_actions);
  }
  /// The chain.
  [[nodiscard]] std::size_t scratch_size(std::size_t num_actions) const noexcept {
    return num_actions * num_actions;
  }
  void reset(const BanditCell& cell) const noexcept { this->reset_rows(cell, cell.num_actions); }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    return Leader<Steps, kVariate>::sound(cell, memory_size(cell.num_actions));
  }
  /// Every visit's losses are dealt out to the experts by the policy: nothing can be left out.
  [[nodiscard]] std::size_t forgettable(std::size_t /*num_actions*/) const noexcept { return 0; }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    for (const auto& [action, increment] : log) {
      apply(cell, action, increment, this->steps(cell.num_actions, ++done));
    }
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    const std::size_t n = cell.num_actions;
    RowStep step{.decay = steps.decay, .action = action.index(), .rate = steps.rate};
    for (std::size_t b = 0; b < n; ++b) {
      step.mean_scale = cell.state[b];
      step.score = cell.state[b] * static_cast<double>(increment.score);
      advance_row(Steps::kPotential, n, step, this->means(cell), this->rows(cell) + b * n,
                  cell.scratch + b * n);
    }
    stationary_distribution({cell.scratch, n * n}, {cell.state, n});
    this->grow_mean(cell, action, increment);
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using FtrlSwap = SwapLeader<FtrlSwapSteps, kVariate>;

}  // namespace vlearn
