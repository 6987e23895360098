// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/plug_in.h"

#include <algorithm>

namespace vlearn {
namespace {

/// What everybody plays together, [joint] in `memory.lower`, which has room for it.
std::span<const double> solve_stage(Target target, std::size_t num_joint, PlanMemory& memory) {
  const std::span<double> joint = std::span(memory.lower).first(num_joint);
  switch (target) {
    case Target::optimal: {
      const auto best = std::max_element(memory.payoffs.begin(), memory.payoffs.end());
      std::fill(joint.begin(), joint.end(), 0.0);
      joint[static_cast<std::size_t>(best - memory.payoffs.begin())] = 1.0;
      break;
    }
    case Target::nash: {
      const std::size_t rows = memory.num_actions[0];
      const std::size_t columns = memory.num_actions[1];
      const MatrixSolution& found = memory.solver.solve(
          MatrixGame{rows, columns, std::span(memory.payoffs).first(num_joint)});
      for (std::size_t a = 0; a < num_joint; ++a) {
        joint[a] = found.row[a / columns] * found.column[a % columns];
      }
      break;
    }
    case Target::cce:
    case Target::ce: {
      const CorrelatedSolution& found =
          memory.solver.solve(StageGame{memory.num_actions, memory.payoffs}, target);
      std::copy(found.joint.begin(), found.joint.end(), joint.begin());
      break;
    }
  }
  return joint;
}

}  // namespace

void plan_plug_in(const PlayedModel& model,
                  const BaselineOptions& options,
                  PlanMemory& memory,
                  JointPlan& plan) {
  const Frame& frame = model.frame();
  plan.clear();
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    const double half = 0.5 * static_cast<double>(frame.horizon() - step);  // H_h/2
    for (const State s : all<State>(frame.num_states(h))) {
      memory.begin(model, h, s);
      const std::size_t cell = model.cell(h, s);
      const std::size_t num_joint = model.num_joint(cell);
      for (const Player player : all<Player>(frame.num_players())) {
        const auto next = model.of_next_step(h, plan.upper(player.index()));
        const auto q = std::span(memory.payoffs).subspan(player.index() * num_joint, num_joint);
        for (std::size_t a = 0; a < num_joint; ++a) {
          const double t = model.visits(cell, a);
          q[a] = t == 0.0 ? half
                          : model.reward(player, cell, a) + mean_next(model.next(cell, a), next, t);
        }
      }
      const std::span<const double> joint = solve_stage(options.target, num_joint, memory);
      for (std::size_t j = 0; j < frame.num_players(); ++j) {
        double value = 0.0;
        for (std::size_t a = 0; a < num_joint; ++a) {
          value += joint[a] * memory.payoffs[j * num_joint + a];
        }
        plan.upper(j)[cell] = value;
        plan.lower(j)[cell] = value;
      }
      plan.set(cell, joint);
    }
  }
}

}  // namespace vlearn
