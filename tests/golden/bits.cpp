// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the hash of everything numerical with the recorded one, for every vector width of this
// machine. Built by test_same_bits.py with compilers and optimisation levels that no preset has.
#include <cstdio>
#include <string>

#include "support/numeric_bits.h"
#include "vlearn/core/simd.h"

int main() {
  int wrong = 0;
  for (const std::string& target : vlearn::simd_targets()) {
    vlearn::use_simd_target(target);
    const std::uint64_t bits = vlearn::hash_of_everything();
    if (bits == vlearn::kRecordedBits) continue;
    std::printf("%s: %016llx\n", target.c_str(), static_cast<unsigned long long>(bits));
    ++wrong;
  }
  return wrong;
}
