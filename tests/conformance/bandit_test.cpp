// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What every bandit rule promises, whatever its formula.
#include <gtest/gtest.h>

#include <boost/multiprecision/mpfr.hpp>
#include <cmath>
#include <vector>

#include "support/plain_bandit.h"
#include "vlearn/bandit/bank.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/log.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"

namespace vlearn {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<50>>;

constexpr ControlVariate kOn = ControlVariate::on;

/// Each case is a rule, and its formulas once more in 50 digits.
struct Plain {
  static constexpr bool kSwap = false;
  static constexpr bool kOptimistic = false;
  static constexpr bool kProven = false;
  /// c of the weights, of a rule made for this horizon.
  static unsigned memory(unsigned horizon) { return horizon; }
  static Real least_chance() { return Real(kLeastChance); }
  static Real floor(Real /*n*/, Real /*t*/) { return 0; }
};

template <ControlVariate kVariate>
struct FtrlCase : Plain {
  using Rule = Ftrl<kVariate>;
  static constexpr bool kMeans = kVariate == kOn;
  static Rule make(std::uint64_t horizon) { return Rule(horizon); }
  static test::PlainRule plain(double h) {
    const auto eta = [h](double n, double t) { return std::sqrt(h * vlearn::log(n) / (n * t)); };
    return {h, Potential::entropy, false, kMeans, eta, eta};
  }
  static Real gamma(Real h, Real n, Real t) { return sqrt(h * log(n) / (n * t)); }
  static Real rate(Real h, Real n, Real t) { return gamma(h, n, t); }
};
struct PredictiveCase : FtrlCase<ControlVariate::off> {
  static Rule make(std::uint64_t horizon) { return Rule(horizon, {FtrlIndex::predictive}); }
  static test::PlainRule plain(double h) {
    test::PlainRule rule = FtrlCase::plain(h);
    rule.rate = [h, eta = rule.gamma](double n, double t) { return eta(n, t + 1) * (t / (h + t)); };
    return rule;
  }
  static Real rate(Real h, Real n, Real t) { return gamma(h, n, t + 1) * t / (h + t); }
};
template <ControlVariate kVariate>
struct Exp3IxCase : Plain {
  using Rule = Exp3Ix<kVariate>;
  static constexpr bool kMeans = kVariate == kOn;
  static Rule make(std::uint64_t horizon) { return Rule(horizon); }
  static test::PlainRule plain(double h) {
    const auto eta = [h](double n, double t) {
      return std::sqrt((h + 1.0) * vlearn::log(n) / (n * t));
    };
    const auto gamma = [eta](double n, double t) { return 0.5 * eta(n, t); };
    return {h, Potential::entropy, false, kMeans, eta, gamma};
  }
  static Real rate(Real h, Real n, Real t) { return sqrt((h + 1) * log(n) / (n * t)); }
  static Real gamma(Real h, Real n, Real t) { return rate(h, n, t) / 2; }
};
template <ControlVariate kVariate>
struct TsallisCase : Plain {
  using Rule = Tsallis<kVariate>;
  static constexpr bool kMeans = kVariate == kOn;
  static Rule make(std::uint64_t horizon) { return Rule(horizon, {1.5, 0.125}); }
  static test::PlainRule plain(double h) {
    return {h,
            Potential::tsallis,
            false,
            kMeans,
            [h](double, double t) { return 1.5 * 2.0 * std::sqrt((h + 1.0) / t); },
            [h](double, double t) { return 0.125 * std::min(1.0, (h + 1.0) / t); }};
  }
  static Real rate(Real h, Real, Real t) { return 3 * sqrt((h + 1) / t); }
  static Real gamma(Real h, Real, Real t) { return min(Real(1), Real((h + 1) / t)) / 8; }
};
template <ControlVariate kVariate>
struct LogBarrierCase : Plain {
  using Rule = LogBarrier<kVariate>;
  static constexpr bool kMeans = kVariate == kOn;
  static Rule make(std::uint64_t horizon) { return Rule(horizon); }
  static test::PlainRule plain(double h) {
    return {h,
            Potential::log_barrier,
            false,
            kMeans,
            [h](double n, double t) {
              const int bits = std::ilogb(t) + 1;
              return std::sqrt((h + 1.0) * n * bits / t);
            },
            [](double, double) { return 0.0; }};
  }
  static Real rate(Real h, Real n, Real t) {
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(t)));
    return sqrt((h + 1) * n * bits / t);
  }
  static Real gamma(Real, Real, Real) { return 0; }
};
template <ControlVariate kVariate>
struct SwapCase : Plain {
  using Rule = FtrlSwap<kVariate>;
  static constexpr bool kMeans = kVariate == kOn;
  static constexpr bool kSwap = true;
  static Rule make(std::uint64_t horizon) { return Rule(horizon); }
  static test::PlainRule plain(double h) {
    const auto eta = [h](double n, double t) { return std::sqrt(h * vlearn::log(n) / t); };
    return {h, Potential::entropy, true, kMeans, eta, eta};
  }
  static Real gamma(Real h, Real n, Real t) { return sqrt(h * log(n) / t); }
  static Real rate(Real h, Real n, Real t) { return gamma(h, n, t); }
};
/// The horizon does not matter to it.
struct OptimisticCase : Plain {
  using Rule = Optimistic;
  static constexpr bool kMeans = true;
  static constexpr bool kOptimistic = true;
  static unsigned memory(unsigned /*horizon*/) { return 2; }
  static Rule make(std::uint64_t /*horizon*/) { return Rule(); }
  static test::PlainRule plain(double /*h*/) {
    const auto many = [](double n) { return std::max(1.0, n / 3.0); };
    return {2.0,
            Potential::tsallis,
            false,
            true,
            [many](double n, double) { return 1.5 * std::sqrt(std::sqrt(many(n))); },
            [many](double n, double t) { return std::min(0.3, 12.0 * std::sqrt(many(n)) / t); },
            true,
            [](double n, double t) { return 0.5 / std::sqrt(n * std::max(t + 1000.0, n)); }};
  }
  static Real many(const Real& n) { return max(Real(1), Real(n / 3)); }
  // Times the noise.
  static Real rate(Real, Real n, Real) { return Real(1.5) * sqrt(sqrt(many(n))); }
  static Real gamma(Real, Real n, Real t) { return min(Real(0.3), Real(12 * sqrt(many(n)) / t)); }
  static Real floor(Real n, Real t) { return floor_of(Real(0.5), n, t); }
  static Real floor_of(const Real& g, const Real& n, const Real& t) {
    return min(Real(1 / (2 * n)), Real(g / sqrt(n * (t + 1000))));
  }
};
struct OptimisticNashCase : OptimisticCase {
  using Rule = OptimisticNash;
  static Rule make(std::uint64_t /*horizon*/) { return Rule(); }
  static test::PlainRule plain(double h) {
    test::PlainRule rule = OptimisticCase::plain(h);
    rule.horizon = 1.0;
    rule.rate = [](double n, double) { return 0.8 * std::sqrt(std::max(1.0, n / 3.0)); };
    return rule;
  }
  static unsigned memory(unsigned /*horizon*/) { return 1; }
  static Real rate(Real, Real n, Real) { return Real(0.8) * sqrt(many(n)); }
};
struct OptimisticSwapCase : OptimisticCase {
  using Rule = OptimisticSwap;
  static constexpr bool kSwap = true;
  static Rule make(std::uint64_t /*horizon*/) { return Rule(); }
  static test::PlainRule plain(double h) {
    test::PlainRule rule = OptimisticCase::plain(h);
    rule.horizon = 3.0;
    rule.swap = true;
    rule.rate = [](double n, double) {
      return 1.25 * std::sqrt(std::sqrt(std::max(1.0, n / 3.0)));
    };
    rule.floor = [](double n, double t) {
      return 2.0 / std::sqrt(n * std::max(t + 1000.0, 16.0 * n));
    };
    return rule;
  }
  static unsigned memory(unsigned /*horizon*/) { return 3; }
  static Real rate(Real, Real n, Real) { return Real(1.25) * sqrt(sqrt(many(n))); }
  static Real floor(Real n, Real t) { return floor_of(Real(2), n, t); }
};
/// Of optimistic_rule.md. Small Lambda and small t: nu leaves its cut at 1/(2B) after some visits.
constexpr double kProvenIota = 3.0;
template <Regret kRegret>
struct ProvenCase : Plain {
  static constexpr bool kSwap = kRegret == Regret::swap;
  using Rule = std::conditional_t<kSwap, OptimisticSwapRigorous, OptimisticRigorous>;
  static constexpr bool kMeans = true;
  static constexpr bool kProven = true;
  static Rule make(std::uint64_t horizon) { return Rule(horizon, {kProvenIota}); }
  static test::PlainProvenBandit::Settings plain(double h) { return {h, kProvenIota, kSwap}; }
};

