// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// noise-scaled and noise-scaled-swap: Tsallis-INF with control variates, whose steps are measured
// in units of the noise that the cell itself has. With x the loss of visit t, c = 3 in the place of
// H, and a = (c + 1)/(c + t):
//
//   s2        = (1 - a) (s2 + a (x - mu)^2),  mu += a (x - mu)       spread of the losses
//   v         = variance of the mean losses m(b) over the actions     spread between actions
//   sigma     = max(0.001, sqrt(s2 + v + p a))                        p a: what is not known yet
//   eta_t     = 2 e sqrt((c + 1)/t) / sigma                           swap: (c + 1) B in the root
//   gamma_t   = min(0.3, g (c + 1)/t)
//
// with e = 1/2, p = 0.03 and g = 3, so that eta_t = sqrt(4/t) / sigma, for swap sqrt(4 B/t) /
// sigma; and the rest as in follow_leader.h and ftrl_swap.h. A loss divided by all that can still
// come makes useful steps shrink with the horizon; divided by its own spread it does not. Without
// v, cells starve: an action that nobody plays has no noise. Found by search, without a bound on
// its regret: what it learns is judged by its certificate (docs/sample_efficiency.md).
//
// A cell has two numbers more than with `tsallis`: mu and s2. The x that they see is the one that a
// log gives back, whose increment was rounded.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/ftrl_swap.h"

namespace vlearn {

struct NoiseScaledSteps {
  static constexpr std::string_view kName = "noise-scaled";
  static constexpr Potential kPotential = Potential::tsallis;
  double step = 0.5;         ///< e
  double unknown = 0.03;     ///< p
  double exploration = 3.0;  ///< g
  double floor = 0.001;      ///< of sigma

  /// Times sigma, which only the cell knows.
  [[nodiscard]] double rate(double memory,
                            std::size_t /*n*/,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    return 2.0 * step * std::sqrt((memory + 1.0) / to_double(t));
  }
  [[nodiscard]] double gamma(double memory, std::size_t /*n*/, std::uint64_t t) const noexcept {
    return std::min(0.3, exploration * (memory + 1.0) / to_double(t));
  }
};

struct NoiseScaledSwapSteps : NoiseScaledSteps {
  static constexpr std::string_view kName = "noise-scaled-swap";
  [[nodiscard]] double rate(double memory,
                            std::size_t n,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    return 2.0 * step * std::sqrt((memory + 1.0) * static_cast<double>(n) / to_double(t));
  }
};

/// A rule with control variates, its steps divided by the noise of the cell. Rule is the plain one,
/// whose state comes first.
template <class Rule, class Steps>
class ScaledByNoise : public Rule {
 public:
  /// c of all weights, whatever the horizon.
  static constexpr std::uint64_t kMemory = 3;
  explicit ScaledByNoise(Steps steps = {})
      : Rule(kMemory, steps), unknown_(steps.unknown), floor_(steps.floor) {}

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return Rule::memory_size(num_actions) + 2;
  }
  void reset(const BanditCell& cell) const noexcept {
    Rule::reset(cell);
    noise(cell)[0] = noise(cell)[1] = 0.0;
  }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    const double mean = noise(cell)[0];
    const double variance = noise(cell)[1];
    return Rule::sound(cell) && mean >= -1.0 && mean <= 2.0 && variance >= 0.0 && variance <= 9.0;
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             VisitSteps steps) const noexcept {
    add_noise(cell, action, increment, steps.share);
    steps.rate /= sigma(cell, steps.share);
    Rule::apply(cell, action, increment, steps);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    for (std::size_t i = 0; i < log.size(); ++i) {
      const auto& [action, increment] = log[i];
      const std::uint64_t visit = done + i + 1;
      if constexpr (requires { this->add_losses(cell, log[i].action, log[i].increment, visit); }) {
        if (i + 1 < log.size()) {
          // Of losses alone nobody asks how large the steps are.
          add_noise(cell, action, increment, this->share(visit));
          this->add_losses(cell, action, increment, visit);
          continue;
        }
      }
      apply(cell, action, increment, this->steps(cell.num_actions, visit));
    }
  }

 private:
  /// mu and s2.
  [[nodiscard]] double* noise(const BanditCell& cell) const noexcept {
    return cell.state + Rule::memory_size(cell.num_actions);
  }
  void add_noise(const BanditCell& cell,
                 Action action,
                 const Increment& increment,
                 double share) const noexcept {
    double& mean = noise(cell)[0];
    double& variance = noise(cell)[1];
    const double away = this->logged_loss(cell, action, increment) - mean;
    variance = (1.0 - share) * (variance + share * away * away);
    mean += share * away;
  }
  /// Before the means have moved.
  [[nodiscard]] double sigma(const BanditCell& cell, double share) const noexcept {
    const double* const means = this->means(cell);
    const std::size_t n = cell.num_actions;
    const double inverse = 1.0 / static_cast<double>(n);
    const double middle = inverse * sum_of(n, [=](std::size_t b) { return means[b]; });
    const double squares = sum_of(n, [=](std::size_t b) {
      const double away = means[b] - middle;
      return away * away;
    });
    return std::max(floor_, std::sqrt(noise(cell)[1] + inverse * squares + unknown_ * share));
  }
  /// In four running sums, so that no addition waits for the one before.
  template <class Of>
  [[nodiscard]] static double sum_of(std::size_t n, const Of& of) noexcept {
    std::array<double, 4> sums = {};
    std::size_t b = 0;
    for (; b + 4 <= n; b += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += of(b + k);
    }
    for (std::size_t k = 0; b + k < n; ++k) sums[k] += of(b + k);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  double unknown_;
  double floor_;
};

using NoiseScaled =
    ScaledByNoise<FollowLeader<NoiseScaledSteps, ControlVariate::on>, NoiseScaledSteps>;
using NoiseScaledSwap =
    ScaledByNoise<SwapLeader<NoiseScaledSwapSteps, ControlVariate::on>, NoiseScaledSwapSteps>;

}  // namespace vlearn
