// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the rules with external regret share: follow the regularised leader on importance-weighted
// losses, with or without control variates.
//
//   without   lhat_t(b) = 1{b = a} loss / (theta_t(a) + gamma_t)
//   with      lhat_t(b) = m(b) + 1{b = a} (loss - m(a)) / (theta_t(a) + gamma_t)
//
// where m(b) is the running mean of the losses of b, known before the draw:
// m(a) += (loss - m(a)) (H + 1)/(H + n(a)), n(a) plays of a, this one included; m starts at 1/2.
// Control variates make steady losses cheap to learn. Where gamma > 0 they hold on to a stale mean
// when losses change: no bound covers them.
//
// A rule is this class over its Steps: kName, kPotential, gamma(H, B, t) of visit t,
// rate(H, B, t, gamma) of the policy after it, xi(H, B, t, iota).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "vlearn/bandit/potentials.h"
#include "vlearn/bandit/rule.h"
#include "vlearn/core/alpha.h"

namespace vlearn {

enum class ControlVariate : std::uint8_t { off, on };

/// Losses are divided by nothing smaller, so that increments stay finite whatever is played.
inline constexpr double kLeastChance = 0x1p-40;

/// The means of a cell's actions, for control variates: m[B] and n[B].
struct MeanLosses {
  double* means;
  double* plays;

  void reset(std::size_t num_actions) const noexcept {
    std::fill_n(means, num_actions, 0.5);
    std::fill_n(plays, num_actions, 0.0);
  }
  /// What the mean of an action is to grow by.
  [[nodiscard]] float growth(const AlphaWeights& alpha,
                             std::size_t action,
                             double loss) const noexcept {
    const auto c = static_cast<double>(alpha.c());
    return static_cast<float>((loss - means[action]) * ((c + 1.0) / (c + plays[action] + 1.0)));
  }
  void grow(std::size_t action, float growth) const noexcept {
    means[action] += static_cast<double>(growth);
    plays[action] += 1.0;
  }
};

template <class Steps, ControlVariate kVariate = ControlVariate::off>
class FollowLeader {
 public:
  static constexpr std::string_view kName = Steps::kName;
  static constexpr bool kHasMeans = kVariate == ControlVariate::on;

  /// H of the weights alpha_t.
  explicit FollowLeader(std::uint64_t horizon, Steps steps = {})
      : alpha_(horizon), horizon_(static_cast<double>(horizon)), steps_(steps) {}

  /// theta[B], G[B], and with control variates m[B], n[B].
  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return (kHasMeans ? 4 : 2) * num_actions;
  }
  [[nodiscard]] std::size_t scratch_size(std::size_t /*num_actions*/) const noexcept { return 0; }

  void reset(const BanditCell& cell) const noexcept {
    const std::size_t n = cell.num_actions;
    std::fill_n(cell.state, n, 1.0 / static_cast<double>(n));
    std::fill_n(cell.state + n, n, 0.0);
    if constexpr (kHasMeans) means_of(cell).reset(n);
  }

  [[nodiscard]] std::span<const double> policy(const BanditCell& cell) const noexcept {
    return {cell.state, cell.num_actions};
  }

  [[nodiscard]] VisitSteps steps(std::size_t num_actions, std::uint64_t visit) const noexcept {
    const double gamma = steps_.gamma(horizon_, num_actions, visit);
    return {alpha_.decay(visit), gamma, steps_.rate(horizon_, num_actions, visit, gamma)};
  }

  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const std::size_t a = action.index();
    const double chance = std::max(cell.state[a] + steps.gamma, kLeastChance);
    if constexpr (kHasMeans) {
      const MeanLosses means = means_of(cell);
      return {static_cast<float>((loss - means.means[a]) / chance), means.growth(alpha_, a, loss)};
    }
    return {static_cast<float>(loss / chance), 0.0F};
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    const std::size_t n = cell.num_actions;
    const RowStep step{.decay = steps.decay,
                       .mean_scale = 1.0,
                       .action = action.index(),
                       .score = static_cast<double>(increment.score),
                       .rate = steps.rate};
    advance_row(Steps::kPotential, n, step, kHasMeans ? means_of(cell).means : nullptr,
                cell.state + n, cell.state);
    if constexpr (kHasMeans) means_of(cell).grow(action.index(), increment.mean);
  }

  [[nodiscard]] std::optional<double> xi(std::size_t num_actions,
                                         std::uint64_t visit,
                                         double iota) const noexcept {
    if constexpr (kHasMeans) return std::nullopt;  // the proofs do not cover control variates
    return steps_.xi(horizon_, num_actions, visit, iota);
  }

 private:
  static MeanLosses means_of(const BanditCell& cell) noexcept {
    return {cell.state + 2 * cell.num_actions, cell.state + 3 * cell.num_actions};
  }

  AlphaWeights alpha_;
  double horizon_;
  Steps steps_;
};

}  // namespace vlearn
