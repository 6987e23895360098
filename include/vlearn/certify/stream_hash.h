// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Where no history is kept, a hash of all policies in the order of play stands for it: SHA-256 over
// the hash of the episodes before and, for each step of the episode, the step, the state and the
// policies of all players. docs/reference/certificate.md has the bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vlearn/core/hash.h"
#include "vlearn/game/frame.h"

namespace vlearn {

class StreamHash {
 public:
  /// The frame must live on.
  explicit StreamHash(const Frame& frame) : frame_(frame) {}

  /// All visits in the order of play; the last step ends an episode.
  void visit(Step h, State s, const Profile& profile);
  /// Of the episodes so far, as hex digits.
  [[nodiscard]] std::string hex() const { return to_hex(digest_); }

  // For a checkpoint, between episodes:
  [[nodiscard]] const Sha256Digest& digest() const noexcept { return digest_; }
  void set_digest(const Sha256Digest& digest);

 private:
  const Frame& frame_;
  Sha256Digest digest_ = {};             // of the episodes before
  std::vector<std::byte> episode_ = {};  // what is hashed of this one
};

}  // namespace vlearn
