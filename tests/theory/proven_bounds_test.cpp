// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The lemmas of docs/theory/optimistic_rule.md. What they say of one visit is a finite sum where
// losses take two values, so it is checked exactly, for visits drawn at random; formulas that lack
// one ingredient must break it. What they say of all visits is counted as in
// regret_bounds_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "theory/weighted_regret.h"
#include "vlearn/bandit/bank.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/stationary.h"

namespace vlearn {
namespace {

// ---------------------------------------------------------------------------------- one visit

/// What a rule makes of a visit, and its constants.
struct Formulas {
  std::function<double(double s, double p, double nu)> score = optimistic_rigorous::score_of;
  std::function<double(double m, double p, double nu)> cut = optimistic_rigorous::cut_mean;
  double guard = optimistic_rigorous::kGuard;
  double norm = 1.0;      // of what is added to D, in units of the rule's
  double exponent = 1.0;  // of the supermartingale, in units of nu
};

/// A visit before its draw. An action loses `high` with probability `chance`, else `low`.
struct RandomVisit {
  std::size_t n;
  std::size_t rows;
  double nu;
  std::vector<double> p;
  std::vector<double> chain;
  std::vector<double> mean;
  std::vector<double> high;
  std::vector<double> low;
  std::vector<double> chance;

  RandomVisit(Draws& draws, bool extreme)
      : n(2 + draws.below(5)), rows(draws.below(2) == 0 ? 1 : n), p(n), chain(rows * n) {
    nu = 0.5 / static_cast<double>(n) * std::pow(10.0, -3.0 * draws.uniform() * draws.uniform());
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = 0.0;
      for (std::size_t b = 0; b < n; ++b) {
        chain[row * n + b] = std::pow(10.0, -4.0 * draws.uniform());
        sum += chain[row * n + b];
      }
      for (std::size_t b = 0; b < n; ++b) chain[row * n + b] /= sum;
    }
    std::vector<double> used = chain;
    if (rows == 1) p = chain;
    if (rows > 1) stationary_distribution(used, p);
    const auto unit = [&] {
      const double u = draws.uniform();
      if (extreme && u < 0.6) return u < 0.3 ? 0.0 : 1.0;
      return draws.uniform();
    };
    for (std::size_t b = 0; b < n; ++b) {
      mean.push_back(unit());
      high.push_back(unit());
      low.push_back(unit());
      chance.push_back(unit());
    }
  }
  [[nodiscard]] double weight(std::size_t row) const { return rows > 1 ? p[row] : 1.0; }
};

/// The largest left side over right side of each statement, but for the first a logarithm.
struct Worst {
  double moment = -1.0;  // Lemma 1: log E exp(...), at most 0
  double own = 0.0;      // Lemma 2: the mean of x - <p, lhat>
  double range = 0.0;    // Lemma 2: its range
  double mean = 0.0;     // Lemma 4: the mean of what D gets
  double top = 0.0;      // Lemma 4: the most that it gets
  double step = 0.0;     // Lemma 3: the cost of one step, with the least beta that is possible

