// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games given by tables over joint actions: a reward for each player and a row of next-state
// probabilities for each (step, state, joint action).
//
//   DenseGame    a row holds a probability for every state
//   SparseGame   a row holds (state, probability) for the states that can follow
//
// A joint action has an index within its cell: the last player's action varies fastest, as in all
// tables. Rewards are kept in the user's units, verbatim, and once more in [0, 1], those of one
// joint action together: play and backups read these.
//
// backup sums over the others' actions player by player (first those after the player, innermost
// first, then those before it), so a cell with J joint actions costs about 1.5 J additions after
// the J rewards and rows have been combined. backup_all and backup_both take the expectations of
// rewards and of dense rows for all players in one sweep of at most 4 J multiply-adds per column
// (joint_sums.h), and only then meet the next values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// Where a table game puts what: the joint actions of all cells in one list.
class JointIndex {
 public:
  /// Throws Error (resource) when there are too many to count.
  explicit JointIndex(const Frame& frame);

  [[nodiscard]] std::size_t first(std::size_t cell) const noexcept { return first_[cell]; }
  [[nodiscard]] std::size_t count(std::size_t cell) const noexcept {
    return first_[cell + 1] - first_[cell];
  }
  [[nodiscard]] std::size_t size() const noexcept { return first_.back(); }
  /// The most of any cell.
  [[nodiscard]] std::size_t most() const noexcept { return most_; }

 private:
  std::vector<std::size_t> first_;
  std::size_t most_ = 0;
};

/// Index of a joint action within its cell.
[[nodiscard]] std::size_t joint_offset(std::span<const std::uint32_t> begins,
                                       std::span<const Action> joint) noexcept;

/// Where the sums of rows of probabilities lie, in steps of 2^-16: enough to find what u selects
/// without adding the row up. Where a sum is too near to tell, sample() of core/random.h decides;
/// the result is always its result.
class RowMarks {
 public:
  void reserve(std::size_t numbers) { marks_.reserve(numbers); }
  /// Adds the next row.
  void add(std::span<const double> row);
  /// `begin`: the numbers of all rows before this one.
  [[nodiscard]] std::size_t sample(std::span<const double> row,
                                   std::size_t begin,
                                   double u) const noexcept;

 private:
  static std::uint16_t mark_of(double sum) noexcept;
  std::vector<std::uint16_t> marks_;  // of row[0] + ... + row[i]
};

/// Rows over all states of the next step.
class DenseRows {
 public:
  /// Cells in order, in a cell [joint][next state]; the cells of the last step of a step-dependent
  /// game have none.
  using Tables = std::vector<double>;

  DenseRows(const Frame& frame, const JointIndex& joints, Tables probabilities);

  [[nodiscard]] double expect(std::size_t cell,
                              std::size_t joint,
                              std::span<const double> values) const noexcept;
  [[nodiscard]] State draw(std::size_t cell, std::size_t joint, double u) const noexcept;
  /// Calls visit(state, probability) for every state of positive probability.
  template <class Visit>
  void for_each(std::size_t cell, std::size_t joint, const Visit& visit) const {
    const std::span<const double> row = this->row(cell, joint);
    for (std::size_t s = 0; s < row.size(); ++s) {
      if (row[s] > 0.0) visit(State(s), row[s]);
    }
  }
  /// The most additions that expect() makes.
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }
  [[nodiscard]] const Tables& tables() const noexcept { return probabilities_; }
  /// The largest row_defect().
  [[nodiscard]] double defect() const noexcept;
  /// The rows of a cell follow each other.
  [[nodiscard]] std::span<const double> row(std::size_t cell, std::size_t joint) const noexcept {
    return std::span(probabilities_).subspan(begin_[cell] + joint * width_[cell], width_[cell]);
  }

 private:
  std::vector<std::size_t> begin_;  // of each cell
  std::vector<std::uint32_t> width_;
  std::vector<double> probabilities_;
  std::size_t longest_ = 0;
  RowMarks marks_;
};

