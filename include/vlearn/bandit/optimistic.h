// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// optimistic, optimistic-nash and optimistic-swap: Tsallis-INF with control variates whose
// estimates are never above the loss in expectation, and whose steps are scaled by the noise seen
// so far. With B actions, b = max(1, B/3), c = 2, for nash 1, for swap regret 3, in the place of H,
// and s = x - m(a) the surprise of the loss x of visit t:
//
//   g_t     = min(1/(2B), g/sqrt(B (t + 1000)))     g = 1/2, for swap regret 2
//   q_t     = min(0.3, 12 sqrt(b)/t)
//   o       = g_t, for swap regret g_t min(1, 2 |s|)
//   played    p = (1 - B g_t) theta + g_t           a floor under every action
//   returned  theta                                 without the floor
//   score   = s/(p(a) + o + q_t)                    s > 0: damped
//             s (p(a) + o)/(p(a) (p(a) + q_t))      s < 0: amplified
//   D      <- d^2 D + |s|^1.5 |score|^0.5 + 0.3 v   d = (t-1)/(c+t-1), v the variance of m
//   M      <- max(d^2 M, 1{s < 0} |s score|)
//   eta     = r / sqrt(D + M + 0.12)                r = 1.5 b^(1/4), for nash 0.8 b^(1/2)
//
// and lhat = m + 1{b = a} score, as in follow_leader.h. Without the optimism o, actions that are
// hardly played get O(1) samples while t doubles, their estimates keep fluctuating, and play cycles
// where best replies do. The floor keeps what the optimism adds bounded.
// docs/theory/optimistic_rule.md has the regret bound and what it needs.
//
// For swap regret row r has D_r, M_r and eta_r of its own, in units of its weight w = theta(r) and
// of the chance T = T_r(a) that its expert gave the action:
//
//   D_r <- d^2 D_r + w^2 (T^1.5 score^2 + 0.3 v),   M_r <- max(d^2 M_r, 1{s < 0} w^2 T score^2)
//   eta_r = b^(1/4) / sqrt(D_r + M_r + 0.12/B^2)
//
// D and M see the surprise that a log gives back, whose increment was rounded.
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

struct OptimisticSteps {
  static constexpr std::string_view kName = "optimistic";
  static constexpr Potential kPotential = Potential::tsallis;
  static constexpr std::uint64_t kMemory = 2;  ///< c of all weights, whatever the horizon
  double least_chance = 0.5;                   ///< g

  /// Of the noise, which only the cell knows: eta = rate / noise.
  [[nodiscard]] double rate(double /*memory*/,
                            std::size_t n,
                            std::uint64_t /*t*/,
                            double /*gamma*/) const noexcept {
    return 1.5 * std::sqrt(root_of_actions(n));
  }
  [[nodiscard]] double gamma(double /*memory*/, std::size_t n, std::uint64_t t) const noexcept {
    return std::min(0.3, 12.0 * root_of_actions(n) / to_double(t));
  }
  [[nodiscard]] double floor(std::size_t n, std::uint64_t t) const noexcept {
    const auto actions = to_double(n);
    const double most = 4.0 * least_chance * least_chance * actions;  // there it is 1/(2B)
    return least_chance / std::sqrt(actions * std::max(to_double(t + 1000), most));
  }
  /// sqrt(b).
  [[nodiscard]] static double root_of_actions(std::size_t n) noexcept {
    return n <= 3 ? 1.0 : std::sqrt(to_double(n) / 3.0);
  }
};

/// For zero-sum games. Their output is the product of each player's average: it gains nothing from
/// players who move together, and longer averages and slower steps make it steadier.
struct OptimisticNashSteps : OptimisticSteps {
  static constexpr std::string_view kName = "optimistic-nash";
  static constexpr std::uint64_t kMemory = 1;

  [[nodiscard]] double rate(double /*memory*/,
                            std::size_t n,
                            std::uint64_t /*t*/,
                            double /*gamma*/) const noexcept {
    return 0.8 * root_of_actions(n);
  }
};

struct OptimisticSwapSteps : OptimisticSteps {
  static constexpr std::string_view kName = "optimistic-swap";
  static constexpr bool kKeepsRoots = true;
  static constexpr std::uint64_t kMemory = 3;
  OptimisticSwapSteps() { least_chance = 2.0; }

  [[nodiscard]] double rate(double /*memory*/,
                            std::size_t n,
                            std::uint64_t /*t*/,
                            double /*gamma*/) const noexcept {
    return 1.25 * std::sqrt(root_of_actions(n));
  }
};

