// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games in JSON: what is read can be written, and read again it is the same law with the same
// names.
#include <string_view>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/game/game_io.h"

namespace {

using namespace vlearn;

/// Games with many cells or actions are legitimate, and too slow for millions of runs.
bool is_small(const Frame& frame) {
  constexpr std::size_t most = 512;
  return frame.num_cells() <= most && frame.num_players() <= most && frame.horizon() <= most &&
         frame.max_profile_size() <= most;
}

std::string written(const LoadedGame& game) {
  try {
    return game_to_json(game);
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::usage, "a game is written unless it is too large");
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<LoadedGame> game;
  try {
    game.emplace(parse_game_json(text, "input"));
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("input"), "an error names the file");
    return 0;
  }
  game->about.names.check(frame_of(game->game));
  if (!is_small(frame_of(game->game))) return 0;
  const std::string once = written(*game);
  if (once.empty()) return 0;
  const LoadedGame again = parse_game_json(once, "again");
  fuzz::promise(law_hash_of(again.game) == law_hash_of(game->game), "the law is kept");
  fuzz::promise(again.about == game->about, "names and solutions are kept");
  return 0;
}
