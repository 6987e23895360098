// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <vlearn/vlearn.h>

#include <array>
#include <cstdio>

int main() {
  const vlearn::AlphaWeights weights(10);
  vlearn::Draws draws({.seed = 1, .purpose = vlearn::Purpose::index});
  std::array<double, 3> policy{};
  vlearn::softmax(std::array<double, 3>{0.0, 0.0, 0.0}, policy);
  std::printf("version %s, index %llu of 100, policy %.17g\n",
              std::string(vlearn::build_info().version).c_str(),
              static_cast<unsigned long long>(weights.sample(100, draws)), policy[1]);
  return 0;
}
