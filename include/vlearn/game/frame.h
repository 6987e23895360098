// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What all games have in common, whatever their model: who plays, for how long, where, with which
// moves, from which start, and in which units rewards come. A model is a frame plus a law.
//
// Rewards. Algorithms work in [0, 1]; users have their own units. A frame keeps for each player
// the range [low, high] of the user's rewards, and a reward r counts (r - low) / (high - low)
// inside. Adding a constant per step leaves equilibria alone only because every episode has exactly
// H steps: a game that can end early goes on in an absorbing state that pays the user's 0, so its
// range must contain 0.
//
// Cells. A cell is a (step, state) of a step-dependent game, a state of a stationary one. Models
// keep their tables per cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vlearn/core/hash.h"
#include "vlearn/core/id.h"
#include "vlearn/game/nature.h"

namespace vlearn {

struct RewardRange {
  double low = 0.0;
  double high = 1.0;

  [[nodiscard]] double to_unit(double reward) const noexcept {
    if (low == 0.0 && high == 1.0) return reward;  // what the formula gives, without its division
    return (reward - low) / (high - low);
  }
  /// A sum of `steps` rewards in [0, 1] in the user's units.
  [[nodiscard]] double from_unit(double value, double steps) const noexcept {
    return steps * low + (high - low) * value;
  }
  friend bool operator==(const RewardRange&, const RewardRange&) = default;

  /// Of the one whose rewards are the negative of these.
  [[nodiscard]] RewardRange negated() const noexcept { return {-high, -low}; }
  /// Holds nothing; grows with include().
  [[nodiscard]] static constexpr RewardRange empty() noexcept {
    return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  }
  void include(double reward) noexcept {
    low = std::min(low, reward);
    high = std::max(high, reward);
  }
};

/// The range of rewards that go from low to high. A single number r is no range: it gets [0, 1] if
/// it lies there, else [r, r + 1].
[[nodiscard]] RewardRange natural_range(double low, double high) noexcept;

/// For messages about target nash: what makes a game zero-sum.
inline constexpr std::string_view kZeroSumHint =
    "; a game is zero-sum if its file has \"zero_sum\": true, or if the rewards of its two players "
    "sum to a constant and their ranges have one width";

/// How a reward spreads around its mean m (in [0, 1]).
enum class RewardNoise : std::uint8_t {
  none,       ///< always m
  bernoulli,  ///< 1 with probability m, else 0
  uniform,    ///< uniform on [m - w, m + w], w = min(m, 1 - m)
};

struct FrameOptions {
  std::size_t num_players = 0;
  std::size_t horizon = 0;
  /// A stationary game has one law for all steps, and one number of states.
  bool stationary = true;
  /// One number for each step, or a single one for all.
  std::vector<std::uint32_t> num_states = {};
  /// Numbers of actions: one per player for the whole game, or for each cell one per player.
  std::vector<std::uint32_t> num_actions = {};
  /// The law of the first state; empty: the first state for sure.
  std::vector<double> initial = {};
  /// A simulator's law of the first state is nobody's to know: `initial` says nothing then.
  bool start_known = true;
  /// One per player, or a single one for all.
  std::vector<RewardRange> ranges = {{}};
  RewardNoise noise = RewardNoise::none;
  /// The game can end before step H: it goes on in an absorbing state that pays the user's 0, and
  /// ranges are extended to contain 0.
  bool ends_early = false;
  /// Two players whose rewards in [0, 1] sum to one. They share the draw of a random reward.
  bool zero_sum = false;
};

/// Numbers for each player at one (step, state), as many as that player has actions there, one
/// player after the other: the policies of a profile, or the values q of all own actions.
template <class T>
class PlayerRows {
 public:
  /// `begins` as Frame::action_begins() gives them; `values` begins with the first player's.
  PlayerRows(std::span<const std::uint32_t> begins, std::span<T> values) noexcept
      : begins_(begins), values_(values) {}

  /// Rows that may be written may be read.
  operator PlayerRows<const T>() const noexcept { return {begins_, values_}; }  // NOLINT

  [[nodiscard]] std::size_t num_players() const noexcept { return begins_.size() - 1; }
  [[nodiscard]] std::span<T> operator[](Player player) const noexcept {
    const std::size_t begin = begins_[player.index()];
    return values_.subspan(begin, begins_[player.index() + 1] - begin);
  }
  /// Of all players.
  [[nodiscard]] std::span<T> flat() const noexcept { return values_.first(begins_.back()); }

 private:
  std::span<const std::uint32_t> begins_;
  std::span<T> values_;
};

using Profile = PlayerRows<const double>;
using ActionValues = PlayerRows<double>;

/// V_{h+1} of every player, [player][state]; empty after the last step, where all of it is 0.
class NextValues {
 public:
  NextValues() noexcept = default;
  NextValues(std::span<const double> values, std::size_t num_states) noexcept
      : values_(values), num_states_(num_states) {}
  [[nodiscard]] std::span<const double> operator[](Player player) const noexcept {
    return values_.subspan(player.index() * num_states_, num_states_);
  }

