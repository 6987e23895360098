// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "game_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/run/stored_game.h"

namespace vlearn::app {

namespace {

/// A game in JSON or .nfg, which are told apart by their first letters.
LoadedGame read_standard_input() {
  constexpr std::size_t max_bytes = std::size_t{16} << 20U;
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    text.append(buffer.data(), count);
    if (text.size() > max_bytes) {
      throw Error(ErrorKind::resource, "standard input", "is larger than 16 MiB",
                  "put a game of this size into an array container");
    }
  }
  const std::string source = "standard input";
  return text.starts_with("NFG") ? parse_nfg(text, source) : parse_game_json(text, source);
}

LoadedGame remarked(const std::string& word, LoadedGame loaded) {
  for (const std::string& remark : loaded.remarks) note(fmt::format("{}: {}", word, remark));
  return loaded;
}

}  // namespace

LoadedGame load(const std::string& word) {
  return remarked(word, word == "-" ? read_standard_input() : load_game(word));
}

LoadedGame load_for_run(const std::string& word) {
  if (!is_utf8(word)) {
    throw Error(ErrorKind::usage, printable(word), "is not UTF-8, and a run keeps this name",
                "rename it");
  }
  return load(word);
}

LoadedGame load_from_config(const StoredRun& run) {
  if (run.title.game == "-") return load("-");
  return remarked(run.title.game, load_named_game(run));
}

LoadedGame load_game_of(const StoredRun& run) {
  if (!std::filesystem::exists(policy_path(run.path, Player(0))) &&
      !std::filesystem::exists(markov_path(run.path, Player(0)))) {
    throw Error(ErrorKind::input, run.path.string(), "has no policy files",
                "learn without --history none");
  }
  LoadedGame game = load_from_config(run);
  if (to_hex(law_hash_of(game.game)) != run.title.game_hash) {
    throw Error(ErrorKind::input, (run.path / "config.json").string() + ": game_hash",
                "is of another game than '" + printable(run.title.game, 100) + "' is now",
                "restore the game as it was");
  }
  return game;
}

void write_known(JsonWriter& json, const std::vector<KnownSolution>& solutions) {
  json.key("known").begin_array();
  for (const KnownSolution& known : solutions) {
    json.begin_object().member("target", name_of(known.target)).member("source", known.source);
    json.member("policy", !known.policy.empty()).key("values").on_one_line().begin_array();
    for (const double value : known.values) json.value(value);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_summary(JsonWriter& json, const LoadedGame& loaded) {
  const Frame& frame = frame_of(loaded.game);
  json.member("title", loaded.about.title).member("source", loaded.about.source);
  json.member("model", model_of(loaded.game)).member("hash", to_hex(law_hash_of(loaded.game)));
  json.member("players", frame.num_players()).member("horizon", frame.horizon());
  json.member("states", extent_of_states(frame).largest);
  json.member("stationary", frame.stationary()).member("zero_sum", frame.zero_sum());
}

std::string what_game_is() {
  std::string text =
      "GAME is a name of the catalogue ('vlearn games' lists it), a file (.json, .safetensors,\n"
      ".nfg), '-' for standard input, or a family with its parameters (these are the defaults):";
  for (const GameFamily& family : game_families()) {
    text += fmt::format("\n  {}\n      {}", family.pattern, family.about);
  }
  return text;
}

std::string Extent::text() const {
  return smallest == largest ? fmt::format("{}", smallest)
                             : fmt::format("{} to {}", smallest, largest);
}

Extent extent_of_states(const Frame& frame) {
  Extent extent;
  for (const Step h : all<Step>(frame.horizon())) extent.add(frame.num_states(h));
  return extent;
}

Extent extent_of_actions(const Frame& frame, Player player) {
  Extent extent;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    extent.add(begins[player.index() + 1] - begins[player.index()]);
  }
  return extent;
}

}  // namespace vlearn::app
