// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/levers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/gap_curve.h"

namespace vlearn {
namespace {

constexpr std::array<Lever, 11> kLevers = {{
    {"fast", [](LearnConfig&) {}},
    {"independent action draws",
     [](LearnConfig& config) { config.learner.action_draws = ActionDraws::independent; }},
    {"the paper's value weights",
     [](LearnConfig& config) { config.learner.value_weights = ValueWeights::paper; }},
    {"rule tsallis", [](LearnConfig& config) { config.learner.rule = RuleName::tsallis; }},
    {"rule ftrl", [](LearnConfig& config) { config.learner.rule = RuleName::ftrl; }},
    {"rule tsallis, no control variates",
     [](LearnConfig& config) {
       config.learner.rule = RuleName::tsallis;
       config.learner.control_variate = false;
     }},
    {"bonus practical",
     [](LearnConfig& config) {
       config.learner.bonus = Bonus::practical;
       config.learner.bonus_constant = usual_constant(Bonus::practical);
     }},
    {"no bonus", [](LearnConfig& config) { config.learner.bonus = Bonus::none; }},
    {"nested output, weights H",
     [](LearnConfig& config) {
       config.output = CertifiedOutput::nested;
       config.learner.output_weights.reset();
       config.learner.output_taper = false;
     }},
    {"output weights without taper",
     [](LearnConfig& config) { config.learner.output_taper = false; }},
    {"output weights H", [](LearnConfig& config) { config.learner.output_weights.reset(); }},
}};

/// Games that take more than a second for each run of usual length.
constexpr std::array<std::string_view, 1> kSlowGames = {"soccer"};

/// Three digits are more than the seeds leave certain.
std::string number(double ratio) {
  return ratio < 1000.0 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio);
}

}  // namespace

std::span<const Lever> levers() noexcept { return kLevers; }

std::vector<SuiteGame> select_lever_games(std::span<const std::string> names) {
  std::vector<SuiteGame> games = select_games(Target::cce, names);
  if (names.empty()) {
    std::erase_if(games, [](const SuiteGame& game) {
      return std::find(kSlowGames.begin(), kSlowGames.end(), game.name) != kSlowGames.end();
    });
  }
  return games;
}

double LeverResults::ratio(std::size_t lever, std::size_t game) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < settings.seeds; ++i) {
    const auto log_gap = [&](std::size_t of) {
      return std::log(std::max(gaps[of][game][i], kLeastLeverGap));
    };
    sum += log_gap(lever) - log_gap(0);
  }
  return std::exp(sum / static_cast<double>(settings.seeds));
}

double LeverResults::ratio(std::size_t lever) const {
  double sum = 0.0;
  for (std::size_t game = 0; game < settings.games.size(); ++game) {
    sum += std::log(ratio(lever, game));
  }
  return std::exp(sum / static_cast<double>(settings.games.size()));
}

std::optional<LeverResults> measure_levers(const LeverSettings& settings, const LeverHooks& hooks) {
  LeverResults results{settings, {}, {}};
  for (const SuiteGame& game : settings.games) {
    results.targets.push_back(
        natural_target(frame_of(load_game(word_of(game, kFirstLeverSeed)).game)));
  }
  results.gaps.assign(kLevers.size(),
                      std::vector(settings.games.size(), std::vector<double>(settings.seeds)));
  const std::size_t runs = settings.games.size() * settings.seeds * kLevers.size();
  std::mutex mutex;
  std::size_t ended = 0;
  parallel_for(runs, hooks.parallel, [&](std::size_t i) {
    if (hooks.cancel.requested()) return;
    const std::size_t lever = i % kLevers.size();
    const std::size_t place = i / kLevers.size() % settings.seeds;
    const std::size_t game = i / kLevers.size() / settings.seeds;
    const std::uint64_t seed = kFirstLeverSeed + place;
    const LoadedGame loaded = load_game(word_of(settings.games[game], seed));
    LearnConfig config =
        preset_config(loaded.game, Preset::fast, results.targets[game], settings.episodes, seed);
    kLevers.at(lever).undo(config);
    const std::optional<GapPoint> point =
        gap_after(loaded.game, config, settings.episodes, hooks.cancel);
    if (!point) return;
    results.gaps[lever][game][place] = point->gap;
    if (!hooks.progress) return;
    const std::scoped_lock lock(mutex);
    hooks.progress(++ended, runs);
  });
  if (hooks.cancel.requested()) return std::nullopt;
  return results;
}

std::string to_text(const LeverResults& results) {
  const LeverSettings& settings = results.settings;
  std::vector<std::vector<std::string>> table = {{"instead"}};
  for (const SuiteGame& game : settings.games) table.front().emplace_back(game.name);
  table.front().emplace_back("all games");
  for (std::size_t lever = 0; lever < kLevers.size(); ++lever) {
    std::vector<std::string>& row = table.emplace_back();
    row.emplace_back(kLevers.at(lever).name);
    for (std::size_t game = 0; game < settings.games.size(); ++game) {
      row.push_back(number(results.ratio(lever, game)));
    }
    row.push_back(number(results.ratio(lever)));
  }
  return markdown_table(table) +
         fmt::format(
             "\nCertified gap after {} episodes over that of `fast`, geometric means of {} seed{} "
             "from {} on: more than 1 says that `fast` is better off with its own choice.\n",
             settings.episodes, settings.seeds, settings.seeds == 1 ? "" : "s", kFirstLeverSeed);
}

std::string to_json(const LeverResults& results) {
  const LeverSettings& settings = results.settings;
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.levers/1");
  json.member("version", build_info().version).member("first_seed", kFirstLeverSeed);
  json.member("seeds", settings.seeds).member("episodes", settings.episodes);
  json.key("levers").begin_array();
  for (std::size_t lever = 0; lever < kLevers.size(); ++lever) {
    json.begin_object().member("name", kLevers.at(lever).name);
    json.member("ratio", results.ratio(lever)).key("games").begin_array();
    for (std::size_t game = 0; game < settings.games.size(); ++game) {
      json.on_one_line().begin_object().member("name", settings.games[game].name);
      json.member("game", settings.games[game].pattern);
      json.member("target", name_of(results.targets[game]));
      json.member("ratio", results.ratio(lever, game)).key("gaps").begin_array();
      for (const double gap : results.gaps[lever][game]) json.value(gap);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

}  // namespace vlearn
