// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Uniform exploration and a plug-in model, the simplest thing that could work: every joint action
// is played with the same chance, and whoever asks gets an equilibrium of the game that was seen,
// by backward induction with a linear program at every (step, state):
//
//   Q_i = r_i + P^ V_i,   what was never played: H_h/2 for everybody
//   pi  = Nash (zero-sum), CCE, CE or a best action (one player) of the payoffs Q,   V_i = E_pi Q_i
//
// There are no bounds: nothing is known of the gap but what a certificate says. States that take
// many right moves to reach are hardly ever seen, so in games such as `lock` the episodes that this
// needs grow exponentially with the horizon.
#pragma once

#include "vlearn/baseline/joint_plan.h"
#include "vlearn/baseline/options.h"
#include "vlearn/baseline/played_model.h"

namespace vlearn {

/// Fills in a plan of all players' values. Throws Cancelled as the memory says.
void plan_plug_in(const PlayedModel& model,
                  const BaselineOptions& options,
                  PlanMemory& memory,
                  JointPlan& plan);

}  // namespace vlearn
