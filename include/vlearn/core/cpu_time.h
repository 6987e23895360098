// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a computation has cost, whatever else the machine does. Never part of a result.
#pragma once

#include <ctime>

namespace vlearn {

/// Seconds that the processor has worked for this thread; differences of it mean something.
[[nodiscard]] inline double thread_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace vlearn
