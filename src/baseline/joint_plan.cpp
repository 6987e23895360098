// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/joint_plan.h"

#include <algorithm>
#include <utility>

#include "vlearn/core/cancel.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/joint_profile.h"

namespace vlearn {

JointPlan::JointPlan(std::size_t num_cells, std::size_t num_values)
    : num_values_(num_values),
      upper_(num_cells * num_values, 0.0),
      lower_(num_cells * num_values, 0.0),
      first_(num_cells, 0),
      size_(num_cells, 0) {}

void JointPlan::clear() noexcept {
  joints_.clear();
  chances_.clear();
}

void JointPlan::set(std::size_t cell, std::span<const double> joint) {
  first_[cell] = joints_.size();
  for (std::size_t a = 0; a < joint.size(); ++a) {
    if (!(joint[a] > 0.0)) continue;
    joints_.push_back(a);
    chances_.push_back(joint[a]);
  }
  size_[cell] = joints_.size() - first_[cell];
}

void PlanMemory::begin(const PlayedModel& model, Step h, State s) {
  if (stop_ && stop_()) throw Cancelled();
  const auto begins = model.frame().action_begins(h, s);
  num_actions.clear();
  for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
    num_actions.push_back(begins[j + 1] - begins[j]);
  }
  const std::size_t size = num_actions.size() * model.num_joint(model.cell(h, s));
  payoffs.resize(size);
  lower.resize(size);
}

double optimism_gap(const Frame& frame, const JointPlan& plan) {
  double largest = 0.0;
  for (const Player player : all<Player>(plan.num_values())) {
    const double width = frame.range(player).high - frame.range(player).low;
    double sum = 0.0;
    double worst = 0.0;
    for (const State s : all<State>(frame.num_states(Step(0U)))) {
      const double gap =
          plan.upper(player.index())[s.index()] - plan.lower(player.index())[s.index()];
      worst = std::max(worst, gap);
      if (frame.start_known()) sum += frame.initial()[s.index()] * gap;
    }
    largest = std::max(largest, width * (frame.start_known() ? sum : worst));
  }
  return largest;
}

namespace {

/// Each player's share of what all play together.
void put_marginals(const JointPlan& plan,
                   std::size_t cell,
                   std::span<const std::uint32_t> begins,
                   std::span<double> profile) {
  std::fill(profile.begin(), profile.end(), 0.0);
  const auto joints = plan.joints(cell);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    for_each_part(joints[i], begins, [&](std::size_t j, std::size_t own) {
      profile[begins[j] + own] += plan.chances(cell)[i];
    });
  }
  for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
    static_cast<void>(normalise(profile.subspan(begins[j], begins[j + 1] - begins[j])));
  }
}

}  // namespace

std::vector<MarkovTable> tables_of(const Frame& frame,
                                   const JointPlan& plan,
                                   Target target,
                                   const std::string& game_hash) {
  std::vector<MarkovTable> tables(frame.num_players());
  for (const Player player : all<Player>(tables.size())) {
    MarkovTable& table = tables[player.index()];
    table.player = player;
    table.num_players = tables.size();
    table.target = target;
    table.game_hash = game_hash;
  }
  std::vector<double> numbers(frame.max_profile_size());
  std::size_t cell = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const auto begins = frame.action_begins(h, s);
      const std::span<double> profile = std::span(numbers).first(begins.back());
      const auto add_part = [&](std::uint64_t weight) {
        const Profile rows(begins, profile);
        for (MarkovTable& table : tables) table.add_part(weight, rows[table.player]);
      };
      if (target == Target::nash) {
        put_marginals(plan, cell, begins, profile);
        add_part(1);
      } else {
        for (std::size_t i = 0; i < plan.joints(cell).size(); ++i) {
          const std::uint64_t weight = weight_of(plan.chances(cell)[i]);
          if (weight == 0) continue;
          put_pure(plan.joints(cell)[i], begins, profile);
          add_part(weight);
        }
      }
      for (MarkovTable& table : tables) {
        table.end_cell();
        table.num_actions.push_back(
            static_cast<std::uint32_t>(frame.num_actions(table.player, h, s)));
      }
      ++cell;
    }
    for (MarkovTable& table : tables) table.first_cell.push_back(table.num_actions.size());
  }
  return tables;
}

}  // namespace vlearn