using Cases = testing::Types<FtrlCase<ControlVariate::off>,
                             FtrlCase<kOn>,
                             PredictiveCase,
                             Exp3IxCase<ControlVariate::off>,
                             Exp3IxCase<kOn>,
                             TsallisCase<ControlVariate::off>,
                             TsallisCase<kOn>,
                             LogBarrierCase<ControlVariate::off>,
                             LogBarrierCase<kOn>,
                             SwapCase<ControlVariate::off>,
                             SwapCase<kOn>,
                             OptimisticCase,
                             OptimisticNashCase,
                             OptimisticSwapCase,
                             ProvenCase<Regret::external>,
                             ProvenCase<Regret::swap>>;

template <class C>
auto plain_of(double h, std::size_t n) {
  if constexpr (C::kProven) {
    return test::PlainProvenBandit(C::plain(h), n);
  } else {
    return test::PlainBandit(C::plain(h), n);
  }
}

Draws draws_of(std::uint64_t seed) { return Draws({.seed = seed, .purpose = Purpose::action}); }

/// Losses that favour the first actions, with noise.
double loss_of(Draws& draws, std::size_t action) {
  return std::min(1.0, 0.5 * draws.uniform() + 0.1 * static_cast<double>(action % 5));
}

/// Plays `visits` visits of every cell, actions drawn from the policies; of each cell its log.
template <class Rule>
std::vector<std::vector<LoggedVisit>> play(BanditBank<Rule>& bank,
                                           std::uint64_t seed,
                                           std::uint64_t visits) {
  std::vector<std::vector<LoggedVisit>> logs(bank.size());
  Draws draws = draws_of(seed);
  for (std::uint64_t t = 1; t <= visits; ++t) {
    for (std::size_t cell = 0; cell < bank.size(); ++cell) {
      const VisitSteps steps = bank.rule().steps(bank.policy(cell).size(), t);
      const Action action = bank.draw(cell, steps, draws.uniform());
      const double loss = loss_of(draws, action.index());
      logs[cell].push_back({action, bank.update(cell, action, loss, t)});
    }
  }
  return logs;
}

