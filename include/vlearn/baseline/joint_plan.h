// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a centralised learner plans: at every (step, state) a distribution over joint actions, and
// bounds on values from above and below. Markov, and correlated unless it is read by its marginals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/baseline/played_model.h"
#include "vlearn/core/target.h"
#include "vlearn/lp/stage_solver.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

/// Cells as PlayedModel counts them.
class JointPlan {
 public:
  /// Values of so many players: of nash-vi player 1's alone, whose loss is player 2's gain.
  JointPlan(std::size_t num_cells, std::size_t num_values);

  [[nodiscard]] std::size_t num_values() const noexcept { return num_values_; }
  /// V from above and from below, [cell], in units of [0, 1] rewards. A plan without bounds has its
  /// estimate in both.
  [[nodiscard]] std::span<double> upper(std::size_t player) noexcept { return of(upper_, player); }
  [[nodiscard]] std::span<double> lower(std::size_t player) noexcept { return of(lower_, player); }
  [[nodiscard]] std::span<const double> upper(std::size_t player) const noexcept {
    return std::span(upper_).subspan(player * first_.size(), first_.size());
  }
  [[nodiscard]] std::span<const double> lower(std::size_t player) const noexcept {
    return std::span(lower_).subspan(player * first_.size(), first_.size());
  }

  /// Forgets all distributions; each cell is to be set once, in any order.
  void clear() noexcept;
  void set(std::size_t cell, std::span<const double> joint);

  /// The joint actions that have a chance, in their order, and their chances.
  [[nodiscard]] std::span<const std::uint64_t> joints(std::size_t cell) const noexcept {
    return std::span(joints_).subspan(first_[cell], size_[cell]);
  }
  [[nodiscard]] std::span<const double> chances(std::size_t cell) const noexcept {
    return std::span(chances_).subspan(first_[cell], size_[cell]);
  }

 private:
  [[nodiscard]] std::span<double> of(std::vector<double>& values, std::size_t player) noexcept {
    return std::span(values).subspan(player * first_.size(), first_.size());
  }

  std::size_t num_values_;
  std::vector<double> upper_;
  std::vector<double> lower_;
  std::vector<std::size_t> first_;  // of each cell among the two below
  std::vector<std::size_t> size_;
  std::vector<std::uint64_t> joints_;
  std::vector<double> chances_;
};

/// Memory that plans use, kept from plan to plan.
class PlanMemory {
 public:
  /// `stop` is asked at every (step, state) and within large linear programs; when it says true,
  /// Cancelled is thrown.
  explicit PlanMemory(std::function<bool()> stop = {})
      : solver(LpMethod::automatic, stop), stop_(std::move(stop)) {}

  /// Makes the arrays large enough for a cell, all numbers of actions included.
  void begin(const PlayedModel& model, Step h, State s);

  StageSolver solver;
  std::vector<std::uint32_t> num_actions;
  std::vector<double> payoffs;  ///< [player][joint]
  std::vector<double> lower;    ///< the same from below
  std::vector<double> middle;   ///< of values of the next step

 private:
  std::function<bool()> stop_;
};

/// The largest of a player's V from above less V from below where episodes begin, in the user's
/// units: averaged over the law of the first state, or where nobody knows it at its worst. A bound
/// on the gap of the plan, for nash on both players' gains together, with probability 1 - delta
/// where the plan was made with c >= theory_constant(); otherwise a number that falls with what is
/// left to be seen and proves nothing.
[[nodiscard]] double optimism_gap(const Frame& frame, const JointPlan& plan);

/// A plan as policies of the players: for nash the marginals, which they play independently, else
/// each joint action a part that they draw together.
[[nodiscard]] std::vector<MarkovTable> tables_of(const Frame& frame,
                                                 const JointPlan& plan,
                                                 Target target,
                                                 const std::string& game_hash);

}  // namespace vlearn
