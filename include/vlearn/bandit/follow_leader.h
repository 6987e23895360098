// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Follow the regularised leader on importance-weighted losses, with or without control variates:
// the frame of all rules here, and the rules with external regret.
//
//   without   lhat_t(b) = 1{b = a} loss / (theta_t(a) + gamma_t)
//   with      lhat_t(b) = m(b) + 1{b = a} (loss - m(a)) / (theta_t(a) + gamma_t)
//
// where m(b) is the running mean of the losses of b, known before the draw:
// m(a) += (loss - m(a)) (H + 1)/(H + n(a)), n(a) plays of a, this one included; m starts at 1/2.
// Control variates make steady losses cheap to learn. Where gamma > 0 they hold on to a stale mean
// when losses change: no bound covers them. optimistic_rigorous.h uses them otherwise, with a
// bound.
//
// A rule is this class over its Steps: kName, kPotential, gamma(H, B, t) of visit t,
// rate(H, B, t, gamma) of the policy after it, and xi(H, B, t, iota) where a bound is known.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "vlearn/bandit/potentials.h"
#include "vlearn/bandit/rule.h"
#include "vlearn/core/alpha.h"

namespace vlearn {

enum class ControlVariate : std::uint8_t { off, on };

/// What sums of squared scores stay below: losses are at most 2^40 each.
inline constexpr double kMostNoise = 0x1p140;
[[nodiscard]] inline bool is_within(double x, double low, double high) noexcept {
  return x >= low && x <= high;
}

/// Losses are divided by nothing smaller, so that increments stay finite whatever is played.
inline constexpr double kLeastChance = 0x1p-40;

/// What leaders for external and for swap regret share. A cell holds theta[B], with control
/// variates m[B] and n[B], and then the rows of cumulative losses, B numbers each: one, or one per
/// expert.
template <class Steps, ControlVariate kVariate>
class Leader {
 public:
  static constexpr std::string_view kName = Steps::kName;
  static constexpr bool kHasMeans = kVariate == ControlVariate::on;

  /// H of the weights alpha_t.
  explicit Leader(std::uint64_t horizon, Steps steps = {})
      : alpha_(horizon),
        horizon_(static_cast<double>(horizon)),
        inverse_horizon_plus_1_(1.0 / (horizon_ + 1.0)),
        steps_(steps) {}

  [[nodiscard]] std::span<const double> policy(const BanditCell& cell) const noexcept {
    return {cell.state, cell.num_actions};
  }

  [[nodiscard]] VisitSteps steps(std::size_t num_actions, std::uint64_t visit) const noexcept {
    const double gamma = steps_.gamma(horizon_, num_actions, visit);
    VisitSteps steps{alpha_.decay(visit), gamma, steps_.rate(horizon_, num_actions, visit, gamma)};
    if constexpr (requires { steps_.floor(num_actions, visit); }) {
      steps.floor = steps_.floor(num_actions, visit);
    }
    return steps;
  }

  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const std::size_t a = action.index();
    const double chance = std::max(cell.state[a] + steps.gamma, kLeastChance);
    if constexpr (!kHasMeans) return {static_cast<float>(loss / chance), 0.0F};
    const double surprise = loss - means(cell)[a];
    return increment_of(cell, a, surprise, surprise / chance);
  }

  [[nodiscard]] std::optional<double> xi(std::size_t num_actions,
                                         std::uint64_t visit,
                                         double iota) const noexcept {
    constexpr bool covered = !kHasMeans || requires { Steps::kProvenWithMeans; };
    if constexpr (covered && requires { steps_.xi(horizon_, num_actions, visit, iota); }) {
      return steps_.xi(horizon_, num_actions, visit, iota);
    }
    return std::nullopt;  // no bound is known; with control variates only where the steps say so
  }

