// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/agent/options.h"

#include <fmt/format.h>

#include <cmath>

#include "vlearn/core/choice.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

/// Far beyond any use, and far from overflow.
constexpr double kMostBonusConstant = 1e9;

}  // namespace

LearnerOptions preset_options(Preset preset, Target target) noexcept {
  LearnerOptions options;
  options.target = target;
  options.rule = target == Target::ce ? RuleName::ftrl_swap : RuleName::ftrl;
  switch (preset) {
    case Preset::paper:
      options.bonus = Bonus::paper;
      options.bonus_constant = kPaperBonusConstant;
      options.loss_scale = LossScale::paper;
      break;
    case Preset::rigorous:
      options.rule = target == Target::ce ? RuleName::ftrl_swap_rigorous : RuleName::ftrl_rigorous;
      options.bonus = Bonus::rigorous;
      options.pessimistic = true;
      break;
    case Preset::proven:
      options.rule =
          target == Target::ce ? RuleName::optimistic_swap_rigorous : RuleName::optimistic_rigorous;
      options.control_variate = true;
      options.bonus = Bonus::estimates;
      options.pessimistic = true;
      break;
    case Preset::practical:
      if (target != Target::ce) options.rule = RuleName::tsallis;
      break;
    case Preset::fast:
      options.rule = target == Target::ce     ? RuleName::optimistic_swap
                     : target == Target::nash ? RuleName::optimistic_nash
                                              : RuleName::optimistic;
      options.control_variate = true;
      options.bonus = Bonus::visits;
      options.bonus_constant = kVisitsBonusConstant;
      options.value_weights = ValueWeights::step;
      options.action_draws = ActionDraws::spread;
      break;
  }
  return options;
}

void check_choices(const LearnerOptions& options) {
  check_choice("target", options.target, kTargetNames);
  check_choice("rule", options.rule, kRuleNames);
  check_choice("bonus", options.bonus, kBonusNames);
  check_choice("loss_scale", options.loss_scale, kLossScaleNames);
  check_choice("value_weights", options.value_weights, kValueWeightsNames);
  check_choice("action_draws", options.action_draws, kActionDrawsNames);
}

std::optional<std::string> flaw_of(const LearnerOptions& options) {
  check_choices(options);
  if (options.target == Target::ce && !has_swap_regret(options.rule)) {
    return fmt::format(
        "the rule '{}' has no small swap regret, which a correlated equilibrium needs; use "
        "ftrl-swap or optimistic-swap",
        kRuleNames[static_cast<std::size_t>(options.rule)]);
  }
  if (options.monotone && options.target != Target::nash && options.target != Target::optimal) {
    return fmt::format(
        "monotone values are upper bounds only where all equilibria have one value: with the "
        "targets nash and optimal, not with {}",
        name_of(options.target));
  }
  if (needs_control_variate(options.rule) && !options.control_variate) {
    return fmt::format("the rule '{}' needs control variates; leave out --control-variate off",
                       kRuleNames[static_cast<std::size_t>(options.rule)]);
  }
  if (options.bonus == Bonus::estimates && !has_bounding_estimates(options.rule)) {
    return fmt::format(
        "the estimates of the rule '{}' bound no values; use optimistic-rigorous, or for ce "
        "optimistic-swap-rigorous",
        kRuleNames[static_cast<std::size_t>(options.rule)]);
  }
  if (options.bonus == Bonus::estimates && options.monotone) {
    return "values that are read off estimates are not monotone; use another bonus";
  }
  if (options.value_weights != ValueWeights::paper &&
      (options.monotone || options.pessimistic || options.bonus == Bonus::rigorous ||
       options.bonus == Bonus::estimates)) {
    return "bounds on values are proven for the paper's weights only; use them, or a preset that "
           "has them: paper, rigorous, proven or practical";
  }
  if (!(std::isnormal(options.delta) && options.delta > 0.0 && options.delta < 1.0)) {
    return "delta must lie between 0 and 1";
  }
  if (!(options.bonus_constant >= 0.0 && options.bonus_constant <= kMostBonusConstant)) {
    return "the constant of the bonus must be a number from 0 to 1e9";
  }
  if (options.output_weights &&
      !(*options.output_weights >= 1 && *options.output_weights < kMaxSteps)) {
    return fmt::format("the output weights must be a number from 1 to {}", kMaxSteps - 1);
  }
  if (options.output_taper && options.output_weights.value_or(1) + 1 >= kMaxSteps) {
    return fmt::format("output weights that fade out must be a number below {}", kMaxSteps - 1);
  }
  if (options.horizon_episodes == 0) return "the episodes inside iota must be at least one";
  return std::nullopt;
}

bool has_bounds(const LearnerOptions& options) noexcept {
  if (options.value_weights != ValueWeights::paper || options.output_weights ||
      options.output_taper || options.action_draws != ActionDraws::independent) {
    return false;
  }
  if (options.bonus == Bonus::estimates) {
    return has_bounding_estimates(options.rule) && options.loss_scale == LossScale::step &&
           !options.monotone;
  }
  return options.bonus == Bonus::rigorous && !options.control_variate &&
         (options.rule == RuleName::ftrl_rigorous || options.rule == RuleName::ftrl_swap_rigorous);
}

std::string guarantee_of(const LearnerOptions& options, std::uint64_t episodes) {
  if (episodes > options.horizon_episodes) {
    return fmt::format("none: {} episodes were played, and the bonus was made for {}", episodes,
                       options.horizon_episodes);
  }
  if (has_bounds(options)) {
    return fmt::format("upper and lower bound what they should, with probability {}",
                       1.0 - options.delta);
  }
  const bool paper_rule = options.rule == RuleName::ftrl ||
                          options.rule == RuleName::ftrl_predictive ||
                          options.rule == RuleName::ftrl_swap;
  if (!options.control_variate && options.bonus == Bonus::paper && paper_rule &&
      options.value_weights == ValueWeights::paper &&
      options.action_draws == ActionDraws::independent && !options.output_weights &&
      !options.output_taper && options.bonus_constant >= kPaperBonusConstant) {
    return fmt::format("the paper's theorem for {}, with probability {}", name_of(options.target),
                       1.0 - options.delta);
  }
  return "none beforehand: only a certificate of what was learned can tell";
}

}  // namespace vlearn
