// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The example of the README: a game that no table could hold, and the draw of a past visit.
#include <cstdio>

#include "vlearn/vlearn.h"

int main() {
  // A hundred players on ten routes: 10^100 joint actions, exact values in milliseconds.
  const auto game = std::get<vlearn::CongestionGame>(vlearn::make_game("congestion-100"));
  std::printf("uniform play is worth %.6f\n", vlearn::uniform_value(game)[0]);

  // How much V-learning's average counts visit 90 of 100, and a visit drawn with these weights:
  // everyone who has the seed draws the same one.
  const vlearn::AlphaWeights alpha(game.frame().horizon());
  vlearn::Draws draws({.seed = 7, .purpose = vlearn::Purpose::index});
  const auto visit = static_cast<unsigned long long>(alpha.sample(100, draws));
  std::printf("weight %.6f, visit %llu\n", alpha.weight(100, 90), visit);
  return 0;
}
