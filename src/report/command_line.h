// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The command that makes a run again: the same config, byte for byte but for the word of a game
// that has another place now.
#pragma once

#include <string>
#include <string_view>

#include "run_files.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

/// A word as a shell takes it: as it is, or in quotes.
[[nodiscard]] std::string shell_word(std::string_view word);

/// One line. What the preset, the algorithm or the game gives is left out. `word` names the game.
[[nodiscard]] std::string command_of(const ConfigFile& config,
                                     const AnyGame& game,
                                     const std::string& word);

}  // namespace vlearn
