// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The bandits of one player at all cells, in one flat array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/bandit/rule.h"

namespace vlearn {

template <BanditRule Rule>
class BanditBank {
 public:
  /// For each cell its number of actions, at least one. All start fresh.
  BanditBank(Rule rule, std::span<const std::uint32_t> num_actions)
      : rule_(std::move(rule)), size_(num_actions.size()) {
    std::size_t scratch = 0;
    std::size_t memory = 0;
    bool alike = true;
    for (const std::uint32_t n : num_actions) {
      places_.push_back({memory, n});
      memory += rule_.memory_size(n);
      scratch = std::max(scratch, rule_.scratch_size(n));
      alike = alike && n == num_actions.front();
    }
    memory_.resize(memory);
    scratch_.resize(scratch);
    if (alike && size_ > 0) {
      same_ = {rule_.memory_size(num_actions.front()), num_actions.front()};
      places_ = {};
    }
    for (std::size_t i = 0; i < size(); ++i) rule_.reset(cell(i));
  }

  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] BanditCell cell(std::size_t index) noexcept {
    const Place place = place_of(index);
    return {place.num_actions, memory_.data() + place.begin, scratch_.data()};
  }
  [[nodiscard]] std::span<const double> policy(std::size_t index) const noexcept {
    // A rule reads a policy and writes nothing.
    const Place place = place_of(index);
    return rule_.policy(
        {place.num_actions, const_cast<double*>(memory_.data()) + place.begin, nullptr});
  }
  /// All numbers of a cell.
  [[nodiscard]] std::span<const double> state(std::size_t index) const noexcept {
    const Place place = place_of(index);
    return std::span(memory_).subspan(place.begin, rule_.memory_size(place.num_actions));
  }
  /// Asks for the memory of a cell.
  void fetch(std::size_t index) const noexcept {
    const double* const begin = memory_.data() + place_of(index).begin;
    const std::size_t size = rule_.memory_size(place_of(index).num_actions);
    for (std::size_t i = 0; i < size && i < 64; i += 8) __builtin_prefetch(begin + i, 1);
  }
  /// What is played: u uniform in [0, 1).
  [[nodiscard]] Action draw(std::size_t index, const VisitSteps& steps, double u) const noexcept {
    return draw_action(policy(index), steps.floor, u);
  }
  /// One visit, whose step sizes rule().steps() gives.
  Increment update(std::size_t index,
                   Action action,
                   double loss,
                   const VisitSteps& steps) noexcept {
    const BanditCell cell = this->cell(index);
    const Increment increment = rule_.measure(cell, action, loss, steps);
    rule_.apply(cell, action, increment, steps);
    return increment;
  }
  /// The same, where nobody has computed the step sizes before.
  Increment update(std::size_t index, Action action, double loss, std::uint64_t visit) noexcept {
    return update(index, action, loss, rule_.steps(place_of(index).num_actions, visit));
  }

  /// Whether every cell is in a state that updates may leave.
  [[nodiscard]] bool sound() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      const Place place = place_of(i);
      // It looks, and changes nothing.
      double* const state = const_cast<double*>(memory_.data()) + place.begin;
      if (!rule_.sound({place.num_actions, state, nullptr})) return false;
    }
    return true;
  }
  /// The state of all cells: what a checkpoint keeps.
  [[nodiscard]] std::span<double> memory() noexcept { return memory_; }
  [[nodiscard]] std::span<const double> memory() const noexcept { return memory_; }

 private:
  struct Place {
    std::size_t begin = 0;
    std::size_t num_actions = 0;
  };
  [[nodiscard]] Place place_of(std::size_t index) const noexcept {
    if (places_.empty()) return {index * same_.begin, same_.num_actions};
    return places_[index];
  }

  Rule rule_;
  std::size_t size_;
  Place same_;                 // of the second cell, where all have as many actions
  std::vector<Place> places_;  // of each cell, where they differ
  std::vector<double> memory_;
  std::vector<double> scratch_;
};

}  // namespace vlearn