  [[nodiscard]] bool holds() const {
    return moment <= 1e-14 && own <= 1.0 + 1e-12 && range <= 1.0 && mean <= 1.0 && top <= 1.0 &&
           step <= 1.0;
  }
};

void judge_visit(const RandomVisit& v, const Formulas& formulas, Draws& draws, Worst& worst) {
  const auto actions = static_cast<double>(v.n);
  std::vector<double> cut;
  for (std::size_t b = 0; b < v.n; ++b) cut.push_back(formulas.cut(v.mean[b], v.p[b], v.nu));
  // The exponents of a map from rows to actions.
  std::vector<double> zeta(v.n, 0.0);
  const double most = v.nu * formulas.exponent * (draws.below(2) == 0 ? 1.0 : draws.uniform());
  for (std::size_t row = 0; row < v.rows; ++row) zeta[draws.below(v.n)] += most * v.weight(row);
  double shift = 0.0;
  double base = 0.0;
  for (std::size_t b = 0; b < v.n; ++b) {
    shift += zeta[b] * (v.chance[b] * v.high[b] + (1.0 - v.chance[b]) * v.low[b] - cut[b]);
    base += v.p[b] * cut[b];
  }
  const double kappa = optimistic_rigorous::noise_scale(v.n);
  const double top = kappa * (1.0 + 0.67 / std::sqrt(v.nu));
  double moment = 0.0;
  double own = 0.0;
  double mean = 0.0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < 2 * v.n; ++i) {
    const std::size_t a = i / 2;
    const double chance = v.p[a] * (i % 2 == 0 ? v.chance[a] : 1.0 - v.chance[a]);
    const double x = i % 2 == 0 ? v.high[a] : v.low[a];
    const double score = formulas.score(x - cut[a], v.p[a], v.nu);
    const double off = x - (base + v.p[a] * score);
    moment += chance * std::exp(zeta[a] * score);
    own += chance * off;
    low = std::min(low, off);
    high = std::max(high, off);
    double more = 0.0;
    for (std::size_t row = 0; row < v.rows; ++row) {
      const double* const t = &v.chain[row * v.n];
      const double q = v.weight(row);
      double sum = std::pow(t[a], 1.5) * score * score;
      for (std::size_t b = 0; b < v.n; ++b) {
        sum += std::pow(t[b], 1.5) * (cut[b] - cut[a]) * (cut[b] - cut[a]);
      }
      more += kappa * q * q * sum;
      const double own_more = formulas.norm * kappa * q * q * sum;
      const double beta = std::sqrt(formulas.guard / v.nu);
      const double gamma = std::sqrt(beta * beta + own_more);
      double cost = 0.0;
      for (std::size_t b = 0; b < v.n; ++b) {
        const double loss = q * (cut[b] - cut[a] + (b == a ? score : 0.0));
        const double z = loss * std::sqrt(t[b]) / (2.0 * beta);
        cost += z > -1.0 ? loss * loss * std::pow(t[b], 1.5) / (2.0 * beta * (1.0 + z))
                         : std::abs(loss);
      }
      const double allowed = 1.22 / kappa * own_more / (gamma + beta);
      if (cost > 1e-14) worst.step = std::max(worst.step, cost / allowed);
    }
    mean += chance * more;
    worst.top = std::max(worst.top, more / top);
  }
  worst.moment = std::max(worst.moment, std::log(moment) - shift);
  worst.own = std::max(worst.own, own / (0.61 * actions * v.nu));
  worst.range = std::max(worst.range, (high - low) / 1.16);
  worst.mean = std::max(worst.mean, mean / (0.25 * std::min(1.33, 1.0 + 3.0 * actions * v.nu)));
}

Worst judge_visits(const Formulas& formulas, int count) {
  Worst worst;
  for (int i = 0; i < count; ++i) {
    Draws draws({.seed = static_cast<std::uint64_t>(i), .purpose = Purpose::action});
    const RandomVisit visit(draws, i % 2 == 0);
    judge_visit(visit, formulas, draws, worst);
  }
  return worst;
}

constexpr int kVisits = 20'000;

TEST(ProvenVisit, HasWhatTheLemmasSay) {
  const Worst worst = judge_visits({}, kVisits);
  std::printf("log moment %.1e, own %.3f, range %.3f, mean of d %.3f, most of d %.3f, step %.3f\n",
              worst.moment, worst.own, worst.range, worst.mean, worst.top, worst.step);
  EXPECT_TRUE(worst.holds());
  // Constants are nearly attained: these visits could refute smaller ones.
  EXPECT_GT(worst.own, 0.95);
  EXPECT_GT(worst.range, 0.95);
  EXPECT_GT(worst.top, 0.9);
  EXPECT_GT(worst.step, 0.9);
}

TEST(ProvenVisit, NeedsEveryIngredient) {
  const auto judged = [](auto change) {
    Formulas formulas;
    change(formulas);
    return judge_visits(formulas, kVisits);
  };
  // Estimates without optimism, and with one that does not know the sign.
  EXPECT_GT(judged([](Formulas& f) {
              f.score = [](double s, double p, double) { return s / p; };
            }).moment,
            0.01);
  EXPECT_GT(judged([](Formulas& f) {
              f.score = [](double s, double p, double nu) { return s / (p + 0.5 * nu); };
            }).moment,
            0.01);
  // Means that are not cut.
  const Worst uncut =
      judged([](Formulas& f) { f.cut = [](double m, double, double) { return m; }; });
  EXPECT_GT(uncut.moment, 0.01);
  EXPECT_GT(uncut.range, 2.0);
  EXPECT_GT(uncut.top, 2.0);
  // Larger exponents than nu; a smaller guard; a smaller D.
  EXPECT_GT(judged([](Formulas& f) { f.exponent = 2.5; }).moment, 0.01);
  EXPECT_GT(judged([](Formulas& f) { f.guard = 0.05; }).step, 1.5);
  EXPECT_GT(judged([](Formulas& f) { f.norm = 0.4; }).step, 1.5);
}

// --------------------------------------------------------------------------------- all visits

constexpr double kIota = 3.0;  // a loose promise, so that it could be broken
constexpr std::uint64_t kHorizon = 2;

