// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// tsallis: Tsallis-INF with power 1/2 (Zimmert and Seldin 2021), with the weights of the paper.
//
//   eta_t = e 2 sqrt((H + 1) / t),   gamma_t = g min(1, (H + 1)/t),   theta_b = 4/(eta (G_b - x))^2
//
// e = 1 and g = 0 are the unweighted rule's. Its proof is about expected regret without weights: no
// bound is known here for the weighted regret.
#pragma once

#include <algorithm>
#include <cmath>

#include "vlearn/bandit/follow_leader.h"

namespace vlearn {

struct TsallisSteps {
  static constexpr std::string_view kName = "tsallis";
  static constexpr Potential kPotential = Potential::tsallis;
  double step = 1.0;         ///< e > 0
  double exploration = 0.0;  ///< g >= 0

  [[nodiscard]] double rate(double horizon,
                            std::size_t /*n*/,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    return step * 2.0 * std::sqrt((horizon + 1.0) / to_double(t));
  }
  [[nodiscard]] double gamma(double horizon, std::size_t /*n*/, std::uint64_t t) const noexcept {
    return exploration * std::min(1.0, (horizon + 1.0) / to_double(t));
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using Tsallis = FollowLeader<TsallisSteps, kVariate>;

}  // namespace vlearn
