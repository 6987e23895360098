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
#include "vlearn/bandit/noise_scaled.h"
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
  static constexpr bool kScaledByNoise = false;
  /// c of the weights, of a rule made for this horizon.
  static unsigned memory(unsigned horizon) { return horizon; }
  static Real least_chance() { return Real(kLeastChance); }
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
struct NoiseScaledCase : Plain {
  using Rule = NoiseScaled;
  static constexpr bool kMeans = true;
  static constexpr bool kScaledByNoise = true;
  static unsigned memory(unsigned /*horizon*/) { return 3; }
  static Rule make(std::uint64_t /*horizon*/) { return Rule(); }
  static test::PlainRule plain(double /*h*/) {
    return {3.0,
            Potential::tsallis,
            false,
            true,
            [](double, double t) { return std::sqrt(4.0 / t); },
            [](double, double t) { return std::min(0.3, 12.0 / t); },
            true};
  }
  // Times the noise.
  static Real rate(Real, Real, Real t) { return 2 / sqrt(t); }
  static Real gamma(Real, Real, Real t) { return min(Real(0.3), Real(12 / t)); }
};
struct NoiseScaledSwapCase : NoiseScaledCase {
  using Rule = NoiseScaledSwap;
  static constexpr bool kSwap = true;
  static Rule make(std::uint64_t /*horizon*/) { return Rule(); }
  static test::PlainRule plain(double h) {
    test::PlainRule rule = NoiseScaledCase::plain(h);
    rule.swap = true;
    rule.rate = [](double n, double t) { return std::sqrt(4.0 * n / t); };
    return rule;
  }
  static Real rate(Real, Real n, Real t) { return 2 * sqrt(n / t); }
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
                             NoiseScaledCase,
                             NoiseScaledSwapCase>;

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
      const Action action(sample(bank.policy(cell), draws.uniform()));
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
    const Action action(sample(bank.policy(0), draws.uniform()));
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
        const Action action(sample(bank.policy(cell), draws.uniform()));
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
    test::PlainBandit plain(TypeParam::plain(7), n);
    Draws draws = draws_of(50 + n);
    for (std::uint64_t t = 1; t <= 200; ++t) {
      const Action action(sample(bank.policy(0), draws.uniform()));
      const double loss = loss_of(draws, action.index());
      bank.update(0, action, loss, t);
      plain.update(action.index(), loss, t);
      ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()))
          << n << " actions, visit " << t;
    }
  }
}