 protected:
  /// Of a state with so many numbers in all.
  [[nodiscard]] static bool sound(const BanditCell& cell, std::size_t size) noexcept {
    const std::size_t n = cell.num_actions;
    const auto all_in = [](std::span<const double> numbers, double low, double high) {
      return std::all_of(numbers.begin(), numbers.end(),
                         [=](double x) { return x >= low && x <= high; });
    };
    const std::span<const double> state(cell.state, size);
    double sum = 0.0;
    for (const double chance : state.first(n)) sum += chance;
    if (!all_in(state.first(n), 0.0, 1.0) || !(std::abs(sum - 1.0) < 1e-9)) return false;
    if constexpr (kHasMeans) {
      if (!all_in(state.subspan(kMeansBegin * n, n), -1.0, 2.0)) return false;
      if (!all_in(state.subspan((kMeansBegin + 1) * n, n), 0.0, 0x1p60)) return false;
    }
    // Losses are at most 2^40 each, and there are fewer than 2^56 of them.
    return all_in(state.subspan(kRowsBegin * n), -0x1p100, 0x1p100);
  }

  /// Times B: the policy, what some rules keep behind it (roots of rows first), means and plays.
  static constexpr std::size_t kMeansBegin = [] {
    if constexpr (requires { Steps::kFrontRows; }) {
      return Steps::kFrontRows;
    } else {
      return requires { Steps::kKeepsRoots; } ? std::size_t{2} : std::size_t{1};
    }
  }();
  static constexpr std::size_t kRowsBegin = kMeansBegin + (kHasMeans ? 2 : 0);

  [[nodiscard]] static double* rows(const BanditCell& cell) noexcept {
    return cell.state + kRowsBegin * cell.num_actions;
  }
  /// Null without control variates.
  [[nodiscard]] static double* means(const BanditCell& cell) noexcept {
    return kHasMeans ? cell.state + kMeansBegin * cell.num_actions : nullptr;
  }

  [[nodiscard]] double decay(std::uint64_t visit) const noexcept { return alpha_.decay(visit); }

  /// With control variates.
  [[nodiscard]] Increment increment_of(const BanditCell& cell,
                                       std::size_t action,
                                       double surprise,
                                       double score) const noexcept {
    const double weight = (horizon_ + 1.0) / (horizon_ + plays(cell)[action] + 1.0);
    return {static_cast<float>(score), static_cast<float>(surprise * weight)};
  }
  /// How far the loss of a visit was from its mean, as the log has it; with control variates.
  [[nodiscard]] double logged_surprise(const BanditCell& cell,
                                       Action action,
                                       const Increment& increment) const noexcept {
    const double inverse_weight =
        (horizon_ + plays(cell)[action.index()] + 1.0) * inverse_horizon_plus_1_;
    return static_cast<double>(increment.mean) * inverse_weight;
  }

  static void reset_rows(const BanditCell& cell, std::size_t num_rows) noexcept {
    const std::size_t n = cell.num_actions;
    std::fill_n(cell.state, n, 1.0 / static_cast<double>(n));
    if constexpr (kHasMeans) {
      std::fill_n(means(cell), n, 0.5);
      std::fill_n(plays(cell), n, 0.0);
    }
    std::fill_n(rows(cell), num_rows * n, 0.0);
  }

  static void grow_mean(const BanditCell& cell,
                        Action action,
                        const Increment& increment) noexcept {
    if constexpr (kHasMeans) {
      means(cell)[action.index()] += static_cast<double>(increment.mean);
      plays(cell)[action.index()] += 1.0;
    }
  }

 private:
  [[nodiscard]] static double* plays(const BanditCell& cell) noexcept {
    return cell.state + (kMeansBegin + 1) * cell.num_actions;
  }

  AlphaWeights alpha_;
  double horizon_;
  double inverse_horizon_plus_1_;
  Steps steps_;
};