/// A rule against an adversary: the parts of (4), from what the rule hands out and keeps.
template <class Rule>
class ProvenMatch {
 public:
  ProvenMatch(const Rule& rule, std::size_t n, Adversary adversary, std::uint64_t seed)
      : bank_(rule, std::vector<std::uint32_t>{static_cast<std::uint32_t>(n)}),
        opponent_(adversary, n),
        draws_({.seed = seed, .purpose = Purpose::action}),
        n_(n),
        truth_(rows() * n, 0.0),
        estimate_(truth_),
        mean_(n, 0.5) {}

  static constexpr bool kSwap = Rule::kName == std::string_view("optimistic-swap-rigorous");
  [[nodiscard]] std::size_t rows() const { return kSwap ? n_ : 1; }

  void visit() {
    const double nu = bank_.rule().steps(n_, ++t_).gamma;
    const std::vector<double> p(bank_.policy(0).begin(), bank_.policy(0).end());
    const std::span<const double> losses = opponent_.losses(t_, p);
    const std::size_t a = draw_action(p, 0.0, draws_.uniform()).index();
    const double x = opponent_.observed(a, draws_);
    std::vector<double> hat;
    for (std::size_t b = 0; b < n_; ++b) {
      hat.push_back(optimistic_rigorous::cut_mean(mean_[b], p[b], nu));
    }
    const Increment increment = bank_.update(0, Action(a), x, t_);
    hat[a] += static_cast<double>(increment.score);
    mean_[a] = std::clamp(mean_[a] + static_cast<double>(increment.mean), 0.0, 1.0);
    const auto average = [&](double& sum, double y) { sum += alpha() * (y - sum); };
    double own = 0.0;
    double own_hat = 0.0;
    for (std::size_t b = 0; b < n_; ++b) {
      own += p[b] * losses[b];
      own_hat += p[b] * hat[b];
      for (std::size_t row = 0; row < rows(); ++row) {
        const double q = kSwap ? p[row] : 1.0;
        average(truth_[row * n_ + b], q * losses[b]);
        average(estimate_[row * n_ + b], q * hat[b]);
      }
    }
    average(played_, own);
    average(seen_, x);
    average(own_estimate_, own_hat);
  }

  [[nodiscard]] std::uint64_t visits() const { return t_; }
  [[nodiscard]] double alpha() const {
    return (kHorizon + 1.0) / (kHorizon + static_cast<double>(t_));
  }
  [[nodiscard]] double regret() const {
    return played_ + largest([&](std::size_t i) { return -truth_[i]; });
  }
  [[nodiscard]] double noise() const { return played_ - seen_; }           // N
  [[nodiscard]] double own() const { return seen_ - own_estimate_; }       // O
  [[nodiscard]] double leader() const { return own_estimate_ - least(); }  // F
  [[nodiscard]] double comparators() const {                               // C
    return largest([&](std::size_t i) { return estimate_[i] - truth_[i]; });
  }
  /// The least average of estimates, and what the rule says that it is.
  [[nodiscard]] double least() const {
    return -largest([&](std::size_t i) { return -estimate_[i]; });
  }
  [[nodiscard]] double least_of_rule() {
    return alpha() * bank_.rule().least_estimate(bank_.cell(0));
  }
  /// alpha_t^2 times the sum of D.
  [[nodiscard]] double squares() const {
    double sum = 0.0;
    for (const double d : bank_.state(0).last(rows())) sum += d;
    return alpha() * alpha() * sum;
  }

 private:
  template <class Value>
  [[nodiscard]] double largest(const Value& value) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < rows(); ++row) {
      double most = value(row * n_);
      for (std::size_t b = 1; b < n_; ++b) most = std::max(most, value(row * n_ + b));
      sum += most;
    }
    return sum;
  }

  BanditBank<Rule> bank_;
  Opponent opponent_;
  Draws draws_;
  std::size_t n_;
  std::uint64_t t_ = 0;
  double played_ = 0.0;
  double seen_ = 0.0;
  double own_estimate_ = 0.0;
  std::vector<double> truth_;
  std::vector<double> estimate_;
  std::vector<double> mean_;
};

/// The bounds of the lemmas at one t, from their formulas.
struct ProvenBounds {
  double comparators;
  double own;
  double noise;
  double squares;
  double sum;

