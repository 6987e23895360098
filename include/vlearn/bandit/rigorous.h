// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// ftrl-rigorous and ftrl-swap-rigorous: the paper's rules with the predictive index and the steps
// that make the proven bound of docs/theory/rigorous_bonus.md smallest.
//
//   Lambda = (log B + iota/2) / 1.5,   iota = log(4 B^p m H S K / delta),  p = 1, for swap regret 2
//   external   eta_t = gamma_t = sqrt(H Lambda / (B t))
//   swap       eta_t = gamma_t = sqrt(H Lambda / t)
//   theta_{t+1}(b) ~ exp(-eta_{t+1} t/(H+t) G_t(b))                                   (predictive)
#pragma once

#include <cmath>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_actions.h"

namespace vlearn {

enum class Regret : std::uint8_t { external, swap };

template <Regret kRegret>
struct RigorousSteps {
  static constexpr std::string_view kName =
      kRegret == Regret::external ? "ftrl-rigorous" : "ftrl-swap-rigorous";
  static constexpr Potential kPotential = Potential::entropy;
  double log_events = 0.0;  ///< log(4 m H S K / delta)

  [[nodiscard]] double iota(std::size_t n) const noexcept {
    return log_events + (kRegret == Regret::external ? 1.0 : 2.0) * log_actions(n);
  }
  [[nodiscard]] double gamma(double horizon, std::size_t n, std::uint64_t t) const noexcept {
    const double lambda = (log_actions(n) + 0.5 * iota(n)) / 1.5;
    const double actions = kRegret == Regret::external ? to_double(n) : 1.0;
    return std::sqrt(horizon * lambda / (actions * to_double(t)));
  }
  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    const auto visits = to_double(t);
    return gamma(horizon, n, t + 1) * (visits / (horizon + visits));
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using FtrlRigorous = FollowLeader<RigorousSteps<Regret::external>, kVariate>;
template <ControlVariate kVariate = ControlVariate::off>
using FtrlSwapRigorous = SwapLeader<RigorousSteps<Regret::swap>, kVariate>;

}  // namespace vlearn
