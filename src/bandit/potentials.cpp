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
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>

#include "vlearn/bandit/potentials.h"

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The search for the root, for one row in a double, or for a row in each lane of a vector.

HWY_INLINE double square_root(double x) { return std::sqrt(x); }
HWY_INLINE double times(double factor, double x) { return factor * x; }
template <class V>
HWY_INLINE V square_root(V x) {
  return hn::Sqrt(x);
}
template <class V>
HWY_INLINE V times(double factor, V x) {
  return hn::Mul(hn::Set(hn::DFromV<V>(), factor), x);
}

/// Sums over the actions of u^p, u^(p+1) and u^(p+2).
template <class Number>
struct PowerSums {
  Number policy;
  Number slope;
  Number bend;
};

/// sum^(1 + 1/p) - sum: 0 at the root.
template <int kPower, class Number>
HWY_INLINE Number excess(Number sum) {
  return sum * (kPower == 2 ? square_root(sum) : sum) - sum;
}
template <int kPower, class Number>
HWY_INLINE Number newton_step(const PowerSums<Number>& sums) {
  return excess<kPower>(sums.policy) / sums.slope;
}
template <int kPower, class Number>
HWY_INLINE Number halley_step(const PowerSums<Number>& sums) {
  const Number over = excess<kPower>(sums.policy);
  const Number square = sums.slope * sums.slope;
  const Number bent = times(0.5 * (kPower + 1.0), square / sums.policy - sums.bend);
  return over * sums.slope / (square + bent * over);
}

/// How many steps lead to the root up to rounding, whatever the losses are: measured for all shapes
/// of rows that potentials_test.cpp has.
struct RootSteps {
  int newton;
  int halley;
};
template <int kPower>
HWY_INLINE RootSteps root_steps(std::size_t n) {
  if (kPower == 2) {
    if (n <= 4) return {1, 1};
    return n <= 64 ? RootSteps{1, 2} : RootSteps{6, 2};
  }
  if (n <= 8) return {1, 2};
  return n <= 64 ? RootSteps{3, 2} : RootSteps{8, 2};
}

/// The y where sums_at(y).policy is one, nearly; `y` is one.
template <int kPower, class Number, class SumsAt>
HWY_INLINE Number find_root(std::size_t n, Number y, const SumsAt& sums_at) {
  const RootSteps steps = root_steps<kPower>(n);
  for (int i = 0; i < steps.newton; ++i) y = y + newton_step<kPower>(sums_at(y));
  for (int i = 0; i < steps.halley; ++i) y = y + halley_step<kPower>(sums_at(y));
  return y;
}

