// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The choices of a learner. A preset is one set of them; each can be changed alone.
//
//   paper       the paper to the letter: its loss, its bonus with the theorems' constant
//   rigorous    the smallest bonus with a proof (docs/theory/rigorous_bonus.md), predictive index
//   proven      values read off the estimates of a rule with a proof (docs/theory/
//               optimistic_rule.md): the same guarantee as `rigorous`, from fewer episodes
//   practical   a bonus of the same shape that is optimistic in nearly all measured runs, losses in
//               units of what can still come, the rule `tsallis`
//   fast        whatever was measured to need the fewest episodes (docs/sample_efficiency.md): no
//               proof, only the certificate of what it has learned
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vlearn/core/target.h"

namespace vlearn {

enum class Preset : std::uint8_t { paper, rigorous, proven, practical, fast };
inline constexpr std::array<std::string_view, 5> kPresetNames = {"paper", "rigorous", "proven",
                                                                 "practical", "fast"};
[[nodiscard]] constexpr std::string_view name_of(Preset preset) noexcept {
  return kPresetNames[static_cast<std::size_t>(preset)];
}

enum class RuleName : std::uint8_t {
  ftrl,
  ftrl_predictive,
  ftrl_rigorous,
  ftrl_swap,
  ftrl_swap_rigorous,
  exp3_ix,
  tsallis,
  log_barrier,
  optimistic,
  optimistic_nash,
  optimistic_swap,
  optimistic_rigorous,
  optimistic_swap_rigorous,
};
inline constexpr std::array<std::string_view, 13> kRuleNames = {"ftrl",
                                                                "ftrl-predictive",
                                                                "ftrl-rigorous",
                                                                "ftrl-swap",
                                                                "ftrl-swap-rigorous",
                                                                "exp3-ix",
                                                                "tsallis",
                                                                "log-barrier",
                                                                "optimistic",
                                                                "optimistic-nash",
                                                                "optimistic-swap",
                                                                "optimistic-rigorous",
                                                                "optimistic-swap-rigorous"};

/// Rules for swap regret, which the target `ce` needs.
[[nodiscard]] constexpr bool has_swap_regret(RuleName rule) noexcept {
  return rule == RuleName::ftrl_swap || rule == RuleName::ftrl_swap_rigorous ||
         rule == RuleName::optimistic_swap || rule == RuleName::optimistic_swap_rigorous;
}
/// Rules whose estimates bound values.
[[nodiscard]] constexpr bool has_bounding_estimates(RuleName rule) noexcept {
  return rule == RuleName::optimistic_rigorous || rule == RuleName::optimistic_swap_rigorous;
}
/// Rules that are nothing without control variates.
[[nodiscard]] constexpr bool needs_control_variate(RuleName rule) noexcept {
  return rule == RuleName::optimistic || rule == RuleName::optimistic_nash ||
         rule == RuleName::optimistic_swap || has_bounding_estimates(rule);
}

/// beta_t, what a visit adds to the value so that it stays above what can be had. scale is H or
/// H_h, see LossScale; B are the player's actions at the cell. For rules with swap regret sqrt(B)
/// becomes B.
enum class Bonus : std::uint8_t {
  paper,      ///< c sqrt(H^3 B iota / t)
  rigorous,   ///< the difference of the bounds b_t of docs/theory/rigorous_bonus.md
  practical,  ///< c scale sqrt(H B iota / t)
  none,       ///< 0
  visits,     ///< c H_h (c_V + 1) B / t, see ValueWeights; the same for swap regret
  estimates,  ///< V is read off the rule's estimates, as docs/theory/optimistic_rule.md has it
};
inline constexpr std::array<std::string_view, 6> kBonusNames = {"paper", "rigorous", "practical",
                                                                "none",  "visits",   "estimates"};

/// What the loss r + V is measured against: loss = (scale - r - V) / scale.
enum class LossScale : std::uint8_t {
  paper,  ///< H
  step,   ///< H_h = H - h + 1, the most that can still come
};
inline constexpr std::array<std::string_view, 2> kLossScaleNames = {"paper", "step"};

/// c_V in alpha_t = (c_V + 1)/(c_V + t), the weights of the values.
enum class ValueWeights : std::uint8_t {
  paper,  ///< H
  step,   ///< H_h / sqrt(1 + t/1000): values settle, so that policies of all times fit together
};
inline constexpr std::array<std::string_view, 2> kValueWeightsNames = {"paper", "step"};

/// Where the u of a visit comes from, that picks an action from the policy.
enum class ActionDraws : std::uint8_t {
  independent,  ///< one draw for each visit
  spread,       ///< one for many visits of a cell, each a step further (agent/spread_draws.h)
};
inline constexpr std::array<std::string_view, 2> kActionDrawsNames = {"independent", "spread"};

struct LearnerOptions {
  Target target = Target::cce;
  RuleName rule = RuleName::ftrl;
  bool control_variate = false;
  Bonus bonus = Bonus::practical;
  double bonus_constant = 0.3;  ///< c; the bonuses rigorous and estimates have none
  LossScale loss_scale = LossScale::step;
  ValueWeights value_weights = ValueWeights::paper;
  ActionDraws action_draws = ActionDraws::independent;
  /// c of the output weights (c + 1)/(c + n), nothing: H. What is learned does not depend on it.
  std::optional<std::uint64_t> output_weights = std::nullopt;
  /// Whether the weights of Markov outputs fade out at the end (OutputWeights). Nested outputs have
  /// no use for it.
  bool output_taper = false;
  /// Monotonic V-learning: values never rise. Of zero-sum games and single players only.
  bool monotone = false;
  /// Keep values from below too.
  bool pessimistic = false;
  double delta = 0.01;  ///< the probability with which bounds may fail
  /// K inside iota: fixed before the run, whatever is played in the end.
  std::uint64_t horizon_episodes = 1'000'000'000;

  friend bool operator==(const LearnerOptions&, const LearnerOptions&) = default;
};

/// The constant of the theorems: 10 of the bandit's regret and 1 of concentration.
inline constexpr double kPaperBonusConstant = 11.0;
inline constexpr double kPracticalBonusConstant = 0.3;
inline constexpr double kVisitsBonusConstant = 0.1;
[[nodiscard]] constexpr double usual_constant(Bonus bonus) noexcept {
  if (bonus == Bonus::paper) return kPaperBonusConstant;
  return bonus == Bonus::visits ? kVisitsBonusConstant : kPracticalBonusConstant;
}

/// For the target `ce` the rule is one with swap regret.
[[nodiscard]] LearnerOptions preset_options(Preset preset, Target target) noexcept;

/// Throws Error (usage) that names the field where a choice is no enumerator of its type.
void check_choices(const LearnerOptions& options);

/// What is wrong with a combination of choices, and what to do; nothing if it is fine. Throws as
/// check_choices().
[[nodiscard]] std::optional<std::string> flaw_of(const LearnerOptions& options);

/// Whether V and V_low are proven bounds: the rigorous bonus with its own rules and no control
/// variates (docs/theory/rigorous_bonus.md), or values from estimates with their own rules
/// (docs/theory/optimistic_rule.md); both with independent draws and the paper's weights.
[[nodiscard]] bool has_bounds(const LearnerOptions& options) noexcept;

/// Which guarantee these choices have after so many episodes: "Theorem 6, with probability 0.99",
/// or why there is none.
[[nodiscard]] std::string guarantee_of(const LearnerOptions& options, std::uint64_t episodes);

}  // namespace vlearn
