// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One loop over independent pieces of work. The result does not depend on the number of threads:
// body(i) runs exactly once for each i and may write only what belongs to i. Sums over i are taken
// afterwards, in the order of i, by the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "vlearn/core/cancel.h"

namespace vlearn {

inline constexpr std::size_t kMaxThreads = 1024;

struct ParallelOptions {
  /// 0: one per core. Never more than kMaxThreads.
  std::size_t threads = 0;
  /// How many neighbouring indices a thread takes at a time.
  std::size_t grain = 1;
  /// Looked at before each such group; when it fires, parallel_for throws Cancelled.
  CancelToken cancel = {};
};

/// Cores that this process may use, at least 1.
[[nodiscard]] std::size_t available_cores() noexcept;

namespace detail {
void run_groups(std::size_t groups,
                const ParallelOptions& options,
                const std::function<void(std::size_t)>& run_group);
}  // namespace detail

/// body(0), ..., body(count - 1), in any order, on options.threads threads, the caller's among
/// them. An exception ends the loop early; of several the one of the lowest index is thrown, which
/// is the one that a plain loop would meet. Fewer threads than wanted is no error.
template <class Body>
void parallel_for(std::size_t count, const ParallelOptions& options, const Body& body) {
  const std::size_t grain = std::max<std::size_t>(options.grain, 1);
  const std::size_t groups = count / grain + (count % grain != 0 ? 1 : 0);
  detail::run_groups(groups, options, [&](std::size_t group) {
    const std::size_t begin = group * grain;
    const std::size_t end = begin + std::min(grain, count - begin);
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace vlearn
