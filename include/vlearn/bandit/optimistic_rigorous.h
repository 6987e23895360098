// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// optimistic-rigorous and optimistic-swap-rigorous: relatives of optimistic.h whose regret bound,
// and whose values, are proved with every constant (docs/theory/optimistic_rule.md). With B
// actions, R rows (1, for swap regret B), c = H, visit t and its loss x in [0, 1]:
//
//   Lambda    = L + log B,  for swap regret L + B log B,    L = log(4 m H S N / delta)
//   nu_t      = min(1/(2B), sqrt(3/4 (c + 1/2) Lambda/(B t)))
//   cut(b)    = min(m(b), p(b)/(4 nu_t))                         what is used of the mean of b
//   s         = x - cut(a)
//   score     = s/(p(a) + nu_t s/2)                              s >= 0: damped
//               s (p(a) + 0.61 nu_t |s|)/p(a)^2                  s < 0: amplified
//   D_r      <- d^2 D_r + q(r)^2/(4 (sqrt(B) + 1)) [ T_r(a)^1.5 score^2
//                                     + sum_b T_r(b)^1.5 (cut(b) - cut(a))^2 ],  d = (t-1)/(c+t-1)
//   G_r      <- d G_r + q(r) (cut + 1{b = a} score)
//   eta_r     = 1/sqrt(D_r + 3 ((c + t)/t)^2/nu_{t+1})
//   T_r       = the policy of G_r and eta_r, potential `tsallis`
//
// With one row q = 1 and p = T; for swap regret q(r) = p(r) and p = p T. What is played is what is
// returned: there is no floor. Cutting the mean keeps estimates of actions that are hardly played
// bounded. Increments are as in follow_leader.h, and means stay in [0, 1].
//
// Estimates are never above the loss in expectation, so that the least of their averages, which
// least_estimate() has, bounds from below what any other play would have lost.
//
// N = grid_size() is the number of exponents for which one event covers all visits up to K.
//
// xi: weighted regret, of the swap rule weighted swap regret, fails to be below it with probability
// at most 4 e^-iota at each t.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vlearn/bandit/follow_leader.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_actions.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/core/log.h"

namespace vlearn {

namespace optimistic_rigorous {
inline constexpr double kMeanShare = 0.25;  ///< a mean is cut at this multiple of p/nu
inline constexpr double kDamping = 0.5;
inline constexpr double kAmplifying = 0.61;
inline constexpr double kGuard = 3.0;  ///< of 1/nu under the root of eta
/// Nothing is divided by less, so that increments stay finite whatever is played.
inline constexpr double kLeastChance = 1e-300;

/// Neighbours in the grid of exponents: what it costs that one of them stands for all between.
inline constexpr double kGridRatio = 1.0625;
/// How many exponents serve all visits up to K, at least 1: the first is that of visit 1, and the
/// last at most that of visit K, which is smaller by K^(c + 1/2) at most.
[[nodiscard]] inline double grid_size(double horizon, double episodes) noexcept {
  return 2.0 + std::floor((horizon + 0.5) * log(episodes) / log(kGridRatio));
}

/// What a visit adds to D, per bracket of the formula above.
[[nodiscard]] inline double noise_scale(std::size_t n) noexcept {
  return 0.25 / (std::sqrt(to_double(n)) + 1.0);
}

[[nodiscard]] inline double cut_mean(double mean, double chance, double nu) noexcept {
  return std::min(mean, kMeanShare * chance / nu);
}

/// What an estimate makes of a surprise, where the action was played with this chance.
[[nodiscard]] inline double score_of(double surprise, double chance, double nu) noexcept {
  const double divisor = std::max(chance, kLeastChance);
  if (surprise >= 0.0) return surprise / (divisor + kDamping * nu * surprise);
  const double ratio = surprise / divisor;
  return ratio * (1.0 - kAmplifying * nu * ratio);
}

/// of(0) + ... + of(n - 1) in four running sums, so that no addition waits for the one before.
template <class Of>
[[nodiscard]] double sum_in_fours(std::size_t n, const Of& of) noexcept {
  std::array<double, 4> sums = {};
  std::size_t b = 0;
  for (; b + 4 <= n; b += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += of(b + k);
  }
  for (std::size_t k = 0; b + k < n; ++k) sums[k] += of(b + k);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
}  // namespace optimistic_rigorous

template <Regret kRegret>
struct OptimisticRigorousSteps {
  static constexpr std::string_view kName =
      kRegret == Regret::external ? "optimistic-rigorous" : "optimistic-swap-rigorous";
  static constexpr Potential kPotential = Potential::tsallis;
  static constexpr bool kProvenWithMeans = true;
  /// The policy, and how far least losses lie above 0; for swap regret roots of rows between them.
  static constexpr std::size_t kFrontRows = kRegret == Regret::external ? 2 : 3;
  double log_events = 0.0;  ///< log(4 m H S N / delta), N = grid_size()