void expect_on_simplex(std::span<const double> policy) {
  double sum = 0.0;
  for (const double p : policy) {
    EXPECT_TRUE(p >= 0.0 && p <= 1.0) << p;
    sum += p;
  }
  EXPECT_NEAR(sum, 1.0, 1e-15 * static_cast<double>(policy.size() + 2));
}

const std::vector<std::uint32_t> kSizes = {1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 33, 64, 65};

template <class C>
class BanditConformance : public testing::Test {};
TYPED_TEST_SUITE(BanditConformance, Cases);

TYPED_TEST(BanditConformance, StartsUniformAndStaysOnTheSimplex) {
  BanditBank bank(TypeParam::make(5), kSizes);
  for (std::size_t cell = 0; cell < bank.size(); ++cell) {
    for (const double p : bank.policy(cell)) EXPECT_EQ(p, 1.0 / kSizes[cell]);
  }
  play(bank, 1, 300);
  for (std::size_t cell = 0; cell < bank.size(); ++cell) expect_on_simplex(bank.policy(cell));
}

// A single action leaves nothing to learn, and is played for sure.
TYPED_TEST(BanditConformance, OneActionIsPlayed) {
  BanditBank bank(TypeParam::make(10), std::vector<std::uint32_t>{1});
  play(bank, 2, 50);
  EXPECT_EQ(bank.policy(0)[0], 1.0);
}