template <class Steps, ControlVariate kVariate = ControlVariate::off>
class FollowLeader : public Leader<Steps, kVariate> {
 public:
  using Leader<Steps, kVariate>::Leader;

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return num_actions * (this->kRowsBegin + 1);
  }
  [[nodiscard]] std::size_t scratch_size(std::size_t /*num_actions*/) const noexcept { return 0; }
  void reset(const BanditCell& cell) const noexcept { this->reset_rows(cell, 1); }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    return Leader<Steps, kVariate>::sound(cell, memory_size(cell.num_actions));
  }
  /// The policy: losses and means grow by what the log says, not by what was played.
  [[nodiscard]] std::size_t forgettable(std::size_t num_actions) const noexcept {
    return num_actions;
  }

  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(64, 12 * num_actions);
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    const RowAdvance row = row_advance({cell, action, increment, &steps}, steps.rate);
    advance_rows(Steps::kPotential, cell.num_actions, {&row, 1});
    this->grow_mean(cell, action, increment);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    // The losses alone until the last visit: some at a time; with means one by one, because they
    // move.
    constexpr std::size_t most = FollowLeader::kHasMeans ? 1 : 32;
    std::array<RowStep, most> steps;
    for (std::size_t i = 0; i + 1 < log.size();) {
      const std::size_t count = std::min(most, log.size() - 1 - i);
      for (std::size_t k = 0; k < count; ++k) {
        const auto& [action, increment] = log[i + k];
        steps[k] = row_step(this->decay(done + i + k + 1), action, increment);
      }
      advance_losses(cell.num_actions, std::span(steps).first(count), this->means(cell),
                     this->rows(cell));
      this->grow_mean(cell, log[i].action, log[i].increment);
      i += count;
    }
    const auto& [action, increment] = log.back();
    apply(cell, action, increment, this->steps(cell.num_actions, done + log.size()));
  }

 protected:
  /// apply() for a few cells, with rates of their own.
  void apply_together(std::span<const VisitedCell> visits,
                      const std::array<double, kMostTogether>& rates) const noexcept {
    std::array<RowAdvance, kMostTogether> rows;
    for (std::size_t i = 0; i < visits.size(); ++i) rows[i] = row_advance(visits[i], rates[i]);
    advance_together(visits, rows);
    for (const VisitedCell& visited : visits) {
      this->grow_mean(visited.cell, visited.action, visited.increment);
    }
  }
  /// The row of each visit, together with those that have as many actions.
  static void advance_together(std::span<const VisitedCell> visits,
                               const std::array<RowAdvance, kMostTogether>& rows) noexcept {
    for (std::size_t begin = 0; begin < visits.size();) {
      const std::size_t n = visits[begin].cell.num_actions;
      std::size_t end = begin + 1;
      while (end < visits.size() && visits[end].cell.num_actions == n) ++end;
      advance_rows(Steps::kPotential, n, std::span(rows).subspan(begin, end - begin));
      begin = end;
    }
  }
  /// apply() where nobody asks for the policy.
  void add_losses(const BanditCell& cell,
                  Action action,
                  const Increment& increment,
                  std::uint64_t visit) const noexcept {
    const RowStep step = row_step(this->decay(visit), action, increment);
    advance_losses(cell.num_actions, std::span(&step, 1), this->means(cell), this->rows(cell));
    this->grow_mean(cell, action, increment);
  }

 private:
  [[nodiscard]] static RowAdvance row_advance(const VisitedCell& visited, double rate) noexcept {
    return {.step = row_step(visited.steps->decay, visited.action, visited.increment, rate),
            .means = FollowLeader::means(visited.cell),
            .losses = FollowLeader::rows(visited.cell),
            .policy = visited.cell.state};
  }
  [[nodiscard]] static RowStep row_step(double decay,
                                        Action action,
                                        const Increment& increment,
                                        double rate = 0.0) noexcept {
    return {.decay = decay,
            .mean_scale = 1.0,
            .action = action.index(),
            .score = static_cast<double>(increment.score),
            .rate = rate};
  }
};

}  // namespace vlearn
