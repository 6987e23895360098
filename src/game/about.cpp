// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/about.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "vlearn/core/error.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

/// The names of the actions that a player has in a cell; empty: they have none.
std::span<const std::string> actions_of(const GameNames& names,
                                        const Frame& frame,
                                        Player player,
                                        std::size_t cell) {
  if (names.action_list.empty()) return {};
  const bool same_everywhere = names.action_list.size() == frame.num_players();
  const std::size_t at = (same_everywhere ? 0 : cell * frame.num_players()) + player.index();
  return names.action_lists[names.action_list[at]];
}

std::span<const std::string> states_of(const GameNames& names, Step h) {
  if (names.states.empty()) return {};
  return names.states[names.states.size() == 1 ? 0 : h.index()];
}

std::string name_or_number(std::span<const std::string> names, std::size_t index) {
  return names.empty() ? std::to_string(index + 1) : names[index];
}

/// The index of a name among `count` things. Throws Error (usage).
std::size_t find(std::span<const std::string> names,
                 std::size_t count,
                 std::string_view name,
                 const char* kind) {
  std::string fix;
  if (names.empty()) {
    std::size_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    // Numbers as we write them: no zeros in front.
    if (error == std::errc() && stop == end && number >= 1 && number <= count && name[0] != '0') {
      return number - 1;
    }
    fix = fmt::format("want a number from 1 to {}", count);
  } else {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    fix = suggestion(name, candidates);
    if (fix.empty()) fix = fmt::format("there is '{}', for example", printable(names[0], 100));
  }
  throw Error(ErrorKind::usage, fmt::format("{} '{}'", kind, printable(name, 100)), "is not known",
              std::move(fix));
}

void check_list(std::span<const std::string> names, std::size_t count, const std::string& place) {
  const auto refuse = [&](std::string problem, std::string fix) {
    throw Error(ErrorKind::input, place, std::move(problem), std::move(fix));
  };
  if (names.size() != count) {
    refuse(fmt::format("there are {} names for {} of them", names.size(), count),
           "give each a name, or none");
  }
  for (const std::string& name : names) {
    if (!can_be_name(name)) {
      refuse(fmt::format("'{}' is no name", printable(name, 50)), kWantName);
    }
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    refuse(fmt::format("the name '{}' stands twice", printable(*twice, 100)), "rename one of them");
  }
}

}  // namespace

bool can_be_name(std::string_view word) noexcept {
  constexpr std::size_t max_bytes = 255;
  return !word.empty() && word.size() <= max_bytes && word != "*" && word != "note" &&
         is_utf8(word);
}

std::string GameNames::player(Player player) const {
  return name_or_number(players, player.index());
}

std::string GameNames::state(Step h, State s) const {
  return name_or_number(states_of(*this, h), s.index());
}

std::string GameNames::action(
    const Frame& frame, Player player, Step h, State s, Action action) const {
  return name_or_number(actions_of(*this, frame, player, frame.cell(h, s)), action.index());
}

Player GameNames::find_player(const Frame& frame, std::string_view name) const {
  return Player(find(players, frame.num_players(), name, "player"));
}

State GameNames::find_state(const Frame& frame, Step h, std::string_view name) const {
  return State(find(states_of(*this, h), frame.num_states(h), name, "state"));
}

Action GameNames::find_action(
    const Frame& frame, Player player, Step h, State s, std::string_view name) const {
  return Action(find(actions_of(*this, frame, player, frame.cell(h, s)),
                     frame.num_actions(player, h, s), name, "action"));
}

void GameNames::check(const Frame& frame) const {
  const auto refuse = [](const char* place, const char* problem) {
    throw Error(ErrorKind::input, place, problem);
  };
  if (!players.empty()) check_list(players, frame.num_players(), "players");
  if (!states.empty()) {
    const bool per_step = states.size() == frame.horizon();
    if (states.size() != 1 && !per_step)
      refuse("states", "want one list of names, or one per step");
    for (std::size_t i = 0; i < states.size(); ++i) {
      // One list may serve all steps only if all have as many states.
      const std::size_t steps = states.size() == 1 ? frame.horizon() : 1;
      for (std::size_t h = i; h < i + steps; ++h) {
        check_list(states[i], frame.num_states(Step(h)), fmt::format("states[{}]", i));
        if (frame.stationary()) break;
      }
    }
  }
  if (action_list.empty()) {
    if (!action_lists.empty()) refuse("actions", "names that nobody uses");
    return;
  }
  const bool same_everywhere = action_list.size() == frame.num_players();
  if (!same_everywhere && action_list.size() != frame.num_cells() * frame.num_players()) {
    refuse("actions", "want one list of names per player, or one per player and cell");
  }
  for (std::size_t i = 0; i < action_lists.size(); ++i) {
    check_list(action_lists[i], action_lists[i].size(), fmt::format("actions[{}]", i));
  }
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t i = 0; i < frame.num_players(); ++i) {
      const std::uint32_t list =
          action_list[(same_everywhere ? 0 : cell * frame.num_players()) + i];
      if (list >= action_lists.size() || action_lists[list].size() != begins[i + 1] - begins[i]) {
        refuse("actions", "there are more or fewer names than actions");
      }
    }
  }
}

}  // namespace vlearn
