// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A bandit rule against an adversary, and the sums that the paper's bandit appendices speak of. All
// are averages with the weights alpha_t^i, kept by X_t = (1 - alpha_t) X_{t-1} + alpha_t x_t; the
// paper writes them with w_i = alpha_t^i w_t / alpha_t, so its bounds here have alpha_t where it
// has w_t or max w_i.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/rule.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/random.h"

namespace vlearn {

enum class Adversary : std::uint8_t {
  constant,      // the last action loses nothing, the others everything
  switching,     // the same, but the good action changes whenever t doubles
  least_played,  // the action played least often so far is the good one
  sinusoid,      // waves of period 1000, one phase per action, in steps of 2^-10
  anti_leader,   // the most probable action loses everything, the others nothing
  random,        // losses 0 or 1 with means 1/2, the last action's 1/4
};

struct NamedAdversary {
  Adversary adversary;
  std::string_view name;
};
inline constexpr std::array<NamedAdversary, 6> kAdversaries = {
    {{Adversary::constant, "constant"},
     {Adversary::switching, "switching"},
     {Adversary::least_played, "least_played"},
     {Adversary::sinusoid, "sinusoid"},
     {Adversary::anti_leader, "anti_leader"},
     {Adversary::random, "random"}}};

/// Chooses the mean losses of a visit from what happened before it.
class Opponent {
 public:
  Opponent(Adversary adversary, std::size_t num_actions)
      : adversary_(adversary), plays_(num_actions), losses_(num_actions), wave_(kPeriod) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / kPeriod;
      wave_[i] = std::nearbyint(512.0 + 512.0 * std::sin(angle)) / 1024.0;
    }
  }

  /// l_t, given theta_t.
  std::span<const double> losses(std::uint64_t visit, std::span<const double> policy) {
    const std::size_t n = losses_.size();
    const auto only = [&](std::size_t action, double its, double others) {
      std::fill(losses_.begin(), losses_.end(), others);
      losses_[action] = its;
    };
    switch (adversary_) {
      case Adversary::constant: only(n - 1, 0.0, 1.0); break;
      case Adversary::switching: only(std::bit_width(visit) % n, 0.0, 1.0); break;
      case Adversary::least_played:
        only(position(plays_, std::ranges::min_element), 0.0, 1.0);
        break;
      case Adversary::sinusoid:
        for (std::size_t b = 0; b < n; ++b) losses_[b] = wave_[(visit + b * kPeriod / n) % kPeriod];
        break;
      case Adversary::anti_leader:
        only(position(policy, std::ranges::max_element), 1.0, 0.0);
        break;
      case Adversary::random: only(n - 1, 0.25, 0.5); break;
    }
    return losses_;
  }
  /// What the player of an action sees: a number in [0, 1] with mean l_t(action).
  double observed(std::size_t action, Draws& draws) {
    ++plays_[action];
    if (adversary_ != Adversary::random) return losses_[action];
    return draws.uniform() < losses_[action] ? 1.0 : 0.0;
  }

 private:
  static constexpr std::size_t kPeriod = 1000;

  template <class Values, class Find>
  static std::size_t position(const Values& values, Find find) {
    return static_cast<std::size_t>(find(values) - values.begin());
  }

  Adversary adversary_;
  std::vector<std::uint64_t> plays_;
  std::vector<double> losses_;
  std::vector<double> wave_;
};

/// The weighted averages of one play. Comparators: external, all plays become b'; swap, the plays
/// of row b become b'. Row b weighs visit i with theta_i(b); external regret has one row of weight
/// one.
class WeightedAverages {
 public:
  WeightedAverages(std::uint64_t horizon, std::size_t num_actions, Regret kind)
      : alpha_(horizon),
        n_(num_actions),
        kind_(kind),
        losses_(num_rows() * n_),
        estimates_(num_rows() * n_) {}

