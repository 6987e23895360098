// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games in the array container: what is read can be written, and read again it is the same law with
// the same names.
#include <filesystem>

#include "fuzz_target.h"
#include "scratch_folder.h"
#include "vlearn/core/error.h"
#include "vlearn/game/game_io.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  std::optional<LoadedGame> game;
  try {
    game.emplace(parse_game_container(std::as_bytes(std::span(data, size)), "input"));
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("input"), "an error names the file");
    return 0;
  }
  game->about.names.check(frame_of(game->game));
  const std::filesystem::path file = fuzz::scratch_folder() / "game.safetensors";
  write_game(file, *game);
  const LoadedGame again = read_game(file);
  fuzz::promise(law_hash_of(again.game) == law_hash_of(game->game), "the law is kept");
  fuzz::promise(again.about == game->about, "names and solutions are kept");
  fuzz::promise(again.remarks.empty(), "what we write has a checksum");
  return 0;
}
