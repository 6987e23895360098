// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Include this before Highway: it names the instruction sets that are left out.
//
// - Vectors whose size the compiler does not know (SVE, RVV) cannot be kept in arrays, as sums and
//   rows are here.
// - AVX3_DL (Ice Lake and later) adds nothing that the kernels use. Highway 1.0.3 makes it the
//   baseline under -march=sapphirerapids, but does not generate code for it, and stops the build.
// - SSSE3 without SSE4 is found only on processors of before 2008. They run the scalar code.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_AVX3_DL | HWY_SSSE3)
#endif
