// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "output_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "vlearn/certify/certify.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/average.h"
#include "vlearn/policy/walk.h"

namespace vlearn {

OutputPolicy::OutputPolicy(const Frame& frame,
                           Target target,
                           CertifiedOutput output,
                           std::vector<PolicyFile> files,
                           std::uint64_t episodes)
    : frame_(frame),
      target_(target),
      output_(output),
      episodes_(std::min(episodes, files.front().episodes())),
      files_(std::move(files)),
      first_cell_(files_.front().header().seat.first_cell) {
  // Walks go side by side, so all must be as long. Whoever executes a file goes by its own weights.
  const PolicyFile& first = files_.front();
  for (const PolicyFile& file : files_) {
    bool fits = file.header().seat.first_cell == first_cell_ &&
                file.header().weights == first.header().weights &&
                file.header().taper == first.header().taper && file.header().target == target &&
                file.episodes() == first.episodes();
    for (std::size_t cell = 0; fits && cell < first_cell_.back(); ++cell) {
      fits =
          file.visits_before(cell, first.episodes()) == first.visits_before(cell, first.episodes());
    }
    if (fits) continue;
    throw Error(ErrorKind::input, file.source(), "is not of the same run as " + first.source());
  }
}

OutputPolicy::OutputPolicy(const Frame& frame, Target target, std::vector<MarkovTable> tables)
    : frame_(frame),
      target_(target),
      output_(CertifiedOutput::table),
      tables_(std::move(tables)),
      first_cell_(tables_.front().first_cell) {
  check_tables(frame, target, tables_);
}

std::size_t OutputPolicy::num_players() const noexcept {
  return files_.empty() ? tables_.size() : files_.size();
}

std::uint64_t OutputPolicy::visits(std::size_t cell) const noexcept {
  return files_.empty() ? 0 : files_.front().visits_before(cell, episodes_);
}

OutputWeights OutputPolicy::weights() const {
  const PolicyHeader& header = files_.front().header();
  return {header.weights, header.taper && output_ != CertifiedOutput::nested};
}

std::uint64_t OutputPolicy::num_parts(std::size_t cell) const noexcept {
  if (files_.empty()) return tables_.front().weights_of(cell).size();
  return std::max<std::uint64_t>(visits(cell), 1);
}

void OutputPolicy::for_each_part(Step h,
                                 State s,
                                 std::size_t num_players,
                                 const std::function<void(const Part&)>& see) const {
  files_.empty() ? walk_table(h, s, num_players, see) : walk_visits(h, s, num_players, see);
}

void OutputPolicy::walk_visits(Step h,
                               State s,
                               std::size_t num_players,
                               const std::function<void(const Part&)>& see) const {
  const std::size_t cell = this->cell(h, s);
  const std::uint64_t n = visits(cell);
  const OutputWeights weights = this->weights();
  const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
  std::vector<double> policies(begins[num_players]);
  std::vector<std::uint32_t> played(n == 0 ? 0 : num_players);
  std::vector<ReplayMemory> memory(num_players);
  std::vector<PolicyWalk> walks;
  walks.reserve(num_players);
  for (std::size_t j = 0; j < num_players; ++j) walks.emplace_back(files_[j], cell, memory[j]);
  // Before the first visit walks stand at uniform play, which is what is played where there is
  // none.
  for (std::uint64_t i = 1; i <= std::max<std::uint64_t>(n, 1); ++i) {
    for (std::size_t j = 0; j < num_players; ++j) {
      const std::span<const double> own = walks[j].policy();
      std::copy(own.begin(), own.end(), policies.data() + begins[j]);
      if (n > 0) played[j] = static_cast<std::uint32_t>(walks[j].action().index());
    }
    see({i, weights.rate(std::max<std::uint64_t>(n, 1), i), policies, played});
    if (i >= n) break;
    for (PolicyWalk& walk : walks) walk.next();
  }
}

void OutputPolicy::walk_table(Step h,
                              State s,
                              std::size_t num_players,
                              const std::function<void(const Part&)>& see) const {
  const std::size_t cell = this->cell(h, s);
  const std::span<const std::uint64_t> weights = tables_.front().weights_of(cell);
  const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
  std::vector<double> policies(begins[num_players]);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j < num_players; ++j) {
      const std::span<const double> own = tables_[j].policy(cell, i);
      std::copy(own.begin(), own.end(), policies.data() + begins[j]);
    }
    sum += weights[i];
    see({i + 1, static_cast<double>(weights[i]) / static_cast<double>(sum), policies, {}});
  }
}

double OutputPolicy::effective_parts(std::size_t cell) const {
  if (!files_.empty()) {
    const std::uint64_t n = visits(cell);
    return n == 0 ? 1.0 : effective_visits(weights(), n);
  }
  double sum = 0.0;
  double squares = 0.0;
  for (const std::uint64_t weight : tables_.front().weights_of(cell)) {
    const auto w = static_cast<double>(weight);
    sum += w;
    squares += w * w;
  }
  return sum * sum / squares;
}

std::vector<OutputPolicy::WeightedPart> OutputPolicy::some_parts(std::size_t cell,
                                                                 std::size_t most) const {
  std::vector<WeightedPart> parts;
  if (!files_.empty()) {
    const OutputWeights weights = this->weights();
    const std::uint64_t n = visits(cell);
    const auto add = [&](std::uint64_t i, double weight) {
      parts.push_back({i, files_.front().episode_of(cell, i) + 1, weight});
    };
    if (n <= most) {
      for (std::uint64_t i = 1; i <= n; ++i) add(i, weights.weight(n, i));
      return parts;
    }
    const auto slices = static_cast<double>(most);
    for (std::size_t slice = most; slice-- > 0;) {
      // So much of the weight is newer than its middle.
      const double newer = (static_cast<double>(slice) + 0.5) / slices;
      add(n - recent_visits(weights, n, newer) + 1, 1.0 / slices);
    }
    return parts;
  }
  const std::span<const std::uint64_t> weights = tables_.front().weights_of(cell);
  const auto sum =
      static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({i + 1, 0, static_cast<double>(weights[i]) / sum});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const WeightedPart& a, const WeightedPart& b) {
    return a.weight > b.weight;
  });
  parts.resize(std::min(parts.size(), most));
  return parts;
}

std::vector<double> averages_of(const OutputPolicy& policy,
                                Step h,
                                State s,
                                std::size_t num_players) {
  std::vector<double> averages(policy.frame().action_begins(h, s)[num_players], 0.0);
  std::vector<double> lost(averages.size(), 0.0);
  policy.for_each_part(h, s, num_players, [&](const OutputPolicy::Part& part) {
    for (std::size_t b = 0; b < averages.size(); ++b) {
      move_compensated(averages[b], lost[b], part.share, part.policies[b]);
    }
  });
  return averages;
}

}  // namespace vlearn
