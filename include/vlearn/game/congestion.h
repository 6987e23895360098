// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Congestion games: every player takes a route; a player on route b earns what (h, s, b, n_b) pays,
// n_b the number of players on b; and the next state is drawn from an average of one law per route,
//
//   P(. | h, s, n) = sum_b f_b(n_b) P_b(. | h, s),   f_b(n) = base_b + (1 - sum base) n / m.
//
// That is the most general form: the f_b must sum to one whatever the counts, so moving a player
// from any route to any other must not change the sum, so all f_b rise by the same amount per
// player.
//
// backup needs no joint actions. The expected reward of player j on b is an expectation over the
// number of others on b, a sum of independent coin tosses (a Poisson-binomial count), which
// src/game/head_counts.h has for all players at once, in O(m^1.5) up to logarithms per route. The
// transition is linear in the counts and needs their means only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

struct CongestionOptions {
  std::size_t num_routes = 0;
  /// [cell][route][n - 1], n = 1..m players on the route: rewards in the user's units.
  std::vector<double> rewards = {};
  /// [cell][route]: base_b >= 0 with a sum of at most one. Empty: all 0.
  std::vector<double> base = {};
  /// [cell][route][next state]: P_b. Cells of the last step of a step-dependent game have none.
  std::vector<double> transitions = {};
  /// Which route an action means: for each cell and player the routes of its actions, in the order
  /// of Frame's PlayerRows. Empty: action b is route b.
  std::vector<std::uint32_t> routes = {};
};

class CongestionGame {
 public:
  /// All players have one reward range. Throws Error (input) that names what does not fit.
  CongestionGame(Frame frame, CongestionOptions options);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] std::size_t num_routes() const noexcept { return options_.num_routes; }
  /// As the constructor got them, defaults filled in.
  [[nodiscard]] const CongestionOptions& options() const noexcept { return options_; }

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
  /// As backup_both.h has it; the counting is done once.
  void backup_both(const Stage& stage,
                   const NextValues& follow,
                   const NextValues& deviate,
                   std::span<double> values,
                   const ActionValues& q,
                   Workspace& workspace) const;
  [[nodiscard]] double backup_error(double largest_next) const noexcept;
  [[nodiscard]] double law_defect() const noexcept;
  void add_law_to(Sha256& hash) const;

 private:
  void fill_in_routes();
  void check() const;
  [[nodiscard]] std::span<const double> rewards_of(std::size_t cell, std::size_t route) const;
  /// The same in [0, 1].
  [[nodiscard]] std::span<const double> unit_rewards_of(std::size_t cell, std::size_t route) const;
  [[nodiscard]] std::span<const double> row_of(std::size_t cell, std::size_t route) const;
  [[nodiscard]] double base_of(std::size_t cell, std::size_t route) const noexcept;
  [[nodiscard]] double base_sum(std::size_t cell) const noexcept;
  /// How much one player adds to the weight of its route: (1 - sum base) / m.
  [[nodiscard]] double slope_of(std::size_t cell) const noexcept;
  /// The route that each action of all players means, as options_.routes.
  [[nodiscard]] std::span<const std::uint32_t> routes_of(std::size_t cell) const noexcept;
  /// chances[route][player]: the probability that the player takes the route.
  void fill_chances(std::size_t cell,
                    const Profile& profile,
                    std::span<double> chances) const noexcept;
  /// What the profile of a stage means to each player on each route, [player][route].
  struct Crowd {
    std::span<double> rewards;  ///< expected, in [0, 1]
    std::span<double> others;   ///< expected number on it
  };
  [[nodiscard]] Crowd crowd_at(const Stage& stage, Workspace& workspace) const;
  [[nodiscard]] std::span<const double> others_of(const Crowd& crowd,
                                                  Player player) const noexcept {
    return crowd.others.subspan(player.index() * num_routes(), num_routes());
  }
  /// The expected reward of each own action.
  void fill_rewards(std::size_t cell,
                    const Crowd& crowd,
                    Player player,
                    std::span<double> q) const noexcept;
  /// Adds the part of the next state to one player's q; others[route] is the expected number of
  /// others on it.
  void add_next(std::size_t cell,
                Player player,
                std::span<const double> others,
                std::span<const double> next,
                std::span<double> q) const noexcept;

  Frame frame_;
  CongestionOptions options_;
  std::vector<double> unit_rewards_;  // as options_.rewards; empty where these are the same numbers
  std::vector<std::size_t> transition_begin_;  // of each cell
  std::vector<std::uint32_t> width_;           // next states of each cell
  std::vector<std::size_t> route_begin_;       // of each cell in options_.routes
};

}  // namespace vlearn
