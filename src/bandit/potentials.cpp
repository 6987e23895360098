// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector kernels of potentials.h, compiled once per instruction set. Sums and the order of
// their additions are those of simplex.h: eight running sums, folded in halves.

#include "vlearn/core/simd-targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "potentials.cpp"
#include <hwy/foreach_target.h>  // first: it includes this file again for each target
#include <hwy/highway.h>

#include "vlearn/core/exp-inl.h"
#include "vlearn/core/lanes-inl.h"
//
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "vlearn/bandit/potentials.h"

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostSteps = 64;          // of Newton's method
constexpr double kTolerance = 0x1p-50;  // of the sum of a policy, before it is divided by it

/// A row of n numbers in kCount vectors of kWidth lanes; all but the last are full.
template <std::size_t kWidth, std::size_t kCount>
class Row {
 public:
  using Tag = hn::CappedTag<double, kWidth>;
  using Vector = hn::Vec<Tag>;
  static constexpr std::size_t kLanes = hn::MaxLanes(Tag());
  static constexpr std::size_t kSums = 8 / kLanes;  // vectors that hold the eight running sums

  HWY_INLINE explicit Row(std::size_t n) : last_(n - (kCount - 1) * kLanes) {}

  HWY_INLINE void load(const double* values) {
    const Tag d;
    for (std::size_t k = 0; k + 1 < kCount; ++k) v_[k] = hn::LoadU(d, values + k * kLanes);
    v_[kCount - 1] = load_first(d, values + (kCount - 1) * kLanes, last_);
  }

  HWY_INLINE void store(double* values) const {
    const Tag d;
    for (std::size_t k = 0; k + 1 < kCount; ++k) hn::StoreU(v_[k], d, values + k * kLanes);
    store_first(d, v_[kCount - 1], last_, values + (kCount - 1) * kLanes);
  }

  /// Puts `other` into the lanes beyond the last number.
  HWY_INLINE void fill_rest(double other) {
    v_[kCount - 1] = keep_first(Tag(), v_[kCount - 1], last_, other);
  }

  /// All numbers taken together; the lanes beyond the last must be neutral.
  template <class Op>
  HWY_INLINE double fold(const Op& op) const {
    // Vector k belongs to running sums number k mod kSums. Sums that nothing goes to are left out.
    constexpr std::size_t used = kCount < kSums ? kCount : kSums;
    std::array<Vector, used> sums;
    for (std::size_t k = 0; k < used; ++k) sums[k] = v_[k];
    for (std::size_t k = kSums; k < kCount; ++k) sums[k % kSums] = op(sums[k % kSums], v_[k]);
    if constexpr (used > 4) {
      for (std::size_t k = 0; k + 4 < used; ++k) sums[k] = op(sums[k], sums[k + 4]);
    }
    if constexpr (used > 2) {
      for (std::size_t k = 0; k < 2 && k + 2 < used; ++k) sums[k] = op(sums[k], sums[k + 2]);
    }
    if constexpr (used > 1) sums[0] = op(sums[0], sums[1]);
    return fold_lanes(op, Tag(), sums[0]);
  }

  HWY_INLINE void multiply(double factor) {
    for (Vector& v : v_) v = hn::Mul(v, hn::Set(Tag(), factor));
  }

  /// From G to decay G (+ scale means) with `score` more at the action.
  HWY_INLINE void advance(const RowStep& step, const double* means) {
    const Tag d;
    multiply(step.decay);
    if (means != nullptr) {
      Row mean(*this);
      mean.load(means);
      mean.multiply(step.mean_scale);
      for (std::size_t k = 0; k < kCount; ++k) v_[k] = hn::Add(v_[k], mean.v_[k]);
    }
    const Vector action = hn::Set(d, static_cast<double>(step.action));
    for (std::size_t k = 0; k < kCount; ++k) {
      const auto here = hn::Eq(hn::Iota(d, static_cast<double>(k * kLanes)), action);
      v_[k] = hn::IfThenElse(here, hn::Add(v_[k], hn::Set(d, step.score)), v_[k]);
    }
  }

  /// G - min G.
  HWY_INLINE void lower_to_least() {
    fill_rest(kInfinity);
    const Vector least = hn::Set(Tag(), fold(Smaller()));
    for (Vector& v : v_) v = hn::Sub(v, least);
  }

  HWY_INLINE void exp_and_divide() {
    for (Vector& v : v_) v = exp_bounded_lanes(Tag(), v);
    fill_rest(0.0);
    multiply(1.0 / fold(Plus()));
  }

