// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

namespace vlearn::app {
namespace {

namespace fs = std::filesystem;

/// The words of a vector kernel's life, as /proc/cpuinfo spells them on x86 and on ARM.
constexpr std::array<std::string_view, 9> kFeatures = {"ssse3", "sse4_1",  "sse4_2", "avx", "avx2",
                                                       "fma",   "avx512f", "asimd",  "sve"};

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

/// "key : value" or "key: value".
std::pair<std::string, std::string> key_and_value(const std::string& line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return {line, ""};
  const std::size_t end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
  const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
  return {line.substr(0, end == std::string::npos ? 0 : end + 1),
          begin == std::string::npos ? "" : line.substr(begin)};
}

void read_cpus(const fs::path& file, Machine& machine) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto [key, value] = key_and_value(line);
    if (key == "processor") ++machine.cores;
    if (key == "model name" && machine.cpu_model.empty()) machine.cpu_model = value;
    if ((key != "flags" && key != "Features") || !machine.cpu_features.empty()) continue;
    std::istringstream words(value);
    for (std::string word; words >> word;) {
      if (std::find(kFeatures.begin(), kFeatures.end(), word) != kFeatures.end()) {
        machine.cpu_features.push_back(word);
      }
    }
  }
}

void read_memory(const fs::path& file, Machine& machine) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto [key, value] = key_and_value(line);
    const auto bytes = [&, text = value]() -> std::optional<std::uint64_t> {
      const std::optional<std::uint64_t> kib = parse_number(text);
      if (!kib || *kib > (UINT64_MAX >> 10U)) return std::nullopt;
      return *kib << 10U;
    };
    if (key == "MemTotal") machine.memory = bytes();
    if (key == "MemAvailable") machine.available = bytes();
  }
}

/// What a group uses and cannot give back: the pages of files that nobody has looked at for a while
/// are counted too, and go when there is need.
std::optional<std::uint64_t> used_by(const fs::path& group,
                                     const char* usage,
                                     std::string_view inactive) {
  const auto line = first_line(group / usage);
  const auto used = line ? parse_number(*line) : std::nullopt;
  if (!used) return std::nullopt;
  std::ifstream in(group / "memory.stat");
  for (std::string key, number; in >> key >> number;) {
    if (key == inactive) return *used - std::min(*used, parse_number(number).value_or(0));
  }
  return used;
}

template <class Number>
void lower(std::optional<Number>& least, const std::optional<Number>& other) {
  if (other && (!least || *other < *least)) least = other;
}

/// A group and all above it, up to the folder where the hierarchy begins. A container may show its
/// own group as the whole: then the path names nothing, and only the top is there.
std::vector<fs::path> groups_of(const fs::path& top, const std::string& path) {
  std::vector<fs::path> groups = {top};
  for (const fs::path& part : fs::path(path).relative_path()) {
    if (part == ".." || part == ".") return {top};
    groups.push_back(groups.back() / part);
  }
  return groups;
}

void read_unified(const fs::path& top, const std::string& path, Machine& machine) {
  for (const fs::path& group : groups_of(top, path)) {
    if (const auto line = first_line(group / "cpu.max")) {
      lower(machine.cpu_quota, parse_cpu_max(*line));
    }
    const auto line = first_line(group / "memory.max");
    const auto limit = line ? parse_memory_limit(*line) : std::nullopt;
    if (!limit || (machine.memory_limit && *machine.memory_limit <= *limit)) continue;
    machine.memory_limit = limit;
    machine.memory_used = used_by(group, "memory.current", "inactive_file");
  }
}

void read_version_1(const fs::path& top,
                    const std::string& controllers,
                    const std::string& path,
                    Machine& machine) {
  const std::string list = "," + controllers + ",";
  if (list.find(",cpu,") != std::string::npos) {
    // One of them is often a link to the other, and not always there.
    for (const char* folder : {"cpu", "cpu,cpuacct"}) {
      for (const fs::path& group : groups_of(top / folder, path)) {
        const auto quota = first_line(group / "cpu.cfs_quota_us");
        const auto period = first_line(group / "cpu.cfs_period_us");
        if (quota && period) lower(machine.cpu_quota, parse_cpu_max(*quota + " " + *period));
      }
    }
  }
  if (list.find(",memory,") != std::string::npos) {
    for (const fs::path& group : groups_of(top / "memory", path)) {
      const auto line = first_line(group / "memory.limit_in_bytes");
      const auto limit = line ? parse_memory_limit(*line) : std::nullopt;
      if (!limit || (machine.memory_limit && *machine.memory_limit <= *limit)) continue;
      machine.memory_limit = limit;
      machine.memory_used = used_by(group, "memory.usage_in_bytes", "total_inactive_file");
    }
  }
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = parse_number(text.substr(0, blank));  // not "max", not -1
  const auto period = parse_number(text.substr(blank + 1));
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
  const auto bytes = parse_number(text);
  if (!bytes || *bytes >= (std::uint64_t{1} << 60U)) return std::nullopt;
  return bytes;
}

Machine read_machine(const std::filesystem::path& root) {
  Machine machine;
  read_cpus(root / "proc/cpuinfo", machine);
  read_memory(root / "proc/meminfo", machine);
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    // "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      read_unified(root / "sys/fs/cgroup", path, machine);
    } else {
      read_version_1(root / "sys/fs/cgroup", controllers, path, machine);
    }
  }
  return machine;
}

}  // namespace vlearn::app