namespace optimistic {
inline constexpr double kBetweenActions = 0.3;  ///< of v
inline constexpr double kUnknown = 0.12;        ///< what is not known yet

/// What an estimate makes of a surprise, where the action was played with this chance.
[[nodiscard]] inline double score_of(double surprise,
                                     double chance,
                                     double optimism,
                                     double gamma) noexcept {
  // Both cases in one division: which of them it is cannot be foreseen.
  const double more = chance + optimism;
  const double up = more + gamma;
  const double down = chance * (chance + gamma);
  return (std::max(surprise, 0.0) * down + std::min(surprise, 0.0) * (more * up)) / (up * down);
}

/// The mean of the squared distances from the mean. In four running sums, so that no addition waits
/// for the one before.
[[nodiscard]] inline double variance(const double* numbers, std::size_t n) noexcept {
  const auto sum_of = [n](const auto& of) {
    std::array<double, 4> sums = {};
    std::size_t b = 0;
    for (; b + 4 <= n; b += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += of(b + k);
    }
    for (std::size_t k = 0; b + k < n; ++k) sums[k] += of(b + k);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  };
  const double inverse = 1.0 / static_cast<double>(n);
  const double middle = inverse * sum_of([=](std::size_t b) { return numbers[b]; });
  return inverse * sum_of([=](std::size_t b) {
           const double away = numbers[b] - middle;
           return away * away;
         });
}
}  // namespace optimistic

/// A cell has two numbers more than with `tsallis`: D and M.
template <class Steps>
class OptimisticLeader : public FollowLeader<Steps, ControlVariate::on> {
  using Base = FollowLeader<Steps, ControlVariate::on>;

 public:
  static constexpr std::uint64_t kMemory = Steps::kMemory;

  explicit OptimisticLeader(Steps steps = {}) : Base(kMemory, steps) {}

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return Base::memory_size(num_actions) + 2;
  }
  void reset(const BanditCell& cell) const noexcept {
    Base::reset(cell);
    noise(cell)[0] = noise(cell)[1] = 0.0;
  }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    return Base::sound(cell) && is_within(noise(cell)[0], 0.0, kMostNoise) &&
           is_within(noise(cell)[1], 0.0, kMostNoise);
  }

  /// A replayed visit costs D and M beside the losses.
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(64, 10 * num_actions);
  }

  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const std::size_t a = action.index();
    const double surprise = loss - this->means(cell)[a];
    const double chance = played_chance(this->policy(cell), a, steps.floor);
    return this->increment_of(cell, a, surprise,
                              optimistic::score_of(surprise, chance, steps.floor, steps.gamma));
  }
  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             VisitSteps steps) const noexcept {
    add_noise(cell, action, increment, steps.decay);
    steps.rate /= scale(cell);
    Base::apply(cell, action, increment, steps);
  }
  void apply_together(std::span<const VisitedCell> visits) const noexcept {
    std::array<double, kMostTogether> rates{};
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const auto& [cell, action, increment, steps] = visits[i];
      add_noise(cell, action, increment, steps->decay);
      rates[i] = steps->rate / scale(cell);
    }
    Base::apply_together(visits, rates);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    for (std::size_t i = 0; i < log.size(); ++i) {
      const auto& [action, increment] = log[i];
      const std::uint64_t visit = done + i + 1;
      if (i + 1 == log.size()) {
        apply(cell, action, increment, this->steps(cell.num_actions, visit));
      } else {
        add_noise(cell, action, increment, this->decay(visit));
        this->add_losses(cell, action, increment, visit);
      }
    }
  }

 private:
  /// D and M.
  [[nodiscard]] double* noise(const BanditCell& cell) const noexcept {
    return cell.state + Base::memory_size(cell.num_actions);
  }
  [[nodiscard]] double scale(const BanditCell& cell) const noexcept {
    return std::sqrt(noise(cell)[0] + noise(cell)[1] + optimistic::kUnknown);
  }
  /// Before the means have moved.
  void add_noise(const BanditCell& cell,
                 Action action,
                 const Increment& increment,
                 double decay) const noexcept {
    const double keep = decay * decay;
    const double surprise = this->logged_surprise(cell, action, increment);
    const double product = std::abs(surprise * static_cast<double>(increment.score));
    const double between =
        optimistic::kBetweenActions * optimistic::variance(this->means(cell), cell.num_actions);
    double& sum = noise(cell)[0];
    double& largest = noise(cell)[1];
    sum = keep * sum + (std::abs(surprise) * std::sqrt(product) + between);
    largest = std::max(keep * largest, surprise < 0.0 ? product : 0.0);
  }
};

