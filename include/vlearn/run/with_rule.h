// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// From the name of a rule to its type: the only place that knows all of them.
#pragma once

#include <cstdint>

#include "vlearn/agent/options.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn {

/// Which rule, over which H; log_events for the rigorous ones.
struct RuleChoice {
  RuleName name;
  bool control_variate;
  std::uint64_t horizon;
  double log_events;
};

/// use(rule), with or without control variates, its steps made by the caller.
template <template <ControlVariate> class Rule, class Use, class... Steps>
auto with_variates(const RuleChoice& choice, const Use& use, const Steps&... steps) {
  if (choice.control_variate) return use(Rule<ControlVariate::on>(choice.horizon, steps...));
  return use(Rule<ControlVariate::off>(choice.horizon, steps...));
}

/// use(rule) for the rule of that name.
template <class Use>
auto with_rule(const RuleChoice& choice, const Use& use) {
  const double log_events = choice.log_events;
  switch (choice.name) {
    case RuleName::ftrl_predictive:
      return with_variates<Ftrl>(choice, use, FtrlSteps{FtrlIndex::predictive});
    case RuleName::ftrl_rigorous:
      return with_variates<FtrlRigorous>(choice, use, RigorousSteps<Regret::external>{log_events});
    case RuleName::ftrl_swap: return with_variates<FtrlSwap>(choice, use);
    case RuleName::ftrl_swap_rigorous:
      return with_variates<FtrlSwapRigorous>(choice, use, RigorousSteps<Regret::swap>{log_events});
    case RuleName::exp3_ix: return with_variates<Exp3Ix>(choice, use);
    case RuleName::tsallis: return with_variates<Tsallis>(choice, use);
    case RuleName::log_barrier: return with_variates<LogBarrier>(choice, use);
    case RuleName::optimistic: return use(Optimistic());
    case RuleName::optimistic_nash: return use(OptimisticNash());
    case RuleName::optimistic_swap: return use(OptimisticSwap());
    case RuleName::optimistic_rigorous:
      return use(OptimisticRigorous(choice.horizon, {log_events}));
    case RuleName::optimistic_swap_rigorous:
      return use(OptimisticSwapRigorous(choice.horizon, {log_events}));
    case RuleName::ftrl: break;
  }
  return with_variates<Ftrl>(choice, use);
}

}  // namespace vlearn