TYPED_TEST(BanditConformance, LearnsWhichActionIsBest) {
  BanditBank bank(TypeParam::make(2), std::vector<std::uint32_t>{4});
  Draws draws = draws_of(3);
  for (std::uint64_t t = 1; t <= 4000; ++t) {
    const Action action = bank.draw(0, bank.rule().steps(4, t), draws.uniform());
    bank.update(0, action, action.index() == 2 ? 0.1 : 0.9, t);
  }
  EXPECT_GT(bank.policy(0)[2], 0.5);
}

TYPED_TEST(BanditConformance, StaysFiniteFarOut) {
  for (const std::uint64_t horizon : {1U, 10U, 100U, 1000U}) {
    BanditBank bank(TypeParam::make(horizon), std::vector<std::uint32_t>{2, 5, 10});
    Draws draws = draws_of(horizon);
    std::uint64_t visit = 0;
    for (int i = 0; i < 400; ++i) {
      // One by one, then in leaps up to 10^12.
      visit = i < 200 ? visit + 1 : std::min<std::uint64_t>(visit + visit / 8, 1'000'000'000'000);
      for (std::size_t cell = 0; cell < bank.size(); ++cell) {
        const VisitSteps steps = bank.rule().steps(bank.policy(cell).size(), visit);
        const Action action = bank.draw(cell, steps, draws.uniform());
        const Increment increment = bank.update(cell, action, i % 7 == 0 ? 1.0 : 0.0, visit);
        ASSERT_TRUE(std::isfinite(increment.score) && std::isfinite(increment.mean));
        expect_on_simplex(bank.policy(cell));
      }
    }
    EXPECT_EQ(visit, 1'000'000'000'000U);
    for (const double number : bank.memory()) ASSERT_TRUE(std::isfinite(number));
    // Whatever is played against the policy, numbers stay numbers.
    for (std::uint64_t t = 1; t < 50; ++t) {
      for (std::size_t cell = 0; cell < bank.size(); ++cell) {
        const std::span<const double> policy = bank.policy(cell);
        const auto least = std::min_element(policy.begin(), policy.end()) - policy.begin();
        bank.update(cell, Action(static_cast<std::uint32_t>(least)), 1.0, t);
        expect_on_simplex(bank.policy(cell));
      }
    }
  }
}

TYPED_TEST(BanditConformance, ResetEqualsFresh) {
  BanditBank bank(TypeParam::make(5), kSizes);
  const std::vector<double> fresh(bank.memory().begin(), bank.memory().end());
  play(bank, 4, 40);
  EXPECT_FALSE(std::equal(fresh.begin(), fresh.end(), bank.memory().begin()));
  for (std::size_t cell = 0; cell < bank.size(); ++cell) bank.rule().reset(bank.cell(cell));
  EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), bank.memory().begin()));
}

TYPED_TEST(BanditConformance, ReplayEqualsLive) {
  BanditBank live(TypeParam::make(5), kSizes);
  const std::vector<std::vector<LoggedVisit>> logs = play(live, 5, 150);
  // One by one, all at once, and in pieces.
  for (const std::size_t most : {1U, 150U, 40U}) {
    BanditBank again(TypeParam::make(5), kSizes);
    for (std::size_t cell = 0; cell < again.size(); ++cell) {
      const std::span<const LoggedVisit> log = logs[cell];
      for (std::size_t done = 0; done < log.size(); done += most) {
        const std::size_t count = std::min(most, log.size() - done);
        again.rule().replay(again.cell(cell), done, log.subspan(done, count));
      }
    }
    EXPECT_TRUE(std::equal(live.memory().begin(), live.memory().end(), again.memory().begin()))
        << most;
  }
}

