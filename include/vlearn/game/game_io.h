// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games in files, and the words that stand for games wherever a command takes GAME. The formats are
// in docs/reference/game_format.md. A file is a security boundary: sizes are bounded before memory
// is taken, and whatever is wrong is an Error that names file, place and fix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/game/about.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

struct LoadedGame {
  AnyGame game;
  GameAbout about = {};
  /// What the user should know: "has no checksum", for example.
  std::vector<std::string> remarks = {};
};

enum class GameFormat : std::uint8_t { json, container, nfg };

/// By the ending: .json, .safetensors, .nfg. Throws Error (usage) for any other.
[[nodiscard]] GameFormat format_of(const std::filesystem::path& path);

[[nodiscard]] LoadedGame read_game(const std::filesystem::path& path);
/// Atomically, in the format of the ending. Throws Error (usage) for a game that the format cannot
/// hold.
void write_game(const std::filesystem::path& path, const LoadedGame& game);

/// `source` stands in front of every message.
[[nodiscard]] LoadedGame parse_game_json(std::string_view text, const std::string& source);
[[nodiscard]] std::string game_to_json(const LoadedGame& game);
[[nodiscard]] LoadedGame parse_nfg(std::string_view text, const std::string& source);
[[nodiscard]] std::string game_to_nfg(const LoadedGame& game);
[[nodiscard]] LoadedGame parse_game_container(std::span<const std::byte> bytes,
                                              const std::string& source);

/// What a word stands for: a file by its name (an ending as above, or a slash in it), an entry of
/// the catalogue, or a family with its parameters. Throws Error (usage) that suggests what was
/// meant.
[[nodiscard]] LoadedGame load_game(std::string_view word);

/// An entry of the catalogue: a file of catalog/, compiled in.
struct CatalogueEntry {
  std::string_view name;
  std::string_view text;
};

/// In alphabetical order.
[[nodiscard]] std::span<const CatalogueEntry> catalogue() noexcept;

}  // namespace vlearn
