// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The weighted regret of bandit rules against the adversaries of weighted_regret.h, measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/parallel.h"
#include "vlearn/experiment/quartiles.h"
#include "vlearn/experiment/weighted_regret.h"

namespace vlearn {

struct RegretSettings {
  std::uint64_t horizon = 5;  ///< H of rules and weights; rules with a c of their own have that
  std::size_t num_actions = 4;
  /// Rising, up to kMostMatchVisits.
  std::vector<std::uint64_t> visits = {100, 1000, 10'000, 100'000};
  std::uint64_t seeds = 20;  ///< 1, 2, ..., seeds
};

struct RuleRegret {
  RuleName rule = RuleName::ftrl;
  Regret regret = Regret::external;
  std::uint64_t weights = 0;  ///< c of the weights that it was measured with: weights_of()
  /// Over the seeds, at each number of visits, against each of kAdversaries.
  std::vector<std::array<Quartiles, kAdversaries.size()>> at;
};

/// "proven: ...", or that there is no proof.
[[nodiscard]] std::string_view proof_of(RuleName rule) noexcept;

/// Rules for swap regret are measured by theirs, the others by external regret. Throws Cancelled.
[[nodiscard]] RuleRegret measure_regret(RuleName rule,
                                        const RegretSettings& settings,
                                        const ParallelOptions& parallel);

/// For people: of each rule a table, and what is proven.
[[nodiscard]] std::string to_text(const RegretSettings& settings,
                                  std::span<const RuleRegret> rules);
/// vlearn.regret/1.
[[nodiscard]] std::string to_json(const RegretSettings& settings,
                                  std::span<const RuleRegret> rules);

}  // namespace vlearn
