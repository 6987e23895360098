// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/played_model.h"

#include <algorithm>
#include <bit>

#include "vlearn/core/assert.h"

namespace vlearn {

PlayedModel::PlayedModel(const Frame& frame)
    : frame_(&frame),
      paid_(frame.zero_sum() ? 1 : frame.num_players()),
      first_cell_{0},
      first_joint_{0},
      first_next_{0} {
  for (const Step h : all<Step>(frame.horizon())) {
    const std::size_t after = frame.is_last(h) ? 0 : frame.num_states(h.next());
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t joint = frame.num_joint_actions(frame.cell(h, s)).value_or(0);
      most_joint_ = std::max(most_joint_, joint);
      first_joint_.push_back(first_joint_.back() + joint);
      first_next_.push_back(first_next_.back() + joint * after);
      num_next_.push_back(static_cast<std::uint32_t>(after));
    }
    first_cell_.push_back(num_next_.size());
  }
  visits_.assign(first_joint_.back(), 0);
  rewards_.assign(first_joint_.back() * paid_, 0.0);
  next_.assign(first_next_.back(), 0);
}

bool PlayedModel::add(
    Step h, State s, std::size_t joint, std::span<const double> rewards, State next) {
  const std::size_t cell = this->cell(h, s);
  const std::size_t place = first_joint_[cell] + joint;
  VLEARN_ASSERT(place < first_joint_[cell + 1]);
  for (std::size_t j = 0; j < paid_; ++j) rewards_[place * paid_ + j] += rewards[j];
  if (!frame_->is_last(h)) {
    ++next_[first_next_[cell] + joint * num_next_[cell] + next.index()];
  }
  return std::has_single_bit(++visits_[place]);
}

double PlayedModel::reward(Player player, std::size_t cell, std::size_t joint) const noexcept {
  const std::size_t place = first_joint_[cell] + joint;
  const double t = visits_[place];
  if (player.index() >= paid_) return 1.0 - rewards_[place * paid_] / t;
  return rewards_[place * paid_ + player.index()] / t;
}

}  // namespace vlearn
