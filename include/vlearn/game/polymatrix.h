// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Polymatrix games: what a player earns is a sum over the others, one term for each pair,
//
//   r_i(h, s, a) = own_i(h, s, a_i) + sum_{j != i} u_ij(h, s, a_i, a_j),
//
// and the next state is drawn from an average of one law per player,
//
//   P(. | h, s, a) = sum_j w_j P_j(. | h, s, a_j),   w_j >= 0, sum one.
//
// Both are linear in each player's policy given the others', so backup needs pairs only: all
// players at once cost (sum of all numbers of actions)^2 plus the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

struct PolymatrixOptions {
  /// For each cell a square block over all actions of all players in the order of PlayerRows:
  /// [i, a_i][j, a_j] is u_ij(a_i, a_j), and [i, a_i][i, a_i] is own_i(a_i); the rest of a
  /// player's own block is 0. User's units.
  std::vector<double> rewards = {};
  /// For each cell w_j, one per player. Empty: 1/m each.
  std::vector<double> weights = {};
  /// For each cell [j, a_j][next state]: P_j.
  std::vector<double> transitions = {};
};

class PolymatrixGame {
 public:
  /// Throws Error (input) that names what does not fit; every sum of rewards that can happen must
  /// lie in its player's range.
  PolymatrixGame(Frame frame, PolymatrixOptions options);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  /// As the constructor got them, defaults filled in.
  [[nodiscard]] const PolymatrixOptions& options() const noexcept { return options_; }

  [[nodiscard]] State start(const Nature& nature) const noexcept {
    return frame_.draw_start(nature);
  }
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) const noexcept;
  void backup(const Stage& stage,
              Player player,
              std::span<const double> next,
              std::span<double> q,
              Workspace& workspace) const;
  void backup_all(const Stage& stage,
                  const NextValues& next,
                  const ActionValues& q,
                  Workspace& workspace) const;
  [[nodiscard]] double backup_error(double largest_next) const noexcept;
  [[nodiscard]] double law_defect() const noexcept;
  void add_law_to(Sha256& hash) const;

 private:
  void check(std::size_t cell);
  /// Of two players.
  [[nodiscard]] bool sums_to_constant() const;
  /// Of one action.
  void check_rewards(std::size_t cell,
                     Player player,
                     std::size_t position,
                     const std::function<std::string()>& place) const;
  void set_unit_rewards(std::size_t cell, Player player, std::size_t position);
  /// Rewards of (player, action) against every action of everyone: a row of the block.
  [[nodiscard]] std::span<const double> pay_row(std::size_t cell, std::size_t position) const;
  [[nodiscard]] std::span<const double> next_row(std::size_t cell, std::size_t position) const;
  [[nodiscard]] double weight(std::size_t cell, std::size_t player) const noexcept {
    return options_.weights[cell * frame_.num_players() + player];
  }

  Frame frame_;
  PolymatrixOptions options_;
  std::vector<std::uint32_t> width_;           // next states of each cell
  std::vector<std::size_t> reward_begin_;      // of each cell
  std::vector<std::size_t> transition_begin_;  // of each cell
  // As options_.rewards, such that the sum is the reward in [0, 1]: for each player what is above
  // the least that its actions pay; and the rest, where the own action meets itself.
  std::vector<double> unit_rewards_;
  // How far a reward may be outside of [0, 1] because the range was rounded, and its map.
  double outside_ = 0.0;
};

}  // namespace vlearn
