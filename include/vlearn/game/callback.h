// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A game whose law is a function: given (step, state, joint action) it names the mean rewards and
// the possible next states. Nothing is stored, so the number of states may be large; the function
// must give the same answer to the same question. backup enumerates joint actions.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// What follows a joint action.
struct Outcome {
  std::vector<double> rewards;  ///< means, user's units; of a zero-sum game the first is read
  std::vector<std::pair<State, double>> successors;  ///< empty after the last step
};

/// Fills in `outcome`, whose vectors come with the right size and empty, respectively.
using LawFunction =
    std::function<void(Step h, State s, std::span<const Action> joint, Outcome& outcome)>;

class CallbackGame {
 public:
  /// `name` stands for the law in the game's hash: give a new one to a new law. Every answer of
  /// the function is checked as it comes; a bad one throws Error (input).
  CallbackGame(Frame frame, std::string name, LawFunction law);

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }

  [[nodiscard]] State start(const Nature& nature) const noexcept {
    return frame_.draw_start(nature);
  }
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) const;
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
  /// Asks for the law of every joint action.
  [[nodiscard]] double law_defect() const;
  void add_law_to(Sha256& hash) const;

 private:
  /// The checked answer, rewards turned to [0, 1].
  void ask(Step h, State s, std::span<const Action> joint, Outcome& outcome) const;
  /// Calls visit(joint, outcome) for every joint action of a cell, in the order of their indices.
  template <class Visit>
  void for_each_joint(Step h, State s, const Visit& visit) const;

  Frame frame_;
  std::string name_;
  LawFunction law_;
};

}  // namespace vlearn
