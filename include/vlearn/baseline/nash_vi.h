// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The planning step of Optimistic Nash-VI (Liu, Yu, Bai, Jin 2021, Algorithm 1), for two players
// and zero-sum games. From the last step to the first, V_{H+1} = 0:
//
//   for every (s, a), t = N_h(s, a), if t > 0:
//     beta  = BONUS(t, Var_P^[(Vup + Vlo)/2])         of the next step's values, options.h
//     gamma = (c/H) P^ (Vup - Vlo)
//     Qup   = min{ r + P^ Vup + gamma + beta, H_h }   otherwise H_h
//     Qlo   = max{ r + P^ Vlo - gamma - beta, 0 }     otherwise 0
//   for every s:
//     pi = CCE(Qup, Qlo): player 1 gains no Qup by deviating, player 2 lowers no Qlo
//     Vup = E_pi Qup, Vlo = E_pi Qlo
//
// H_h = H - h + 1 in place of the source's H clips tighter and is as true. The stage has payoffs
// Qup for player 1 and H_h - Qlo for player 2; of its equilibria the one with the largest sum is
// taken, that is the most uncertain one. The source knows r; here it is the mean of the rewards
// that were seen, and where rewards are random (or come from a simulator) their variance, 1/4 at
// most, is added to that of the next value.
//
// With c >= theory_constant(), with probability 1 - delta in all plans at once, Vup is at least
// what player 1 can have against pi's marginal of player 2, and Vlo at most what player 2 can leave
// it. So both gains together are at most Vup - Vlo: the optimism gap is a certificate. Constants of
// the source were not checked against its proofs; ours are derived (docs/theory).
#pragma once

#include "vlearn/baseline/joint_plan.h"
#include "vlearn/baseline/options.h"
#include "vlearn/baseline/played_model.h"

namespace vlearn {

/// Fills in a plan of one player's values. Throws Cancelled as the memory says.
void plan_nash_vi(const PlayedModel& model,
                  const BaselineOptions& options,
                  PlanMemory& memory,
                  JointPlan& plan);

}  // namespace vlearn
