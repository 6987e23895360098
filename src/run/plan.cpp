// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "vlearn/agent/bonus.h"
#include "vlearn/bandit/log_actions.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

/// What is added one by one before blocks begin: here the closed forms of the sums over visits are
/// not yet close.
constexpr std::uint64_t kVisitsOneByOne = 4096;
constexpr double kBlockGrowth = 1.0 / 64.0;
/// Beyond it the search for K gives up: far from where doubles end.
constexpr double kMostEpisodes = 1e300;

double number(std::size_t size) { return static_cast<double>(size); }

bool is_swap(Theorem theorem) { return theorem == Theorem::ce; }

/// log(m H S K / delta), term by term because the product may not be a double.
double log_cells(const PlanOptions& options, double episodes) {
  return log(number(options.num_players)) + log(number(options.horizon)) +
         log(number(options.max_states)) + log(episodes) - log(options.delta);
}

/// b_{h,n}/H_h + sqrt(iota Q_n/2) as BonusSchedule has it, for visits beyond 64 bits.
template <Regret kRegret>
class RigorousTerm {
 public:
  RigorousTerm(const PlanOptions& options, double episodes)
      : horizon_(number(options.horizon)),
        actions_(number(options.max_actions)),
        experts_(kRegret == Regret::external ? 1.0 : actions_) {
    const RigorousSteps<kRegret> steps{log(4.0) + log_cells(options, episodes)};
    iota_ = steps.iota(options.max_actions);
    first_gamma_ = steps.gamma(horizon_, options.max_actions, 1);
    log_actions_ = log_actions(options.max_actions);
  }

  /// inverse_roots = sum_i alpha_n^i / sqrt(i), squares = Q_n.
  [[nodiscard]] double operator()(double n, double inverse_roots, double squares) const {
    const double alpha = (horizon_ + 1.0) / (horizon_ + n);
    // alpha_n / gamma_n rises until n = H. Its value there stands for all before, so that terms
    // fall and visits spread evenly over the states are the worst.
    const double later = std::max(n, horizon_);
    const double alpha_by_gamma =
        (horizon_ + 1.0) / (horizon_ + later) * std::sqrt(later) / first_gamma_;
    const double regret = alpha_by_gamma * experts_ * (log_actions_ + 0.5 * iota_) +
                          1.5 * actions_ * first_gamma_ * inverse_roots +
                          0.75 * alpha * experts_ * iota_;
    return regret + std::sqrt(0.5 * iota_ * squares);
  }

  /// With upper bounds of both sums, which docs/algorithms.md derives.
  [[nodiscard]] double at(double n) const {
    const double inverse_roots = (horizon_ + 1.0) / ((horizon_ + 0.5) * std::sqrt(n - 0.25));
    const double squares = (horizon_ + 1.0) * (horizon_ + 1.0) / ((2.0 * horizon_ + 1.0) * n);
    return (*this)(n, inverse_roots, squares);
  }

 private:
  double horizon_;
  double actions_;
  double experts_;
  double iota_ = 0.0;
  double first_gamma_ = 0.0;
  double log_actions_ = 0.0;
};

/// The sum of terms over n beyond those that are added one by one, of each block its largest.
template <class Term>
double sum_of_blocks(double visits, const Term& term) {
  double sum = 0.0;
  auto before = static_cast<double>(kVisitsOneByOne);
  while (before < visits) {
    const double end = std::floor(before * (1.0 + kBlockGrowth));
    sum += (std::min(end, visits) - before) * term(before + 1.0);
    before = end;
  }
  return sum;
}