/// Losses that never change have no noise: sigma falls to its floor, in some 10^5 visits.
TEST(NoiseScaled, StepsAreBoundedWhereNothingIsNoisy) {
  BanditBank bank(NoiseScaled(), std::vector<std::uint32_t>{2});
  test::PlainBandit plain(NoiseScaledCase::plain(1), 2);
  for (std::uint64_t t = 1; t <= 1'000'000'000; t += 1 + t / 8) {
    const std::size_t action = t % 2;
    bank.update(0, Action(action), 0.5, t);
    plain.update(action, 0.5, t);
    ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()));
  }
  // One loss above the others, of which 4 10^-9 are left in the averages: eta = 2/sqrt(t)/0.001.
  const std::uint64_t last = 1'000'000'000;
  const Increment increment = bank.update(0, Action(0U), 1.0, last);
  plain.update(0, 1.0, last);
  ASSERT_TRUE(std::equal(plain.policy().begin(), plain.policy().end(), bank.policy(0).begin()));
  const double z = 0.5 * (2.0 / std::sqrt(1e9) / 0.001) * static_cast<double>(increment.score);
  // theta = 1/(z + y)^2 and 1/y^2.
  const double y = 1.0 / std::sqrt(bank.policy(0)[1]);
  EXPECT_NEAR(1.0 / std::sqrt(bank.policy(0)[0]) - y, z, 1e-12);
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
  }

  [[nodiscard]] const std::vector<Real>& policy() const { return theta_; }

  /// What visit t adds, before it is rounded.
  [[nodiscard]] std::pair<Real, Real> measure(std::size_t a, double loss, unsigned t) const {
    const Real chance = max(Real(theta_[a] + C::gamma(h_, n_, t)), C::least_chance());
    if (!C::kMeans) return {loss / chance, 0};
    const Real surprise = loss - means_[a];
    return {surprise / chance, surprise * (h_ + 1) / (h_ + plays_[a] + 1)};
  }

  void apply(std::size_t a, const Increment& increment, unsigned t) {
    const Real decay = Real(t - 1) / (h_ + t - 1);
    Real rate = C::rate(h_, n_, t);
    if (C::kScaledByNoise) {
      // The loss that the rounded increment stands for.
      const Real loss = means_[a] + increment.mean * (h_ + plays_[a] + 1) / (h_ + 1);
      seen_losses_.push_back(loss);
      rate /= noise();
    }
    std::vector<std::vector<Real>> rows;
    for (std::size_t b = 0; b < losses_.size(); ++b) {
      const Real scale = C::kSwap ? theta_[b] : Real(1);
      for (std::size_t c = 0; c < theta_.size(); ++c) {
        losses_[b][c] *= decay;
        if (C::kMeans) losses_[b][c] += scale * means_[c];
      }
      losses_[b][a] += scale * increment.score;
      rows.push_back(reference_policy(kPotential, losses_[b], rate));
    }
    theta_ = C::kSwap ? reference_stationary(rows) : rows[0];
    means_[a] += increment.mean;
    plays_[a] += 1;
  }

 private:
  /// sigma from its definition: the variance of all losses so far under the weights alpha_t^i, the
  /// variance between the means, and what is not known yet.
  [[nodiscard]] Real noise() const {
    const std::size_t t = seen_losses_.size();
    std::vector<Real> weights(t);
    Real rest = 1;
    for (std::size_t i = t; i-- > 0;) {
      const Real alpha = (h_ + 1) / (h_ + (i + 1));
      weights[i] = rest * alpha;
      rest *= 1 - alpha;
    }
    const Real share = (h_ + 1) / (h_ + t);
    const Real within = variance(seen_losses_, weights);
    const Real between = variance(means_, std::vector<Real>(means_.size(), 1 / n_));
    return max(Real(0.001), Real(sqrt(within + between + Real(0.03) * share)));
  }
  static Real variance(const std::vector<Real>& numbers, const std::vector<Real>& weights) {
    Real mean = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) mean += weights[i] * numbers[i];
    Real squares = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      squares += weights[i] * (numbers[i] - mean) * (numbers[i] - mean);
    }
    return squares;
  }

  static constexpr Potential kPotential = [] {
    if (C::Rule::kName == std::string_view("tsallis")) return Potential::tsallis;
    if (C::kScaledByNoise) return Potential::tsallis;
    if (C::Rule::kName == std::string_view("log-barrier")) return Potential::log_barrier;
    return Potential::entropy;
  }();

  Real h_;
  Real n_;
  std::vector<Real> theta_;
  std::vector<Real> means_;
  std::vector<Real> plays_;
  std::vector<std::vector<Real>> losses_;
  std::vector<Real> seen_losses_;  // of all visits, where steps are divided by their noise
};

TYPED_TEST(BanditConformance, AgreesWithFiftyDigits) {
  for (unsigned stream = 0; stream < 200; ++stream) {
    Draws draws = draws_of(1000 + stream);
    const unsigned horizon = 1 + static_cast<unsigned>(draws.below(12));
    const unsigned n = 2 + static_cast<unsigned>(draws.below(TypeParam::kSwap ? 2 : 4));
    BanditBank bank(TypeParam::make(horizon), std::vector<std::uint32_t>{n});
    Reference<TypeParam> reference(horizon, n);
    for (unsigned t = 1; t <= 200; ++t) {
      const Action action(sample(bank.policy(0), draws.uniform()));
      const double loss = loss_of(draws, action.index());
      const auto [score, mean] = reference.measure(action.index(), loss, t);
      const Increment increment = bank.update(0, action, loss, t);
      // Half a unit of float32, and a little for the double that was rounded.
      ASSERT_LE(abs(score - increment.score), abs(score) * 0x1.001p-24 + 1e-30) << stream;
      ASSERT_LE(abs(mean - increment.mean), abs(mean) * 0x1.001p-24 + 1e-30) << stream;
      reference.apply(action.index(), increment, t);
      for (std::size_t b = 0; b < n; ++b) {
        ASSERT_LE(abs(reference.policy()[b] - bank.policy(0)[b]), 1e-12)
            << "stream " << stream << ", visit " << t;
      }
    }
  }
}

}  // namespace
}  // namespace vlearn
