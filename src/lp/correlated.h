// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The program of a correlated equilibrium, and the check of what a method says about it. The check
// starts from the payoffs, not from the program's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "payoffs.h"
#include "program.h"
#include "vlearn/lp/stage_solver.h"

namespace vlearn::lp {

class CorrelatedGame {
 public:
  /// Checks the shapes, and scales the payoffs: those of each player by its own range for its
  /// deviations, and those that the selection compares by their common one.
  void reset(const StageGame& game, Target target, Selection selection);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept {
    return joints_ + (one_objective() ? 0U : 1U);
  }

  void write(Program& program) const;

  /// Writes everything but method and pivots.
  [[nodiscard]] Residual read(const Vertex& vertex, CorrelatedSolution& solution);

 private:
  struct Seat {
    std::size_t actions = 0;
    std::size_t stride = 0;     // between joint actions that differ in this player's next action
    std::size_t first_row = 0;  // of its deviations in the program
    Unit unit;
  };
  struct Bound {
    double objective = 0.0;
    double multipliers = 0.0;  // their sum
  };

  /// Joint actions that differ in this player's action alone form a line; visit(first of them).
  template <class Visit>
  void for_each_line(const Seat& seat, const Visit& visit) const;
  [[nodiscard]] std::size_t deviation_row(const Seat& seat, std::size_t from, std::size_t to) const;
  [[nodiscard]] bool one_objective() const noexcept { return num_objectives_ == 1; }
  [[nodiscard]] std::span<const double> payoffs_of(std::size_t player) const noexcept;
  [[nodiscard]] std::span<const double> objective(std::size_t k) const noexcept;

  void set_seats(const StageGame& game);
  void set_objectives(const StageGame& game, Selection selection);
  [[nodiscard]] double best_gain(std::size_t player, std::span<const double> joint);
  [[nodiscard]] Bound objective_bound(std::span<const double> dual);

  Target target_ = Target::cce;
  Selection selection_;
  std::size_t joints_ = 0;
  std::size_t rows_ = 0;
  std::vector<Seat> seats_;
  std::vector<double> scaled_;  // [player][joint]
  // The least of these is maximised; [k][joint], in objective_unit_.
  std::size_t num_objectives_ = 1;
  std::vector<double> objectives_;
  Unit objective_unit_;
  std::vector<double> gains_;
  std::vector<double> margins_;
};

}  // namespace vlearn::lp
