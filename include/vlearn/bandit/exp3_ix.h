// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// exp3-ix: Neu (2015), "Explore no more", with the weights of the paper.
//
//   eta_t = 2 gamma_t = sqrt((H + 1) log B / (B t)),   theta_{t+1}(b) ~ exp(-eta_t G_t(b))
//
// Neu's anytime steps have no H + 1; it stands for the effective number of visits, t / (H + 1), of
// the weighted average. The steps meet the conditions of the paper's Theorem 20; no corollary
// states a bound for them, so none is claimed here.
#pragma once

#include <cmath>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/log_actions.h"

namespace vlearn {

struct Exp3IxSteps {
  static constexpr std::string_view kName = "exp3-ix";
  static constexpr Potential kPotential = Potential::entropy;

  [[nodiscard]] double gamma(double horizon, std::size_t n, std::uint64_t t) const noexcept {
    const double actions = to_double(n);
    return 0.5 * std::sqrt((horizon + 1.0) * log_actions(n) / (actions * to_double(t)));
  }
  [[nodiscard]] double rate(double /*horizon*/,
                            std::size_t /*n*/,
                            std::uint64_t /*t*/,
                            double gamma_of_t) const noexcept {
    return 2.0 * gamma_of_t;
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using Exp3Ix = FollowLeader<Exp3IxSteps, kVariate>;

}  // namespace vlearn
