// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// ftrl: the paper's "FTRL for weighted external regret".
//
//   eta_t = gamma_t = sqrt(H log B / (B t))
//   paper        theta_{t+1}(b) ~ exp(-eta_t G_t(b))                       the algorithm box
//   predictive   theta_{t+1}(b) ~ exp(-eta_{t+1} t/(H+t) G_t(b))           what its proof uses
//
// Weighted regret, with probability 1 - delta: at most 10 sqrt(H B log(B/delta) / t), the paper's
// corollary. (Its proof bounds one term too low; the statement holds in all measurements.) With one
// action there is nothing to learn: eta = gamma = 0, and theta = 1.
#pragma once

#include <cmath>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/log_actions.h"

namespace vlearn {

enum class FtrlIndex : std::uint8_t { paper, predictive };

struct FtrlSteps {
  static constexpr std::string_view kName = "ftrl";
  static constexpr Potential kPotential = Potential::entropy;
  FtrlIndex index = FtrlIndex::paper;

  [[nodiscard]] double gamma(double horizon, std::size_t n, std::uint64_t t) const noexcept {
    const double actions = to_double(n);
    return std::sqrt(horizon * log_actions(n) / (actions * to_double(t)));
  }
  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double gamma_of_t) const noexcept {
    if (index == FtrlIndex::paper) return gamma_of_t;
    const auto visits = to_double(t);
    return gamma(horizon, n, t + 1) * (visits / (horizon + visits));
  }
  /// iota = log(B / delta).
  [[nodiscard]] double xi(double horizon,
                          std::size_t n,
                          std::uint64_t t,
                          double iota) const noexcept {
    return 10.0 * std::sqrt(horizon * static_cast<double>(n) * iota / to_double(t));
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using Ftrl = FollowLeader<FtrlSteps, kVariate>;

}  // namespace vlearn
