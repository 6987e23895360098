// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What people say about a game: names, where it comes from, which solutions are known. None of it
// is part of the law, and none of it is in the law's hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/id.h"
#include "vlearn/core/target.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// Whether a word can be a name: 1 to 255 bytes of UTF-8, but not "*" (all of them) and not "note"
/// (a remark, wherever names are keys).
[[nodiscard]] bool can_be_name(std::string_view word) noexcept;
inline constexpr const char* kWantName = "want 1 to 255 bytes of UTF-8, not '*' and not 'note'";

/// Names of players, states and actions. Whatever has no name is called by its number, counted from
/// one.
struct GameNames {
  /// One per player, or empty.
  std::vector<std::string> players = {};
  /// For each step its states, or one list for all steps, or empty.
  std::vector<std::vector<std::string>> states = {};
  /// Lists of actions, each kept once.
  std::vector<std::vector<std::string>> action_lists = {};
  /// Which list: for each player, or for each cell and player, or empty.
  std::vector<std::uint32_t> action_list = {};

  [[nodiscard]] std::string player(Player player) const;
  [[nodiscard]] std::string state(Step h, State s) const;
  [[nodiscard]] std::string action(
      const Frame& frame, Player player, Step h, State s, Action action) const;

  /// By name. Throws Error (usage) that suggests what was meant.
  [[nodiscard]] Player find_player(const Frame& frame, std::string_view name) const;
  [[nodiscard]] State find_state(const Frame& frame, Step h, std::string_view name) const;
  [[nodiscard]] Action find_action(
      const Frame& frame, Player player, Step h, State s, std::string_view name) const;

  /// Throws Error (input) unless there are as many names as the frame has things, and no name
  /// twice.
  void check(const Frame& frame) const;

  friend bool operator==(const GameNames&, const GameNames&) = default;
};

/// One profile of a lottery: everybody's policy at a (step, state), as PlayerRows holds them.
struct WeightedProfile {
  double weight = 1.0;
  std::vector<double> policies = {};
  friend bool operator==(const WeightedProfile&, const WeightedProfile&) = default;
};

/// A solution that somebody else vouches for.
struct KnownSolution {
  Target target = Target::nash;
  std::string source = {};
  /// What each player earns in an episode, in its own units; empty: not stated.
  std::vector<double> values = {};
  /// For each (step, state) the lottery over profiles that is played there: step by step, within a
  /// step state by state. A single profile: everybody plays independently. Empty: not stated.
  std::vector<std::vector<WeightedProfile>> policy = {};
  friend bool operator==(const KnownSolution&, const KnownSolution&) = default;
};

struct GameAbout {
  std::string title = {};
  std::string source = {};
  std::string note = {};
  GameNames names = {};
  std::vector<KnownSolution> known = {};
  friend bool operator==(const GameAbout&, const GameAbout&) = default;
};

}  // namespace vlearn