// Cells do not disturb each other, and the bank is the rule.
TYPED_TEST(BanditConformance, CellsAreIndependent) {
  BanditBank all(TypeParam::make(5), std::vector<std::uint32_t>{3, 4, 5});
  BanditBank one(TypeParam::make(5), std::vector<std::uint32_t>{4});
  for (std::uint64_t t = 1; t <= 20; ++t) {
    all.update(0, Action(2U), 1.0, t);
    all.update(1, Action(t % 4), 0.25, t);
    one.update(0, Action(t % 4), 0.25, t);
    all.update(2, Action(1U), 0.5, t);
  }
  EXPECT_TRUE(std::equal(one.memory().begin(), one.memory().end(), all.cell(1).state));
}

TYPED_TEST(BanditConformance, EveryVectorWidthGivesTheSameBits) {
  std::vector<double> first;
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    BanditBank bank(TypeParam::make(5), kSizes);
    play(bank, 6, 120);
    const std::vector<double> memory(bank.memory().begin(), bank.memory().end());
    if (first.empty()) first = memory;
    EXPECT_EQ(memory, first) << target;
  }
  use_simd_target("");
}

// The fast path is the plain transcription, bit for bit.
TYPED_TEST(BanditConformance, EqualsThePlainTranscription) {
  for (const std::uint32_t n : kSizes) {
    if (TypeParam::kSwap && n > 17) continue;
    BanditBank bank(TypeParam::make(7), std::vector<std::uint32_t>{n});
    auto plain = plain_of<TypeParam>(7, n);
    Draws draws = draws_of(50 + n);
    for (std::uint64_t t = 1; t <= 200; ++t) {
      const Action action = bank.draw(0, bank.rule().steps(n, t), draws.uniform());
      const double loss = loss_of(draws, action.index());
      bank.update(0, action, loss, t);
      plain.update(action.index(), loss, t);
      ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()))
          << n << " actions, visit " << t;
    }
  }
}

/// Losses that never change have no noise: eta rises to 1.5 b^(1/4)/sqrt(0.12) and stays.
TEST(Optimistic, StepsAreBoundedWhereNothingIsNoisy) {
  BanditBank bank(Optimistic(), std::vector<std::uint32_t>{2});
  test::PlainBandit plain(OptimisticCase::plain(1), 2);
  for (std::uint64_t t = 1; t <= 1'000'000'000; t += 1 + t / 8) {
    const std::size_t action = t % 2;
    bank.update(0, Action(action), 0.5, t);
    plain.update(action, 0.5, t);
    ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()));
  }
  const std::uint64_t last = 1'000'000'000;
  const Increment increment = bank.update(0, Action(0U), 1.0, last);
  plain.update(0, 1.0, last);
  ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()));
  const auto score = static_cast<double>(increment.score);
  const double noise = 0.5 * std::sqrt(0.5 * score);  // of this one loss, the first with any
  const double z = 0.5 * 1.5 / std::sqrt(noise + 0.12) * score;
  // theta = 1/(z + y)^2 and 1/y^2.
  const double y = 1.0 / std::sqrt(bank.policy(0)[1]);
  EXPECT_NEAR(1.0 / std::sqrt(bank.policy(0)[0]) - y, z, 1e-7);
}

/// Every action is drawn with its share of the policy and the floor, to one part in a million.
TEST(Optimistic, DrawsHaveAFloor) {
  const std::vector<double> policy = {0.75, 0.0, 0.25};
  constexpr double floor = 0.125;
  std::vector<double> drawn(3, 0.0);
  constexpr int places = 1 << 20;
  for (int i = 0; i < places; ++i) {
    drawn[draw_action(policy, floor, (i + 0.5) / places).index()] += 1.0 / places;
  }
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_NEAR(drawn[b], (1.0 - 3.0 * floor) * policy[b] + floor, 2.0 / places);
  }
  EXPECT_EQ(draw_action(policy, floor, 0x1.fffffffffffffp-1), Action(2U));
  EXPECT_EQ(draw_action(policy, floor, 0.0), Action(0U));
}

// ---------------------------------------------------------------------- against 50 digits