/// Lane c of vector r to lane r of vector c, of two or four vectors.
template <class D, std::size_t kLanes>
HWY_INLINE void transpose(D d, std::array<hn::Vec<D>, kLanes>& v) {
  // Unqualified: the scalar target has none of these, and never comes here.
  const auto lower = InterleaveLower(d, v[0], v[1]);
  const auto upper = InterleaveUpper(d, v[0], v[1]);
  if constexpr (kLanes == 2) {
    v = {lower, upper};
  } else {
    const auto next_lower = InterleaveLower(d, v[2], v[3]);
    const auto next_upper = InterleaveUpper(d, v[2], v[3]);
    v = {ConcatLowerLower(d, next_lower, lower), ConcatLowerLower(d, next_upper, upper),
         ConcatUpperUpper(d, next_lower, lower), ConcatUpperUpper(d, next_upper, upper)};
  }
}

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

  /// G - min G; returns min G.
  HWY_INLINE double lower_to_least() {
    fill_rest(kInfinity);
    const double least = fold(Smaller());
    for (Vector& v : v_) v = hn::Sub(v, hn::Set(Tag(), least));
    return least;
  }

  HWY_INLINE void exp_and_divide() {
    for (Vector& v : v_) v = exp_bounded_lanes(Tag(), v);
    fill_rest(0.0);
    multiply(1.0 / fold(Plus()));
  }

  /// From z to theta = u^kPower; `slope` gets theta u. Lanes beyond the last number have an
  /// infinite z.
  template <int kPower>
  HWY_INLINE PowerSums<double> invert(double y, Row& theta, Row& slope) const {
    const Tag d;
    Row bend(*this);
    for (std::size_t k = 0; k < kCount; ++k) {
      const Vector u = hn::Div(hn::Set(d, 1.0), hn::Add(v_[k], hn::Set(d, y)));
      theta.v_[k] = kPower == 2 ? hn::Mul(u, u) : u;
      slope.v_[k] = hn::Mul(theta.v_[k], u);
      bend.v_[k] = hn::Mul(slope.v_[k], u);
    }
    return {theta.fold(Plus()), slope.fold(Plus()), bend.fold(Plus())};
  }

  /// The vector of each action, with a row in each lane; and back.
  using Columns = std::array<Vector, kCount * kLanes>;
  HWY_INLINE static void to_columns(const std::array<Row, kLanes>& rows, Columns& columns) {
    for (std::size_t k = 0; k < kCount; ++k) {
      std::array<Vector, kLanes> block;
      for (std::size_t r = 0; r < kLanes; ++r) block[r] = rows[r].v_[k];
      transpose(Tag(), block);
      for (std::size_t r = 0; r < kLanes; ++r) columns[k * kLanes + r] = block[r];
    }
  }
  HWY_INLINE static void to_rows(const Columns& columns, std::array<Row, kLanes>& rows) {
    for (std::size_t k = 0; k < kCount; ++k) {
      std::array<Vector, kLanes> block;
      for (std::size_t r = 0; r < kLanes; ++r) block[r] = columns[k * kLanes + r];
      transpose(Tag(), block);
      for (std::size_t r = 0; r < kLanes; ++r) rows[r].v_[k] = block[r];
    }
  }

  HWY_INLINE void subtract(double factor, const Row& other) {
    for (std::size_t k = 0; k < kCount; ++k) {
      v_[k] = hn::Sub(v_[k], hn::Mul(hn::Set(Tag(), factor), other.v_[k]));
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

/// Value(0) + ... + value(n - 1).
template <class Value>
double fold_long(std::size_t n, const Value& value) {
  std::array<double, 8> sums{};
  for (std::size_t b = 0; b < n; ++b) sums[b % 8] += value(b);
  for (std::size_t half = 4; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

template <int kPower>
void invert_long(std::size_t n, double scale, const RowAdvance& row) {
  const auto theta = [](double u) { return kPower == 2 ? u * u : u; };
  const auto inverse = [&](std::size_t b, double y) { return 1.0 / (row.losses[b] * scale + y); };
  const auto sums_at = [&](double y) {
    const auto sum = [&](int more) {
      return fold_long(n, [&](std::size_t b) {
        const double u = inverse(b, y);
        double power = theta(u);
        for (int i = 0; i < more; ++i) power *= u;
        return power;
      });
    };
    return PowerSums<double>{sum(0), sum(1), sum(2)};
  };
  const double y = find_root<kPower>(n, 1.0, sums_at);
  const PowerSums<double> sums = sums_at(y);
  const double rest = (sums.policy - 1.0) / sums.slope;
  for (std::size_t b = 0; b < n; ++b) {
    const double u = inverse(b, y);
    row.policy[b] = theta(u) - rest * (theta(u) * u);
  }
  if (row.root != nullptr) *row.root = y + rest / kPower;
}

void advance_long(Potential potential, std::size_t n, const RowAdvance& row) {
  const double least = advance_long(n, row.step, row.means, row.losses);
  if (potential == Potential::entropy) {
    const hn::CappedTag<double, 1> d;
    if (row.means != nullptr) lower_long(n, least, row.losses);
    for (std::size_t b = 0; b < n; ++b) {
      const double exponent = row.losses[b] * -row.step.rate;
      row.policy[b] = hn::GetLane(exp_bounded_lanes(d, hn::Set(d, exponent)));
    }
    if (row.means == nullptr) lower_long(n, least, row.losses);
    const double factor = 1.0 / fold_long(n, [&](std::size_t b) { return row.policy[b]; });
    for (std::size_t b = 0; b < n; ++b) row.policy[b] *= factor;
    return;
  }
  lower_long(n, least, row.losses);
  if (row.shift != nullptr) *row.shift = least;
  if (potential == Potential::tsallis) return invert_long<2>(n, 0.5 * row.step.rate, row);
  invert_long<1>(n, row.step.rate, row);
}

/// From z to 1/(z + y)^kPower with sum one.
template <int kPower, class AnyRow, std::size_t kRows>
HWY_INLINE void invert_rows(std::size_t n,
                            const std::array<AnyRow, kRows>& rows,
                            const std::array<const RowAdvance*, kRows>& advances) {
  const RootSteps steps = root_steps<kPower>(n);
  std::array<double, kRows> y;
  y.fill(1.0);
  AnyRow theta(n);
  AnyRow slope(n);
  for (int i = 0; i < steps.newton; ++i) {
    for (std::size_t r = 0; r < kRows; ++r) {
      y[r] += newton_step<kPower>(rows[r].template invert<kPower>(y[r], theta, slope));
    }
  }
  for (int i = 0; i < steps.halley; ++i) {
    for (std::size_t r = 0; r < kRows; ++r) {
      y[r] += halley_step<kPower>(rows[r].template invert<kPower>(y[r], theta, slope));
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    const PowerSums<double> sums = rows[r].template invert<kPower>(y[r], theta, slope);
    const double rest = (sums.policy - 1.0) / sums.slope;
    theta.subtract(rest, slope);
    theta.store(advances[r]->policy);
    if (advances[r]->root != nullptr) *advances[r]->root = y[r] + rest / kPower;
  }
}

/// The same for as many rows as a vector has lanes, each in a lane of its own: one division or root
/// does for all of them, and no sum waits for lanes to change places.
template <class AnyRow>
HWY_INLINE void invert_columns(std::size_t n,
                               std::array<AnyRow, AnyRow::kLanes>& rows,
                               const std::array<const RowAdvance*, AnyRow::kLanes>& advances) {
  using Vector = typename AnyRow::Vector;
  const typename AnyRow::Tag d;
  typename AnyRow::Columns z;
  AnyRow::to_columns(rows, z);
  typename AnyRow::Columns theta = z;  // lanes beyond the last number are never used
  typename AnyRow::Columns slope;
  const auto fold = [n](std::array<Vector, 8>& sums) HWY_ATTR {
    for (std::size_t half = 4; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half && k + half < n; ++k)
        sums[k] = hn::Add(sums[k], sums[k + half]);
    }
    return sums[0];
  };
  const auto sums_at = [&](Vector y) HWY_ATTR {
    std::array<Vector, 8> sums;
    std::array<Vector, 8> slopes;
    std::array<Vector, 8> bends;
    for (std::size_t b = 0; b < n; ++b) {
      const Vector u = hn::Div(hn::Set(d, 1.0), hn::Add(z[b], y));
      theta[b] = hn::Mul(u, u);
      slope[b] = hn::Mul(theta[b], u);
      const Vector bend = hn::Mul(slope[b], u);
      sums[b % 8] = b < 8 ? theta[b] : hn::Add(sums[b % 8], theta[b]);
      slopes[b % 8] = b < 8 ? slope[b] : hn::Add(slopes[b % 8], slope[b]);
      bends[b % 8] = b < 8 ? bend : hn::Add(bends[b % 8], bend);
    }
    return PowerSums<Vector>{fold(sums), fold(slopes), fold(bends)};
  };
  const Vector y = find_root<2>(n, hn::Set(d, 1.0), sums_at);
  const PowerSums<Vector> sums = sums_at(y);
  const Vector rest = hn::Div(hn::Sub(sums.policy, hn::Set(d, 1.0)), sums.slope);
  for (std::size_t b = 0; b < n; ++b) theta[b] = hn::Sub(theta[b], hn::Mul(rest, slope[b]));
  AnyRow::to_rows(theta, rows);
  HWY_ALIGN std::array<double, AnyRow::kLanes> roots;
  hn::Store(hn::Add(y, times(0.5, rest)), d, roots.data());
  for (std::size_t r = 0; r < AnyRow::kLanes; ++r) {
    rows[r].store(advances[r]->policy);
    if (advances[r]->root != nullptr) *advances[r]->root = roots[r];
  }
}

/// Rows that are advanced side by side, and their policies; in columns for tsallis alone.
template <std::size_t kRows, bool kInColumns = false>
struct AdvanceRows {
  Potential potential;
  std::size_t n;
  std::array<const RowAdvance*, kRows> advances;

  template <class AnyRow>
  HWY_INLINE void in_registers() const {
    const auto make = [this](const RowAdvance* advance) HWY_ATTR {
      AnyRow row(n);
      row.load(advance->losses);
      row.advance(advance->step, advance->means);
      return row;
    };
    std::array<AnyRow, kRows> rows = std::apply(
        [&](const auto*... advance) HWY_ATTR { return std::array{make(advance)...}; }, advances);
    if (potential == Potential::entropy) {
      for (std::size_t r = 0; r < kRows; ++r) exponentiate(rows[r], *advances[r]);
      return;
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const double least = rows[r].lower_to_least();
      if (advances[r]->shift != nullptr) *advances[r]->shift = least;
      rows[r].store(advances[r]->losses);
      const double rate = advances[r]->step.rate;
      rows[r].multiply(potential == Potential::tsallis ? 0.5 * rate : rate);
      rows[r].fill_rest(kInfinity);
    }
    if constexpr (kInColumns) {
      invert_columns(n, rows, advances);
    } else {
      if (potential == Potential::tsallis) return invert_rows<2>(n, rows, advances);
      invert_rows<1>(n, rows, advances);
    }
  }
  void in_memory() const {
    for (const RowAdvance* const advance : advances) advance_long(potential, n, *advance);
  }

 private:
  template <class AnyRow>
  HWY_INLINE static void exponentiate(AnyRow& row, const RowAdvance& advance) {
    AnyRow weights(row);
    if (advance.means != nullptr) weights.lower_to_least();
    // Without means the least loss was 0 and has grown by one score at most: no need to wait for
    // the new one.
    weights.multiply(-advance.step.rate);
    weights.exp_and_divide();
    weights.store(advance.policy);
    row.lower_to_least();
    row.store(advance.losses);
  }
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

/// Of two rows no more than this many actions fit into the registers.
constexpr std::size_t kMostInPairs = 12;
template <class Kernel>
HWY_INLINE void run_together(const Kernel& kernel) {
  if (kernel.n <= 2) return run_with<2, 2>(kernel);
  run_with<4, kMostInPairs>(kernel);
}

constexpr std::size_t kColumnLanes = hn::MaxLanes(hn::CappedTag<double, 4>());
template <std::size_t kActions>
HWY_NOINLINE void in_columns(const std::array<const RowAdvance*, kColumnLanes>& rows) {
  constexpr std::size_t vectors = (kActions + kColumnLanes - 1) / kColumnLanes;
  AdvanceRows<kColumnLanes, true>{Potential::tsallis, kActions, rows}
      .template in_registers<Row<kColumnLanes, vectors>>();
}

/// A row per lane, for up to so many actions: each number of them is compiled by itself.
constexpr std::size_t kMostInColumns = 12;
template <std::size_t kActions = 2>
HWY_INLINE void run_in_columns(std::size_t n,
                               const std::array<const RowAdvance*, kColumnLanes>& rows) {
  if (n == kActions) return in_columns<kActions>(rows);
  if constexpr (kActions < kMostInColumns) run_in_columns<kActions + 1>(n, rows);
}

void advance_row_any(Potential potential, std::size_t n, const RowAdvance& row) {
  run(AdvanceRows<1>{potential, n, {&row}});
}

void advance_rows_any(Potential potential, std::size_t n, std::span<const RowAdvance> rows) {
  std::size_t r = 0;
  if constexpr (kColumnLanes > 1) {
    if (potential == Potential::tsallis && n > 1 && n <= kMostInColumns) {
      for (; r + kColumnLanes <= rows.size(); r += kColumnLanes) {
        std::array<const RowAdvance*, kColumnLanes> group;
        for (std::size_t k = 0; k < kColumnLanes; ++k) group[k] = &rows[r + k];
        run_in_columns(n, group);
      }
    }
  }
  if (n <= kMostInPairs) {
    for (; r + 2 <= rows.size(); r += 2) {
      run_together(AdvanceRows<2>{potential, n, {&rows[r], &rows[r + 1]}});
    }
  }
  for (; r < rows.size(); ++r) advance_row_any(potential, n, rows[r]);
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
HWY_EXPORT(advance_rows_any);
HWY_EXPORT(advance_losses_any);

// HWY_DYNAMIC_DISPATCH, without a call into Highway's library to find where the choice is kept.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) != 0
static std::size_t chosen_target() noexcept {
  static const hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  return chosen.GetIndex();
}
#define VLEARN_DISPATCH(function) HWY_DISPATCH_TABLE(function)[chosen_target()]
#else
#define VLEARN_DISPATCH(function) HWY_STATIC_DISPATCH(function)
#endif

void advance_rows(Potential potential,
                  std::size_t num_actions,
                  std::span<const RowAdvance> rows) noexcept {
  VLEARN_ASSERT(num_actions > 0);
  for ([[maybe_unused]] const RowAdvance& row : rows) VLEARN_ASSERT(row.step.action < num_actions);
  // Most rules have one row, and have no time to lose.
  if (rows.size() == 1) return VLEARN_DISPATCH(advance_row_any)(potential, num_actions, rows[0]);
  VLEARN_DISPATCH(advance_rows_any)(potential, num_actions, rows);
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
