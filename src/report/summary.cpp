// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/report/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "vlearn/core/assert.h"
#include "vlearn/core/log.h"
#include "vlearn/core/percentile.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

/// Of numbers in rising order.
double middle_mean(std::span<const double> sorted) {
  const std::size_t cut = sorted.size() / 4;
  const std::span<const double> middle = sorted.subspan(cut, sorted.size() - 2 * cut);
  double sum = 0.0;
  for (const double number : middle) sum += number;
  return sum / static_cast<double>(middle.size());
}

/// At episodes that have a gap in all of these runs. Resampling takes long: it is done only where
/// somebody will look.
void fill_gaps(RunGroup& group, std::span<const RunView> runs) {
  std::map<std::uint64_t, std::vector<double>> gaps;
  for (const std::size_t run : group.runs) {
    std::map<std::uint64_t, double> own;  // of an episode that comes twice the last one
    for (const CurvePoint& point : runs[run].curve) {
      if (point.gap_upper) own[point.episode] = *point.gap_upper;
    }
    for (const auto& [episode, gap] : own) gaps[episode].push_back(gap);
  }
  std::erase_if(gaps, [&](const auto& one) { return one.second.size() != group.runs.size(); });
  std::vector<std::uint64_t> episodes;
  episodes.reserve(gaps.size());
  for (const auto& [episode, of_runs] : gaps) episodes.push_back(episode);
  for (const std::size_t place : kept_places(episodes)) {
    group.episodes.push_back(episodes[place]);
    group.gaps.push_back(bootstrap_interval(gaps.at(episodes[place])));
  }
}

}  // namespace

double interquartile_mean(std::span<const double> numbers) {
  VLEARN_ASSERT(!numbers.empty());
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  return middle_mean(sorted);
}

MeanInterval bootstrap_interval(std::span<const double> numbers,
                                std::uint64_t seed,
                                std::size_t draws) {
  const double mean = interquartile_mean(numbers);
  if (numbers.size() == 1 || draws == 0) return {mean, mean, mean};
  std::vector<double> means;
  means.reserve(draws);
  std::vector<double> resample(numbers.size());
  for (std::size_t i = 0; i < draws; ++i) {
    Draws from({.seed = seed, .purpose = Purpose::resample, .episode = Episode(i)});
    for (double& number : resample) number = numbers[from.below(numbers.size())];
    std::sort(resample.begin(), resample.end());
    means.push_back(middle_mean(resample));
  }
  std::sort(means.begin(), means.end());
  return {mean, percentile(means, 2.5), percentile(means, 97.5)};
}

std::vector<std::size_t> kept_places(std::span<const std::uint64_t> episodes, std::size_t most) {
  VLEARN_ASSERT(most >= 3);
  std::vector<std::size_t> kept;
  if (episodes.size() <= most) {
    kept.resize(episodes.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  const auto place = [&](std::size_t i) {
    return log(static_cast<double>(std::max<std::uint64_t>(episodes[i], 1)));
  };
  const double least = (place(episodes.size() - 1) - place(0)) / static_cast<double>(most - 2);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const bool last = i + 1 == episodes.size();
    if (kept.empty() || last || place(i) - place(kept.back()) >= least) kept.push_back(i);
  }
  return kept;
}

std::vector<RunGroup> group_runs(std::span<const RunView> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [found, is_new] = place_of.emplace(runs[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].runs.push_back(i);
  }
  for (RunGroup& group : groups) fill_gaps(group, runs);
  return groups;
}

}  // namespace vlearn
