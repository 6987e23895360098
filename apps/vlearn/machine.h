// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What Linux says about the machine, and what a container or a batch system lets a process have of
// it. Reads files below a root, so that tests can bring their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlearn::app {

struct Machine {
  std::string cpu_model;                      ///< empty where nobody says
  std::vector<std::string> cpu_features;      ///< those that matter to vector kernels
  std::size_t cores = 0;                      ///< of the machine
  std::optional<std::uint64_t> memory;        ///< bytes, of the machine
  std::optional<std::uint64_t> available;     ///< of these, without swapping
  std::optional<double> cpu_quota;            ///< cores that the control groups allow; none: all
  std::optional<std::uint64_t> memory_limit;  ///< bytes that the control groups allow
  std::optional<std::uint64_t> memory_used;   ///< of the group with that limit, for good
};

/// From root/proc and root/sys/fs/cgroup, version 2 or 1 of control groups; what is not there or
/// makes no sense is left out.
[[nodiscard]] Machine read_machine(const std::filesystem::path& root = "/");

/// "max 100000" or "150000 100000", of cpu.max: cores. Nothing where there is no limit.
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view text);
/// A count of bytes. Nothing for "max", for what is no number, and for the huge numbers that stand
/// for no limit in version 1.
[[nodiscard]] std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

}  // namespace vlearn::app
