// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/nash_vi.h"

#include <algorithm>
#include <cmath>

namespace vlearn {
namespace {

/// What the bonus needs beside t.
struct Sizes {
  double c;
  double iota;
  double horizon;
  double states;
  double reward_variance;
  BaselineBonus bonus;

  [[nodiscard]] double beta(double t, double variance) const noexcept {
    const double spread =
        bonus == BaselineBonus::hoeffding ? horizon * horizon : variance + reward_variance;
    return c * (std::sqrt(spread * iota / t) + horizon * horizon * states * iota / t);
  }
};

/// Of the middle values, around their mean: nothing cancels.
double variance_next(std::span<const std::uint32_t> counts,
                     std::span<const double> values,
                     double t) noexcept {
  const double mean = mean_next(counts, values, t);
  double sum = 0.0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const double away = values[s] - mean;
    sum += counts[s] * (away * away);
  }
  return sum / t;
}

}  // namespace

void plan_nash_vi(const PlayedModel& model,
                  const BaselineOptions& options,
                  PlanMemory& memory,
                  JointPlan& plan) {
  const Frame& frame = model.frame();
  const bool noisy = frame.noise() != RewardNoise::none || !frame.start_known();
  const Sizes sizes{options.constant,
                    iota_of(frame, options),
                    static_cast<double>(frame.horizon()),
                    static_cast<double>(frame.max_states()),
                    noisy ? 0.25 : 0.0,
                    options.bonus};
  plan.clear();
  const std::span<double> upper = plan.upper(0);
  const std::span<double> lower = plan.lower(0);
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    const double most = static_cast<double>(frame.horizon() - step);  // H_h
    const std::span<const double> next_upper = model.of_next_step(h, upper);
    const std::span<const double> next_lower = model.of_next_step(h, lower);
    memory.middle.resize(next_upper.size());
    for (std::size_t s = 0; s < next_upper.size(); ++s) {
      memory.middle[s] = 0.5 * (next_upper[s] + next_lower[s]);
    }
    for (const State s : all<State>(frame.num_states(h))) {
      memory.begin(model, h, s);
      const std::size_t cell = model.cell(h, s);
      const std::size_t num_joint = model.num_joint(cell);
      const std::span<double> q_upper = std::span(memory.payoffs).first(num_joint);
      const std::span<double> q_lower = std::span(memory.lower).first(num_joint);
      for (std::size_t a = 0; a < num_joint; ++a) {
        q_upper[a] = most;
        q_lower[a] = 0.0;
        const double t = model.visits(cell, a);
        if (t == 0.0) continue;
        const auto counts = model.next(cell, a);
        const double up = mean_next(counts, next_upper, t);
        const double low = mean_next(counts, next_lower, t);
        const double moved = sizes.c / sizes.horizon * (up - low) +
                             sizes.beta(t, variance_next(counts, memory.middle, t));
        const double reward = model.reward(Player(0U), cell, a);
        q_upper[a] = std::min(reward + up + moved, most);
        q_lower[a] = std::max(reward + low - moved, 0.0);
      }
      for (std::size_t a = 0; a < num_joint; ++a) {
        memory.payoffs[num_joint + a] = most - q_lower[a];
      }
      const CorrelatedSolution& found =
          memory.solver.solve(StageGame{memory.num_actions, memory.payoffs}, Target::cce);
      upper[cell] = 0.0;
      lower[cell] = 0.0;
      for (std::size_t a = 0; a < num_joint; ++a) {
        upper[cell] += found.joint[a] * q_upper[a];
        lower[cell] += found.joint[a] * q_lower[a];
      }
      plan.set(cell, found.joint);
    }
  }
}

}  // namespace vlearn
