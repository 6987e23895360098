// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// log-barrier: follow the leader with the potential -log theta.
//
//   eta_t = sqrt((H + 1) B l(t) / t),   theta_b = 1/(eta (G_b - x)),   l(t) = bits of t
//
// The usual step has log t where l(t) stands; counting bits is the same up to a factor and the same
// on every machine. No bound is known here for the weighted regret.
#pragma once

#include <bit>
#include <cmath>

#include "vlearn/bandit/follow_leader.h"

namespace vlearn {

struct LogBarrierSteps {
  static constexpr std::string_view kName = "log-barrier";
  static constexpr Potential kPotential = Potential::log_barrier;

  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    const auto bits = static_cast<double>(std::bit_width(t));
    return std::sqrt((horizon + 1.0) * static_cast<double>(n) * bits / to_double(t));
  }
  [[nodiscard]] double gamma(double /*horizon*/,
                             std::size_t /*n*/,
                             std::uint64_t /*t*/) const noexcept {
    return 0.0;
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using LogBarrier = FollowLeader<LogBarrierSteps, kVariate>;

}  // namespace vlearn
