// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vlearn/core/log.h"

namespace vlearn {

Target natural_target(const Frame& frame) noexcept {
  if (frame.num_players() == 1) return Target::optimal;
  return frame.zero_sum() ? Target::nash : Target::cce;
}

std::optional<std::string> why_not(const Frame& frame, const LearnerOptions& options) {
  const std::size_t m = frame.num_players();
  if (options.monotone && m > 1 && !frame.constant_sum()) {
    return "monotone values are upper bounds only where all equilibria have one value, and this "
           "is not a zero-sum game; leave out --monotone";
  }
  if (options.target == Target::optimal && m != 1) {
    return fmt::format("a best policy is one player's, and this game has {} players; ask for {}", m,
                       name_of(natural_target(frame)));
  }
  if (options.target == Target::nash && !frame.constant_sum()) {
    return "learning finds a Nash equilibrium of two-player zero-sum games only (in general games "
           "even computing one is hard, and independent learners have no guarantee); ask for cce "
           "or ce" +
           std::string(kZeroSumHint);
  }
  return std::nullopt;
}

double own_gap(const Trainer::StartMeans& own, double radius, double horizon) noexcept {
  return std::min(own.upper - *own.lower + radius, horizon);
}

double duality_gap(const Trainer::StartMeans& one,
                   const Trainer::StartMeans& other,
                   double radius,
                   double horizon) noexcept {
  return std::min(one.upper + other.upper - horizon + 2.0 * radius, horizon);
}

double start_radius(const Frame& frame,
                    const LearnerOptions& options,
                    std::uint64_t episodes) noexcept {
  if (frame.start_known()) return 0.0;
  // One logarithm after the other: the product may not be a double.
  const double log_events = log(3.0) + log(static_cast<double>(frame.num_players())) +
                            log(to_double(options.horizon_episodes)) - log(options.delta);
  return static_cast<double>(frame.horizon()) *
         std::sqrt(log_events / (2.0 * to_double(std::max<std::uint64_t>(episodes, 1))));
}

}  // namespace vlearn
