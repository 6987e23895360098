// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/random.h"

#include <Random123/philox.h>

#include "vlearn/core/assert.h"

namespace vlearn {

PhiloxBlock counter_of(const StreamKey& key, std::uint32_t block) noexcept {
  VLEARN_ASSERT(key.player.value() < kMaxPlayers);
  VLEARN_ASSERT(key.episode.value() < kMaxEpisodes);
  VLEARN_ASSERT(key.step.value() < kMaxSteps);
  VLEARN_ASSERT(block < kMaxBlocks);
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const std::uint64_t episode = key.episode.value();
  return {
      low(episode),
      low(episode >> 32U) | static_cast<std::uint32_t>(key.purpose) << 24U,
      key.player.value() | block << 24U,
      key.step.value() | (block >> 8U) << 20U,
  };
}

PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept {
  const r123::Philox4x32::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k = {{key[0], key[1]}};
  const r123::Philox4x32::ctr_type out = r123::Philox4x32{}(c, k);
  return {out.v[0], out.v[1], out.v[2], out.v[3]};
}

PhiloxBlock random_block(const StreamKey& key, std::uint32_t block) noexcept {
  return philox4x32_10(counter_of(key, block), {static_cast<std::uint32_t>(key.seed),
                                                static_cast<std::uint32_t>(key.seed >> 32U)});
}

void Draws::refill() noexcept {
  words_ = random_block(key_, next_block_++);
  used_ = 0;
}

std::uint64_t Draws::below(std::uint64_t n) noexcept {
  VLEARN_ASSERT(n >= 1);
  __extension__ using Wide = unsigned __int128;
  // Lemire, "Fast Random Integer Generation in an Interval" (2019): the products whose low half
  // falls below 2^64 mod n are the surplus ones.
  Wide product = static_cast<Wide>(bits()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t surplus = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < surplus) {
      product = static_cast<Wide>(bits()) * n;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace vlearn