/// The sum of terms over n = 1..visits; of the last one the part that `visits` reaches into it.
template <Regret kRegret>
double sum_of_terms(const RigorousTerm<kRegret>& term, std::uint64_t horizon, double visits) {
  const AlphaWeights alpha(horizon);
  VisitSums sums;
  double sum = 0.0;
  for (std::uint64_t n = 1; n <= kVisitsOneByOne; ++n) {
    const auto before = static_cast<double>(n - 1);
    if (before >= visits) return sum;
    sums.add(alpha.rate(n), n);
    sum += std::min(1.0, visits - before) *
           term(static_cast<double>(n), sums.inverse_roots, sums.squares);
  }
  return sum + sum_of_blocks(visits, [&](double n) { return term.at(n); });
}

/// The same of min(1, g_n) of the preset proven, which falls with n and is known in closed form.
template <Regret kRegret>
double sum_of_proven_terms(const PlanOptions& options, double episodes) {
  const double visits = episodes / number(options.max_states);
  const double iota = log(4.0) + log_cells(options, episodes);
  const double horizon = number(options.horizon);
  const OptimisticRigorousSteps<kRegret> steps{
      iota + log(optimistic_rigorous::grid_size(horizon, episodes)) - log(episodes)};
  const double comparators = steps.comparators(options.max_actions);
  const auto term = [&](double n) {
    return std::min(1.0, steps.bound(horizon, options.max_actions, n, iota, comparators));
  };
  double sum = 0.0;
  for (std::uint64_t n = 1; n <= kVisitsOneByOne; ++n) {
    const auto before = static_cast<double>(n - 1);
    if (before >= visits) return sum;
    sum += std::min(1.0, visits - before) * term(static_cast<double>(n));
  }
  return sum + sum_of_blocks(visits, term);
}

/// W = sum_h (1 + 1/H)^(h-1) H_h.
double sum_over_steps(std::size_t horizon) {
  double sum = 0.0;
  double growth = 1.0;
  for (std::size_t left = horizon; left >= 1; --left) {
    sum += growth * number(left);
    growth *= 1.0 + 1.0 / number(horizon);
  }
  return sum;
}

/// Of the presets rigorous and proven, from the sum of their bounds of one visit each.
double bound_of_sum(Theorem theorem, const PlanOptions& options, double episodes, double sum) {
  // A duality gap is the sum of both players' gaps.
  const double players = theorem == Theorem::nash ? 2.0 : 1.0;
  return players * sum_over_steps(options.horizon) * (number(options.max_states) / episodes) *
         (1.0 + sum);
}

/// Factors of e S H^2/K and of e c sqrt(H^5 S A iota/K).
struct Factors {
  double first_visits;
  double bonus;
};

Factors factors_of(Theorem theorem) {
  switch (theorem) {
    case Theorem::nash: return {2.0, 16.0};
    case Theorem::monotone: return {2.0, 8.0};
    case Theorem::single_agent:
    case Theorem::cce:
    case Theorem::ce: break;
  }
  return {1.0, 8.0};
}

std::string formula_of(Theorem theorem, Preset preset) {
  if (preset == Preset::rigorous) {
    return fmt::format(
        "{}W (S/K) (1 + sum_(n <= K/S) (b_n + sqrt(iota Q_n/2))), W = sum_h (1 + 1/H)^(h-1) H_h",
        theorem == Theorem::nash ? "2 " : "");
  }
  if (preset == Preset::proven) {
    return fmt::format("{}W (S/K) (1 + sum_(n <= K/S) min(1, g_n)), W = sum_h (1 + 1/H)^(h-1) H_h",
                       theorem == Theorem::nash ? "2 " : "");
  }
  const Factors factors = factors_of(theorem);
  return fmt::format("{}e S H^2/K + {} e c {}/K)",
                     factors.first_visits == 1.0 ? "" : fmt::format("{} ", factors.first_visits),
                     factors.bonus, is_swap(theorem) ? "A sqrt(H^5 S iota" : "sqrt(H^5 S A iota");
}

Target target_of(Theorem theorem) {
  switch (theorem) {
    case Theorem::single_agent: return Target::optimal;
    case Theorem::nash:
    case Theorem::monotone: return Target::nash;
    case Theorem::cce: return Target::cce;
    case Theorem::ce: return Target::ce;
  }
  return Target::cce;
}