  template <Regret kRegret>
  static ProvenBounds of(const OptimisticRigorousSteps<kRegret>& steps, std::size_t n, double t) {
    constexpr double c = kHorizon;
    const double alpha = (c + 1.0) / (c + t);
    const double nu = steps.nu(c, n, t);
    const auto actions = static_cast<double>(n);
    const double q = std::min(1.0, (c + 1.0) * (c + 1.0) / ((2.0 * c + 1.0) * t));
    double mean_nu = 0.0;
    for (double i = 1.0; i <= t; ++i) {
      mean_nu += (c + 1.0) / (c + i) * (steps.nu(c, n, i) - mean_nu);
    }
    const double noise = std::sqrt(kIota * q / 2.0);
    const double mean = std::min(0.3325 * q, 0.25 * (q + 3.0 * actions * alpha * mean_nu));
    const double top =
        alpha * alpha * (1.0 + 0.67 / std::sqrt(nu)) / (4.0 * (std::sqrt(actions) + 1.0));
    return {.comparators = alpha * steps.lambda(n, kIota) / nu,
            .own = 0.61 * actions * mean_nu + 1.16 * noise,
            .noise = noise,
            .squares = mean + std::sqrt(2.0 * top * mean * kIota) + top * kIota / 3.0,
            .sum = steps.bound(c, n, t, kIota, steps.lambda(n, kIota))};
  }
};

/// F where D was seen: it holds for sure.
double leader_bound(std::size_t n, double rows, double alpha, double nu, double squares) {
  const double root = std::sqrt(static_cast<double>(n));
  return (8.88 * root + 0.88) * std::sqrt(3.0 * rows * rows * alpha * alpha / nu + rows * squares);
}

/// How many seeds were above each bound, and the largest share of each that was seen.
struct ProvenCount {
  int above = 0;
  double share = -1.0;
  void see(double value, double bound) {
    above += value > bound ? 1 : 0;
    share = std::max(share, value / bound);
  }
};

template <Regret kRegret, class Rule>
void expect_bounds(const Rule& rule,
                   const NamedAdversary& adversary,
                   const std::vector<std::uint64_t>& looks,
                   int seeds) {
  constexpr std::size_t n = 3;
  const OptimisticRigorousSteps<kRegret> steps{kIota};
  const int limit = test::binomial_limit(seeds, std::exp(-kIota));
  const int limit_of_sum = test::binomial_limit(seeds, 4.0 * std::exp(-kIota));
  std::vector<ProvenBounds> bounds;
  for (const std::uint64_t t : looks) {
    bounds.push_back(ProvenBounds::of(steps, n, static_cast<double>(t)));
    EXPECT_EQ(rule.xi(n, t, kIota).value(), std::min(1.0, bounds.back().sum));
  }
  std::vector<std::array<ProvenCount, 6>> counts(looks.size());
  double off = 0.0;
  for (int seed = 0; seed < seeds; ++seed) {
    ProvenMatch match(rule, n, adversary.adversary, static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < looks.size(); ++i) {
      while (match.visits() < looks[i]) match.visit();
      auto& [regret, comparators, own, noise, squares, leader] = counts[i];
      regret.see(match.regret(), bounds[i].sum);
      comparators.see(match.comparators(), bounds[i].comparators);
      own.see(match.own(), bounds[i].own);
      noise.see(match.noise(), bounds[i].noise);
      squares.see(match.squares(), bounds[i].squares);
      const double nu = steps.nu(kHorizon, n, static_cast<double>(looks[i]));
      leader.see(match.leader(), leader_bound(n, static_cast<double>(match.rows()), match.alpha(),
                                              nu, match.squares()));
      off = std::max(off, std::abs(match.least() - match.least_of_rule()));
    }
  }
  EXPECT_LT(off, 1e-9) << "alpha G is not the average of the estimates";
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto& [regret, comparators, own, noise, squares, leader] = counts[i];
    std::printf(
        "%s, t = %llu: seeds above and largest share: regret %d %.2f, C %d %.2f, O %d %.2f, "
        "N %d %.2f, D %d %.2f, F %d %.2f\n",
        std::string(adversary.name).c_str(), static_cast<unsigned long long>(looks[i]),
        regret.above, regret.share, comparators.above, comparators.share, own.above, own.share,
        noise.above, noise.share, squares.above, squares.share, leader.above, leader.share);
    EXPECT_LE(regret.above, limit_of_sum);
    EXPECT_LE(comparators.above, limit);
    EXPECT_LE(own.above, limit);
    EXPECT_LE(noise.above, limit);
    EXPECT_LE(squares.above, limit);
    EXPECT_EQ(leader.above, 0);
  }
}

