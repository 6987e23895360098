// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// log B, which every step size wants at every visit.
#pragma once

#include <array>
#include <cstddef>

#include "vlearn/core/log.h"

namespace vlearn {

namespace detail {
inline constexpr auto kLogs = [] {
  std::array<double, 257> logs{};
  for (std::size_t n = 1; n < logs.size(); ++n) logs[n] = log(static_cast<double>(n));
  return logs;
}();
}  // namespace detail

/// n >= 1.
[[nodiscard]] inline double log_actions(std::size_t n) noexcept {
  return n < detail::kLogs.size() ? detail::kLogs[n] : log(static_cast<double>(n));
}

}  // namespace vlearn