  /// What all comparators cost together, where each event may fail with probability e^-iota.
  [[nodiscard]] static double lambda(std::size_t n, double iota) noexcept {
    return iota + (kRegret == Regret::external ? 1.0 : to_double(n)) * log_actions(n);
  }
  /// The same for all visits at once: what values pay, times alpha_t/nu_t.
  [[nodiscard]] double comparators(std::size_t n) const noexcept {
    return optimistic_rigorous::kGridRatio * lambda(n, log_events);
  }
  /// nu_t, of a number of visits that need not be whole.
  [[nodiscard]] double nu(double horizon, std::size_t n, double visits) const noexcept {
    const auto actions = to_double(n);
    return std::min(0.5 / actions,
                    std::sqrt(0.75 * (horizon + 0.5) * lambda(n, log_events) / (actions * visits)));
  }
  [[nodiscard]] double gamma(double horizon, std::size_t n, std::uint64_t t) const noexcept {
    return nu(horizon, n, to_double(t));
  }
  /// What is added to D under the root of eta.
  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double /*gamma*/) const noexcept {
    const auto visits = to_double(t);
    const double growth = (horizon + visits) / visits;
    return optimistic_rigorous::kGuard * growth * growth / nu(horizon, n, visits + 1.0);
  }

  /// g_t, which bounds weighted regret, and V - V_low beside what comes later; it falls with t. Of
  /// a number of visits that need not be whole, at least one. Comparators cost lambda() at one t,
  /// comparators() for all.
  [[nodiscard]] double bound(double horizon,
                             std::size_t n,
                             double visits,
                             double iota,
                             double comparators) const noexcept {
    const auto actions = to_double(n);
    const double rows = kRegret == Regret::external ? 1.0 : actions;
    const double root = std::sqrt(actions);
    const double alpha = (horizon + 1.0) / (horizon + visits);
    const double nu_of_t = nu(horizon, n, visits);
    // At least Q_t and sum_i alpha_t^i nu_i.
    const double squares =
        std::min(1.0, (horizon + 1.0) * (horizon + 1.0) / ((2.0 * horizon + 1.0) * visits));
    const double mean_nu = std::min(
        0.5 / actions, std::sqrt(0.75 * (horizon + 0.5) * lambda(n, log_events) / actions) *
                           (horizon + 1.0) / ((horizon + 0.5) * std::sqrt(visits - 0.25)));
    const double noise = std::sqrt(0.5 * iota * squares);
    const double own = optimistic_rigorous::kAmplifying * actions * mean_nu + 1.16 * noise;
    // At least alpha_t^2 times the sum of D.
    const double mean =
        std::min(0.3325 * squares, 0.25 * (squares + 3.0 * actions * alpha * mean_nu));
    const double top =
        alpha * alpha * (1.0 + 0.67 / std::sqrt(nu_of_t)) * optimistic_rigorous::noise_scale(n);
    const double sum = mean + std::sqrt(2.0 * top * mean * iota) + top * iota / 3.0;
    const double leader =
        n == 1 ? 0.0
               : (8.88 * root + 0.88) *
                     std::sqrt(optimistic_rigorous::kGuard * rows * rows * alpha * alpha / nu_of_t +
                               rows * sum);
    return alpha * comparators / nu_of_t + own + leader + noise;
  }
  [[nodiscard]] double xi(double horizon,
                          std::size_t n,
                          std::uint64_t t,
                          double iota) const noexcept {
    return std::min(1.0, bound(horizon, n, to_double(t), iota, lambda(n, iota)));
  }
};

/// What both rules do with means.
template <class Base>
class CutMeansLeader : public Base {
 public:
  using Base::Base;

  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const std::size_t a = action.index();
    const double mean = this->means(cell)[a];
    const double chance = cell.state[a];
    const double surprise = loss - optimistic_rigorous::cut_mean(mean, chance, steps.gamma);
    return this->increment_of(cell, a, loss - mean,
                              optimistic_rigorous::score_of(surprise, chance, steps.gamma));
  }

 protected:
  void cut_means(const BanditCell& cell, double nu, double* cut) const noexcept {
    for (std::size_t b = 0; b < cell.num_actions; ++b) {
      cut[b] = optimistic_rigorous::cut_mean(this->means(cell)[b], cell.state[b], nu);
    }
  }
  void grow_mean(const BanditCell& cell, Action action, const Increment& increment) const noexcept {
    Base::grow_mean(cell, action, increment);
    double& mean = this->means(cell)[action.index()];
    mean = std::clamp(mean, 0.0, 1.0);
  }
};

