// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// signature RECORDED: compares the signature of learning with the recorded one, for every vector
// width of this machine.
#include "vlearn/run/signature.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "vlearn/core/simd.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::uint64_t recorded = std::strtoull(argv[1], nullptr, 16);
  int wrong = 0;
  for (const std::string& target : vlearn::simd_targets()) {
    vlearn::use_simd_target(target);
    const std::uint64_t learned = vlearn::learning_signature();
    if (learned == recorded) continue;
    std::printf("%s: %016llx\n", target.c_str(), static_cast<unsigned long long>(learned));
    ++wrong;
  }
  return wrong;
}
