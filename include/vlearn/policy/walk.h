// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The policies of one cell in the order in which they were played. PolicyFile::policy() finds any
// of them and pays for a replay from the last snapshot; here each costs one visit. The bits are the
// same.
//
// A walk is a cursor, so that the walks of all players through a cell can go side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vlearn/policy/history.h"

namespace vlearn {

class PolicyWalk {
 public:
  /// Stands before the first visit. The file must outlive the walk. The memory carries it: nobody
  /// else uses it meanwhile, not PolicyFile::policy() either.
  PolicyWalk(const PolicyFile& file, std::size_t cell, ReplayMemory& memory);

  /// i = 1, 2, ...
  [[nodiscard]] std::uint64_t visit() const noexcept { return visit_; }
  /// What was played at visit i, or would be at the one after the last; valid until next().
  [[nodiscard]] std::span<const double> policy() const noexcept { return policy_; }

  /// Whether visit i was: false behind the last one, where nothing below may be asked.
  [[nodiscard]] bool logged() const noexcept { return run_ != end_; }
  /// k^i, counted from 0.
  [[nodiscard]] std::uint64_t episode() const noexcept {
    const PolicyFile::Segment& segment = file_->segments_[run_->segment];
    return segment.first_episode + segment.episode_offsets[place()];
  }
  [[nodiscard]] Action action() const noexcept {
    return PolicyFile::logged_at(file_->segments_[run_->segment], place()).action;
  }
  /// To visit i + 1. Allocates nothing.
  void next() noexcept;

 private:
  using Run = PolicyFile::Run;
  /// Of visit i among the visits of its segment.
  [[nodiscard]] std::uint64_t place() const noexcept {
    return run_->begin + visit_ - 1 - run_->visits_before;
  }

  const PolicyFile* file_;
  ReplayMemory* memory_;
  const Run* run_;
  const Run* end_;
  std::size_t num_actions_;
  std::uint64_t visit_ = 1;
  std::span<const double> policy_;
};

/// see(i, policy) for visits i = 1, ..., n of a cell, which has so many, or one fewer.
template <class See>
void for_each_policy(const PolicyFile& file,
                     std::size_t cell,
                     std::uint64_t n,
                     ReplayMemory& memory,
                     const See& see) {
  PolicyWalk walk(file, cell, memory);
  while (walk.visit() <= n) {
    see(walk.visit(), walk.policy());
    if (walk.visit() == n) return;
    walk.next();
  }
}

}  // namespace vlearn
