// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// First of all in a source that is compiled once per instruction set: the sets that are left out.
// Vectors without a size known to the compiler cannot be kept in arrays, as sums and rows are here.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