const char* promise_of(Theorem theorem) {
  switch (theorem) {
    case Theorem::single_agent: return "the policy is at most eps worse than the best one";
    case Theorem::nash:
      return "players who draw independently: what both could gain by best replies is at most eps "
             "in all";
    case Theorem::cce: return "nobody gains more than eps by ignoring the common recommendation";
    case Theorem::ce:
      return "nobody gains more than eps by answering recommendations with other actions";
    case Theorem::monotone:
      return "Markov policies of two players: what both could gain by best replies is at most eps "
             "in all";
  }
  return "";
}

bool applies(Theorem theorem, const PlanOptions& options) {
  if (options.target && *options.target != target_of(theorem)) return false;
  switch (theorem) {
    case Theorem::single_agent: return options.num_players == 1;
    case Theorem::nash:
    case Theorem::monotone: return options.num_players == 2 && options.zero_sum;
    case Theorem::cce:
    case Theorem::ce: break;
  }
  return true;
}

void check(const PlanOptions& options) {
  const auto refuse = [](const char* place, std::string problem) {
    throw Error(ErrorKind::usage, place, std::move(problem));
  };
  if (options.target) check_choice("target", *options.target, kTargetNames);
  if (options.num_players == 0 || options.horizon == 0 || options.max_states == 0 ||
      options.max_actions == 0) {
    refuse("sizes", "a game has players, steps, states and actions, one of each at least");
  }
  if (options.horizon >= kMaxSteps) refuse("horizon", "is longer than any game");
  if (!(options.eps > 0.0 && options.eps < number(options.horizon))) {
    refuse("eps", fmt::format("is {:g}, want a number above 0 and below H = {}, a gap that every "
                              "policy has",
                              options.eps, options.horizon));
  }
  if (!(std::isnormal(options.delta) && options.delta > 0.0 && options.delta < 1.0)) {
    refuse("delta", fmt::format("is {:g}, want a number between 0 and 1", options.delta));
  }
  if (!(options.bonus_constant >= 0.0 && std::isfinite(options.bonus_constant))) {
    refuse("the bonus constant",
           fmt::format("is {:g}, want a number from 0 on", options.bonus_constant));
  }
}

/// The smallest K for which `suffices` is true: exact where it fits 63 bits.
struct Smallest {
  std::optional<std::uint64_t> exact;
  double nearly = 1.0;
};

/// `suffices` stays true once it is. K = 1 and 2 are asked one by one; from 3 on iota > 1, and
/// every bound below H falls.
Smallest smallest(const std::function<bool(double)>& suffices) {
  const auto enough = [&](std::uint64_t episodes) {
    return suffices(static_cast<double>(episodes));
  };
  if (enough(1)) return {.exact = 1, .nearly = 1.0};
  std::uint64_t low = 1;  // not enough
  std::uint64_t high = 2;
  while (!enough(high)) {
    low = high;
    if (high == kMostPlannedEpisodes) break;
    high = high > kMostPlannedEpisodes / 2 ? kMostPlannedEpisodes : 2 * high;
  }
  if (low != kMostPlannedEpisodes) {
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return {.exact = high, .nearly = static_cast<double>(high)};
  }
  auto not_enough = static_cast<double>(low);
  double ample = not_enough;
  do {
    not_enough = ample;
    ample *= 2.0;
    if (ample > kMostEpisodes) {
      throw Error(ErrorKind::usage, "eps", "asks for more than 1e300 episodes",
                  "ask for a larger eps");
    }
  } while (!suffices(ample));
  for (int i = 0; i < 50; ++i) {
    const double middle = not_enough + 0.5 * (ample - not_enough);
    (suffices(middle) ? ample : not_enough) = middle;
  }
  return {.exact = std::nullopt, .nearly = ample};
}

