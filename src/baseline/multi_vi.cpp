// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/multi_vi.h"

#include <algorithm>
#include <cmath>

namespace vlearn {

void plan_multi_vi(const PlayedModel& model,
                   const BaselineOptions& options,
                   PlanMemory& memory,
                   JointPlan& plan) {
  const Frame& frame = model.frame();
  const auto horizon = static_cast<double>(frame.horizon());
  const double scale =
      static_cast<double>(frame.max_states()) * horizon * horizon * iota_of(frame, options);
  const Target target = options.target == Target::ce ? Target::ce : Target::cce;
  plan.clear();
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    const double most = static_cast<double>(frame.horizon() - step);  // H_h
    for (const State s : all<State>(frame.num_states(h))) {
      memory.begin(model, h, s);
      const std::size_t cell = model.cell(h, s);
      const std::size_t num_joint = model.num_joint(cell);
      for (const Player player : all<Player>(frame.num_players())) {
        const std::size_t j = player.index();
        const auto next_upper = model.of_next_step(h, plan.upper(j));
        const auto next_lower = model.of_next_step(h, plan.lower(j));
        const auto q_upper = std::span(memory.payoffs).subspan(j * num_joint, num_joint);
        const auto q_lower = std::span(memory.lower).subspan(j * num_joint, num_joint);
        for (std::size_t a = 0; a < num_joint; ++a) {
          q_upper[a] = most;
          q_lower[a] = 0.0;
          const double t = model.visits(cell, a);
          if (t == 0.0) continue;
          const auto counts = model.next(cell, a);
          const double beta = options.constant * std::sqrt(scale / t);
          const double reward = model.reward(player, cell, a);
          q_upper[a] = std::min(reward + mean_next(counts, next_upper, t) + beta, most);
          q_lower[a] = std::max(reward + mean_next(counts, next_lower, t) - beta, 0.0);
        }
      }
      const CorrelatedSolution& found =
          memory.solver.solve(StageGame{memory.num_actions, memory.payoffs}, target);
      for (std::size_t j = 0; j < frame.num_players(); ++j) {
        double upper = 0.0;
        double lower = 0.0;
        for (std::size_t a = 0; a < num_joint; ++a) {
          upper += found.joint[a] * memory.payoffs[j * num_joint + a];
          lower += found.joint[a] * memory.lower[j * num_joint + a];
        }
        plan.upper(j)[cell] = upper;
        plan.lower(j)[cell] = lower;
      }
      plan.set(cell, found.joint);
    }
  }
}

}  // namespace vlearn
