// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What is sought: the kinds of solutions that can be learned, planned, certified or known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vlearn {

enum class Target : std::uint8_t {
  optimal,  ///< one player: a best policy
  nash,     ///< nobody gains by deviating, everybody plays independently
  cce,      ///< coarse correlated: nobody gains by ignoring the common recommendation
  ce,       ///< correlated: nobody gains by answering its recommendation with another action
};

inline constexpr std::array<std::string_view, 4> kTargetNames = {"optimal", "nash", "cce", "ce"};

[[nodiscard]] constexpr std::string_view name_of(Target target) noexcept {
  return kTargetNames[static_cast<std::size_t>(target)];
}

/// Nothing for a word that is none of the names.
[[nodiscard]] constexpr std::optional<Target> target_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kTargetNames.size(); ++i) {
    if (kTargetNames[i] == name) return static_cast<Target>(i);
  }
  return std::nullopt;
}

}  // namespace vlearn
