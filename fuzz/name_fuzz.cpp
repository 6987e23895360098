// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of games: whatever the text, a game that is small or an Error that is the user's.
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/game/any_game.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  // Large games are legitimate and slow; names with long numbers are left to the tests.
  std::size_t digits = 0;
  for (const char c : name) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 1 || c == 'e') return 0;
  }
  try {
    const AnyGame game = make_game(name);
    fuzz::promise(law_hash_of(game) == law_hash_of(make_game(name)), "a name is one game");
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::usage || error.kind() == ErrorKind::resource,
                  "a bad name is its writer's mistake");
  }
  return 0;
}
