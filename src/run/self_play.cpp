// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/self_play.h"

namespace vlearn {

Seat seat_of(const Frame& frame, Player player) {
  Seat seat;
  seat.horizon = frame.horizon();
  seat.num_players = frame.num_players();
  seat.max_states = frame.max_states();
  seat.max_actions = frame.max_actions();
  seat.first_cell.push_back(0);
  for (const Step h : all<Step>(frame.horizon())) {
    seat.first_cell.push_back(seat.first_cell.back() + frame.num_states(h));
    for (const State s : all<State>(frame.num_states(h))) {
      seat.num_actions.push_back(static_cast<std::uint32_t>(frame.num_actions(player, h, s)));
    }
  }
  return seat;
}

Error detail::misfit(const ContainerArrays& arrays, const char* array, const char* problem) {
  return arrays.header().error(array, problem, "the checkpoint is damaged or of another run");
}

std::vector<StreamKey> detail::episode_keys(std::size_t num_players, std::size_t horizon) {
  std::vector<StreamKey> keys;
  for (const Step h : all<Step>(horizon)) {
    keys.push_back({.purpose = Purpose::transition, .step = h});
    for (const Player player : all<Player>(num_players)) {
      keys.push_back({.purpose = Purpose::action, .player = player, .step = h});
    }
  }
  return keys;
}

}  // namespace vlearn
