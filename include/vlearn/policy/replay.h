// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Past policies from a log: a snapshot of a bandit and the increments of the visits after it give
// the policy that was played, bit for bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/bandit/rule.h"
#include "vlearn/core/id.h"

namespace vlearn {

/// Memory that replays use, kept by the caller between calls. One per thread.
struct ReplayMemory {
  std::vector<LoggedVisit> visits;
  std::vector<double> state;
  std::vector<double> scratch;
};

/// A rule whose type was chosen at run time.
class Replayer {
 public:
  virtual ~Replayer() = default;
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;
  Replayer(Replayer&&) = delete;
  Replayer& operator=(Replayer&&) = delete;

  /// Numbers in a snapshot of a bandit with so many actions.
  [[nodiscard]] virtual std::size_t snapshot_size(std::size_t num_actions) const noexcept = 0;
  /// A snapshot is taken whenever a bandit has had a multiple of so many visits.
  [[nodiscard]] virtual std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept = 0;

  /// The policy after `visits`, which follow visit number `done`; `snapshot` is of that moment, and
  /// empty where done is 0. There is a visit at least, or done is 0.
  virtual void policy(std::uint64_t done,
                      std::span<const double> snapshot,
                      std::span<const LoggedVisit> visits,
                      std::span<double> policy,
                      ReplayMemory& memory) const = 0;

  /// A walk forwards, one visit after the other, whose bandit lies in the memory: a fresh one, and
  /// its policy,
  virtual std::span<const double> begin_walk(std::size_t num_actions,
                                             ReplayMemory& memory) const = 0;
  /// and what it plays after visit number `visit` = 1, 2, ..., in place of the policy before it.
  virtual std::span<const double> walk_on(std::size_t num_actions,
                                          std::uint64_t visit,
                                          const LoggedVisit& logged,
                                          ReplayMemory& memory) const noexcept = 0;

 protected:
  Replayer() = default;
};

template <BanditRule Rule>
class RuleReplayer final : public Replayer {
 public:
  explicit RuleReplayer(Rule rule) : rule_(std::move(rule)) {}

  [[nodiscard]] std::size_t snapshot_size(std::size_t num_actions) const noexcept override {
    return rule_.memory_size(num_actions) - rule_.forgettable(num_actions);
  }
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept override {
    return rule_.snapshot_interval(num_actions);
  }
  void policy(std::uint64_t done,
              std::span<const double> snapshot,
              std::span<const LoggedVisit> visits,
              std::span<double> policy,
              ReplayMemory& memory) const override {
    const std::size_t n = policy.size();
    const BanditCell cell = fresh_cell(n, memory);
    std::copy(snapshot.begin(), snapshot.end(), cell.state + rule_.forgettable(n));
    if (!visits.empty()) rule_.replay(cell, done, visits);
    const std::span<const double> last = rule_.policy(cell);
    std::copy(last.begin(), last.end(), policy.begin());
  }
  std::span<const double> begin_walk(std::size_t num_actions, ReplayMemory& memory) const override {
    return rule_.policy(fresh_cell(num_actions, memory));
  }
  std::span<const double> walk_on(std::size_t num_actions,
                                  std::uint64_t visit,
                                  const LoggedVisit& logged,
                                  ReplayMemory& memory) const noexcept override {
    const BanditCell cell{num_actions, memory.state.data(), memory.scratch.data()};
    rule_.apply(cell, logged.action, logged.increment, rule_.steps(num_actions, visit));
    return rule_.policy(cell);
  }

 private:
  [[nodiscard]] BanditCell fresh_cell(std::size_t num_actions, ReplayMemory& memory) const {
    memory.state.resize(std::max(memory.state.size(), rule_.memory_size(num_actions)));
    memory.scratch.resize(std::max(memory.scratch.size(), rule_.scratch_size(num_actions)));
    const BanditCell cell{num_actions, memory.state.data(), memory.scratch.data()};
    rule_.reset(cell);
    return cell;
  }

  Rule rule_;
};

}  // namespace vlearn
