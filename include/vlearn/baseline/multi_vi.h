// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The planning step of Multi-CCE-VI and Multi-CE-VI (Liu, Yu, Bai, Jin 2021, the section on
// general-sum games), for any number of players. From the last step to the first, V_{H+1} = 0:
//
//   for every (s, a), t = N_h(s, a), if t > 0, and every player i:
//     beta  = c sqrt(S H^2 iota / t)
//     Qup_i = min{ r_i + P^ Vup_i + beta, H_h }       otherwise H_h
//     Qlo_i = max{ r_i + P^ Vlo_i - beta, 0 }         otherwise 0
//   for every s:
//     pi = a CCE (or CE) of the one-shot game with payoffs Qup_1, ..., Qup_m
//     Vup_i = E_pi Qup_i, Vlo_i = E_pi Qlo_i
//
// Of the equilibria of a stage the one with the largest sum of Qup is taken. H_h and r are as in
// nash_vi.h; the bonus covers random rewards. The output pi is a Markov correlated policy.
//
// With c >= theory_constant(), with probability 1 - delta in all plans at once, Vup_i is at least
// what player i can have by deviating from pi, and Vlo_i at most what pi is worth to it. So the gap
// of pi is at most the optimism gap. Constants of the source were not checked against its proofs;
// ours are derived (docs/theory).
#pragma once

#include "vlearn/baseline/joint_plan.h"
#include "vlearn/baseline/options.h"
#include "vlearn/baseline/played_model.h"

namespace vlearn {

/// Fills in a plan of all players' values. Throws Cancelled as the memory says.
void plan_multi_vi(const PlayedModel& model,
                   const BaselineOptions& options,
                   PlanMemory& memory,
                   JointPlan& plan);

}  // namespace vlearn
