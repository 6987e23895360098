// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn.game/1: docs/reference/game_format.md.
#include "json_reader.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "game_io_parts.h"
#include "vlearn/core/text.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

RewardRange read_range(const JsonValue& value) {
  if (!value.is_array() || value.size() != 2) throw value.error("wants [low, high]");
  return {number_of(value.at(0U)), number_of(value.at(1U))};
}

RewardNoise read_noise(const JsonValue& value) {
  constexpr std::array<std::pair<std::string_view, RewardNoise>, 3> words = {
      {{"none", RewardNoise::none},
       {"bernoulli", RewardNoise::bernoulli},
       {"uniform", RewardNoise::uniform}}};
  for (const auto& [word, noise] : words) {
    if (value.string() == word) return noise;
  }
  throw value.error("'" + printable(value.string(), 50) + "' is no kind of noise",
                    "want none, bernoulli or uniform");
}

void check_format(const JsonValue& root) {
  if (!root.is_object()) throw root.error("a game is an object", "see the game format");
  const JsonValue format = root.at("format");
  if (format.string() != "vlearn.game/1") {
    throw format.error("is '" + printable(format.string(), 50) + "'",
                       "this version reads \"vlearn.game/1\"");
  }
}

/// A family of games by its name; only the catalogue says it so.
LoadedGame read_family(const JsonValue& root) {
  allow_keys(root, {"format", "title", "source", "family", "known"});
  LoadedGame loaded{make_game(root.at("family").string())};
  const Frame& frame = frame_of(loaded.game);
  loaded.about = read_about(root, GameShape::of_frame(frame, root), frame);
  return loaded;
}

LoadedGame read_root(const JsonValue& root) {
  check_format(root);
  allow_keys(root, {"$schema", "format", "title", "source", "players", "states", "actions",
                    "horizon", "initial", "terminal", "stationary", "zero_sum", "range", "noise",
                    "rules", "congestion", "polymatrix", "known"});
  if (const std::optional<JsonValue> schema = root.find("$schema")) {
    static_cast<void>(schema->string());
  }
  const std::optional<JsonValue> rules = root.find("rules");
  const std::optional<JsonValue> congestion = root.find("congestion");
  const std::optional<JsonValue> polymatrix = root.find("polymatrix");
  if ((rules ? 1 : 0) + (congestion ? 1 : 0) + (polymatrix ? 1 : 0) != 1) {
    throw root.error("wants exactly one of rules, congestion and polymatrix");
  }
  std::optional<NameList> routes;
  if (congestion) routes = NameList::read(congestion->at("routes"));
  const GameShape shape = GameShape::of_file(root, routes ? &*routes : nullptr);
  FrameOptions options = shape.frame_options(root);
  if (const std::optional<JsonValue> zero_sum = root.find("zero_sum")) {
    options.zero_sum = zero_sum->boolean();
    if (options.zero_sum && shape.players().size() != 2) {
      throw zero_sum->error(fmt::format("wants 2 players, there are {}", shape.players().size()));
    }
  }
  if (const std::optional<JsonValue> noise = root.find("noise")) options.noise = read_noise(*noise);
  options.ranges = read_ranges(root, shape.players().size(), options.zero_sum);
  LoadedGame loaded{[&] {
    if (congestion) return read_congestion(*congestion, *routes, shape, std::move(options));
    if (polymatrix) return read_polymatrix(*polymatrix, shape, std::move(options));
    return read_table(*rules, shape, std::move(options));
  }()};
  loaded.about = read_about(root, shape, frame_of(loaded.game));
  return loaded;
}

}  // namespace

std::vector<RewardRange> read_ranges(const JsonValue& root,
                                     std::size_t num_players,
                                     bool zero_sum) {
  const std::optional<JsonValue> value = root.find("range");
  if (!value) return {};
  if (!value->is_array() || value->size() == 0) {
    throw value->error("wants [low, high], or a list with one such pair per player");
  }
  if (!value->at(0U).is_array()) {
    const RewardRange range = read_range(*value);
    if (zero_sum) return {range, {-range.high, -range.low}};
    return {range};
  }
  if (value->size() != num_players) {
    throw value->error(fmt::format("has {} pairs for {} players", value->size(), num_players));
  }
  std::vector<RewardRange> ranges;
  for (const JsonValue item : value->items()) ranges.push_back(read_range(item));
  return ranges;
}

LoadedGame parse_game_json(std::string_view text, const std::string& source) {
  const JsonDocument document = JsonDocument::parse(text, source, kGameJsonLimits);
  try {
    return read_root(document.root());
  } catch (const Error& error) {
    // What the models say about sizes and sums does not know the file.
    if (error.place().starts_with(source)) throw;
    throw Error(ErrorKind::input, source + ": " + error.place(), error.problem(), error.fix());
  }
}

LoadedGame parse_catalogue_entry(const CatalogueEntry& entry) {
  const std::string source = "catalog/" + std::string(entry.name) + ".json";
  const JsonDocument document = JsonDocument::parse(entry.text, source, kGameJsonLimits);
  const JsonValue root = document.root();
  if (!root.is_object() || !root.find("family")) return read_root(root);
  check_format(root);
  return read_family(root);
}

GameAbout parse_about(std::string_view text, const std::string& source, const Frame& frame) {
  const JsonDocument document = JsonDocument::parse(text, source, kGameJsonLimits);
  const JsonValue root = document.root();
  if (!root.is_object()) throw root.error("wants an object");
  allow_keys(root, {"title", "source", "players", "states", "actions", "known"});
  return read_about(root, GameShape::of_frame(frame, root), frame);
}

}  // namespace vlearn
