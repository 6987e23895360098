// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A stage by a linear program over its joint actions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "stage.h"
#include "vlearn/core/target.h"
#include "vlearn/game/joint_profile.h"
#include "vlearn/lp/stage_solver.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

/// What every joint action pays each player, [player][joint], in units of [0, 1] rewards.
template <KnownGame G>
class StagePayoffs {
 public:
  explicit StagePayoffs(const G& game) : game_(game) {}

  std::span<double> of(const StageTask& task, std::size_t num_joint) {
    const std::size_t m = game_.frame().num_players();
    payoffs_.resize(m * num_joint);
    for (const Player player : all<Player>(m)) {
      fill(task, player, std::span(payoffs_).subspan(player.index() * num_joint, num_joint));
    }
    return payoffs_;
  }

 private:
  void fill(const StageTask& task, Player player, std::span<double> payoffs) {
    const Frame& frame = game_.frame();
    if constexpr (requires { game_.rows(); }) {
      const std::size_t cell = frame.cell(task.h, task.s);
      for (std::size_t joint = 0; joint < payoffs.size(); ++joint) {
        double payoff = game_.reward(player, cell, joint);
        if (!frame.is_last(task.h)) {
          game_.rows().for_each(cell, joint, [&](State after, double chance) {
            payoff += chance * task.next[player][after.index()];
          });
        }
        payoffs[joint] = payoff;
      }
    } else {
      // A backup against what the others play for sure has a row of own actions.
      const auto begins = frame.action_begins(task.h, task.s);
      const std::size_t own = begins[player.index() + 1] - begins[player.index()];
      std::size_t stride = 1;  // of an own action among joint actions
      for (std::size_t j = player.index() + 1; j < frame.num_players(); ++j) {
        stride *= begins[j + 1] - begins[j];
      }
      profile_.resize(begins.back());
      q_.resize(own);
      for (std::size_t joint = 0; joint < payoffs.size(); ++joint) {
        if (joint / stride % own != 0) continue;
        put_pure(joint, begins, profile_);
        game_.backup({task.h, task.s, Profile(begins, profile_)}, player,
                     frame.is_last(task.h) ? std::span<const double>() : task.next[player], q_,
                     workspace_);
        for (std::size_t b = 0; b < own; ++b) payoffs[joint + b * stride] = q_[b];
      }
    }
  }

  const G& game_;
  std::vector<double> payoffs_;
  std::vector<double> profile_;
  std::vector<double> q_;
  Workspace workspace_;
};

template <KnownGame G>
class LpStage {
 public:
  LpStage(const G& game,
          Target target,
          const Selection& selection,
          const std::function<bool()>& stop)
      : frame_(game.frame()),
        target_(target),
        selection_(selection),
        payoffs_(game),
        solver_(LpMethod::automatic, stop) {}

  StageSolution solve(const StageTask& task) {
    const auto begins = frame_.action_begins(task.h, task.s);
    std::size_t joint = 1;
    num_actions_.clear();
    for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
      num_actions_.push_back(begins[j + 1] - begins[j]);
      joint *= num_actions_.back();
    }
    const std::span<double> payoffs = payoffs_.of(task, joint);
    StageSolution solution;
    solution.iterations = 1;
    profile_.assign(begins.back(), 0.0);
    switch (target_) {
      case Target::optimal: {
        const auto best = std::max_element(payoffs.begin(), payoffs.end());
        profile_[static_cast<std::size_t>(best - payoffs.begin())] = 1.0;
        solution.add_part(1, profile_);
        solution.values = {*best};
        break;
      }
      case Target::nash: {
        const MatrixSolution& found =
            solver_.solve(MatrixGame{num_actions_[0], num_actions_[1], payoffs.first(joint)});
        std::copy(found.row.begin(), found.row.end(), profile_.begin());
        std::copy(found.column.begin(), found.column.end(),
                  profile_.begin() + static_cast<std::ptrdiff_t>(found.row.size()));
        solution.add_part(1, profile_);
        solution.values = {found.value, steps_left(task.h) - found.value};
        break;
      }
      case Target::cce:
      case Target::ce: solve_correlated(task, payoffs, solution); break;
    }
    return solution;
  }

 private:
  [[nodiscard]] double steps_left(Step h) const noexcept {
    return static_cast<double>(frame_.horizon() - h.index());
  }

  void solve_correlated(const StageTask& task, std::span<double> payoffs, StageSolution& solution) {
    const std::size_t m = frame_.num_players();
    const std::size_t joint = payoffs.size() / m;
    const double steps = steps_left(task.h);
    // Welfare and the least value compare players: in the units that the user gave.
    for (const Player player : all<Player>(m)) {
      const RewardRange& range = frame_.range(player);
      for (double& payoff : payoffs.subspan(player.index() * joint, joint)) {
        payoff = range.from_unit(payoff, steps);
      }
    }
    const CorrelatedSolution& found =
        solver_.solve(StageGame{num_actions_, payoffs}, target_, selection_);
    const auto begins = frame_.action_begins(task.h, task.s);
    for (std::size_t a = 0; a < joint; ++a) {
      const std::uint64_t weight = weight_of(found.joint[a]);
      if (weight == 0) continue;
      put_pure(a, begins, profile_);
      solution.add_part(weight, profile_);
    }
    for (const Player player : all<Player>(m)) {
      const RewardRange& range = frame_.range(player);
      solution.values.push_back((found.values[player.index()] - steps * range.low) /
                                (range.high - range.low));
    }
  }

  const Frame& frame_;
  Target target_;
  Selection selection_;
  StagePayoffs<G> payoffs_;
  StageSolver solver_;
  std::vector<std::uint32_t> num_actions_;
  std::vector<double> profile_;
};

}  // namespace vlearn
