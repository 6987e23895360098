// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/stream_hash.h"

#include <array>
#include <cstdint>
#include <span>

namespace vlearn {

void StreamHash::visit(Step h, State s, const Profile& profile) {
  const auto add = [&](std::span<const std::byte> bytes) {
    episode_.insert(episode_.end(), bytes.begin(), bytes.end());
  };
  const std::array<std::uint64_t, 2> place = {h.number(), s.number()};
  add(std::as_bytes(std::span(place)));
  for (const Player player : all<Player>(frame_.num_players())) {
    add(std::as_bytes(profile[player]));
  }
  if (!frame_.is_last(h)) return;
  Sha256 hash;
  hash.update(digest_);
  hash.update(episode_);
  digest_ = hash.finish();
  episode_.clear();
}

void StreamHash::set_digest(const Sha256Digest& digest) {
  digest_ = digest;
  episode_.clear();
}

}  // namespace vlearn
