// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a trainer's players have learned, as policies that can be executed, without a run folder: of
// games that have no file, such as simulators.
#pragma once

#include <cstddef>
#include <vector>

#include "vlearn/policy/history.h"
#include "vlearn/run/trainer.h"

namespace vlearn {

class KeptHistories {
 public:
  /// Keeps all that the trainer plays from now on, before its first episode. The trainer may play
  /// as long as this lives, and no longer.
  explicit KeptHistories(Trainer& trainer);

  /// Of each player, of all episodes so far; the trainer may go on.
  [[nodiscard]] std::vector<PolicyFile> policies();

  KeptHistories(const KeptHistories&) = delete;  // the trainer hands out to this one
  KeptHistories& operator=(const KeptHistories&) = delete;
  KeptHistories(KeptHistories&&) = delete;
  KeptHistories& operator=(KeptHistories&&) = delete;
  ~KeptHistories() = default;

 private:
  Trainer& trainer_;
  std::vector<std::vector<std::byte>> files_;  // header and whole segments
};

}  // namespace vlearn
