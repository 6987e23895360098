// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/efficiency_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMostEpisodes = std::uint64_t{1} << 53U;

/// One hash of all choices of the learners: results of other choices are not mixed with these.
std::string hash_of_learners(const EfficiencySettings& settings) {
  std::string text;
  for (const SuiteGame& game : settings.games) {
    const LoadedGame loaded = load_game(word_of(game, settings.first_seed));
    const Target target =
        settings.target == Target::ce ? Target::ce : natural_target(frame_of(loaded.game));
    const RunTitle title{std::string(game.pattern), "", to_hex(law_hash_of(loaded.game))};
    const std::uint64_t episodes = settings.reference_episodes;
    text += config_to_json(title,
                           reference_config(loaded.game, settings.reference, target, episodes, 1));
    text += config_to_json(title, preset_config(loaded.game, settings.preset, target, episodes, 1));
  }
  return to_hex(sha256(std::as_bytes(std::span(text))));
}

bool has_part(Measure measure, Part part) {
  const std::span<const Part> parts = parts_of(measure);
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

}  // namespace

std::string header_line(const EfficiencySettings& settings) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("schema", "vlearn.efficiency-results/1");
  json.member("version", build_info().version).member("target", name_of(settings.target));
  json.member("preset", name_of(settings.preset)).member("reference", name_of(settings.reference));
  json.member("first_seed", settings.first_seed).member("seeds", settings.seeds);
  json.member("reference_episodes", settings.reference_episodes);
  json.key("games").begin_array();
  for (const SuiteGame& game : settings.games) json.value(game.name);
  json.end_array().member("learners", hash_of_learners(settings));
  return json.end_object().text();
}

std::string result_line(const EfficiencySettings& settings, const PartResult& result) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("game", settings.games[result.game].name);
  json.member("seed", result.seed);
  json.member("part", kPartNames[static_cast<std::size_t>(result.part)]);
  json.member("episodes", result.episodes).member("gap", result.gap);
  if (result.part == Part::reference) json.member("wanted", result.wanted);
  if (result.part == Part::preset) json.member("reached", result.reached);
  if (result.part == Part::share) json.member("share", result.share);
  return json.end_object().text();
}

PartResult parse_result_line(const EfficiencySettings& settings,
                             std::string_view line,
                             const std::string& source) {
  const JsonDocument document = JsonDocument::parse(line, source, kResultLimits);
  const JsonValue root = document.root();
  PartResult result;
  const JsonValue game = root.at("game");
  const std::string_view name = game.string();
  const auto its = std::find_if(settings.games.begin(), settings.games.end(),
                                [&](const SuiteGame& known) { return known.name == name; });
  if (its == settings.games.end()) throw game.error("is not a game of the first line");
  result.game = static_cast<std::size_t>(its - settings.games.begin());
  const JsonValue seed = root.at("seed");
  result.seed = seed.natural(settings.first_seed + settings.seeds - 1);
  if (result.seed < settings.first_seed) {
    throw seed.error(fmt::format("is {}", result.seed),
                     fmt::format("seeds count from {}", settings.first_seed));
  }
  const JsonValue part = root.at("part");
  const auto* const named = std::find(kPartNames.begin(), kPartNames.end(), part.string());
  if (named == kPartNames.end()) throw part.error("is not a part");
  result.part = static_cast<Part>(named - kPartNames.begin());
  if (!has_part(its->measure, result.part)) throw part.error("is not a part of this game");
  const JsonValue episodes = root.at("episodes");
  result.episodes = episodes.natural(kMostEpisodes);
  if (result.episodes == 0) throw episodes.error("is 0");
  result.gap = root.at("gap").number();
  switch (result.part) {
    case Part::reference: {
      root.allow_keys({"game", "seed", "part", "episodes", "gap", "wanted"});
      const JsonValue wanted = root.at("wanted");
      result.wanted = wanted.number();
      if (!(result.wanted > 0.0)) throw wanted.error("is not above 0");
      break;
    }
    case Part::preset: {
      root.allow_keys({"game", "seed", "part", "episodes", "gap", "reached"});
      const JsonValue reached = root.at("reached");
      result.reached = reached.boolean();
      if (result.reached && result.episodes > settings.reference_episodes) {
        throw reached.error("is true, after more episodes than the reference has");
      }
      break;
    }
    case Part::gap: root.allow_keys({"game", "seed", "part", "episodes", "gap"}); break;
    case Part::share:
      root.allow_keys({"game", "seed", "part", "episodes", "gap", "share"});
      result.share = root.at("share").number();
      break;
  }
  return result;
}

EfficiencyLog::EfficiencyLog(const std::filesystem::path& folder, EfficiencySettings settings)
    : settings_(std::move(settings)),
      file_(folder, header_line(settings_), [&](std::string_view line, const std::string& source) {
        const PartResult result = parse_result_line(settings_, line, source);
        if (!results_.emplace(Key{result.game, result.seed, result.part}, result).second) {
          throw Error(ErrorKind::input, source, "says again what a line before it says",
                      "remove one of them");
        }
      }) {}

std::optional<PartResult> EfficiencyLog::find(std::size_t game,
                                              std::uint64_t seed,
                                              Part part) const {
  const auto its = results_.find(Key{game, seed, part});
  if (its == results_.end()) return std::nullopt;
  return its->second;
}

void EfficiencyLog::add(const PartResult& result) {
  file_.add(result_line(settings_, result));
  results_.emplace(Key{result.game, result.seed, result.part}, result);
}

void EfficiencyLog::put_in_order() {
  std::vector<std::string> lines;
  lines.reserve(results_.size());
  for (const auto& [key, result] : results_) lines.push_back(result_line(settings_, result));
  file_.rewrite(lines);
}

}  // namespace vlearn