std::string name_of(const testing::TestParamInfo<NamedAdversary>& test) {
  return std::string(test.param.name);
}
class ProvenBound : public testing::TestWithParam<NamedAdversary> {};
class ProvenBoundSlow : public testing::TestWithParam<NamedAdversary> {};
INSTANTIATE_TEST_SUITE_P(All, ProvenBound, testing::ValuesIn(kAdversaries), name_of);
INSTANTIATE_TEST_SUITE_P(All, ProvenBoundSlow, testing::ValuesIn(kAdversaries), name_of);

TEST_P(ProvenBound, OfOptimisticRigorousHolds) {
  expect_bounds<Regret::external>(OptimisticRigorous(kHorizon, {kIota}), GetParam(), {100, 1000},
                                  1000);
}
TEST_P(ProvenBound, OfOptimisticSwapRigorousHolds) {
  expect_bounds<Regret::swap>(OptimisticSwapRigorous(kHorizon, {kIota}), GetParam(), {100, 1000},
                              1000);
}
TEST_P(ProvenBoundSlow, OfOptimisticRigorousHolds) {
  expect_bounds<Regret::external>(OptimisticRigorous(kHorizon, {kIota}), GetParam(),
                                  {1000, 10'000, 50'000}, 1000);
}
TEST_P(ProvenBoundSlow, OfOptimisticSwapRigorousHolds) {
  expect_bounds<Regret::swap>(OptimisticSwapRigorous(kHorizon, {kIota}), GetParam(),
                              {1000, 10'000, 50'000}, 1000);
}

/// Wrong rule: importance weights without optimism.
template <class Rule>
struct Unweighted : Rule {
  using Rule::Rule;
  [[nodiscard]] Increment measure(const BanditCell& cell,
                                  Action action,
                                  double loss,
                                  const VisitSteps& steps) const noexcept {
    const double chance = cell.state[action.index()];
    const double cut =
        optimistic_rigorous::cut_mean(this->means(cell)[action.index()], chance, steps.gamma);
    Increment increment = Rule::measure(cell, action, loss, steps);
    increment.score = static_cast<float>((loss - cut) / chance);
    return increment;
  }
};

template <class Rule>
int seeds_above(const Rule& rule, Adversary adversary, double bound) {
  int above = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ProvenMatch match(rule, 2, adversary, seed);
    while (match.visits() < 2000) match.visit();
    above += match.comparators() > bound ? 1 : 0;
  }
  return above;
}

TEST(WrongProvenRules, BreakTheBoundOnComparators) {
  const int limit = test::binomial_limit(200, std::exp(-kIota));
  const double bound =
      ProvenBounds::of(OptimisticRigorousSteps<Regret::external>{kIota}, 2, 2000.0).comparators;
  EXPECT_LE(seeds_above(OptimisticRigorous(kHorizon, {kIota}), Adversary::sinusoid, bound), limit);
  EXPECT_GT(
      seeds_above(Unweighted<OptimisticRigorous>(kHorizon, {kIota}), Adversary::sinusoid, bound),
      limit);
}

// -------------------------------------------------------------------------------- closed forms

/// g_t falls, its closed forms bound the sums that they stand for, and (10) holds.
template <Regret kRegret>
void expect_closed_forms(double c, std::size_t n, double lambda) {
  const auto actions = static_cast<double>(n);
  const double iota = lambda - (kRegret == Regret::swap ? actions : 1.0) * std::log(actions);
  if (iota < std::log(4.0)) return;
  const OptimisticRigorousSteps<kRegret> steps{iota};
  double before = std::numeric_limits<double>::infinity();
  for (double t = 1.0; t <= 1e12; t = t < 300.0 ? t + 1.0 : std::floor(t * 1.1)) {
    const double bound = steps.bound(c, n, t, iota, steps.comparators(n));
    ASSERT_LE(bound, before * (1.0 + 1e-12)) << c << " " << n << " " << lambda << " " << t;
    before = bound;
    const double root = std::sqrt((c + 0.5) / t);
    const double order = kRegret == Regret::external || n == 1
                             ? 8.0 * root * std::sqrt(actions * lambda)
                             : root * (5.0 * std::sqrt(actions * lambda) + 18.0 * actions);
    ASSERT_LE(std::min(1.0, bound), order) << c << " " << n << " " << lambda << " " << t;
  }
}

TEST(ProvenClosedForms, FallAndHaveTheirOrder) {
  for (const double c : {1.0, 3.0, 10.0, 100.0}) {
    for (const std::size_t n : {1U, 2U, 4U, 10U, 100U}) {
      for (const double lambda : {9.0, 20.0, 100.0, 1000.0}) {
        expect_closed_forms<Regret::external>(c, n, lambda);
        expect_closed_forms<Regret::swap>(c, n, lambda);
      }
    }
  }
}

}  // namespace
}  // namespace vlearn
