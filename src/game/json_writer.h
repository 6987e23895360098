// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sections of a game in JSON share when it is written: names, steps and states, rows, and
// everything that is not the law.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/json.h"
#include "vlearn/game/about.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// States and their positive probabilities.
using SparseRow = std::vector<std::pair<std::size_t, double>>;
[[nodiscard]] SparseRow sparse_row(std::span<const double> row);

class GameWriter {
 public:
  GameWriter(const GameAbout& about, const Frame& frame);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] const GameNames& names() const noexcept { return about_.names; }
  [[nodiscard]] std::string player(std::size_t i) const { return names().player(Player(i)); }
  [[nodiscard]] std::string action(std::size_t cell, std::size_t player, std::size_t a) const;
  [[nodiscard]] std::string state(std::size_t cell) const;
  [[nodiscard]] bool terminal(std::size_t cell) const { return terminal_[cell]; }

  /// Finds the states in which nobody has a choice and nothing happens: `is_still` says whether a
  /// cell pays nothing and goes to the given state for sure (nothing: it leads nowhere).
  using IsStill = std::function<bool(std::size_t cell, std::optional<std::size_t> same_state)>;
  void find_terminal(const IsStill& is_still);

  void write_texts(JsonWriter& json) const;
  void write_players(JsonWriter& json) const;
  void write_states(JsonWriter& json) const;
  void write_actions(JsonWriter& json) const;
  /// Horizon, start, terminal states and rewards' units.
  void write_frame(JsonWriter& json) const;
  void write_known(JsonWriter& json) const;

  /// A rule's `step` and `state`, where they need saying.
  void write_place(JsonWriter& json, std::size_t cell) const;
  /// Whether a row needs no saying: it leads to the only state there is.
  [[nodiscard]] bool goes_without_saying(std::size_t cell, const SparseRow& row) const;
  void write_next(JsonWriter& json, std::size_t cell, const SparseRow& row) const;

 private:
  struct Place {
    Step h;
    State s;
  };
  struct ActionList {
    std::vector<std::string> names;  // empty: numbers
    std::size_t count = 0;
    friend bool operator==(const ActionList&, const ActionList&) = default;
  };

  [[nodiscard]] std::vector<std::vector<std::size_t>> cells_by_state_name() const;
  [[nodiscard]] ActionList action_list(std::size_t cell, std::size_t player) const;
  void write_action_rules(JsonWriter& json, const ActionList& usual) const;
  void write_ranges(JsonWriter& json) const;
  void write_policy(JsonWriter& json, const KnownSolution& known) const;
  void write_stage(JsonWriter& json,
                   std::size_t cell,
                   const std::vector<WeightedProfile>& stage) const;
  void write_play(JsonWriter& json, std::size_t cell, std::span<const double> policies) const;

  const GameAbout& about_;
  const Frame& frame_;
  bool many_states_;                        // in some step
  std::vector<std::uint32_t> next_states_;  // of each cell
  std::vector<Place> places_;               // of each cell
  std::vector<bool> terminal_;              // of each cell
};

}  // namespace vlearn
