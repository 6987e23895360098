// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// DrawsAhead: Philox4x32-10 with one key to a lane, compiled once per instruction set.

#include "vlearn/core/simd-targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "draws_ahead.cpp"
#include <hwy/foreach_target.h>  // first: it includes this file again for each target
#include <hwy/highway.h>
//
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<std::uint64_t, 8>;
using Vector = hn::Vec<Tag>;

constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint64_t kWeyl0 = 0x9E3779B9;
constexpr std::uint64_t kWeyl1 = 0xBB67AE85;

/// The product of the low halves of each lane.
HWY_INLINE Vector multiply_low(Vector a, Vector b) {
#if HWY_TARGET == HWY_SCALAR
  const auto low = [](Vector v) { return hn::GetLane(v) & 0xFFFFFFFFU; };
  return hn::Set(Tag(), low(a) * low(b));
#else
  const hn::Repartition<std::uint32_t, Tag> words;
  return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
#endif
}

/// Words live in the low halves of lanes; what is in the high halves never matters.
void philox_blocks(std::uint64_t seed,
                   std::uint64_t episode,
                   std::size_t size,
                   const std::uint64_t* c1,
                   const std::uint64_t* c2,
                   const std::uint64_t* c3,
                   std::uint64_t* first,
                   std::uint64_t* second) {
  const Tag d;
  const Vector multiplier0 = hn::Set(d, kMultiplier0);
  const Vector multiplier1 = hn::Set(d, kMultiplier1);
  for (std::size_t i = 0; i < size; i += hn::MaxLanes(d)) {
    Vector x0 = hn::Set(d, episode);
    Vector x1 = hn::Or(hn::LoadU(d, c1 + i), hn::Set(d, episode >> 32U));
    Vector x2 = hn::LoadU(d, c2 + i);
    Vector x3 = hn::LoadU(d, c3 + i);
    std::uint64_t key0 = seed;
    std::uint64_t key1 = seed >> 32U;
    for (int round = 0; round < 10; ++round) {
      const Vector product0 = multiply_low(multiplier0, x0);
      const Vector product1 = multiply_low(multiplier1, x2);
      x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), x1), hn::Set(d, key0));
      x1 = product1;
      x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), x3), hn::Set(d, key1));
      x3 = product0;
      key0 += kWeyl0;
      key1 += kWeyl1;
    }
    const Vector low_half = hn::Set(d, 0xFFFFFFFFU);
    hn::StoreU(hn::Or(hn::And(x0, low_half), hn::ShiftLeft<32>(x1)), d, first + i);
    hn::StoreU(hn::Or(hn::And(x2, low_half), hn::ShiftLeft<32>(x3)), d, second + i);
  }
}

}  // namespace
}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "vlearn/core/assert.h"
#include "vlearn/core/random.h"

namespace vlearn {

HWY_EXPORT(philox_blocks);

DrawsAhead::DrawsAhead(std::uint64_t seed, std::span<const StreamKey> keys) : seed_(seed) {
  const std::size_t padded = (keys.size() + 7) / 8 * 8;
  for (auto* words : {&c1_, &c2_, &c3_, &first_, &second_}) words->resize(padded);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    StreamKey key = keys[i];
    key.episode = Episode();
    const PhiloxBlock counter = counter_of(key, 0);
    c1_[i] = counter[1];
    c2_[i] = counter[2];
    c3_[i] = counter[3];
  }
}

void DrawsAhead::fill(Episode episode) noexcept {
  VLEARN_ASSERT(episode.value() < kMaxEpisodes);
  HWY_DYNAMIC_DISPATCH(philox_blocks)
  (seed_, episode.value(), first_.size(), c1_.data(), c2_.data(), c3_.data(), first_.data(),
   second_.data());
}

}  // namespace vlearn

#endif  // HWY_ONCE
