// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Gambit's .nfg: whatever the text, an Error that is its writer's, or a game that is the same, with
// all that is said about it, after it has been written and read again.
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/game/game_io.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  try {
    const LoadedGame game = parse_nfg({reinterpret_cast<const char*>(data), size}, "input");
    const LoadedGame again = parse_nfg(game_to_nfg(game), "written");
    fuzz::promise(law_hash_of(again.game) == law_hash_of(game.game), "writing keeps the law");
    fuzz::promise(again.about == game.about, "writing keeps what is said about the game");
    fuzz::promise(again.remarks.empty(), "what is written can be read without loss");
  } catch (const Error& error) {
    fuzz::promise(error.place().starts_with("input"), "what is read can be written");
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad text is its writer's mistake");
  }
  return 0;
}
