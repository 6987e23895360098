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
      : rule_(std::move(rule)), num_actions_(num_actions.begin(), num_actions.end()) {
    std::size_t scratch = 0;
    for (const std::uint32_t n : num_actions_) {
      begins_.push_back(begins_.back() + rule_.memory_size(n));
      scratch = std::max(scratch, rule_.scratch_size(n));
    }
    memory_.resize(begins_.back());
    scratch_.resize(scratch);
    for (std::size_t i = 0; i < size(); ++i) rule_.reset(cell(i));
  }

  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }
  [[nodiscard]] std::size_t size() const noexcept { return num_actions_.size(); }
  [[nodiscard]] BanditCell cell(std::size_t index) noexcept {
    return {num_actions_[index], memory_.data() + begins_[index], scratch_.data()};
  }
  [[nodiscard]] std::span<const double> policy(std::size_t index) const noexcept {
    // A rule reads a policy and writes nothing.
    return rule_.policy(
        {num_actions_[index], const_cast<double*>(memory_.data()) + begins_[index], nullptr});
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
    return update(index, action, loss, rule_.steps(num_actions_[index], visit));
  }
  /// Puts back what update() handed out.
  void replay(std::size_t index,
              Action action,
              const Increment& increment,
              std::uint64_t visit) noexcept {
    rule_.apply(cell(index), action, increment, rule_.steps(num_actions_[index], visit));
  }

  /// The state of all cells: what a checkpoint keeps.
  [[nodiscard]] std::span<double> memory() noexcept { return memory_; }
  [[nodiscard]] std::span<const double> memory() const noexcept { return memory_; }

 private:
  Rule rule_;
  std::vector<std::uint32_t> num_actions_;
  std::vector<std::size_t> begins_ = {0};
  std::vector<double> memory_;
  std::vector<double> scratch_;
};

}  // namespace vlearn
