// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games in the array container: what is read can be written, and read again it is the same law with
// the same names.
#include <unistd.h>

#include <filesystem>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/game/game_io.h"

namespace {

/// One file for all runs of a process, in memory where there is such a place.
const std::filesystem::path& scratch() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    return folder / ("vlearn-fuzz-" + std::to_string(::getpid()) + ".safetensors");
  }();
  return path;
}

struct RemoveScratch {
  ~RemoveScratch() {
    std::error_code ignored;
    std::filesystem::remove(scratch(), ignored);
  }
};

}  // namespace

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
  const RemoveScratch remove;
  write_game(scratch(), *game);
  const LoadedGame again = read_game(scratch());
  fuzz::promise(law_hash_of(again.game) == law_hash_of(game->game), "the law is kept");
  fuzz::promise(again.about == game->about, "names and solutions are kept");
  fuzz::promise(again.remarks.empty(), "what we write has a checksum");
  return 0;
}
