// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything, for users. Inside the library each file includes what it uses.
#pragma once

#include "vlearn/agent/bonus.h"             // IWYU pragma: export
#include "vlearn/agent/options.h"           // IWYU pragma: export
#include "vlearn/agent/visit_clock.h"       // IWYU pragma: export
#include "vlearn/agent/vlearner.h"          // IWYU pragma: export
#include "vlearn/bandit/bank.h"             // IWYU pragma: export
#include "vlearn/bandit/exp3_ix.h"          // IWYU pragma: export
#include "vlearn/bandit/follow_leader.h"    // IWYU pragma: export
#include "vlearn/bandit/ftrl.h"             // IWYU pragma: export
#include "vlearn/bandit/ftrl_swap.h"        // IWYU pragma: export
#include "vlearn/bandit/log_barrier.h"      // IWYU pragma: export
#include "vlearn/bandit/rigorous.h"         // IWYU pragma: export
#include "vlearn/bandit/rule.h"             // IWYU pragma: export
#include "vlearn/bandit/stationary.h"       // IWYU pragma: export
#include "vlearn/bandit/tsallis.h"          // IWYU pragma: export
#include "vlearn/core/alpha.h"              // IWYU pragma: export
#include "vlearn/core/cancel.h"             // IWYU pragma: export
#include "vlearn/core/container.h"          // IWYU pragma: export
#include "vlearn/core/error.h"              // IWYU pragma: export
#include "vlearn/core/exp.h"                // IWYU pragma: export
#include "vlearn/core/file.h"               // IWYU pragma: export
#include "vlearn/core/float_environment.h"  // IWYU pragma: export
#include "vlearn/core/hash.h"               // IWYU pragma: export
#include "vlearn/core/id.h"                 // IWYU pragma: export
#include "vlearn/core/json.h"               // IWYU pragma: export
#include "vlearn/core/log.h"                // IWYU pragma: export
#include "vlearn/core/parallel.h"           // IWYU pragma: export
#include "vlearn/core/random.h"             // IWYU pragma: export
#include "vlearn/core/running_mean.h"       // IWYU pragma: export
#include "vlearn/core/simd.h"               // IWYU pragma: export
#include "vlearn/core/simplex.h"            // IWYU pragma: export
#include "vlearn/core/table.h"              // IWYU pragma: export
#include "vlearn/core/target.h"             // IWYU pragma: export
#include "vlearn/core/text.h"               // IWYU pragma: export
#include "vlearn/core/version.h"            // IWYU pragma: export
#include "vlearn/game/about.h"              // IWYU pragma: export
#include "vlearn/game/any_game.h"           // IWYU pragma: export
#include "vlearn/game/callback.h"           // IWYU pragma: export
#include "vlearn/game/concepts.h"           // IWYU pragma: export
#include "vlearn/game/congestion.h"         // IWYU pragma: export
#include "vlearn/game/discovered.h"         // IWYU pragma: export
#include "vlearn/game/evaluate.h"           // IWYU pragma: export
#include "vlearn/game/frame.h"              // IWYU pragma: export
#include "vlearn/game/game_io.h"            // IWYU pragma: export
#include "vlearn/game/polymatrix.h"         // IWYU pragma: export
#include "vlearn/game/tabular.h"            // IWYU pragma: export
#include "vlearn/policy/average.h"          // IWYU pragma: export
#include "vlearn/policy/execute.h"          // IWYU pragma: export
#include "vlearn/policy/history.h"          // IWYU pragma: export
#include "vlearn/policy/replay.h"           // IWYU pragma: export
#include "vlearn/policy/seat.h"             // IWYU pragma: export
#include "vlearn/policy/walk.h"             // IWYU pragma: export
#include "vlearn/run/game_ref.h"            // IWYU pragma: export
#include "vlearn/run/joint_play.h"          // IWYU pragma: export
#include "vlearn/run/learn.h"               // IWYU pragma: export
#include "vlearn/run/plan.h"                // IWYU pragma: export
#include "vlearn/run/run_folder.h"          // IWYU pragma: export
#include "vlearn/run/self_play.h"           // IWYU pragma: export
#include "vlearn/run/signature.h"           // IWYU pragma: export
#include "vlearn/run/trainer.h"             // IWYU pragma: export