/// A cell has B + 1 numbers more than with `tsallis` and control variates: behind the policy, in a
/// row of its own, how far the least loss, which is kept at 0, lies above 0, and behind all others
/// D. The policy follows from the rest, and no policy needs that least loss: a snapshot has
/// neither.
class OptimisticRigorous
    : public CutMeansLeader<
          FollowLeader<OptimisticRigorousSteps<Regret::external>, ControlVariate::on>> {
 public:
  using CutMeansLeader::CutMeansLeader;

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return CutMeansLeader::memory_size(num_actions) + 1;
  }
  /// Means as they are used.
  [[nodiscard]] std::size_t scratch_size(std::size_t num_actions) const noexcept {
    return num_actions;
  }
  void reset(const BanditCell& cell) const noexcept {
    CutMeansLeader::reset(cell);
    std::fill_n(&least(cell), cell.num_actions, 0.0);
    noise(cell) = 0.0;
  }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    return CutMeansLeader::sound(cell) && is_within(noise(cell), 0.0, kMostNoise) &&
           is_within(least(cell), -0x1p100, 0x1p100);
  }
  /// The least of the cumulative estimates: times alpha_t, of their average.
  [[nodiscard]] double least_estimate(const BanditCell& cell) const noexcept { return least(cell); }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    double shift = 0.0;
    const RowAdvance row = begin({cell, action, increment, &steps}, shift);
    advance_rows(kPotential, cell.num_actions, {&row, 1});
    end({cell, action, increment, &steps}, shift);
  }
  void apply_together(std::span<const VisitedCell> visits) const noexcept {
    std::array<double, kMostTogether> shifts{};
    std::array<RowAdvance, kMostTogether> rows;
    for (std::size_t i = 0; i < visits.size(); ++i) rows[i] = begin(visits[i], shifts[i]);
    advance_together(visits, rows);
    for (std::size_t i = 0; i < visits.size(); ++i) end(visits[i], shifts[i]);
  }
  void replay(const BanditCell& cell,
              std::uint64_t done,
              std::span<const LoggedVisit> log) const noexcept {
    if (done > 0) recall(cell, this->steps(cell.num_actions, done));
    for (const auto& [action, increment] : log) {
      apply(cell, action, increment, this->steps(cell.num_actions, ++done));
    }
  }
  [[nodiscard]] std::size_t forgettable(std::size_t num_actions) const noexcept {
    return 2 * num_actions;
  }
  /// Each replayed visit costs a policy.
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(50, 4 * num_actions);
  }

 private:
  static constexpr Potential kPotential = Potential::tsallis;

  [[nodiscard]] double& noise(const BanditCell& cell) const noexcept {
    return cell.state[CutMeansLeader::memory_size(cell.num_actions)];
  }
  [[nodiscard]] static double& least(const BanditCell& cell) noexcept {
    return cell.state[cell.num_actions];
  }
  /// Moves D; what is left is the row.
  [[nodiscard]] RowAdvance begin(const VisitedCell& visited, double& shift) const noexcept {
    const auto& [cell, action, increment, its_steps] = visited;
    const VisitSteps& steps = *its_steps;
    const std::size_t n = cell.num_actions;
    const std::size_t a = action.index();
    const double* const chances = cell.state;
    double* const cut = cell.scratch;
    cut_means(cell, steps.gamma, cut);
    const auto score = static_cast<double>(increment.score);
    const auto power = [&](std::size_t b) { return chances[b] * std::sqrt(chances[b]); };
    const double between = optimistic_rigorous::sum_in_fours(n, [&](std::size_t b) {
      const double away = cut[b] - cut[a];
      return power(b) * (away * away);
    });
    noise(cell) = steps.decay * steps.decay * noise(cell) +
                  optimistic_rigorous::noise_scale(n) * (power(a) * (score * score) + between);
    return {.step = {.decay = steps.decay,
                     .mean_scale = 1.0,
                     .action = a,
                     .score = score,
                     .rate = 1.0 / std::sqrt(noise(cell) + steps.rate)},
            .means = cut,
            .losses = rows(cell),
            .policy = cell.state,
            .shift = &shift};
  }
  void end(const VisitedCell& visited, double shift) const noexcept {
    least(visited.cell) = visited.steps->decay * least(visited.cell) + shift;
    grow_mean(visited.cell, visited.action, visited.increment);
  }
  /// The policy of a cell that has the rest.
  void recall(const BanditCell& cell, const VisitSteps& steps) const noexcept {
    const RowAdvance row = {
        .step = {.decay = 1.0, .rate = 1.0 / std::sqrt(noise(cell) + steps.rate)},
        .losses = rows(cell),
        .policy = cell.state};
    advance_rows(kPotential, cell.num_actions, {&row, 1});
  }
};

