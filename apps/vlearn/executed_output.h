// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Which policy of a run is executed, and from where, by what was said and what was certified.
#pragma once

#include <string>

#include "vlearn/core/target.h"
#include "vlearn/game/game_io.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/execute.h"
#include "vlearn/run/run_folder.h"

namespace vlearn::app {

/// The words of --output and --start; empty where nothing was said.
struct OutputWords {
  std::string output;
  std::string start;
};

/// Throws Error (usage) for a start of an output that has none, and for an output that players of
/// this target cannot execute.
void check_words(const OutputWords& words, Target target);

/// `output` is for the advice of an error.
[[nodiscard]] StartRule start_of(const std::string& word, const std::string& output);
/// Players of nash who draw an index of their own at every step play the product of their averages.
[[nodiscard]] OutputKind output_of(const std::string& word);

struct ExecutedOutput {
  std::string output;
  std::string start;  ///< "none" of a table
  bool is_table = false;
  StartRule rule = {};
  OutputKind kind = OutputKind::nested;
};
/// What is meant: where nothing was said what the run's certificate is about, else what the run
/// returns. Throws Error for what the run does not have, and for a certificate that executions do
/// not follow.
[[nodiscard]] ExecutedOutput executed_output(const StoredRun& run,
                                             const LoadedGame& game,
                                             OutputWords words);

}  // namespace vlearn::app
