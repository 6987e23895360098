// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The bandits of one player, moved on visit by visit. Every snapshot that comes along must be what
// the visits before it have led to: executions begin at snapshots.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/verify/policy_log.h"

namespace vlearn {

/// The bandit of one cell.
class Replay {
 public:
  Replay() = default;

  /// Before the visits of a run.
  void enter(const PolicyLog& log, const PolicyLog::Run& run) {
    if (state_.empty()) {
      num_actions_ = log.num_actions()[run.cell];
      state_.resize(log.rule().state_size(num_actions_));
      log.rule().reset(num_actions_, state_);
    }
    snapshot_ = run.snapshots_begin;
  }
  /// What is played at the next visit.
  [[nodiscard]] std::span<const double> policy() const {
    return std::span(state_).first(num_actions_);
  }
  [[nodiscard]] std::uint64_t visits() const { return visits_; }
  void advance(const PolicyLog& log, const PolicyLog::Segment& segment, std::uint64_t place) {
    const ReplayedRule& rule = log.rule();
    rule.advance(num_actions_, ++visits_, log.logged(segment, place), state_);
    if (visits_ % rule.snapshot_interval(num_actions_) != 0) return;
    const std::size_t size = rule.snapshot_size(num_actions_);
    const std::span<const double> snapshot = segment.snapshots.subspan(snapshot_, size);
    const std::span<double> own = std::span(state_).last(size);
    if (!rule.agree(own, snapshot)) {
      throw log.error(
          fmt::format("the snapshot after visit {} in segment {} is not what its visits lead to",
                      visits_, segment.first_episode / log.segments().front().episodes + 1));
    }
    std::copy(snapshot.begin(), snapshot.end(), own.begin());
    snapshot_ += size;
  }

 private:
  std::size_t num_actions_ = 0;
  std::uint64_t visits_ = 0;
  std::uint64_t snapshot_ = 0;  // the next one, among the numbers of the segment
  std::vector<double> state_;
};

}  // namespace vlearn