PlannedRun plan_run(Theorem theorem, Preset preset, const PlanOptions& options) {
  const Smallest found = smallest([&](double episodes) {
    return gap_bound(theorem, preset, options, episodes) <= options.eps;
  });
  PlannedRun run;
  run.theorem = theorem;
  run.preset = preset;
  run.target = target_of(theorem);
  run.promise = promise_of(theorem);
  run.formula = formula_of(theorem, preset);
  if (preset == Preset::paper) run.constant = options.bonus_constant;
  run.iota = iota_of(theorem, preset, options, found.nearly);
  run.episodes = found.exact;
  run.episodes_log10 = log(found.nearly) / std::numbers::ln10;
  if (found.exact) {
    run.agent_steps = checked_product(std::array{std::uint64_t{options.num_players},
                                                 std::uint64_t{options.horizon}, *found.exact});
  }
  return run;
}

}  // namespace

double iota_of(Theorem theorem, Preset preset, const PlanOptions& options, double episodes) {
  const double cells = log_cells(options, episodes);
  const double log_events = log(4.0) + cells;
  if (preset == Preset::proven) return log_events;
  if (preset != Preset::rigorous) return cells + log_actions(options.max_actions);
  return is_swap(theorem) ? RigorousSteps<Regret::swap>{log_events}.iota(options.max_actions)
                          : RigorousSteps<Regret::external>{log_events}.iota(options.max_actions);
}

double sum_of_rigorous_bounds(bool swap, const PlanOptions& options, double episodes) {
  const double visits = episodes / number(options.max_states);
  if (swap) {
    return sum_of_terms(RigorousTerm<Regret::swap>(options, episodes), options.horizon, visits);
  }
  return sum_of_terms(RigorousTerm<Regret::external>(options, episodes), options.horizon, visits);
}

double sum_of_proven_bounds(bool swap, const PlanOptions& options, double episodes) {
  return swap ? sum_of_proven_terms<Regret::swap>(options, episodes)
              : sum_of_proven_terms<Regret::external>(options, episodes);
}

double gap_bound(Theorem theorem, Preset preset, const PlanOptions& options, double episodes) {
  if (preset == Preset::rigorous && theorem != Theorem::monotone) {
    return bound_of_sum(theorem, options, episodes,
                        sum_of_rigorous_bounds(is_swap(theorem), options, episodes));
  }
  if (preset == Preset::proven && theorem != Theorem::monotone) {
    return bound_of_sum(theorem, options, episodes,
                        sum_of_proven_bounds(is_swap(theorem), options, episodes));
  }
  const double horizon = number(options.horizon);
  const double states = number(options.max_states);
  const double actions = number(options.max_actions);
  const double iota = iota_of(theorem, Preset::paper, options, episodes);
  const double fifth_power = horizon * horizon * horizon * horizon * horizon;
  const double root = std::sqrt(
      fifth_power * states * (is_swap(theorem) ? actions * actions : actions) * (iota / episodes));
  const Factors factors = factors_of(theorem);
  return std::numbers::e * (factors.first_visits * states * horizon * horizon / episodes +
                            factors.bonus * options.bonus_constant * root);
}

std::vector<PlannedRun> plan_episodes(const PlanOptions& options) {
  check(options);
  std::vector<PlannedRun> runs;
  for (const Theorem theorem :
       {Theorem::single_agent, Theorem::nash, Theorem::monotone, Theorem::cce, Theorem::ce}) {
    if (!applies(theorem, options)) continue;
    runs.push_back(plan_run(theorem, Preset::paper, options));
    if (theorem == Theorem::monotone) continue;
    runs.push_back(plan_run(theorem, Preset::rigorous, options));
    runs.push_back(plan_run(theorem, Preset::proven, options));
  }
  if (runs.empty()) {
    throw Error(ErrorKind::usage, "target", "no theorem leads to it in this game");
  }
  return runs;
}

}  // namespace vlearn
