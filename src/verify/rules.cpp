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

constexpr std::array<std::string_view, 10> kNames = {
    "ftrl",    "ftrl-predictive", "ftrl-rigorous", "ftrl-swap",    "ftrl-swap-rigorous",
    "exp3-ix", "tsallis",         "log-barrier",   "noise-scaled", "noise-scaled-swap"};
constexpr double kMostExponent = 708.0;
constexpr double kLeastTransition = 1e-300;
constexpr double kSwapTolerance = 1e-11;
// Of the rules that measure steps in units of noise.
constexpr double kUnknownNoise = 0.03;
constexpr double kLeastNoise = 0.001;

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
  if (rule.noise_scaled_ && !options.control_variate) return std::nullopt;
  return rule;
}

std::uint64_t ReplayedRule::snapshot_interval(std::size_t num_actions) const noexcept {
  return swap_ ? std::max<std::uint64_t>(32, num_actions)
               : std::max<std::uint64_t>(64, 12 * num_actions);
}

bool ReplayedRule::agree(std::span<const double> replayed,
                         std::span<const double> snapshot) const noexcept {
  const double tolerance = swap_ ? kSwapTolerance : 0.0;
  return std::equal(replayed.begin(), replayed.end(), snapshot.begin(), snapshot.end(),
                    [tolerance](double a, double b) {
                      return std::abs(a - b) <= tolerance * (1.0 + std::abs(a));
                    });
}

void ReplayedRule::reset(std::size_t num_actions, std::span<double> state) const noexcept {
  std::fill(state.begin(), state.end(), 0.0);
  std::fill_n(state.begin(), num_actions, 1.0 / static_cast<double>(num_actions));
  if (options_.control_variate) {
    std::fill_n(state.begin() + static_cast<std::ptrdiff_t>(num_actions), num_actions, 0.5);
  }
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
    case Name::noise_scaled: return std::sqrt((horizon + 1.0) / t);
    case Name::noise_scaled_swap: return std::sqrt((horizon + 1.0) * n / t);
  }
  return 0.0;
}

void ReplayedRule::policy_of(std::span<const double> losses,
                             double rate,
                             std::span<double> policy) const noexcept {
  if (name_ == Name::tsallis || noise_scaled_)
    return inverse_power_of(losses, 0.5 * rate, 2, policy);
  if (name_ == Name::log_barrier) return inverse_power_of(losses, rate, 1, policy);
  softmax_of(losses, rate, policy);
}

double ReplayedRule::noise_after(std::size_t num_actions,
                                 std::uint64_t visit,
                                 const Logged& logged,
                                 std::span<double> state) const {
  const std::size_t n = num_actions;
  const std::span<const double> means = state.subspan(n, n);
  double& mean = state[state.size() - 2];
  double& variance = state[state.size() - 1];
  // The loss of the visit, from what it added to the mean of its action: its part of the way there,
  // (c + 1)/(c + 1 + plays), which is 4/(4 + plays).
  const double inverse_part = 0.25 * (memory_ + state[2 * n + logged.action] + 1.0);
  const double loss = means[logged.action] + logged.mean * inverse_part;
  const double share = (memory_ + 1.0) / (memory_ + static_cast<double>(visit));
  const double away = loss - mean;
  variance = (1.0 - share) * (variance + share * away * away);
  mean += share * away;
  return std::max(kLeastNoise, std::sqrt(variance + spread_of(means) + kUnknownNoise * share));
}

void ReplayedRule::advance(std::size_t num_actions,
                           std::uint64_t visit,
                           const Logged& logged,
                           std::span<double> state) const {
  const std::size_t n = num_actions;
  const auto t = static_cast<double>(visit);
  const double decay = (t - 1.0) / (memory_ + t - 1.0);
  double eta = rate(n, visit);
  if (noise_scaled_) eta /= noise_after(n, visit, logged, state);
  const std::span<double> policy = state.first(n);
  const std::span<double> means =
      options_.control_variate ? state.subspan(n, n) : std::span<double>();
  const std::span<double> rows =
      state.subspan(options_.control_variate ? 3 * n : n, swap_ ? n * n : n);
  if (swap_) {
    std::vector<double> chain(n * n);
    for (std::size_t b = 0; b < n; ++b) {
      const std::span<double> row = rows.subspan(b * n, n);
      grow(row, decay, policy[b], means, logged.action, policy[b] * logged.score);
      policy_of(row, eta, std::span(chain).subspan(b * n, n));
    }
    stationary_of(chain, policy);
  } else {
    grow(rows, decay, 1.0, means, logged.action, logged.score);
    policy_of(rows, eta, policy);
  }
  if (options_.control_variate) {
    means[logged.action] += logged.mean;
    state[2 * n + logged.action] += 1.0;
  }
}

}  // namespace vlearn
