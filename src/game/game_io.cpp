// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/game_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "game_io_parts.h"
#include "vlearn/core/file.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{32} << 20U;  // parsers may want less

constexpr std::array<std::pair<std::string_view, GameFormat>, 3> kEndings = {
    {{".json", GameFormat::json},
     {".safetensors", GameFormat::container},
     {".nfg", GameFormat::nfg}}};

bool looks_like_file(std::string_view word) {
  if (word.find('/') != std::string_view::npos) return true;
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto& ending) { return word.ends_with(ending.first); });
}

/// "did you mean", over everything that stands for a game.
Error unknown_game(std::string_view word) {
  std::vector<std::string_view> known;
  for (const CatalogueEntry& entry : catalogue()) known.push_back(entry.name);
  for (const GameFamily& family : game_families()) known.push_back(family.name);
  const std::string_view name = word.substr(0, word.find(':'));
  std::string fix = suggestion(name, known);
  if (fix.empty()) {
    fix = "'vlearn games' lists those that are; a file's name ends in .json, .safetensors or .nfg";
  }
  return {ErrorKind::usage, "game '" + printable(name, 100) + "'", "is not known", std::move(fix)};
}

}  // namespace

GameFormat format_of(const std::filesystem::path& path) {
  for (const auto& [ending, format] : kEndings) {
    if (path.native().ends_with(ending)) return format;
  }
  throw Error(ErrorKind::usage, path.string(), "has no ending that says its format",
              "want .json, .safetensors or .nfg");
}

LoadedGame read_game(const std::filesystem::path& path) {
  const std::string source = path.string();
  switch (format_of(path)) {
    case GameFormat::container:
      return game_from_arrays(ContainerArrays::read(path, check_game_header));
    case GameFormat::nfg: return parse_nfg(FileBytes::read(path, kMaxTextBytes).text(), source);
    case GameFormat::json: break;
  }
  return parse_game_json(FileBytes::read(path, kMaxTextBytes).text(), source);
}

LoadedGame parse_game_container(std::span<const std::byte> bytes, const std::string& source) {
  return game_from_arrays(ContainerArrays::copy(bytes, source, check_game_header));
}

void write_game(const std::filesystem::path& path, const LoadedGame& game) {
  switch (format_of(path)) {
    case GameFormat::json: {
      const std::string text = game_to_json(game);
      // Whatever is in the file now must not give way to something that cannot be read.
      if (law_hash_of(parse_game_json(text, path.string()).game) != law_hash_of(game.game)) {
        throw Error(ErrorKind::internal, path.string(), "would hold another law than it should");
      }
      write_file(path, text);
      break;
    }
    case GameFormat::nfg: write_file(path, game_to_nfg(game)); break;
    case GameFormat::container: write_container_game(path, game); break;
  }
}

LoadedGame load_game(std::string_view word) {
  if (looks_like_file(word)) return read_game(word);
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == word) return parse_catalogue_entry(entry);
  }
  if (!is_family(word)) throw unknown_game(word);
  return LoadedGame{make_game(word)};
}

}  // namespace vlearn
