// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace vlearn {
namespace {

constexpr std::array<std::string_view, 13> kNames = {"ftrl",
                                                     "ftrl-predictive",
                                                     "ftrl-rigorous",
                                                     "ftrl-swap",
                                                     "ftrl-swap-rigorous",
                                                     "exp3-ix",
                                                     "tsallis",
                                                     "log-barrier",
                                                     "optimistic",
                                                     "optimistic-nash",
                                                     "optimistic-swap",
                                                     "optimistic-rigorous",
                                                     "optimistic-swap-rigorous"};
constexpr double kMostExponent = 708.0;
constexpr double kLeastTransition = 1e-300;
constexpr double kSumTolerance = 1e-11;
// Of the optimistic rules.
constexpr double kBetweenActions = 0.3;
constexpr double kUnknownNoise = 0.12;
// Of the rules that cut means: of 1/nu under the root of eta.
constexpr double kGuard = 3.0;

void divide_by_sum(std::span<double> policy) {
  double sum = 0.0;
  for (const double chance : policy) sum += chance;
  for (double& chance : policy) chance /= sum;
}

void softmax_of(std::span<const double> losses, double rate, std::span<double> policy) {
  for (std::size_t b = 0; b < losses.size(); ++b) {
    policy[b] = std::exp(-std::min(rate * losses[b], kMostExponent));
  }
  divide_by_sum(policy);
}

/// policy(b) = (scale losses(b) + y)^-power with the y that makes it a distribution. The least loss
/// is 0, so y lies between 1 and n^(1/power). The sum is convex and falls with y: Newton's steps
/// from the left stay left of it.
void inverse_power_of(std::span<const double> losses,
                      double scale,
                      int power,
                      std::span<double> policy) {
  double y = 1.0;
  for (int step = 0; step < 200; ++step) {
    double sum = 0.0;
    double slope = 0.0;
    for (std::size_t b = 0; b < losses.size(); ++b) {
      const double distance = scale * losses[b] + y;
      policy[b] = power == 2 ? 1.0 / (distance * distance) : 1.0 / distance;
      sum += policy[b];
      slope += power * policy[b] / distance;
    }
    const double next = y + (sum - 1.0) / slope;
    if (!(next > y)) break;
    y = next;
  }
  divide_by_sum(policy);
}

/// pi = pi T: states are censored from the first on, without subtractions (Grassmann, Taksar and
/// Heyman), then put back in reverse.
void stationary_of(std::span<double> transition, std::span<double> pi) {
  const std::size_t n = pi.size();
  const auto t = [&](std::size_t from, std::size_t to) -> double& {
    return transition[from * n + to];
  };
  for (double& chance : transition) chance = std::max(chance, kLeastTransition);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    double leave = 0.0;
    for (std::size_t to = k + 1; to < n; ++to) leave += t(k, to);
    for (std::size_t from = k + 1; from < n; ++from) {
      t(from, k) /= leave;
      for (std::size_t to = k + 1; to < n; ++to) t(from, to) += t(from, k) * t(k, to);
    }
  }
  pi[n - 1] = 1.0;
  for (std::size_t k = n - 1; k-- > 0;) {
    pi[k] = 0.0;
    for (std::size_t from = k + 1; from < n; ++from) pi[k] += pi[from] * t(from, k);
  }
  divide_by_sum(pi);
}

/// losses <- decay losses + share means; score more at the action; the least becomes 0.
void grow(std::span<double> losses,
          double decay,
          double share,
          std::span<const double> means,
          std::size_t action,
          double score) {
  for (std::size_t b = 0; b < losses.size(); ++b) {
    losses[b] *= decay;
    if (!means.empty()) losses[b] += share * means[b];
  }
  losses[action] += score;
  const double least = *std::min_element(losses.begin(), losses.end());
  for (double& loss : losses) loss -= least;
}

/// The mean of the squared distances from the mean.
double spread_of(std::span<const double> numbers) {
  const auto n = static_cast<double>(numbers.size());
  double sum = 0.0;
  for (const double number : numbers) sum += number;
  const double middle = sum / n;
  double squares = 0.0;
  for (const double number : numbers) squares += (number - middle) * (number - middle);
  return squares / n;
}

}  // namespace

std::optional<ReplayedRule> ReplayedRule::make(const Options& options) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), options.name);
  if (found == kNames.end()) return std::nullopt;
  Options own = options;
  own.name = *found;  // which stays
  const ReplayedRule rule(static_cast<Name>(found - kNames.begin()), own);
  if (rule.noises() > 0 && !options.control_variate) return std::nullopt;
  return rule;
}

std::uint64_t ReplayedRule::snapshot_interval(std::size_t num_actions) const noexcept {
  const std::uint64_t n = num_actions;
  if (swap_) return std::max<std::uint64_t>(cuts_means_ ? 40 : optimistic_ ? 36 : 32, n);
  if (cuts_means_) return std::max<std::uint64_t>(50, 4 * n);
  return std::max<std::uint64_t>(64, (optimistic_ ? 10 : 12) * n);
}

