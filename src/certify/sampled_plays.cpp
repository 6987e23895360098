// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "sampled_parts.h"

namespace vlearn {
namespace {

/// Sums in blocks, whatever comes at a time.
class BlockSums {
 public:
  void add(double number) noexcept {
    block_.add(number);
    if (++count_ % kSampleBlock == 0) end_block();
  }
  /// Of numbers from 0 to twice the centre, which were given minus the centre.
  [[nodiscard]] PlayedSum about(double centre) {
    end_block();
    return {centre + all_.mean(count_),
            all_.variance(count_) + lost_variance(count_, 2.0 * centre)};
  }

 private:
  void end_block() noexcept {
    all_.add(block_);
    block_ = {};
  }

  Moments all_;
  Moments block_;
  std::uint64_t count_ = 0;
};

/// Some plays, side by side: all make a step before any makes the next.
class Plays {
 public:
  Plays(const SampledSetting& setting, std::uint64_t seed)
      : setting_(setting), frame_(setting.game.frame()), seed_(seed) {}

  /// Plays of these numbers. `answer(number, cell's h and s, joint)` may change what is played;
  /// `earn(i, rewards)` sees what the i-th of them has got in a step.
  template <class Answer, class Earn>
  void run(std::uint64_t first, std::size_t count, const Answer& answer, const Earn& earn) {
    states_.resize(count);
    parallel_for(blocks(count), setting_.parallel, [&](std::size_t block) {
      for_block(block, count, [&](std::size_t i) {
        states_[i] = setting_.game.start(Nature(seed_, Episode(first + i), Step()));
      });
    });
    for (const Step h : all<Step>(frame_.horizon())) step(h, first, answer, earn);
  }

 private:
  static std::size_t blocks(std::size_t count) { return (count + kSampleBlock - 1) / kSampleBlock; }
  template <class Use>
  static void for_block(std::size_t block, std::size_t count, const Use& use) {
    const std::size_t end = std::min(count, (block + 1) * kSampleBlock);
    for (std::size_t i = block * kSampleBlock; i < end; ++i) use(i);
  }

  /// Plays in the order of their states; those of a state begin at begins_[s].
  void sort_by_state(Step h) {
    begins_.assign(frame_.num_states(h) + 1, 0);
    for (const State s : states_) ++begins_[s.index() + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    order_.resize(states_.size());
    for (std::size_t i = 0; i < states_.size(); ++i) order_[next[states_[i].index()]++] = i;
  }

  template <class Answer, class Earn>
  void step(Step h, std::uint64_t first, const Answer& answer, const Earn& earn) {
    const std::size_t m = frame_.num_players();
    sort_by_state(h);
    joint_.resize(states_.size() * m);
    parallel_for(frame_.num_states(h), setting_.parallel, [&](std::size_t s) {
      std::vector<std::uint64_t> numbers;
      for (std::size_t k = begins_[s]; k < begins_[s + 1]; ++k) {
        numbers.push_back(first + order_[k]);
      }
      const auto actions = std::span(joint_).subspan(begins_[s] * m, numbers.size() * m);
      if (!numbers.empty()) setting_.policy.draw(h, State(s), seed_, numbers, actions);
    });
    parallel_for(blocks(states_.size()), setting_.parallel, [&](std::size_t block) {
      std::vector<double> rewards(m);
      for_block(block, states_.size(), [&](std::size_t k) {
        const std::size_t i = order_[k];
        const std::span<Action> joint = std::span(joint_).subspan(k * m, m);
        answer(first + i, h, states_[i], joint);
        const Nature nature(seed_, Episode(first + i), h);
        states_[i] = setting_.game.sample(h, states_[i], joint, nature, rewards);
        earn(i, rewards);
      });
    });
  }

  const SampledSetting& setting_;
  const Frame& frame_;
  std::uint64_t seed_;
  std::vector<State> states_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> order_;
  std::vector<Action> joint_;
};

/// Plays at a time.
std::uint64_t batch_of(const Frame& frame) {
  return std::max<std::uint64_t>(kSampleBlock, 2 * kSampleMemory / frame.num_players());
}

std::vector<PlayedSum> results(std::span<BlockSums> sums, double centre) {
  std::vector<PlayedSum> found;
  for (BlockSums& own : sums) found.push_back(own.about(centre));
  return found;
}

}  // namespace

PlanLayout::PlanLayout(const Frame& frame, Target target)
    : per_action_(target == Target::ce), first_cell_{0}, begins_(frame.num_players()) {
  for (const Step h : all<Step>(frame.horizon())) {
    first_cell_.push_back(first_cell_.back() + frame.num_states(h));
  }
  for (const Player player : all<Player>(frame.num_players())) {
    std::vector<std::size_t>& begins = begins_[player.index()];
    begins.push_back(0);
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        begins.push_back(begins.back() + (per_action_ ? frame.num_actions(player, h, s) : 1));
      }
    }
  }
}

std::vector<PlayedSum> play_along(const SampledSetting& setting,
                                  std::uint64_t plays,
                                  std::uint64_t seed) {
  const Frame& frame = setting.game.frame();
  const std::size_t m = frame.num_players();
  const double centre = 0.5 * static_cast<double>(frame.horizon());
  std::vector<BlockSums> sums(m);
  std::vector<double> totals;
  Plays batch(setting, seed);
  for (std::uint64_t first = 0; first < plays; first += batch_of(frame)) {
    const std::size_t count = std::min(batch_of(frame), plays - first);
    totals.assign(count * m, -centre);
    batch.run(
        first, count, [](std::uint64_t, Step, State, std::span<Action>) {},
        [&](std::size_t i, std::span<const double> rewards) {
          for (std::size_t j = 0; j < m; ++j) totals[i * m + j] += rewards[j];
        });
    for (std::size_t i = 0; i < totals.size(); ++i) sums[i % m].add(totals[i]);
  }
  return results(sums, centre);
}

std::vector<PlayedSum> play_plans(const SampledSetting& setting,
                                  const PlanLayout& layout,
                                  std::span<const WitnessPlan> plans,
                                  std::uint64_t plays,
                                  std::uint64_t seed) {
  const Frame& frame = setting.game.frame();
  const double centre = 0.5 * static_cast<double>(frame.horizon());
  std::vector<BlockSums> sums(plans.size());
  std::vector<double> totals;
  Plays batch(setting, seed);
  const std::uint64_t all_plays = plays * plans.size();
  for (std::uint64_t first = 0; first < all_plays; first += batch_of(frame)) {
    const std::size_t count = std::min(batch_of(frame), all_plays - first);
    totals.assign(count, -centre);
    batch.run(
        first, count,
        [&](std::uint64_t number, Step h, State s, std::span<Action> joint) {
          const std::size_t j = number / plays;
          joint[j] = Action(plans[j][layout.place(Player(j), layout.cell(h, s), joint[j])]);
        },
        [&](std::size_t i, std::span<const double> rewards) {
          totals[i] += rewards[(first + i) / plays];
        });
    for (std::size_t i = 0; i < count; ++i) sums[(first + i) / plays].add(totals[i]);
  }
  return results(sums, centre);
}

}  // namespace vlearn