using Optimistic = OptimisticLeader<OptimisticSteps>;
using OptimisticNash = OptimisticLeader<OptimisticNashSteps>;

/// A cell has three numbers per row more than with `ftrl-swap` and control variates: D_r and M_r
/// behind all others, and behind the policy the root y_r of each row, which with its losses and
/// eta_r gives T_r(a). Policy and roots follow from the rest: a snapshot has neither.
class OptimisticSwap : public SwapLeader<OptimisticSwapSteps, ControlVariate::on> {
 public:
  static constexpr std::uint64_t kMemory = OptimisticSwapSteps::kMemory;

  explicit OptimisticSwap(OptimisticSwapSteps steps = {}) : SwapLeader(kMemory, steps) {}

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return SwapLeader::memory_size(num_actions) + 2 * num_actions;
  }
  void reset(const BanditCell& cell) const noexcept {
    const std::size_t n = cell.num_actions;
    SwapLeader::reset(cell);
    std::fill_n(roots(cell), n, std::sqrt(to_double(n)));
    std::fill_n(sums(cell), 2 * n, 0.0);
  }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    const std::size_t n = cell.num_actions;
    return SwapLeader::sound(cell) && std::all_of(sums(cell), sums(cell) + 2 * n, [](double x) {
             return is_within(x, 0.0, kMostNoise);
           });
  }
  [[nodiscard]] std::size_t forgettable(std::size_t num_actions) const noexcept {
    return 2 * num_actions;
  }
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(36, num_actions);
  }

  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const std::size_t a = action.index();
    const double surprise = loss - means(cell)[a];
    const double chance = played_chance(policy(cell), a, steps.floor);
    const double optimism = steps.floor * std::min(1.0, 2.0 * std::abs(surprise));
    return increment_of(cell, a, surprise,
                        optimistic::score_of(surprise, chance, optimism, steps.gamma));
  }
  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    const std::size_t n = cell.num_actions;
    const double keep = steps.decay * steps.decay;
    const auto score = static_cast<double>(increment.score);
    const bool negative = increment.score < 0.0F;
    const double square = score * score;
    const double between = optimistic::kBetweenActions * optimistic::variance(means(cell), n);
    for (std::size_t r = 0; r < n; ++r) {
      const double distance =
          0.5 * (steps.rate / scale(cell, r)) * rows(cell)[r * n + action.index()] + roots(cell)[r];
      const double chance = 1.0 / (distance * distance);
      const double weight = cell.state[r] * cell.state[r];
      const double product = chance * square;
      double& sum = sums(cell)[r];
      double& largest = sums(cell)[n + r];
      sum = keep * sum + weight * (product * std::sqrt(chance) + between);
      largest = std::max(keep * largest, negative ? weight * product : 0.0);
    }
    advance_rows(cell, [&](std::size_t r) {
      return RowStep{.decay = steps.decay,
                     .mean_scale = cell.state[r],
                     .action = action.index(),
                     .score = cell.state[r] * score,
                     .rate = steps.rate / scale(cell, r)};
    });
    grow_mean(cell, action, increment);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    if (done > 0) recall(cell, this->steps(cell.num_actions, done));
    replay_with(*this, cell, done, log);
  }

 private:
  [[nodiscard]] static double* roots(const BanditCell& cell) noexcept {
    return cell.state + cell.num_actions;
  }
  /// D_r of all rows, then M_r.
  [[nodiscard]] double* sums(const BanditCell& cell) const noexcept {
    return cell.state + SwapLeader::memory_size(cell.num_actions);
  }
  [[nodiscard]] double scale(const BanditCell& cell, std::size_t r) const noexcept {
    const auto n = to_double(cell.num_actions);
    return std::sqrt(sums(cell)[r] + sums(cell)[cell.num_actions + r] +
                     optimistic::kUnknown / (n * n));
  }
  /// Policy and roots of a cell that has the rest.
  void recall(const BanditCell& cell, const VisitSteps& steps) const noexcept {
    advance_rows(cell, [&](std::size_t r) {
      return RowStep{.decay = 1.0, .rate = steps.rate / scale(cell, r)};
    });
  }
};

}  // namespace vlearn