/// Rows of successors.
class SparseRows {
 public:
  /// One row for each joint action of each cell, in order: [begins[row], begins[row + 1]) of the
  /// other two. Successors rise within a row; rows of the last step of a step-dependent game are
  /// empty.
  struct Tables {
    std::vector<std::uint64_t> begins = {0};
    std::vector<std::uint32_t> successors = {};
    std::vector<double> probabilities = {};
  };

  SparseRows(const Frame& frame, const JointIndex& joints, Tables tables);

  [[nodiscard]] double expect(std::size_t cell,
                              std::size_t joint,
                              std::span<const double> values) const noexcept;
  [[nodiscard]] State draw(std::size_t cell, std::size_t joint, double u) const noexcept;
  template <class Visit>
  void for_each(std::size_t cell, std::size_t joint, const Visit& visit) const {
    const std::size_t row = first_row_[cell] + joint;
    for (std::size_t i = tables_.begins[row]; i < tables_.begins[row + 1]; ++i) {
      const double probability = tables_.probabilities[i];
      if (probability > 0.0) visit(State(tables_.successors[i]), probability);
    }
  }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }
  [[nodiscard]] double defect() const noexcept;
  [[nodiscard]] const Tables& tables() const noexcept { return tables_; }

 private:
  [[nodiscard]] std::span<const double> row(std::size_t number) const noexcept {
    const std::size_t begin = tables_.begins[number];
    return std::span(tables_.probabilities).subspan(begin, tables_.begins[number + 1] - begin);
  }

  std::vector<std::size_t> first_row_;  // of each cell
  Tables tables_;
  std::size_t longest_ = 0;
};

template <class Rows>
class TabularGame {
 public:
  /// rewards: cells in order, in a cell [player][joint] in the user's units; of a zero-sum game
  /// only the first player's. Throws Error (input) that names the place when a table has the wrong
  /// size, a reward is outside its range, or a row is not a distribution.
  TabularGame(Frame frame, std::vector<double> rewards, typename Rows::Tables tables);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  /// As the constructor got them.
  [[nodiscard]] std::span<const double> rewards() const noexcept { return rewards_; }

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
  /// As backup_both.h says.
  void backup_both(const Stage& stage,
                   const NextValues& follow,
                   const NextValues& deviate,
                   std::span<double> values,
                   const ActionValues& q,
                   Workspace& workspace) const;
  [[nodiscard]] double backup_error(double largest_next) const noexcept;
  [[nodiscard]] double law_defect() const noexcept;
  void add_law_to(Sha256& hash) const;

  /// The mean reward of a joint action in [0, 1].
  [[nodiscard]] double reward(Player player, std::size_t cell, std::size_t joint) const noexcept {
    if (unit_rewards_.empty()) return unit_reward(player, cell, joint);
    return unit_rewards_[(joints_.first(cell) + joint) * frame_.num_players() + player.index()];
  }
  /// The same in the user's units: the number that was given. Of a zero-sum game's second player
  /// what is left of the sum, exactly -r where its range is the negative of the first one's.
  [[nodiscard]] double user_reward(Player player,
                                   std::size_t cell,
                                   std::size_t joint) const noexcept;

 private:
  /// Of two players whose rewards are both kept.
  [[nodiscard]] bool sums_to_constant() const noexcept;
  [[nodiscard]] double unit_reward(Player player,
                                   std::size_t cell,
                                   std::size_t joint) const noexcept;
  /// Of all joint actions of a cell, [joint][player].
  void put_unit_rewards(std::size_t cell, std::span<double> rewards) const noexcept;

  Frame frame_;
  JointIndex joints_;
  std::vector<double> rewards_;
  std::vector<double> unit_rewards_;  // [joint of all cells][player]; of small games only
  Rows rows_;
};

using DenseGame = TabularGame<DenseRows>;
using SparseGame = TabularGame<SparseRows>;

extern template class TabularGame<DenseRows>;
extern template class TabularGame<SparseRows>;

}  // namespace vlearn
