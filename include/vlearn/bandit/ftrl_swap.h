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

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

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
  /// Each replayed visit costs an elimination.
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(32, num_actions);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    replay_with(*this, cell, done, log);
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    advance_rows(cell, [&](std::size_t b) {
      return RowStep{.decay = steps.decay,
                     .mean_scale = cell.state[b],
                     .action = action.index(),
                     .score = cell.state[b] * static_cast<double>(increment.score),
                     .rate = steps.rate};
    });
    this->grow_mean(cell, action, increment);
  }

 protected:
  /// step_of(b) for every row b, and the policy of the chain that comes out. With other means than
  /// those of the cell, where given; `shifts` gets RowAdvance::shift of each row, where given.
  template <class StepOf>
  void advance_rows(const BanditCell& cell,
                    const StepOf& step_of,
                    const double* other_means = nullptr,
                    double* shifts = nullptr) const noexcept {
    const std::size_t n = cell.num_actions;
    const double* const means = other_means != nullptr ? other_means : this->means(cell);
    const auto row = [&](std::size_t b) -> RowAdvance {
      double* root = nullptr;
      if constexpr (SwapLeader::kMeansBegin > 1) root = cell.state + n + b;
      return {.step = step_of(b),
              .means = means,
              .losses = this->rows(cell) + b * n,
              .policy = cell.scratch + b * n,
              .root = root,
              .shift = shifts != nullptr ? shifts + b : nullptr};
    };
    for (std::size_t b = 0; b < n; b += kMostTogether) {
      std::array<RowAdvance, kMostTogether> some;
      const std::size_t count = std::min(kMostTogether, n - b);
      for (std::size_t k = 0; k < count; ++k) some[k] = row(b + k);
      vlearn::advance_rows(Steps::kPotential, n, std::span(some).first(count));
    }
    stationary_distribution({cell.scratch, n * n}, {cell.state, n});
  }
  /// apply() of the rule for each visit.
  template <class Rule>
  static void replay_with(const Rule& rule,
                          const BanditCell& cell,
                          std::uint64_t done,
                          std::span<const LoggedVisit> log) noexcept {
    for (const auto& [action, increment] : log) {
      rule.apply(cell, action, increment, rule.steps(cell.num_actions, ++done));
    }
  }
};

template <ControlVariate kVariate = ControlVariate::off>
using FtrlSwap = SwapLeader<FtrlSwapSteps, kVariate>;

}  // namespace vlearn