bool ReplayedRule::agree(std::span<const double> replayed,
                         std::span<const double> snapshot) const noexcept {
  const auto agree = [](std::span<const double> own, std::span<const double> given,
                        double tolerance) {
    return std::equal(own.begin(), own.end(), given.begin(), given.end(),
                      [tolerance](double a, double b) {
                        return std::abs(a - b) <= tolerance * (1.0 + std::abs(a));
                      });
  };
  const bool nearly = swap_ || cuts_means_;
  if (nearly || !optimistic_) return agree(replayed, snapshot, nearly ? kSumTolerance : 0.0);
  const std::size_t exact = replayed.size() - 2;
  return agree(replayed.first(exact), snapshot.first(exact), 0.0) &&
         agree(replayed.last(2), snapshot.last(2), kSumTolerance);
}

void ReplayedRule::reset(std::size_t num_actions, std::span<double> state) const noexcept {
  std::fill(state.begin(), state.end(), 0.0);
  std::fill_n(state.begin(), num_actions, 1.0 / static_cast<double>(num_actions));
  if (options_.control_variate) {
    const auto means = static_cast<std::ptrdiff_t>(policies() * num_actions);
    std::fill_n(state.begin() + means, num_actions, 0.5);
  }
  if (policies() == 2)
    std::fill_n(state.begin() + static_cast<std::ptrdiff_t>(num_actions), num_actions,
                state.front());
}

double ReplayedRule::rate(std::size_t num_actions, std::uint64_t visit) const noexcept {
  const double horizon = memory_;
  const auto n = static_cast<double>(num_actions);
  const auto t = static_cast<double>(visit);
  const double log_n = std::log(n);
  // The index of the proofs: steps of the visit that comes next, on losses that it will scale.
  const double predictive = t / (horizon + t);
  const auto rigorous = [&](double power) {
    return horizon * ((log_n + 0.5 * (options_.parameter + power * log_n)) / 1.5);
  };
  switch (name_) {
    case Name::ftrl: return std::sqrt(horizon * log_n / (n * t));
    case Name::ftrl_predictive: return std::sqrt(horizon * log_n / (n * (t + 1.0))) * predictive;
    case Name::ftrl_rigorous: return std::sqrt(rigorous(1.0) / (n * (t + 1.0))) * predictive;
    case Name::ftrl_swap: return std::sqrt(horizon * log_n / t);
    case Name::ftrl_swap_rigorous: return std::sqrt(rigorous(2.0) / (t + 1.0)) * predictive;
    case Name::exp3_ix: return std::sqrt((horizon + 1.0) * log_n / (n * t));
    case Name::tsallis: return 2.0 * std::sqrt((horizon + 1.0) / t);
    case Name::log_barrier:
      return std::sqrt((horizon + 1.0) * n * static_cast<double>(std::bit_width(visit)) / t);
    // Times the noise.
    case Name::optimistic: return 1.5 * std::pow(std::max(1.0, n / 3.0), 0.25);
    case Name::optimistic_nash: return 0.8 * std::sqrt(std::max(1.0, n / 3.0));
    case Name::optimistic_swap: return 1.25 * std::pow(std::max(1.0, n / 3.0), 0.25);
    case Name::optimistic_rigorous:
    case Name::optimistic_swap_rigorous: return 1.0;
  }
  return 0.0;
}

void ReplayedRule::policy_of(std::span<const double> losses,
                             double rate,
                             std::span<double> policy) const noexcept {
  if (name_ == Name::tsallis || noises() > 0)
    return inverse_power_of(losses, 0.5 * rate, 2, policy);
  if (name_ == Name::log_barrier) return inverse_power_of(losses, rate, 1, policy);
  softmax_of(losses, rate, policy);
}

double ReplayedRule::nu(std::size_t num_actions, std::uint64_t visit) const noexcept {
  const auto n = static_cast<double>(num_actions);
  const double lambda = options_.parameter + (swap_ ? n : 1.0) * std::log(n);
  return std::min(1.0 / (2.0 * n),
                  std::sqrt(0.75 * (memory_ + 0.5) * lambda / (n * static_cast<double>(visit))));
}

double ReplayedRule::scaled_rate(std::size_t num_actions,
                                 std::uint64_t visit,
                                 std::size_t row,
                                 std::span<const double> state) const noexcept {
  const std::size_t rows = swap_ ? num_actions : 1;
  if (cuts_means_) {
    const auto t = static_cast<double>(visit);
    const double growth = (memory_ + t) / t;
    return 1.0 /
           std::sqrt(state.last(rows)[row] + kGuard * growth * growth / nu(num_actions, visit + 1));
  }
  const std::span<const double> noise = state.last(2 * rows);
  const auto unit = static_cast<double>(rows);
  return rate(num_actions, 0) /
         std::sqrt(noise[row] + noise[rows + row] + kUnknownNoise / (unit * unit));
}

double ReplayedRule::row_chance(std::size_t num_actions,
                                std::uint64_t visit,
                                std::size_t row,
                                std::size_t action,
                                std::span<const double> state) const noexcept {
  if (!swap_) return state[action];
  if (visit == 1) return 1.0 / static_cast<double>(num_actions);
  // The best one's, and from there by the losses.
  const double loss = state[(policies() + 2 + row) * num_actions + action];
  const double distance = 0.5 * scaled_rate(num_actions, visit - 1, row, state) * loss +
                          1.0 / std::sqrt(state[num_actions + row]);
  return 1.0 / (distance * distance);
}

