// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The weights with which V-learning averages its past, and the exact draw of a past visit that two
// players make alike from a shared seed.
#include <cstdio>

#include "vlearn/vlearn.h"

int main() {
  const vlearn::AlphaWeights alpha(10);  // the paper's weights for a horizon of 10
  for (const std::uint64_t i : {1U, 50U, 90U, 100U}) {
    std::printf("weight of visit %3llu of 100: %.6f\n", static_cast<unsigned long long>(i),
                alpha.weight(100, i));
  }
  // Each player makes the same draw on its own machine: no message is needed.
  const vlearn::StreamKey key{.seed = 7, .purpose = vlearn::Purpose::index};
  vlearn::Draws of_player_1(key);
  vlearn::Draws of_player_2(key);
  const std::uint64_t visit_1 = alpha.sample(100, of_player_1);
  const std::uint64_t visit_2 = alpha.sample(100, of_player_2);
  std::printf("both replay visit %llu\n", static_cast<unsigned long long>(visit_1));
  return visit_1 == visit_2 ? 0 : 1;
}
