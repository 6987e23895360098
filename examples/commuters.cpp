// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Thirty commuters, three roads, three mornings: a congestion game of one's own, learned by
// independent players until its equilibrium is certified, exactly, to a gap of one minute. There
// are 3^30 joint actions; nothing here has an entry for each.
#include <algorithm>
#include <cstdio>

#include "vlearn/vlearn.h"

namespace {

constexpr std::size_t kCommuters = 30;
constexpr std::size_t kRoads = 3;
constexpr std::size_t kWeathers = 2;  // dry, wet

/// Minutes saved, out of sixty, on a road with so many cars.
double saved(std::size_t weather, std::size_t road, std::size_t cars) {
  constexpr double empty[kRoads] = {20.0, 25.0, 35.0};  // minutes without traffic
  constexpr double lanes[kRoads] = {1.0, 2.0, 4.0};
  const double slowness = weather == 0 ? 1.0 : 1.5;
  const double queue = slowness * static_cast<double>(cars) / lanes[road];
  return 60.0 - empty[road] - std::min(queue, 25.0);
}

vlearn::CongestionGame commute() {
  vlearn::CongestionOptions options{.num_routes = kRoads};
  for (std::size_t weather = 0; weather < kWeathers; ++weather) {
    for (std::size_t road = 0; road < kRoads; ++road) {
      for (std::size_t cars = 1; cars <= kCommuters; ++cars) {
        options.rewards.push_back(saved(weather, road, cars));
      }
      // Tomorrow is mostly like today, whatever people do.
      const double dry = weather == 0 ? 0.8 : 0.3;
      options.transitions.insert(options.transitions.end(), {dry, 1.0 - dry});
    }
  }
  return {vlearn::Frame({.num_players = kCommuters,
                         .horizon = 3,
                         .num_states = {kWeathers},
                         .num_actions = std::vector<std::uint32_t>(kCommuters, kRoads),
                         .ranges = {{0.0, 60.0}}}),
          options};
}

}  // namespace

int main() {
  const vlearn::AnyGame game = commute();
  const vlearn::LearnConfig config =
      vlearn::preset_config(game, vlearn::Preset::fast, vlearn::Target::cce, 100'000, 1);
  double gap = 0.0;
  vlearn::follow_gap(game, config, vlearn::next_row_episode, [&](const vlearn::GapPoint& point) {
    gap = point.gap;
    if (point.episodes % 1000 == 0) {
      std::printf("%6llu episodes: nobody can save more than %.2f minutes by deviating\n",
                  static_cast<unsigned long long>(point.episodes), gap);
    }
    return gap > 1.0 && point.episodes < 100'000;
  });
  std::printf("certified: %.2f minutes\n", gap);
  return gap <= 1.0 ? 0 : 1;
}
