// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games of random sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "vlearn/core/random.h"
#include "vlearn/game/tabular.h"

namespace vlearn::test {

/// From the least to the most, all equally likely.
struct Sizes {
  std::uint64_t least;
  std::uint64_t most;
  std::uint64_t draw(Draws& draws) const { return draws.below(most - least + 1) + least; }
};
struct RandomSizes {
  Sizes players = {1, 3};
  Sizes horizon = {1, 4};
  Sizes states = {2, 4};
  Sizes actions = {1, 3};
  bool zero_sum = false;
  RewardNoise noise = RewardNoise::none;
};

/// Every second game begins in a random state, every third has numbers of actions that differ from
/// state to state.
inline DenseGame random_game(std::uint64_t seed, const RandomSizes& sizes = {}) {
  Draws draws({.seed = seed, .purpose = Purpose::test});
  FrameOptions options;
  options.num_players = sizes.players.draw(draws);
  options.horizon = sizes.horizon.draw(draws);
  options.stationary = false;
  options.zero_sum = sizes.zero_sum;
  options.noise = sizes.noise;
  std::size_t cells = 0;
  for (std::size_t h = 0; h < options.horizon; ++h) {
    options.num_states.push_back(static_cast<std::uint32_t>(sizes.states.draw(draws)));
    cells += options.num_states.back();
  }
  const std::size_t tables = seed % 3 == 0 ? cells : 1;
  for (std::size_t i = 0; i < tables * options.num_players; ++i) {
    options.num_actions.push_back(static_cast<std::uint32_t>(sizes.actions.draw(draws)));
  }
  const auto distribution = [&](std::size_t size) {
    std::vector<double> row(size);
    for (double& p : row) p = draws.uniform();
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& p : row) p /= sum;
    return row;
  };
  if (seed % 2 == 0) options.initial = distribution(options.num_states.front());
  const Frame frame(options);
  const JointIndex joints(frame);
  const std::vector<std::uint32_t> width = frame.next_states();
  std::vector<double> rewards;
  std::vector<double> probabilities;
  const std::size_t paid = sizes.zero_sum ? 1 : frame.num_players();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    for (std::size_t i = 0; i < paid * joints.count(cell); ++i) {
      rewards.push_back(draws.uniform());
    }
    for (std::size_t a = 0; width[cell] > 0 && a < joints.count(cell); ++a) {
      const std::vector<double> row = distribution(width[cell]);
      probabilities.insert(probabilities.end(), row.begin(), row.end());
    }
  }
  return {frame, std::move(rewards), std::move(probabilities)};
}

}  // namespace vlearn::test
