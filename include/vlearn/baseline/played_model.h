// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a controller has seen of a game: for every (step, state, joint action) how often it was
// played, what it paid each player, and where it led.
//
//   N_h(s, a)       visits
//   r_h,i(s, a)     the mean of the rewards that were seen
//   N_h(s, a, s')   visits that led to s'; N_h(s, a, s') / N_h(s, a) is the estimate of the law
//
// Steps are kept apart even where the game's law is the same in all of them, as in the source of
// the algorithms. Cells are the (step, state): all states of step 1, then of step 2, ... Within a
// cell joint actions are in the order of a game's tables, the last player's action fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/core/id.h"
#include "vlearn/game/frame.h"

namespace vlearn {

class PlayedModel {
 public:
  /// Nothing was seen. The frame must live on; its tables have been found to fit (memory.h).
  explicit PlayedModel(const Frame& frame);

  [[nodiscard]] const Frame& frame() const noexcept { return *frame_; }
  [[nodiscard]] std::size_t num_cells() const noexcept { return first_joint_.size() - 1; }
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell_[h.index()] + s.index();
  }
  /// Of a number for each cell, those of the step after h; none after the last.
  [[nodiscard]] std::span<const double> of_next_step(Step h,
                                                     std::span<const double> of_cells) const {
    if (frame_->is_last(h)) return {};
    return of_cells.subspan(first_cell_[h.index() + 1], frame_->num_states(h.next()));
  }
  [[nodiscard]] std::size_t num_joint(std::size_t cell) const noexcept {
    return first_joint_[cell + 1] - first_joint_[cell];
  }
  /// The most of any cell.
  [[nodiscard]] std::size_t most_joint() const noexcept { return most_joint_; }

  /// One step of play, rewards in [0, 1] of all players. `next` means nothing at the last step.
  /// Returns whether N_h(s, a) is 1, 2, 4, 8, ... now.
  bool add(Step h, State s, std::size_t joint, std::span<const double> rewards, State next);

  [[nodiscard]] std::uint32_t visits(std::size_t cell, std::size_t joint) const noexcept {
    return visits_[first_joint_[cell] + joint];
  }
  /// The sum of rewards divided by visits; there was one at least.
  [[nodiscard]] double reward(Player player, std::size_t cell, std::size_t joint) const noexcept;
  /// N_h(s, a, s') for every s'; empty at the last step.
  [[nodiscard]] std::span<const std::uint32_t> next(std::size_t cell,
                                                    std::size_t joint) const noexcept {
    return std::span(next_).subspan(first_next_[cell] + joint * num_next_[cell], num_next_[cell]);
  }

 private:
  const Frame* frame_;
  std::size_t paid_;                     // players whose rewards are kept: of zero-sum games one
  std::vector<std::size_t> first_cell_;  // of each step; at last the number of all cells
  std::vector<std::size_t> first_joint_;
  std::vector<std::size_t> first_next_;
  std::vector<std::uint32_t> num_next_;  // of each cell
  std::vector<std::uint32_t> visits_;    // [cell][joint]
  std::vector<double> rewards_;          // [cell][joint][player]: sums
  std::vector<std::uint32_t> next_;      // [cell][joint][state]
  std::size_t most_joint_ = 0;
};

/// What the next state is worth: (sum over s' in their order of N(s') v(s')) / t.
[[nodiscard]] inline double mean_next(std::span<const std::uint32_t> counts,
                                      std::span<const double> values,
                                      double t) noexcept {
  double sum = 0.0;
  for (std::size_t s = 0; s < counts.size(); ++s) sum += counts[s] * values[s];
  return sum / t;
}

}  // namespace vlearn
