// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulator must say which state players observe.
// expect: state_key
#include "vlearn/game/discovered.h"

struct Simulator {
  std::size_t num_players() const { return 1; }
  std::size_t horizon() const { return 1; }
  std::uint32_t max_actions(vlearn::Player) const { return 1; }
  std::uint32_t num_actions(vlearn::Player) const { return 1; }
  vlearn::RewardRange reward_range(vlearn::Player) const { return {}; }
#ifndef VLEARN_MISUSE
  std::string state_key() const { return "here"; }
#endif
  void reset(vlearn::Draws&) {}
  bool step(std::span<const vlearn::Action>, vlearn::Draws&, std::span<double>) { return true; }
};

using Game = vlearn::DiscoveredGame<Simulator>;
Game make() { return Game(Simulator(), 2); }