/// The distribution that minimises <theta, losses> plus the potential.
std::vector<Real> reference_policy(Potential potential,
                                   const std::vector<Real>& losses,
                                   const Real& rate) {
  const Real least = *std::min_element(losses.begin(), losses.end());
  std::vector<Real> theta;
  if (potential == Potential::entropy) {
    Real sum = 0;
    for (const Real& loss : losses) {
      theta.push_back(exp(-rate * (loss - least)));
      sum += theta.back();
    }
    for (Real& p : theta) p /= sum;
    return theta;
  }
  // theta_b = 4/(rate (G_b - x))^2 or 1/(rate (G_b - x)): Newton's method from the right, where the
  // sum is at least one, until it moves no more.
  const bool tsallis = potential == Potential::tsallis;
  Real x = least - (tsallis ? Real(2) : Real(1)) / rate;
  for (int i = 0; i < 200; ++i) {
    Real sum = -1;
    Real slope = 0;
    for (const Real& loss : losses) {
      const Real u = 1 / (rate * (loss - x));
      sum += tsallis ? Real(4 * u * u) : u;
      slope += rate * (tsallis ? Real(8 * u * u * u) : Real(u * u));
    }
    x -= sum / slope;
    if (abs(sum) < 1e-45) break;
  }
  for (const Real& loss : losses) {
    const Real u = 1 / (rate * (loss - x));
    theta.push_back(tsallis ? Real(4 * u * u) : u);
  }
  return theta;
}

/// pi = pi T by repeated squaring: T^(2^k) has equal rows in the end.
std::vector<Real> reference_stationary(std::vector<std::vector<Real>> t) {
  const std::size_t n = t.size();
  for (int k = 0; k < 60; ++k) {
    std::vector<std::vector<Real>> square(n, std::vector<Real>(n, 0));
    Real apart = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t l = 0; l < n; ++l) square[i][j] += t[i][l] * t[l][j];
        apart = max(apart, Real(abs(square[i][j] - square[0][j])));
      }
    }
    t = square;
    if (apart < 1e-40) break;
  }
  return t[0];
}

template <class C>
class Reference {
 public:
  Reference(unsigned horizon, unsigned n)
      : h_(C::memory(horizon)), n_(n), theta_(n, Real(1) / n), means_(n, Real(0.5)), plays_(n, 0) {
    losses_.assign(C::kSwap ? n : 1, std::vector<Real>(n, 0));
    noises_.resize(losses_.size());
    drops_.resize(losses_.size());
  }

  [[nodiscard]] const std::vector<Real>& policy() const { return theta_; }

  /// What visit t adds, before it is rounded.
  [[nodiscard]] std::pair<Real, Real> measure(std::size_t a, double loss, unsigned t) const {
    const Real gamma = C::gamma(h_, n_, t);
    Real chance = max(Real(theta_[a] + gamma), C::least_chance());
    if (!C::kMeans) return {loss / chance, 0};
    const Real surprise = loss - means_[a];
    if (C::kOptimistic) {
      const Real floor = C::floor(n_, t);
      const Real played = (1 - n_ * floor) * theta_[a] + floor;
      const Real optimism = C::kSwap ? Real(floor * min(Real(1), Real(2 * abs(surprise)))) : floor;
      chance = surprise > 0 ? Real(played + optimism + gamma)
                            : Real(played * (played + gamma) / (played + optimism));
    }
    return {surprise / chance, surprise * (h_ + 1) / (h_ + plays_[a] + 1)};
  }

  void apply(std::size_t a, const Increment& increment, unsigned t) {
    const Real decay = Real(t - 1) / (h_ + t - 1);
    if (C::kOptimistic) add_noise(a, increment, t);
    std::vector<std::vector<Real>> rows;
    for (std::size_t b = 0; b < losses_.size(); ++b) {
      const Real scale = C::kSwap ? theta_[b] : Real(1);
      for (std::size_t c = 0; c < theta_.size(); ++c) {
        losses_[b][c] *= decay;
        if (C::kMeans) losses_[b][c] += scale * means_[c];
      }
      losses_[b][a] += scale * increment.score;
      Real rate = C::rate(h_, n_, t);
      if (C::kOptimistic) rate /= noise(b, t);
      rows.push_back(reference_policy(kPotential, losses_[b], rate));
    }
    chain_ = rows;
    theta_ = C::kSwap ? reference_stationary(rows) : rows[0];
    means_[a] += increment.mean;
    plays_[a] += 1;
  }