  /// Visit t: theta_t, the mean losses, and the estimate lhat_t, which is 0 but at one action.
  /// eta is the paper's eta_t.
  void add(std::uint64_t t,
           std::span<const double> policy,
           std::span<const double> losses,
           std::size_t action,
           double estimate,
           double eta) {
    const double rate = alpha_.rate(t);
    const auto average = [&](double& mean, double x) { mean += rate * (x - mean); };
    double played = 0.0;
    double all = 0.0;
    for (std::size_t b = 0; b < n_; ++b) played += policy[b] * losses[b];
    for (std::size_t b = 0; b < n_; ++b) all += losses[b];
    average(played_, played);
    average(played_estimate_, policy[action] * estimate);
    average(excess_, eta * (estimate - all));
    average(second_order_, eta * policy[action] * estimate * estimate);
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const double scale = kind_ == Regret::swap ? policy[row] : 1.0;
      for (std::size_t b = 0; b < n_; ++b) {
        average(losses_[row * n_ + b], scale * losses[b]);
        average(estimates_[row * n_ + b], b == action ? scale * estimate : 0.0);
      }
    }
  }

  /// max over comparators of sum_i alpha_t^i <theta_i - theta*, l_i>.
  [[nodiscard]] double regret() const {
    return played_ + sum_of_largest([&](std::size_t i) { return -losses_[i]; });
  }
  /// The same with the estimates: term (A) of the decomposition.
  [[nodiscard]] double term_a() const {
    return played_estimate_ + sum_of_largest([&](std::size_t i) { return -estimates_[i]; });
  }
  /// sum_i alpha_t^i <theta_i, l_i - lhat_i>: term (B).
  [[nodiscard]] double term_b() const { return played_ - played_estimate_; }
  /// max over comparators of sum_i alpha_t^i <theta*, lhat_i - l_i>: term (C).
  [[nodiscard]] double term_c() const {
    return sum_of_largest([&](std::size_t i) { return estimates_[i] - losses_[i]; });
  }
  /// sum_i alpha_t^i eta_i sum_b (lhat_i - l_i)(b): what Lemma 21 bounds, with c_i(b) = eta_i.
  [[nodiscard]] double excess() const { return excess_; }
  /// sum_i alpha_t^i eta_i <theta_i, lhat_i^2>.
  [[nodiscard]] double second_order() const { return second_order_; }

 private:
  [[nodiscard]] std::size_t num_rows() const { return kind_ == Regret::swap ? n_ : 1; }

  template <class Value>
  [[nodiscard]] double sum_of_largest(Value value) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < num_rows(); ++row) {
      double largest = value(row * n_);
      for (std::size_t b = 1; b < n_; ++b) largest = std::max(largest, value(row * n_ + b));
      sum += largest;
    }
    return sum;
  }

  AlphaWeights alpha_;
  std::size_t n_;
  Regret kind_;
  double played_ = 0.0;
  double played_estimate_ = 0.0;
  double excess_ = 0.0;
  double second_order_ = 0.0;
  std::vector<double> losses_;
  std::vector<double> estimates_;
};

/// c of the weights that a rule is made for: its own, kMemory, where it has one; else H. A rule is
/// to be judged with these.
template <class Rule>
[[nodiscard]] constexpr std::uint64_t weights_of(const Rule& /*rule*/,
                                                 std::uint64_t horizon) noexcept {
  if constexpr (requires { Rule::kMemory; }) {
    return Rule::kMemory;
  } else {
    return horizon;
  }
}

/// The policy that actions are drawn from at a visit: the one that the rule returns, with the floor
/// of the visit. `room` has place for it.
template <class Rule>
[[nodiscard]] std::span<const double> played_policy(const Rule& rule,
                                                    const BanditCell& cell,
                                                    const VisitSteps& steps,
                                                    std::span<double> room) noexcept {
  const std::span<const double> policy = rule.policy(cell);
  for (std::size_t b = 0; b < policy.size(); ++b) {
    room[b] = played_chance(policy, b, steps.floor);
  }
  return room;
}

/// Whose regret counts, where a rule plays another policy than it returns.
enum class Counted : std::uint8_t { returned, played };

/// Who plays whom.
struct RegretMatch {
  std::uint64_t horizon;  // c of the weights: the paper's H, or weights_of()
  std::size_t num_actions;
  Adversary adversary;
  Regret regret;
  std::uint64_t num_visits;
  Counted counted = Counted::returned;
};

/// A key has so many blocks of two draws, and a visit takes two draws at most.
inline constexpr std::uint64_t kMostMatchVisits = kMaxBlocks;

/// Plays a match; see(t, averages) after each visit. eta(t) is the paper's eta_t.
template <class Rule, class Eta, class See>
void play_match(const Rule& rule, const RegretMatch& match, std::uint64_t seed, Eta eta, See see) {
  const std::size_t n = match.num_actions;
  std::vector<double> memory(rule.memory_size(n));
  std::vector<double> scratch(rule.scratch_size(n));
  std::vector<double> room(n);
  const BanditCell cell{.num_actions = n, .state = memory.data(), .scratch = scratch.data()};
  rule.reset(cell);
  Opponent opponent(match.adversary, n);
  WeightedAverages averages(match.horizon, n, match.regret);
  Draws draws({.seed = seed, .purpose = Purpose::test});
  for (std::uint64_t t = 1; t <= match.num_visits; ++t) {
    const VisitSteps steps = rule.steps(n, t);
    const std::span<const double> drawn_from = played_policy(rule, cell, steps, room);
    const std::span<const double> policy =
        match.counted == Counted::played ? drawn_from : rule.policy(cell);
    const std::span<const double> losses = opponent.losses(t, policy);
    const std::size_t action = sample(drawn_from, draws.uniform());
    const double loss = opponent.observed(action, draws);
    const Action played(static_cast<std::uint32_t>(action));
    const Increment increment = rule.measure(cell, played, loss, steps);
    averages.add(t, policy, losses, action, static_cast<double>(increment.score), eta(t));
    rule.apply(cell, played, increment, steps);
    see(t, averages);
  }
}

}  // namespace vlearn
