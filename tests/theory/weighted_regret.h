// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of bandit rules judge them by (experiment/weighted_regret.h has the play): wrong
// rules, which must fail, and the bounds of the theorems.
#pragma once

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vlearn/bandit/rule.h"
#include "vlearn/core/alpha.h"
#include "vlearn/experiment/weighted_regret.h"

namespace vlearn::test {

/// Wrong rule: plays uniformly, learns nothing.
template <class Rule>
struct Uniform : Rule {
  using Rule::Rule;
  void apply(const BanditCell& /*cell*/,
             Action /*action*/,
             const Increment& /*increment*/,
             const VisitSteps& /*steps*/) const noexcept {}
};

/// Wrong rule: takes losses for gains.
template <class Rule>
struct Flipped : Rule {
  using Rule::Rule;
  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    return Rule::measure(cell, action, 1.0 - loss, steps);
  }
};

/// Wrong steps: 100 times too small, or too large.
template <class Steps>
struct Scaled : Steps {
  double factor = 0.01;
  [[nodiscard]] double rate(double horizon,
                            std::size_t n,
                            std::uint64_t t,
                            double gamma) const noexcept {
    return Steps::rate(horizon, n, t, gamma) * factor;
  }
};

/// The sums of the theorems' bounds for a rule's eta and gamma, as recursions over t.
class BoundSums {
 public:
  explicit BoundSums(std::uint64_t horizon) : alpha_(horizon) {}

  void add(double eta, double gamma) {
    const double rate = alpha_.rate(++t_);
    eta_ = eta;
    gamma_ = gamma;
    sum_eta_ += rate * (eta - sum_eta_);
    sum_gamma_ += rate * (gamma - sum_gamma_);
    sum_squares_ = (1.0 - rate) * (1.0 - rate) * sum_squares_ + rate * rate;
  }

  [[nodiscard]] double alpha() const { return alpha_.rate(t_); }
  [[nodiscard]] double eta() const { return eta_; }
  [[nodiscard]] double gamma() const { return gamma_; }
  [[nodiscard]] double sum_eta() const { return sum_eta_; }          // sum_i alpha_t^i eta_i
  [[nodiscard]] double sum_gamma() const { return sum_gamma_; }      // sum_i alpha_t^i gamma_i
  [[nodiscard]] double sum_squares() const { return sum_squares_; }  // sum_i (alpha_t^i)^2

 private:
  AlphaWeights alpha_;
  std::uint64_t t_ = 0;
  double eta_ = 0.0;
  double gamma_ = 0.0;
  double sum_eta_ = 0.0;
  double sum_gamma_ = 0.0;
  double sum_squares_ = 0.0;
};

/// The three terms of Theorem 20 (rows = 1, iota = log(B/delta)) and of Theorem 26 (rows = B,
/// iota = log(B^2/delta)). Each is exceeded with probability at most delta, at each single t.
struct TermBounds {
  double a;  // Lemmas 22, 27: alpha_t rows log B/eta_t + B/2 sum alpha_t^i eta_i + alpha_t iota/2
  double b;  // Lemmas 23, 28: B sum alpha_t^i gamma_i + rows sqrt(2 iota sum (alpha_t^i)^2)
  double c;  // Lemmas 24, 29: rows alpha_t iota/gamma_t
  [[nodiscard]] double sum() const { return a + b + c; }
};

inline TermBounds term_bounds(const BoundSums& s, std::size_t actions, double rows, double iota) {
  const auto n = static_cast<double>(actions);
  return {.a = s.alpha() * rows * std::log(n) / s.eta() + n / 2.0 * s.sum_eta() +
               s.alpha() * iota / 2.0,
          .b = n * s.sum_gamma() + rows * std::sqrt(2.0 * iota * s.sum_squares()),
          .c = rows * s.alpha() * iota / s.gamma()};
}

/// The smallest v with P[Bin(count, p) > v] <= 1e-9.
inline int binomial_limit(int count, double p) {
  const boost::math::binomial law(count, p);
  int v = 0;
  while (v < count && boost::math::cdf(boost::math::complement(law, v)) > 1e-9) ++v;
  return v;
}

}  // namespace vlearn::test
