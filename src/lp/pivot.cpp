// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Nearly all the time of the kernel is spent here; compiled once per instruction set.

#include "vlearn/core/simd-targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pivot.cpp"
#include <hwy/foreach_target.h>  // first: it includes this file again for each target
#include <hwy/highway.h>
//
#include <cstddef>

#include "kernel.h"

HWY_BEFORE_NAMESPACE();
namespace vlearn::lp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void pivot_any(double* cells, std::size_t stride, std::size_t rows, std::size_t r, std::size_t s) {
  const hn::CappedTag<double, 8> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);  // divides the stride
  double* const pivot_row = cells + r * stride;
  const auto inverse = hn::Set(d, 1.0 / pivot_row[s]);
  pivot_row[s] = 1.0;
  for (std::size_t j = 0; j < stride; j += lanes) {
    hn::Store(hn::Mul(hn::Load(d, pivot_row + j), inverse), d, pivot_row + j);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    double* const row = cells + i * stride;
    const double factor = row[s];
    // Rows of correlated equilibria are mostly zeros.
    if (i == r || factor == 0.0) continue;
    row[s] = 0.0;
    const auto factors = hn::Set(d, factor);
    for (std::size_t j = 0; j < stride; j += lanes) {
      const auto product = hn::Mul(factors, hn::Load(d, pivot_row + j));
      hn::Store(hn::Sub(hn::Load(d, row + j), product), d, row + j);
    }
  }
}

}  // namespace
}  // namespace vlearn::lp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vlearn::lp {

HWY_EXPORT(pivot_any);

void pivot(double* cells, std::size_t stride, std::size_t rows, std::size_t r, std::size_t s) {
  HWY_DYNAMIC_DISPATCH(pivot_any)(cells, stride, rows, r, s);
}

}  // namespace vlearn::lp
#endif  // HWY_ONCE
