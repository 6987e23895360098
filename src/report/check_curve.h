// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Are the gaps of metrics.jsonl true? They are the run's own record: anybody can write there. The
// certificate has one of them again, and the history of visits, where it is kept, has them all.
#pragma once

#include "vlearn/core/parallel.h"
#include "vlearn/game/game_io.h"
#include "vlearn/report/run_view.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// Compares the curve with the certificate and, where `derive` is set, with what the policies of
/// the run lead to: sets curve_derived, or verification to mismatch, or leaves a remark why the
/// curve was not derived. Throws Error where a policy file cannot be read.
void check_curve(RunView& view,
                 const StoredRun& run,
                 const LoadedGame& game,
                 bool derive,
                 const ParallelOptions& options);

}  // namespace vlearn
