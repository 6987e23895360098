// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Several runs that differ by their seed, as one: the interquartile mean, and an interval for it by
// the percentile bootstrap. The draws are keyed, so the same runs have the same interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/report/run_view.h"

namespace vlearn {

/// The mean of the middle half: of n numbers floor(n / 4) are left out at either end. At least one.
[[nodiscard]] double interquartile_mean(std::span<const double> numbers);

struct MeanInterval {
  double mean = 0.0;  ///< interquartile
  double low = 0.0;   ///< the interval; both are the mean where there is one number
  double high = 0.0;
};

inline constexpr std::size_t kBootstrapDraws = 2000;

/// Of the interquartile mean, with a confidence of 95 %: percentiles 2.5 and 97.5 of resamples.
[[nodiscard]] MeanInterval bootstrap_interval(std::span<const double> numbers,
                                              std::uint64_t seed = 1,
                                              std::size_t draws = kBootstrapDraws);

/// At so many episodes a curve is drawn, at most.
inline constexpr std::size_t kKeptPlaces = 2000;
/// Places that are kept of growing numbers of episodes: all, or at most so many (3 at least),
/// evenly on a logarithmic axis, and always the first and the last.
[[nodiscard]] std::vector<std::size_t> kept_places(std::span<const std::uint64_t> episodes,
                                                   std::size_t most = kKeptPlaces);

/// Runs of one group.
struct RunGroup {
  std::vector<std::size_t> runs;  ///< their places
  /// At the episodes that have a gap in all of them, as kept_places() thins them: certified gaps
  /// from above.
  std::vector<std::uint64_t> episodes;
  std::vector<MeanInterval> gaps;
};

/// In the order of their first runs.
[[nodiscard]] std::vector<RunGroup> group_runs(std::span<const RunView> runs);

}  // namespace vlearn