  /// From z to 1/(z + y)^kPower with sum one.
  template <int kPower>
  HWY_INLINE void invert_and_divide() {
    const Tag d;
    double y = 1.0;
    for (int i = 0;; ++i) {
      Row theta(*this);
      Row slope(*this);
      for (std::size_t k = 0; k < kCount; ++k) {
        const Vector u = hn::Div(hn::Set(d, 1.0), hn::Add(v_[k], hn::Set(d, y)));
        theta.v_[k] = kPower == 2 ? hn::Mul(u, u) : u;
        slope.v_[k] = hn::Mul(theta.v_[k], u);
      }
      theta.fill_rest(0.0);
      const double sum = theta.fold(Plus());
      if (!(sum - 1.0 > kTolerance) || i == kMostSteps) {
        v_ = theta.v_;
        multiply(1.0 / sum);
        return;
      }
      slope.fill_rest(0.0);
      y += (sum - 1.0) / (kPower * slope.fold(Plus()));
    }
  }

 private:
  std::size_t last_;  // numbers in the last vector
  std::array<Vector, kCount> v_;
};

// Rows that registers cannot hold: one number after the other, in the order of the sums above.

void lower_long(std::size_t n, double least, double* losses) {
  for (std::size_t b = 0; b < n; ++b) losses[b] -= least;
}

/// The least of the new losses, which is still to be taken away.
double advance_long(std::size_t n, const RowStep& step, const double* means, double* losses) {
  double least = kInfinity;
  for (std::size_t b = 0; b < n; ++b) {
    losses[b] *= step.decay;
    if (means != nullptr) losses[b] += means[b] * step.mean_scale;
    if (b == step.action) losses[b] += step.score;
    least = std::min(least, losses[b]);
  }
  return least;
}

void advance_long(Potential potential,
                  std::size_t n,
                  const RowStep& step,
                  const double* means,
                  double* losses,
                  double* policy) {
  const hn::CappedTag<double, 1> d;
  const auto fold = [&](const auto& value) HWY_ATTR {
    std::array<double, 8> sums{};
    for (std::size_t b = 0; b < n; ++b) sums[b % 8] += value(b);
    for (std::size_t half = 4; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    }
    return sums[0];
  };
  const auto divide = [&](double sum) HWY_ATTR {
    const double factor = 1.0 / sum;
    for (std::size_t b = 0; b < n; ++b) policy[b] *= factor;
  };
  const double least = advance_long(n, step, means, losses);
  if (potential == Potential::entropy) {
    if (means != nullptr) lower_long(n, least, losses);
    for (std::size_t b = 0; b < n; ++b) {
      policy[b] = hn::GetLane(exp_bounded_lanes(d, hn::Set(d, losses[b] * -step.rate)));
    }
    if (means == nullptr) lower_long(n, least, losses);
    return divide(fold([&](std::size_t b) HWY_ATTR { return policy[b]; }));
  }
  lower_long(n, least, losses);
  const bool squared = potential == Potential::tsallis;
  const double scale = squared ? 0.5 * step.rate : step.rate;
  double y = 1.0;
  for (int i = 0;; ++i) {
    const auto inverse = [&](std::size_t b) HWY_ATTR { return 1.0 / (losses[b] * scale + y); };
    for (std::size_t b = 0; b < n; ++b) {
      const double u = inverse(b);
      policy[b] = squared ? u * u : u;
    }
    const double sum = fold([&](std::size_t b) HWY_ATTR { return policy[b]; });
    if (!(sum - 1.0 > kTolerance) || i == kMostSteps) return divide(sum);
    const double slope = fold([&](std::size_t b) HWY_ATTR { return policy[b] * inverse(b); });
    y += (sum - 1.0) / ((squared ? 2.0 : 1.0) * slope);
  }
}

/// One step, and the policy after it.
struct AdvanceRow {
  Potential potential;
  std::size_t n;
  const RowStep& step;
  const double* means;
  double* losses;
  double* policy;

