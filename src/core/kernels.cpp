// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector kernels behind exp.h and simplex.h, compiled once per instruction set, and the
// choice between them. simplex.h defines the order of every addition.

#include "vlearn/core/simd-targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include <hwy/foreach_target.h>  // first: it includes this file again for each target
#include <hwy/highway.h>

#include "vlearn/core/exp-inl.h"
#include "vlearn/core/lanes-inl.h"
//
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The eight running sums of simplex.h lie in kVectors vectors of kLanes lanes.
using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());
constexpr std::size_t kVectors = 8 / kLanes;
using Sums = std::array<Vector, kVectors>;

/// Calls body(i, count, which) for each vector of an array: `count` values from i on (kLanes, fewer
/// at the end), which belong to running sums number `which`.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t size, const Body& body) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (std::size_t v = 0; v < kVectors; ++v) body(i + v * kLanes, kLanes, v);
  }
  for (std::size_t v = 0; i < size; ++v, i += kLanes) body(i, std::min(kLanes, size - i), v);
}

template <class Op>
HWY_INLINE double fold(const Op& op, Sums sums) {
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) sums[v] = op(sums[v], sums[v + half]);
  }
  return fold_lanes(op, Tag(), sums[0]);
}

HWY_INLINE Sums all_equal(double value) {
  Sums sums;
  for (Vector& sum : sums) sum = hn::Set(Tag(), value);
  return sums;
}

/// The largest or smallest value.
template <class Op>
HWY_INLINE double extreme(const Op& op, const double* values, std::size_t size) {
  Sums found = all_equal(values[0]);
  for_each_vector(size, [&](std::size_t i, std::size_t count, std::size_t which) HWY_ATTR {
    found[which] =
        op(found[which], keep_first(Tag(), load_first(Tag(), values + i, count), count, values[0]));
  });
  return fold(op, found);
}

void exp_array(const double* in, double* out, std::size_t size) {
  for_each_vector(size, [&](std::size_t i, std::size_t count, std::size_t) HWY_ATTR {
    store_first(Tag(), exp_lanes(Tag(), load_first(Tag(), in + i, count)), count, out + i);
  });
}

double sum_array(const double* values, std::size_t size) {
  Sums sums = all_equal(0.0);
  for_each_vector(size, [&](std::size_t i, std::size_t count, std::size_t which) HWY_ATTR {
    sums[which] =
        hn::Add(sums[which], keep_first(Tag(), load_first(Tag(), values + i, count), count, 0.0));
  });
  return fold(Plus(), sums);
}

void scale_array(double* values, double factor, std::size_t size) {
  for_each_vector(size, [&](std::size_t i, std::size_t count, std::size_t) HWY_ATTR {
    const Vector scaled = hn::Mul(load_first(Tag(), values + i, count), hn::Set(Tag(), factor));
    store_first(Tag(), scaled, count, values + i);
  });
}

/// out proportional to exp(in): exp(in - max) / sum.
void softmax_array(const double* in, double* out, std::size_t size) {
  const Tag d;
  const double largest = extreme(Larger(), in, size);
  Sums sums = all_equal(0.0);
  for_each_vector(size, [&](std::size_t i, std::size_t count, std::size_t which) HWY_ATTR {
    const Vector x = hn::Sub(load_first(d, in + i, count), hn::Set(d, largest));
    const Vector weight = keep_first(d, exp_lanes(d, x), count, 0.0);
    store_first(d, weight, count, out + i);
    sums[which] = hn::Add(sums[which], weight);
  });
  scale_array(out, 1.0 / fold(Plus(), sums), size);
}

double exp_one(double x) {
  const hn::CappedTag<double, 1> d;
  return hn::GetLane(exp_lanes(d, hn::Set(d, x)));
}

}  // namespace
}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cfloat>
#include <cmath>

#include "vlearn/core/assert.h"
#include "vlearn/core/error.h"
#include "vlearn/core/exp.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/simplex.h"
#include "vlearn/core/text.h"

#ifdef __FAST_MATH__
#error "results would not be the same bits: compile without -ffast-math"
#endif
static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");

namespace vlearn {

HWY_EXPORT(exp_array);
HWY_EXPORT(sum_array);
HWY_EXPORT(scale_array);
HWY_EXPORT(softmax_array);

double exp(double x) noexcept { return HWY_STATIC_DISPATCH(exp_one)(x); }

void exp(std::span<const double> in, std::span<double> out) noexcept {
  VLEARN_ASSERT(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(exp_array)(in.data(), out.data(), in.size());
}

double fixed_sum(std::span<const double> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(sum_array)(values.data(), values.size());
}

bool normalise(std::span<double> values) noexcept {
  const double sum = fixed_sum(values);
  const double factor = 1.0 / sum;
  if (!(sum > 0.0) || !std::isfinite(sum) || !std::isfinite(factor)) return false;
  HWY_DYNAMIC_DISPATCH(scale_array)(values.data(), factor, values.size());
  return true;
}

void softmax(std::span<const double> scores, std::span<double> out) noexcept {
  VLEARN_ASSERT(!scores.empty() && scores.size() == out.size());
  HWY_DYNAMIC_DISPATCH(softmax_array)(scores.data(), out.data(), out.size());
}

namespace {

/// Bit masks of the usable targets; a lower bit is a better one. Asked once, before a choice of
/// ours narrows Highway's answer.
const std::vector<std::int64_t>& usable_targets() {
  static const std::vector<std::int64_t> masks = hwy::SupportedAndGeneratedTargets();
  return masks;
}

/// All dispatch goes to the best of these from now on; 0 is all.
void restrict_targets(std::int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::string simd_target() {
  const std::int64_t best = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(best & -best);
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t mask : usable_targets()) names.emplace_back(hwy::TargetName(mask));
  return names;
}

void use_simd_target(std::string_view name) {
  const std::vector<std::int64_t>& masks = usable_targets();
  if (name.empty()) return restrict_targets(0);
  std::string known;
  for (const std::int64_t mask : masks) {
    if (name == hwy::TargetName(mask)) return restrict_targets(mask);
    known += known.empty() ? "" : ", ";
    known += hwy::TargetName(mask);
  }
  throw Error(ErrorKind::usage, "SIMD target", "this machine has no '" + printable(name, 100) + "'",
              "choose one of " + known);
}

}  // namespace vlearn

#endif  // HWY_ONCE
