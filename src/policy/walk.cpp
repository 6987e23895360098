// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/walk.h"

#include "vlearn/core/assert.h"

namespace vlearn {

PolicyWalk::PolicyWalk(const PolicyFile& file, std::size_t cell, ReplayMemory& memory)
    : file_(&file), memory_(&memory), num_actions_(file.header().seat.num_actions[cell]) {
  const std::span<const Run> runs = file.runs(cell);
  run_ = runs.data();
  end_ = runs.data() + runs.size();
  policy_ = file.replayer_->begin_walk(num_actions_, memory);
}

void PolicyWalk::next() noexcept {
  VLEARN_ASSERT(logged());
  policy_ = file_->replayer_->walk_on(
      num_actions_, visit_, PolicyFile::logged_at(file_->segments_[run_->segment], place()),
      *memory_);
  ++visit_;
  if (visit_ - 1 == run_->visits_before + run_->count) ++run_;
}

}  // namespace vlearn
