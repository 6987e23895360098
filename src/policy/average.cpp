// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/average.h"

#include <fmt/format.h>

#include <algorithm>

#include "vlearn/core/assert.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/walk.h"

namespace vlearn {

CellAverage average_of(const PolicyFile& file,
                       std::size_t cell,
                       std::uint64_t n,
                       ReplayMemory& memory) {
  const std::size_t num_actions = file.header().seat.num_actions[cell];
  const OutputWeights weights = file.header().markov_weights();
  PolicyWalk walk(file, cell, memory);
  const std::span<const double> fresh = walk.policy();
  CellAverage average{n, {fresh.begin(), fresh.end()}, {}, {fresh.begin(), fresh.end()}};
  if (n == 0) return average;
  average.played.assign(num_actions, 0.0);
  // Policies sum to one, and so must their average after any number of visits.
  std::vector<double> lost(num_actions, 0.0);
  for (;; walk.next()) {
    VLEARN_ASSERT(walk.logged());
    // The first weight is 1: what was there before does not matter.
    const double rate = weights.rate(n, walk.visit());
    const std::span<const double> policy = walk.policy();
    for (std::size_t b = 0; b < num_actions; ++b) {
      move_compensated(average.averaged[b], lost[b], rate, policy[b]);
      average.played[b] -= rate * average.played[b];
    }
    average.played[walk.action().index()] += rate;
    if (walk.visit() == n) break;
  }
  average.last.assign(walk.policy().begin(), walk.policy().end());
  return average;
}

AverageTable table_of(std::span<const PolicyFile> files,
                      std::uint64_t episodes,
                      const ParallelOptions& options) {
  const Seat& seat = files.front().header().seat;
  std::size_t num_actions = 0;
  for (const PolicyFile& file : files) {
    const Seat& other = file.header().seat;
    if (other.first_cell != seat.first_cell || file.episodes() != files.front().episodes()) {
      throw Error(ErrorKind::input, file.source(),
                  "has other steps, states or episodes than " + files.front().source());
    }
    num_actions = std::max(num_actions, other.max_actions);
  }
  const std::size_t places = seat.horizon * seat.max_states;
  std::vector<std::size_t> place_of;  // of each cell
  for (std::size_t h = 0; h < seat.horizon; ++h) {
    for (std::size_t i = seat.first_cell[h]; i < seat.first_cell[h + 1]; ++i) {
      place_of.push_back(h * seat.max_states + (i - seat.first_cell[h]));
    }
  }
  AverageTable table;
  table.shape = {files.size(), seat.horizon, seat.max_states, num_actions};
  table.visits.resize(places);
  table.averaged.resize(files.size() * places * num_actions);
  table.last.resize(table.averaged.size());
  parallel_for(files.size() * seat.num_cells(), options, [&](std::size_t i) {
    const std::size_t player = i / seat.num_cells();
    const std::size_t cell = i % seat.num_cells();
    const std::uint64_t n = files[player].visits_before(cell, episodes);
    if (player == 0) table.visits[place_of[cell]] = n;
    ReplayMemory memory;
    const CellAverage average = average_of(files[player], cell, n, memory);
    const std::size_t at = (player * places + place_of[cell]) * num_actions;
    std::copy(average.averaged.begin(), average.averaged.end(), table.averaged.data() + at);
    std::copy(average.last.begin(), average.last.end(), table.last.data() + at);
  });
  return table;
}

std::uint64_t recent_visits(const OutputWeights& weights, std::uint64_t n, double share) noexcept {
  VLEARN_ASSERT(n >= 1 && share > 0.0 && share < 1.0);
  // The weight of the others, F_n(n - j), falls with j: look for the last place where it is more
  // than it may be.
  std::uint64_t too_few = 0;
  std::uint64_t enough = n;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (1.0 - weights.cdf(n, n - middle) >= share ? enough : too_few) = middle;
  }
  return enough;
}

double effective_visits(const OutputWeights& weights, std::uint64_t n) noexcept {
  VLEARN_ASSERT(n >= 1);
  double squares = 0.0;
  for (std::uint64_t i = 1; i <= n; ++i) {
    const double rate = weights.rate(n, i);
    squares = (1.0 - rate) * (1.0 - rate) * squares + rate * rate;
  }
  return 1.0 / squares;
}

}  // namespace vlearn
