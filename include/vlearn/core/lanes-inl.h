// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays that do not fill their last vector, and vectors folded to one number in the order of
// simplex.h; for every vector width (Highway).

// Highway's per-target include guard: this header is compiled once for each instruction set.
#if defined(VLEARN_CORE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VLEARN_CORE_LANES_INL_H_
#undef VLEARN_CORE_LANES_INL_H_
#else
#define VLEARN_CORE_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {

/// The vector with `other` in all lanes but the first `count`.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V keep_first(D d, V vector, std::size_t count, double other) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (count == hn::MaxLanes(d)) return vector;
  return hn::IfThenElse(hn::FirstN(d, count), vector, hn::Set(d, other));
}

/// The first `count` values, one at least; other lanes are unspecified. Reads no further.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V load_first(D d, const double* values, std::size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (count == hn::MaxLanes(d)) return hn::LoadU(d, values);
  // On narrow targets Highway's masked load reads a whole vector; there count is 1 here.
  if constexpr (hn::MaxLanes(d) <= 2) return hn::Set(d, values[0]);
  return hn::MaskedLoad(hn::FirstN(d, count), d, values);
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE void store_first(D d, V vector, std::size_t count, double* values) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  if (count == lanes) return hn::StoreU(vector, d, values);
  if constexpr (lanes == 8) {
    hn::BlendedStore(vector, hn::FirstN(d, count), d, values);
  } else {
    // AVX2's masked store is slow on some machines; there are three lanes to store at most.
    alignas(32) std::array<double, lanes> stored;
    hn::Store(vector, d, stored.data());
    for (std::size_t lane = 0; lane < lanes && lane < count; ++lane) values[lane] = stored[lane];
  }
}

struct Plus {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hwy::HWY_NAMESPACE::Add(a, b);
  }
};
struct Larger {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hwy::HWY_NAMESPACE::Max(a, b);
  }
};
struct Smaller {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hwy::HWY_NAMESPACE::Min(a, b);
  }
};

/// Lane l takes lane l + n/2, until one is left.
template <class Op, class D>
HWY_INLINE double fold_lanes(const Op& op, D d, hwy::HWY_NAMESPACE::Vec<D> vector) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(vector);
  } else {
    const hn::Half<D> half;
    // Unqualified: the scalar target has no UpperHalf, and never comes here.
    return fold_lanes(op, half, op(LowerHalf(half, vector), UpperHalf(half, vector)));
  }
}

}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // VLEARN_CORE_LANES_INL_H_