  template <class AnyRow>
  HWY_INLINE void in_registers() const {
    AnyRow row(n);
    row.load(losses);
    row.advance(step, means);
    if (potential == Potential::entropy && means == nullptr) {
      // The least loss was 0 and has grown by one score at most: no need to wait for the new one.
      AnyRow weights(row);
      weights.multiply(-step.rate);
      weights.exp_and_divide();
      weights.store(policy);
      row.lower_to_least();
      row.store(losses);
      return;
    }
    row.lower_to_least();
    row.store(losses);
    if (potential == Potential::entropy) {
      row.multiply(-step.rate);
      row.exp_and_divide();
      row.store(policy);
      return;
    }
    if (potential == Potential::tsallis) {
      row.multiply(0.5 * step.rate);
      row.template invert_and_divide<2>();
    } else {
      row.multiply(step.rate);
      row.template invert_and_divide<1>();
    }
    row.store(policy);
  }
  void in_memory() const { advance_long(potential, n, step, means, losses, policy); }
};

/// The losses of many steps.
struct AdvanceLosses {
  std::size_t n;
  std::span<const RowStep> steps;
  const double* means;
  double* losses;

  template <class AnyRow>
  HWY_INLINE void in_registers() const {
    AnyRow row(n);
    row.load(losses);
    for (const RowStep& step : steps) {
      row.advance(step, means);
      row.lower_to_least();
    }
    row.store(losses);
  }
  void in_memory() const {
    for (const RowStep& step : steps) {
      lower_long(n, advance_long(n, step, means, losses), losses);
    }
  }
};

/// Rows of up to kMost numbers in vectors of kWidth lanes, if the machine has them. Larger counts
/// of vectors than these rows need are not compiled.
template <std::size_t kWidth, std::size_t kMost, class Kernel>
HWY_INLINE void run_with(const Kernel& kernel) {
  constexpr std::size_t lanes = hn::MaxLanes(hn::CappedTag<double, kWidth>());
  const auto run_if_needed = [&]<std::size_t kCount>() HWY_ATTR {
    if constexpr ((kCount - 1) * lanes < kMost) {
      kernel.template in_registers<Row<kWidth, kCount>>();
    }
  };
  switch ((kernel.n + lanes - 1) / lanes) {
    case 1: return run_if_needed.template operator()<1>();
    case 2: return run_if_needed.template operator()<2>();
    case 3: return run_if_needed.template operator()<3>();
    case 4: return run_if_needed.template operator()<4>();
    case 5: return run_if_needed.template operator()<5>();
    case 6: return run_if_needed.template operator()<6>();
    case 7: return run_if_needed.template operator()<7>();
    case 8: return run_if_needed.template operator()<8>();
    // 64 actions in vectors of four, 128 in vectors of eight.
    case 16: return run_if_needed.template operator()<16>();
    default: return kernel.in_memory();
  }
}

template <class Kernel>
HWY_INLINE void run(const Kernel& kernel) {
  // Few actions in narrow vectors: wide ones cost more than they save.
  const std::size_t n = kernel.n;
  if (n <= 2) return run_with<2, 2>(kernel);
  if (n <= 4 || (n > 8 && n <= 12)) return run_with<4, 12>(kernel);
  run_with<8, SIZE_MAX>(kernel);
}

void advance_row_any(Potential potential,
                     std::size_t n,
                     const RowStep& step,
                     const double* means,
                     double* losses,
                     double* policy) {
  run(AdvanceRow{potential, n, step, means, losses, policy});
}

void advance_losses_any(std::size_t n,
                        std::span<const RowStep> steps,
                        const double* means,
                        double* losses) {
  run(AdvanceLosses{n, steps, means, losses});
}

}  // namespace
}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "vlearn/core/assert.h"

namespace vlearn {

HWY_EXPORT(advance_row_any);
HWY_EXPORT(advance_losses_any);

void advance_row(Potential potential,
                 std::size_t num_actions,
                 const RowStep& step,
                 const double* means,
                 double* losses,
                 double* policy) noexcept {
  VLEARN_ASSERT(num_actions > 0 && step.action < num_actions);
#if (HWY_TARGETS & (HWY_TARGETS - 1)) != 0
  // HWY_DYNAMIC_DISPATCH, without a call into Highway's library to find where the choice is kept.
  static const hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  const auto advance_row = HWY_DISPATCH_TABLE(advance_row_any)[chosen.GetIndex()];
  advance_row(potential, num_actions, step, means, losses, policy);
#else
  HWY_STATIC_DISPATCH(advance_row_any)(potential, num_actions, step, means, losses, policy);
#endif
}

void advance_losses(std::size_t num_actions,
                    std::span<const RowStep> steps,
                    const double* means,
                    double* losses) noexcept {
  VLEARN_ASSERT(num_actions > 0);
  HWY_DYNAMIC_DISPATCH(advance_losses_any)(num_actions, steps, means, losses);
}

}  // namespace vlearn

#endif  // HWY_ONCE
