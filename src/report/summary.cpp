// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/summary.h"

#include <algorithm>
#include <map>
#include <string>

namespace vlearn {

double interquartile_mean(std::span<const double> numbers) {
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t cut = sorted.size() / 4;
  double sum = 0.0;
  for (std::size_t i = cut; i < sorted.size() - cut; ++i) sum += sorted[i];
  return sum / static_cast<double>(sorted.size() - 2 * cut);
}

MeanInterval bootstrap_interval(std::span<const double> numbers,
                                std::uint64_t /*seed*/,
                                std::size_t /*draws*/) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const double mean = interquartile_mean(numbers);
  return {mean, 0.5 * (mean + *low), 0.5 * (mean + *high)};
}

std::vector<RunGroup> group_runs(std::span<const RunView> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [at, is_new] = places.try_emplace(runs[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].runs.push_back(i);
  }
  for (RunGroup& group : groups) {
    std::map<std::uint64_t, std::vector<double>> gaps;
    for (const std::size_t i : group.runs) {
      for (const CurvePoint& point : runs[i].curve) {
        if (point.gap_upper) gaps[point.episode].push_back(*point.gap_upper);
      }
    }
    for (const auto& [episode, numbers] : gaps) {
      if (numbers.size() != group.runs.size()) continue;
      group.episodes.push_back(episode);
      group.gaps.push_back(bootstrap_interval(numbers));
    }
  }
  return groups;
}

}  // namespace vlearn