 private:
  /// What a visit adds to D, and to M, of each row.
  void add_noise(std::size_t a, const Increment& increment, unsigned t) {
    // The surprise that the rounded increment stands for.
    const Real surprise = increment.mean * (h_ + plays_[a] + 1) / (h_ + 1);
    const Real score = increment.score;
    for (std::size_t r = 0; r < losses_.size(); ++r) {
      Real noise = pow(abs(surprise), Real(1.5)) * sqrt(abs(score)) + Real(0.3) * variance();
      Real drop = abs(surprise * score);
      if (C::kSwap) {
        const Real chance = t == 1 ? 1 / n_ : chain_[r][a];
        const Real square = theta_[r] * theta_[r];
        noise = square * (pow(chance, Real(1.5)) * score * score + Real(0.3) * variance());
        drop = square * chance * score * score;
      }
      noises_[r].push_back(noise);
      drops_[r].push_back(score < 0 ? drop : Real(0));
    }
  }
  /// sqrt(D + M + 0.12) from its definition, with w_t = C(h + t - 1, h).
  [[nodiscard]] Real noise(std::size_t row, unsigned t) const {
    Real weight = 1;  // w_i / w_t
    Real sum = 0;
    Real largest = 0;
    for (unsigned i = t; i > 0; --i) {
      sum += weight * weight * noises_[row][i - 1];
      largest = max(largest, Real(weight * weight * drops_[row][i - 1]));
      weight *= Real(i - 1) / (h_ + i - 1);
    }
    return sqrt(sum + largest + Real(0.12) / (C::kSwap ? Real(n_ * n_) : Real(1)));
  }
  /// Of the means.
  [[nodiscard]] Real variance() const {
    Real mean = 0;
    for (const Real& m : means_) mean += m / n_;
    Real squares = 0;
    for (const Real& m : means_) squares += (m - mean) * (m - mean) / n_;
    return squares;
  }

  static constexpr Potential kPotential = [] {
    if (C::Rule::kName == std::string_view("tsallis")) return Potential::tsallis;
    if (C::kOptimistic) return Potential::tsallis;
    if (C::Rule::kName == std::string_view("log-barrier")) return Potential::log_barrier;
    return Potential::entropy;
  }();

  Real h_;
  Real n_;
  std::vector<Real> theta_;
  std::vector<Real> means_;
  std::vector<Real> plays_;
  std::vector<std::vector<Real>> losses_;
  std::vector<std::vector<Real>> chain_;
  // Of each row and visit, where steps are scaled by noise:
  std::vector<std::vector<Real>> noises_;
  std::vector<std::vector<Real>> drops_;
};

/// The box of docs/theory/optimistic_rule.md, sums from their definitions.
template <class C>
class ProvenReference {
 public:
  ProvenReference(unsigned horizon, unsigned n)
      : c_(horizon), n_(n), rows_(C::kSwap ? n : 1), p_(n, Real(1) / n), means_(n, Real(0.5)) {
    plays_.assign(n, 0);
    chain_.assign(rows_, p_);
    losses_.assign(rows_, std::vector<Real>(n, 0));
    noises_.resize(rows_);
    lambda_ = kProvenIota + (C::kSwap ? n_ : Real(1)) * log(n_);
  }