/// A cell has three numbers per row more than with `ftrl-swap` and control variates: behind the
/// policy the root y_r of each row, which with its losses and eta_r gives T_r, and how far its
/// least loss lies above 0; behind all others D_r. As above a snapshot has none of the first 3 B
/// numbers.
class OptimisticSwapRigorous
    : public CutMeansLeader<SwapLeader<OptimisticRigorousSteps<Regret::swap>, ControlVariate::on>> {
 public:
  using CutMeansLeader::CutMeansLeader;

  [[nodiscard]] std::size_t memory_size(std::size_t num_actions) const noexcept {
    return CutMeansLeader::memory_size(num_actions) + num_actions;
  }
  /// The chain, means as they are used, and what they give to D, and what rows were lowered by.
  [[nodiscard]] std::size_t scratch_size(std::size_t num_actions) const noexcept {
    return CutMeansLeader::scratch_size(num_actions) + 3 * num_actions;
  }
  void reset(const BanditCell& cell) const noexcept {
    const std::size_t n = cell.num_actions;
    CutMeansLeader::reset(cell);
    std::fill_n(roots(cell), n, std::sqrt(to_double(n)));
    std::fill_n(least(cell), n, 0.0);
    std::fill_n(noise(cell), n, 0.0);
  }
  [[nodiscard]] bool sound(const BanditCell& cell) const noexcept {
    const std::size_t n = cell.num_actions;
    const auto all_within = [n](const double* numbers, double low, double high) {
      return std::all_of(numbers, numbers + n, [=](double x) { return is_within(x, low, high); });
    };
    return CutMeansLeader::sound(cell) && all_within(roots(cell), 0.0, 0x1p100) &&
           all_within(noise(cell), 0.0, kMostNoise) && all_within(least(cell), -0x1p100, 0x1p100);
  }
  /// The sum over rows of the least of the cumulative estimates: times alpha_t, of their average.
  [[nodiscard]] double least_estimate(const BanditCell& cell) const noexcept {
    double sum = 0.0;
    for (std::size_t r = 0; r < cell.num_actions; ++r) sum += least(cell)[r];
    return sum;
  }
  [[nodiscard]] std::size_t forgettable(std::size_t num_actions) const noexcept {
    return 3 * num_actions;
  }
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept {
    return std::max<std::uint64_t>(40, num_actions);
  }

  void apply(const BanditCell& cell,
             Action action,
             const Increment& increment,
             const VisitSteps& steps) const noexcept {
    const std::size_t n = cell.num_actions;
    const std::size_t a = action.index();
    const auto score = static_cast<double>(increment.score);
    double* const cut = cell.scratch + n * n;
    double* const away = cut + n;
    double* const shifts = away + n;
    cut_means(cell, steps.gamma, cut);
    for (std::size_t b = 0; b < n; ++b) away[b] = (cut[b] - cut[a]) * (cut[b] - cut[a]);
    away[a] = score * score;
    const double scale = optimistic_rigorous::noise_scale(n);
    const double keep = steps.decay * steps.decay;
    for (std::size_t r = 0; r < n; ++r) {
      // T_r(b) = 1/distance^2, with eta_r of the visit before: there D was noise, and
      // (c + t - 1)/(t - 1) is 1/decay.
      const double kept = keep * noise(cell)[r];
      const double half_rate =
          0.5 * (steps.decay / std::sqrt(kept + optimistic_rigorous::kGuard / steps.gamma));
      const double* const losses = rows(cell) + r * n;
      const double root = roots(cell)[r];
      const double sum = optimistic_rigorous::sum_in_fours(n, [&](std::size_t b) {
        const double distance = half_rate * losses[b] + root;
        return away[b] / (distance * distance * distance);
      });
      const double weight = cell.state[r] * cell.state[r];
      noise(cell)[r] = kept + scale * weight * sum;
    }
    const auto step_of = [&](std::size_t r) {
      return RowStep{.decay = steps.decay,
                     .mean_scale = cell.state[r],
                     .action = a,
                     .score = cell.state[r] * score,
                     .rate = 1.0 / std::sqrt(noise(cell)[r] + steps.rate)};
    };
    advance_rows(cell, step_of, cut, shifts);
    for (std::size_t r = 0; r < n; ++r) least(cell)[r] = steps.decay * least(cell)[r] + shifts[r];
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
  [[nodiscard]] double* noise(const BanditCell& cell) const noexcept {
    return cell.state + CutMeansLeader::memory_size(cell.num_actions);
  }
  [[nodiscard]] static double* least(const BanditCell& cell) noexcept {
    return cell.state + 2 * cell.num_actions;
  }
  /// Policy and roots of a cell that has the rest.
  void recall(const BanditCell& cell, const VisitSteps& steps) const noexcept {
    advance_rows(cell, [&](std::size_t r) {
      return RowStep{.decay = 1.0, .rate = 1.0 / std::sqrt(noise(cell)[r] + steps.rate)};
    });
  }
};

}  // namespace vlearn
