// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commands about games say and share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vlearn/core/json.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/run_folder.h"

namespace vlearn::app {

/// GAME of the command line, "-" for standard input; remarks about it go to stderr.
[[nodiscard]] LoadedGame load(const std::string& word);

/// The same for a run that begins. Its files keep the word and are UTF-8: throws Error (usage) if
/// the word is not.
[[nodiscard]] LoadedGame load_for_run(const std::string& word);

/// The game that the config.json of a run names, "-" for standard input; remarks as above. A game
/// that does not fit the run's own files is refused before it is built.
[[nodiscard]] LoadedGame load_from_config(const StoredRun& run);

/// The game of a run, to be used with its policy files. Throws Error where it has none, or where
/// the word stands for another game by now.
[[nodiscard]] LoadedGame load_game_of(const StoredRun& run);

/// What GAME may be, for the help texts.
[[nodiscard]] std::string what_game_is();

/// Sizes that vary over a game.
struct Extent {
  std::size_t smallest = SIZE_MAX;
  std::size_t largest = 0;
  void add(std::size_t size) {
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  /// "3" or "1 to 5".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Extent extent_of_states(const Frame& frame);
[[nodiscard]] Extent extent_of_actions(const Frame& frame, Player player);

/// Members that every command gives of a game.
void write_summary(JsonWriter& json, const LoadedGame& loaded);
void write_known(JsonWriter& json, const std::vector<KnownSolution>& solutions);

}  // namespace vlearn::app
