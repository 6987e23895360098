// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The recursion of head_counts.h in vectors, compiled once per instruction set. Rows are worked
// through in blocks of eight numbers whatever the width of a vector, and sums are folded in the
// order of simplex.h, so that the width cannot show.

#include "vlearn/core/simd-targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "head_counts.cpp"
#include <hwy/foreach_target.h>  // first: it includes this file again for each target
#include <hwy/highway.h>

#include "vlearn/core/lanes-inl.h"
//
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "head_counts.h"

HWY_BEFORE_NAMESPACE();
namespace vlearn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = CountWindow::kBlock;
using Tag = hn::CappedTag<double, kBlock>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());
constexpr std::size_t kVectors = kBlock / kLanes;

/// One more player, who is counted with probability p: to[n] = (1 - p) from[n] + p from[n - 1].
HWY_INLINE void convolve(const double* from, double p, std::size_t num_blocks, double* to) {
  const Tag d;
  const Vector stay = hn::Set(d, 1.0 - p);
  const Vector come = hn::Set(d, p);
  const std::size_t end = num_blocks * kBlock;
  for (std::size_t n = 0; n < end; n += kLanes) {
    const Vector same = hn::Mul(stay, hn::LoadU(d, from + n));
    const Vector more = hn::Mul(come, hn::LoadU(d, from + n - 1));
    hn::StoreU(hn::Add(same, more), d, to + n);
  }
  const std::size_t zeros = end + kBlock;
  for (std::size_t n = end; n < zeros; n += kLanes) hn::StoreU(hn::Zero(d), d, to + n);
}

/// sum_n law[n] given[n] with given = G_k, which becomes G_{k-1}:
/// given[n] = (1 - p) given[n] + p given[n + 1].
HWY_INLINE double expect(const double* law, double p, std::size_t num_blocks, double* given) {
  const Tag d;
  const Vector stay = hn::Set(d, 1.0 - p);
  const Vector come = hn::Set(d, p);
  std::array<Vector, kVectors> sums;
  for (Vector& sum : sums) sum = hn::Zero(d);
  for (std::size_t block = 0; block < num_blocks; ++block) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t n = block * kBlock + v * kLanes;
      const Vector now = hn::LoadU(d, given + n);
      const Vector next = hn::LoadU(d, given + n + 1);
      sums[v] = hn::Add(sums[v], hn::Mul(hn::LoadU(d, law + n), now));
      hn::StoreU(hn::Add(hn::Mul(stay, now), hn::Mul(come, next)), d, given + n);
    }
  }
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  }
  return fold_lanes(Plus(), d, sums[0]);
}

/// `given` holds G_m and a block of zeros behind it. A law has a zero before its first entry, and
/// zeros behind the last one to the end of the block after its own.
void expected_rewards_any(std::span<const double> chances,
                          double tiny,
                          std::span<CountWindow> windows,
                          double* laws,
                          double* given,
                          double* values) {
  const std::size_t m = chances.size();
  windows[0] = {1, 0, 1};
  std::fill_n(laws, 2 + 2 * kBlock, 0.0);
  laws[1] = 1.0;
  std::size_t end = 2 + 2 * kBlock;  // of what is used
  for (std::size_t k = 1; k < m; ++k) {
    const CountWindow& from = windows[k - 1];
    CountWindow to{end + 1, from.low, from.size + 1};
    laws[end] = 0.0;
    convolve(laws + from.begin, chances[k - 1], to.num_blocks(), laws + to.begin);
    end = to.begin + (to.num_blocks() + 1) * kBlock;
    while (to.size > 1 && !(laws[to.begin + to.size - 1] >= tiny)) laws[to.begin + --to.size] = 0.0;
    while (to.size > 1 && !(laws[to.begin] >= tiny)) {
      laws[to.begin] = 0.0;
      to = {to.begin + 1, to.low + 1, to.size - 1};
    }
    windows[k] = to;
  }
  for (std::size_t k = m; k > 0; --k) {
    CountWindow window = windows[k - 1];
    if (window.low > 0) window = {window.begin - 1, window.low - 1, window.size + 1};
    values[k - 1] =
        expect(laws + window.begin, chances[k - 1], window.num_blocks(), given + window.low);
  }
}

}  // namespace
}  // namespace vlearn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cmath>

#include "vlearn/core/assert.h"

namespace vlearn {
namespace {

/// The chance below which a count is dropped from the ends of its window.
double tiny_chance(std::size_t num_players) noexcept {
  const auto m = static_cast<double>(num_players);
  return 0x1p-64 / (m * m);
}

/// By Hoeffding's inequality counts further than sqrt(k ln(2 / tiny) / 2) from their mean have
/// chances below tiny / 2; the other half is for rounding. A new row has one entry more.
CountWindow widest_window(std::size_t num_players) noexcept {
  const auto m = static_cast<double>(num_players);
  const double reach = std::sqrt(m * std::log(2.0 / tiny_chance(num_players)) / 2.0);
  return {0, 0, std::min(num_players, 2 * static_cast<std::size_t>(reach) + 5) + 1};
}

}  // namespace

HWY_EXPORT(expected_rewards_any);

HeadCounts::HeadCounts(std::size_t num_players)
    : tiny_(tiny_chance(num_players)),
      windows_(num_players),
      // A block of G may begin at the last count, and reads one number beyond its end.
      given_(num_players + 2 * CountWindow::kBlock),
      laws_(2 * CountWindow::kBlock +
            num_players *
                (1 + (widest_window(num_players).num_blocks() + 1) * CountWindow::kBlock)),
      values_(num_players) {}

std::span<const double> HeadCounts::expected_rewards(std::span<const double> chances,
                                                     std::span<const double> rewards) noexcept {
  VLEARN_ASSERT(chances.size() == size() && rewards.size() == size());
  std::fill(std::copy(rewards.begin(), rewards.end(), given_.begin()), given_.end(), 0.0);
  HWY_DYNAMIC_DISPATCH(expected_rewards_any)
  (chances, tiny_, windows_, laws_.data(), given_.data(), values_.data());
  return values_;
}

}  // namespace vlearn

#endif  // HWY_ONCE
