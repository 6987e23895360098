// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What one player has counted of a world that does not change, and the best plan in it. Only what
// was seen takes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "vlearn/core/id.h"

namespace vlearn {

class DeviationModel {
 public:
  explicit DeviationModel(std::size_t horizon) : steps_(horizon) {}

  /// What is observed at a step: a number that the caller chooses.
  using Observation = std::uint64_t;

  /// What to try next, of so many actions: what has not been tried, else what may be best.
  [[nodiscard]] std::uint32_t explore(Step h, Observation seen, std::uint32_t num_actions);
  /// After the last step `next` means nothing.
  void learn(Step h, Observation seen, std::uint32_t action, double reward, Observation next);
  /// Values of everything that was counted, by one sweep from the last step on, and another c: how
  /// often is up to the caller.
  void plan();

  /// The best that is known, with no bonus; `otherwise` where nothing is. After finish().
  [[nodiscard]] std::uint32_t best(Step h, Observation seen, std::uint32_t otherwise) const;
  /// The last sweep: without bonus.
  void finish();

 private:
  struct Arm {
    std::uint64_t tries = 0;
    double rewards = 0.0;  // of all tries
    double tail = 0.0;     // mean of the values that came next, by the last sweep
    std::map<Observation, std::uint64_t> next;
  };
  struct Place {
    std::vector<Arm> arms;
    double value = 0.0;
    std::uint32_t best = 0;
  };
  /// What can still come.
  [[nodiscard]] double most(Step h) const noexcept {
    return static_cast<double>(steps_.size() - h.index());
  }
  [[nodiscard]] double score(Step h, const Arm& arm, double bonus) const noexcept;
  void sweep(double bonus, double unseen);

  std::vector<std::map<Observation, Place>> steps_;
  std::uint64_t plans_ = 0;
  double bonus_ = 1.0;  // c of the last plan
};

}  // namespace vlearn