  [[nodiscard]] const std::vector<Real>& policy() const { return p_; }
  [[nodiscard]] Real least_estimate() const {
    Real sum = 0;
    for (const auto& row : losses_) sum += *std::min_element(row.begin(), row.end());
    return sum;
  }
  [[nodiscard]] std::pair<Real, Real> measure(std::size_t a, double loss, unsigned t) const {
    const Real s = loss - cut(a, t);
    const Real p = p_[a];
    const Real score = s >= 0 ? Real(s / (p + nu(t) * s / 2))
                              : Real(s * (p + Real("0.61") * nu(t) * -s) / (p * p));
    return {score, (loss - means_[a]) * (c_ + 1) / (c_ + plays_[a] + 1)};
  }
  void apply(std::size_t a, const Increment& increment, unsigned t) {
    const Real score = increment.score;
    std::vector<std::vector<Real>> next;
    for (std::size_t r = 0; r < rows_; ++r) {
      const Real q = C::kSwap ? p_[r] : Real(1);
      Real more = pow(chain_[r][a], Real(1.5)) * score * score;
      for (std::size_t b = 0; b < p_.size(); ++b) {
        const Real away = cut(b, t) - cut(a, t);
        more += pow(chain_[r][b], Real(1.5)) * away * away;
        losses_[r][b] = losses_[r][b] * (t - 1) / (c_ + t - 1) + q * cut(b, t);
      }
      losses_[r][a] += q * score;
      noises_[r].push_back(q * q * more / (4 * (sqrt(n_) + 1)));
      Real weight = 1;  // w_i / w_t
      Real sum = 0;
      for (unsigned i = t; i > 0; --i) {
        sum += weight * weight * noises_[r][i - 1];
        weight *= Real(i - 1) / (c_ + i - 1);
      }
      const Real growth = (c_ + t) / t;
      const Real rate = 1 / sqrt(sum + 3 * growth * growth / nu(t + 1));
      next.push_back(reference_policy(Potential::tsallis, losses_[r], rate));
    }
    chain_ = next;
    p_ = C::kSwap ? reference_stationary(next) : next[0];
    means_[a] = min(Real(1), max(Real(0), Real(means_[a] + increment.mean)));
    plays_[a] += 1;
  }

 private:
  [[nodiscard]] Real nu(unsigned t) const {
    return min(Real(1 / (2 * n_)), Real(sqrt(Real(0.75) * (c_ + Real(0.5)) * lambda_ / (n_ * t))));
  }
  [[nodiscard]] Real cut(std::size_t b, unsigned t) const {
    return min(means_[b], Real(p_[b] / (4 * nu(t))));
  }

  Real c_;
  Real n_;
  std::size_t rows_;
  Real lambda_;
  std::vector<Real> p_;
  std::vector<Real> means_;
  std::vector<Real> plays_;
  std::vector<std::vector<Real>> chain_;
  std::vector<std::vector<Real>> losses_;  // G, the least not taken away
  std::vector<std::vector<Real>> noises_;  // [row][visit]
};

template <class C>
using ReferenceOf = std::conditional_t<C::kProven, ProvenReference<C>, Reference<C>>;

TYPED_TEST(BanditConformance, AgreesWithFiftyDigits) {
  for (unsigned stream = 0; stream < 200; ++stream) {
    Draws draws = draws_of(1000 + stream);
    const unsigned horizon = 1 + static_cast<unsigned>(draws.below(12));
    const unsigned n = 2 + static_cast<unsigned>(draws.below(TypeParam::kSwap ? 2 : 4));
    BanditBank bank(TypeParam::make(horizon), std::vector<std::uint32_t>{n});
    ReferenceOf<TypeParam> reference(horizon, n);
    for (unsigned t = 1; t <= 200; ++t) {
      const Action action = bank.draw(0, bank.rule().steps(n, t), draws.uniform());
      const double loss = loss_of(draws, action.index());
      const auto [score, mean] = reference.measure(action.index(), loss, t);
      const Increment increment = bank.update(0, action, loss, t);
      // Half a unit of float32, and a little for the double that was rounded.
      ASSERT_LE(abs(score - increment.score), abs(score) * 0x1.001p-24 + 1e-30) << stream;
      ASSERT_LE(abs(mean - increment.mean), abs(mean) * 0x1.001p-24 + 1e-30) << stream;
      reference.apply(action.index(), increment, t);
      if constexpr (TypeParam::kProven) {
        const Real least = reference.least_estimate();
        ASSERT_LE(abs(least - bank.rule().least_estimate(bank.cell(0))), 1e-12 * (1 + abs(least)));
      }
      for (std::size_t b = 0; b < n; ++b) {
        ASSERT_LE(abs(reference.policy()[b] - bank.policy(0)[b]), 1e-12)
            << "stream " << stream << ", visit " << t;
      }
    }
  }
}

}  // namespace
}  // namespace vlearn
