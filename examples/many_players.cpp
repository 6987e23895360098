// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A game of one's own with thirty players, written as a function: learned, and certified by
// sampling. Its 3^30 joint actions cannot be enumerated, so the gap is bounded with a confidence.
#include <algorithm>
#include <array>
#include <cstdio>

#include "vlearn/vlearn.h"

namespace {

constexpr std::size_t kPlayers = 30;
constexpr std::size_t kRoads = 3;

/// Drivers choose roads, three times. A road pays less the more are on it, most of all the one with
/// road works, which is the state; works go where the most traffic was, on average.
void drive(vlearn::Step h,
           vlearn::State works,
           std::span<const vlearn::Action> joint,
           vlearn::Outcome& outcome) {
  std::array<double, kRoads> share{};
  for (const vlearn::Action road : joint) share[road.index()] += 1.0 / kPlayers;
  for (std::size_t j = 0; j < kPlayers; ++j) {
    const std::size_t road = joint[j].index();
    outcome.rewards[j] = 1.0 - share[road] * (road == works.index() ? 1.0 : 0.5);
  }
  if (h == vlearn::Step(2)) return;
  for (std::size_t road = 0; road < kRoads; ++road) {
    outcome.successors.emplace_back(vlearn::State(road), share[road]);
  }
}

}  // namespace

int main() {
  const vlearn::CallbackGame game(
      vlearn::Frame({.num_players = kPlayers,
                     .horizon = 3,
                     .num_states = {kRoads},
                     .num_actions = std::vector<std::uint32_t>(kPlayers, kRoads)}),
      "road works", drive);
  const vlearn::LearnConfig config =
      vlearn::markov_config(game.frame(), vlearn::Preset::fast, vlearn::Target::cce, 10'000, 1);
  const vlearn::KeptRun run = vlearn::learn_kept(vlearn::GameRef(game), config);
  const vlearn::Certificate certificate = vlearn::certify_sampled(
      vlearn::GameRef(game), run.files, {.samples = 4000, .confidence = 0.99, .seed = 7});
  double estimate = -1.0;
  for (const vlearn::PlayerCertificate& player : certificate.players) {
    estimate = std::max(estimate, *player.deviation_estimate - *player.value_estimate);
  }
  std::printf("with confidence %g no player gains more than %.4f per episode by deviating\n",
              certificate.method->confidence, certificate.gap_upper);
  std::printf("of the deviations that looked best, the best gains some %.4f\n", estimate);
  return certificate.gap_upper < 0.3 ? 0 : 1;
}