 private:
  std::span<const double> values_;
  std::size_t num_states_ = 0;
};

class Frame {
 public:
  /// Throws Error (input) for options that make no game.
  explicit Frame(FrameOptions options);

  [[nodiscard]] std::size_t num_players() const noexcept { return options_.num_players; }
  [[nodiscard]] std::size_t horizon() const noexcept { return options_.horizon; }
  [[nodiscard]] bool is_last(Step h) const noexcept { return h.index() + 1 == horizon(); }
  [[nodiscard]] bool stationary() const noexcept { return options_.stationary; }
  /// Declared, and kept as the rewards of the first player alone.
  [[nodiscard]] bool zero_sum() const noexcept { return options_.zero_sum; }
  /// Two players whose mean rewards in [0, 1] sum to one, in ranges of one width: what target nash
  /// needs. Declared, or found in the tables of a game that keeps the rewards of both. A
  /// consequence of the law, and so no part of its hash.
  [[nodiscard]] bool constant_sum() const noexcept { return zero_sum() || constant_sum_; }
  /// By who has looked at all rewards.
  void found_constant_sum() noexcept { constant_sum_ = true; }
  /// Whether two rewards, in the user's units, are as they are in such a game. Two players only.
  [[nodiscard]] bool is_constant_sum(double first, double second) const noexcept;
  [[nodiscard]] std::size_t num_states(Step h) const noexcept {
    return options_.num_states[options_.num_states.size() == 1 ? 0 : h.index()];
  }
  [[nodiscard]] std::size_t max_states() const noexcept;

  /// Laws that the game has: one for all steps, or one for each.
  [[nodiscard]] std::size_t num_layers() const noexcept { return stationary() ? 1 : horizon(); }
  [[nodiscard]] std::size_t num_cells() const noexcept { return num_cells_; }
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return (stationary() ? 0 : first_cell_[h.index()]) + s.index();
  }

  /// For each cell the number of states that it leads to: 0 in the last step of a step-dependent
  /// game.
  [[nodiscard]] std::vector<std::uint32_t> next_states() const;

  [[nodiscard]] std::size_t num_actions(Player player, Step h, State s) const noexcept {
    const std::span<const std::uint32_t> begins = action_begins(h, s);
    return begins[player.index() + 1] - begins[player.index()];
  }
  /// Where each player's row begins among PlayerRows, and at last the number of all values.
  [[nodiscard]] std::span<const std::uint32_t> action_begins(Step h, State s) const noexcept {
    return begins_of_cell(cell(h, s));
  }
  [[nodiscard]] std::span<const std::uint32_t> begins_of_cell(std::size_t cell) const noexcept {
    const std::size_t width = num_players() + 1;
    const std::size_t layout = layout_of_cell_.empty() ? 0 : layout_of_cell_[cell];
    return std::span(layouts_).subspan(layout * width, width);
  }
  /// The most of any player anywhere.
  [[nodiscard]] std::size_t max_actions() const noexcept { return max_actions_; }
  /// The most values that PlayerRows hold anywhere in this game.
  [[nodiscard]] std::size_t max_profile_size() const noexcept;
  /// Nothing when it does not fit 64 bits.
  [[nodiscard]] std::optional<std::uint64_t> num_joint_actions(std::size_t cell) const noexcept;

  [[nodiscard]] std::span<const double> initial() const noexcept { return options_.initial; }
  [[nodiscard]] bool start_known() const noexcept { return options_.start_known; }
  [[nodiscard]] const RewardRange& range(Player player) const noexcept {
    return options_.ranges[options_.ranges.size() == 1 ? 0 : player.index()];
  }
  [[nodiscard]] RewardNoise noise() const noexcept { return options_.noise; }

  /// The state that an episode starts in.
  [[nodiscard]] State draw_start(const Nature& nature) const noexcept;
  /// Turns mean rewards in [0, 1] into drawn ones.
  void draw_rewards(const Nature& nature, std::span<double> rewards) const noexcept;

  /// Adds everything above to the hash of a game's law.
  void add_to(Sha256& hash) const;

 private:
  void check_sizes() const;
  void check_start_and_rewards() const;
  void make_layouts();

  FrameOptions options_;
  std::optional<State> certain_start_;
  std::size_t num_cells_ = 0;
  std::size_t max_actions_ = 0;
  bool constant_sum_ = false;
  std::vector<std::size_t> first_cell_;  // of each layer
  // Distinct rows of action begins, and which of them a cell has (empty: all have the first).
  std::vector<std::uint32_t> layouts_;
  std::vector<std::uint32_t> layout_of_cell_;
};

}  // namespace vlearn
