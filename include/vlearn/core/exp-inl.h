// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The project's one exponential, written once for every vector width (Highway). Trajectories of a
// learner are chaotic: one ulp changes the sampled actions after some thousand visits, so no libm
// is trusted with it.
//
//   x = k ln2 + r + c, |r| <= ln2/2, c the rounding error of r
//   exp(x) = 2^k (1 + (r + (r^2 P(r) + c))),  P of degree 9
//
// * Only +, -, *, bit moves and comparisons, in the order written: no fma, because not every
//   target fuses; every IEEE machine gives the same bits (compile with -ffp-contract=off).
// * Error below 1 ulp: of a result in [1/2, 1), where an ulp is 2^-53, the last sum rounds by 1/2,
//   the one before by at most 1/4, r^2 P(r) by 3/16, and P is right to 2^-57.8 (0.04):
//   .5 + .25 + .19 + .04 < 1.
// * Monotone for one k, because every rounded operation is monotone in itself (u = 2^-57):
//   - r >= 0, k = 0 or r in steps of 2^-54 (k = -1): all coefficients are positive, so every
//     operation is nondecreasing in r, and c is constant within a binade of r. At the one
//     crossing, r = 1/4, the step is 10 u against an error of at most 5.6 u.
//   - r < 0 in steps of 2^-54 = 8 u (k = 1, x < 1/2; k = 0, r < -1/4): in one step r^2 falls by at
//     most 2.8 u after the product with P, P by at most two of its ulps (1.9 u); the product and
//     the sum with c lose at most 1 u each. 6.7 u < 8 u.
//   - k = 0, -1/4 < r < 0: the spacing falls like r, the loss like r^2.
//   - All others: steps of at least 16 u against twice the largest error (2.96 u for r < 0, 5.45 u
//     for r > 0).
//   Where k changes tests look at every boundary.
// * exp(-inf) = 0, exp(inf) = inf, exp(NaN) = NaN; subnormal results are rounded once.
//
// tools/exp_coefficients.py derives the constants.

// Highway's per-target include guard: this header is compiled once for each instruction set.
#if defined(VLEARN_CORE_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VLEARN_CORE_EXP_INL_H_
#undef VLEARN_CORE_EXP_INL_H_
#else
#define VLEARN_CORE_EXP_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {

/// 2^k for integer-valued k in [-1022, 1023]: adding 1.5 * 2^52 + 1023 leaves the biased exponent
/// in the lowest bits.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V power_of_two(D d, V k) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, hn::Add(k, hn::Set(d, 0x1.8p52 + 1023.0)));
  return hn::BitCast(d, hn::ShiftLeft<52>(bits));
}

/// For x in [-746, 710]: exp(x) = 2^k sum, with k an integer.
template <class V>
struct ExpParts {
  V k;
  V sum;
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE ExpParts<V> exp_parts(D d, V bounded) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto add = [](V a, V b) HWY_ATTR { return hn::Add(a, b); };
  const auto sub = [](V a, V b) HWY_ATTR { return hn::Sub(a, b); };
  const auto mul = [](V a, V b) HWY_ATTR { return hn::Mul(a, b); };
  const auto constant = [d](double value) HWY_ATTR { return hn::Set(d, value); };
  // Adding and taking away 1.5 * 2^52 rounds to the nearest integer.
  const V to_integer = constant(0x1.8p52);

  const V k = sub(add(mul(bounded, constant(0x1.71547652b82fep+0)), to_integer), to_integer);
  // r_high is exact; r + c is x - k ln2 to twice the precision.
  const V r_high = sub(bounded, mul(k, constant(0x1.62e42feep-1)));
  const V r_low = mul(k, constant(0x1.a39ef35793c76p-33));
  const V r = sub(r_high, r_low);
  const V c = sub(sub(r_high, r), r_low);

  // P(r) by Estrin's scheme: short chains instead of one long one.
  const V r2 = mul(r, r);
  const V r4 = mul(r2, r2);
  const V p01 = add(constant(0x1.000000000000cp-1), mul(constant(0x1.555555555555cp-3), r));
  const V p23 = add(constant(0x1.555555554fe23p-5), mul(constant(0x1.111111110eabfp-7), r));
  const V p45 = add(constant(0x1.6c16c18601fbap-10), mul(constant(0x1.a01a01b40924ap-13), r));
  const V p67 = add(constant(0x1.a01995c69b213p-16), mul(constant(0x1.71ddeeed0ebb1p-19), r));
  const V p89 = add(constant(0x1.28b0ece3c8a52p-22), mul(constant(0x1.af6dcb9301b44p-26), r));
  const V p03 = add(p01, mul(p23, r2));
  const V p47 = add(p45, mul(p67, r2));
  const V p49 = add(p47, mul(p89, r4));
  const V p = add(p03, mul(p49, r4));
  return {k, add(constant(1.0), add(r, add(mul(r2, p), c)))};
}

/// exp of each lane.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_lanes(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Beyond these bounds the result is 0 or infinity anyway.
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, -746.0)), hn::Set(d, 710.0));
  const ExpParts<V> parts = exp_parts(d, bounded);
  // 2^k in two halves: neither leaves the normal range, so only the last product rounds.
  const V to_integer = hn::Set(d, 0x1.8p52);
  const V k1 = hn::Sub(hn::Add(hn::Mul(parts.k, hn::Set(d, 0.5)), to_integer), to_integer);
  const V k2 = hn::Sub(parts.k, k1);
  const V scaled = hn::Mul(hn::Mul(parts.sum, power_of_two(d, k1)), power_of_two(d, k2));
  return hn::IfThenElse(hn::Eq(x, x), scaled, x);
}

/// exp(min(max(x, -708), 708)) of each lane: the same bits as exp_lanes in that range, cheaper.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exp_bounded_lanes(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, -708.0)), hn::Set(d, 708.0));
  const ExpParts<V> parts = exp_parts(d, bounded);
  return hn::Mul(parts.sum, power_of_two(d, parts.k));
}

}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VLEARN_CORE_EXP_INL_H_
