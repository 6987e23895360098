// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the signature of learning, once per vector width of this machine.
#include "vlearn/run/signature.h"

#include <cstdio>
#include <string>

#include "vlearn/core/simd.h"

int main() {
  for (const std::string& target : vlearn::simd_targets()) {
    vlearn::use_simd_target(target);
    std::printf("%s %016llx\n", target.c_str(),
                static_cast<unsigned long long>(vlearn::learning_signature()));
  }
  return 0;
}