std::vector<double> ReplayedRule::cut_means(std::size_t num_actions,
                                            std::uint64_t visit,
                                            std::span<const double> state) const {
  std::vector<double> cut;
  for (std::size_t b = 0; b < num_actions; ++b) {
    const double mean = state[policies() * num_actions + b];
    cut.push_back(std::min(mean, state[b] / (4.0 * nu(num_actions, visit))));
  }
  return cut;
}

void ReplayedRule::add_cut_noise(std::size_t num_actions,
                                 std::uint64_t visit,
                                 const Logged& logged,
                                 std::span<const double> cut,
                                 std::span<double> state) const {
  const std::size_t n = num_actions;
  const std::size_t rows = swap_ ? n : 1;
  const auto t = static_cast<double>(visit);
  const double decay = (t - 1.0) / (memory_ + t - 1.0);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      const double chance = row_chance(n, visit, row, b, state);
      const double away = b == logged.action ? logged.score : cut[b] - cut[logged.action];
      sum += chance * std::sqrt(chance) * away * away;
    }
    const double weight = swap_ ? state[row] : 1.0;
    double& noise = state[state.size() - rows + row];
    noise = decay * decay * noise +
            weight * weight * sum / (4.0 * (std::sqrt(static_cast<double>(n)) + 1.0));
  }
}

void ReplayedRule::add_noise(std::size_t num_actions,
                             std::uint64_t visit,
                             const Logged& logged,
                             std::span<double> state) const {
  const std::size_t n = num_actions;
  const std::size_t rows = swap_ ? n : 1;
  const auto t = static_cast<double>(visit);
  const double decay = (t - 1.0) / (memory_ + t - 1.0);
  const std::span<const double> means = state.subspan(policies() * n, n);
  const double between = kBetweenActions * spread_of(means);
  // The surprise of the visit, from what it added to the mean of its action: its part of the way
  // there, (c + 1)/(c + 1 + plays).
  const double plays = state[(policies() + 1) * n + logged.action];
  const double surprise = logged.mean * ((memory_ + plays + 1.0) / (memory_ + 1.0));
  for (std::size_t row = 0; row < rows; ++row) {
    double now = std::abs(surprise) * std::sqrt(std::abs(surprise * logged.score)) + between;
    double drop = std::abs(surprise * logged.score);
    if (swap_) {
      const double chance = row_chance(n, visit, row, logged.action, state);
      const double weight = state[row] * state[row];
      const double square = logged.score * logged.score;
      now = weight * (chance * std::sqrt(chance) * square + between);
      drop = weight * chance * square;
    }
    double& sum = state[state.size() - 2 * rows + row];
    double& largest = state[state.size() - rows + row];
    sum = decay * decay * sum + now;
    largest = std::max(decay * decay * largest, logged.score < 0.0 ? drop : 0.0);
  }
}

void ReplayedRule::advance(std::size_t num_actions,
                           std::uint64_t visit,
                           const Logged& logged,
                           std::span<double> state) const {
  const std::size_t n = num_actions;
  const auto t = static_cast<double>(visit);
  const double decay = (t - 1.0) / (memory_ + t - 1.0);
  if (optimistic_) add_noise(n, visit, logged, state);
  std::vector<double> cut;
  if (cuts_means_) {
    cut = cut_means(n, visit, state);
    add_cut_noise(n, visit, logged, cut, state);
  }
  const auto eta = [&](std::size_t row) {
    return noises() > 0 ? scaled_rate(n, visit, row, state) : rate(n, visit);
  };
  const std::span<double> policy = state.first(n);
  const std::size_t begin = policies() * n;
  const std::span<double> means =
      options_.control_variate ? state.subspan(begin, n) : std::span<double>();
  const std::span<double> rows =
      state.subspan(begin + (options_.control_variate ? 2 * n : 0), swap_ ? n * n : n);
  if (swap_) {
    std::vector<double> chain(n * n);
    for (std::size_t b = 0; b < n; ++b) {
      const std::span<double> row = rows.subspan(b * n, n);
      const std::span<double> chances = std::span(chain).subspan(b * n, n);
      grow(row, decay, policy[b], cuts_means_ ? cut : means, logged.action,
           policy[b] * logged.score);
      policy_of(row, eta(b), chances);
      if (noises() > 0) state[n + b] = *std::max_element(chances.begin(), chances.end());
    }
    stationary_of(chain, policy);
  } else {
    grow(rows, decay, 1.0, cuts_means_ ? cut : means, logged.action, logged.score);
    policy_of(rows, eta(0), policy);
  }
  if (options_.control_variate) {
    double& mean = means[logged.action];
    mean += logged.mean;
    if (cuts_means_) mean = std::min(1.0, std::max(0.0, mean));
    state[begin + n + logged.action] += 1.0;
  }
}

}  // namespace vlearn
