// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn game show | simulate: look at a game before learning it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "game_text.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/game/evaluate.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

struct Options {
  std::string game;
  bool as_json = false;
  std::uint64_t episodes = 1000;
  std::uint64_t seed = 1;
};

double in_user_units(const Frame& frame, Player player, double value) {
  return frame.range(player).from_unit(value, static_cast<double>(frame.horizon()));
}

/// For tables: what is only rounding around 0 is shown as 0.
double shown(double value) { return std::abs(value) < 1e-12 ? 0.0 : value; }

std::vector<double> uniform_value_of(const AnyGame& game) {
  return std::visit([](const auto& model) { return uniform_value(model); }, game);
}

/// "... and 92 more" where a table stops.
std::string rest_of(const Frame& frame) {
  if (frame.num_players() <= kShownPlayers) return "";
  return fmt::format("...     and {} more (--json has all)\n", frame.num_players() - kShownPlayers);
}

std::string about_text(const GameAbout& about) {
  std::string text;
  if (!about.title.empty()) text += fmt::format("title      {}\n", printable(about.title));
  if (!about.source.empty()) text += fmt::format("source     {}\n", printable(about.source));
  return text;
}

/// "known      nash: 0, 0 (von Neumann 1928)", a line for each.
std::string known_text(const GameAbout& about) {
  std::string text;
  for (const KnownSolution& known : about.known) {
    const std::size_t shown_values = std::min(known.values.size(), kShownPlayers);
    std::vector<double> values(known.values.begin(),
                               known.values.begin() + static_cast<std::ptrdiff_t>(shown_values));
    for (double& value : values) value = shown(value);
    text +=
        fmt::format("{:<11}{}: {:.6g}{} ({})\n", text.empty() ? "known" : "", name_of(known.target),
                    fmt::join(values, ", "), shown_values < known.values.size() ? ", ..." : "",
                    printable(known.source, 200));
  }
  return text;
}

ExitCode show(const Options& options) {
  const LoadedGame loaded = load(options.game);
  const AnyGame& game = loaded.game;
  const Frame& frame = frame_of(game);
  const std::vector<double> values = uniform_value_of(game);
  const std::string hash = to_hex(law_hash_of(game));
  if (options.as_json) {
    JsonWriter json;
    json.begin_object()
        .member("schema", "vlearn.game-show/1")
        .member("game", as_utf8(options.game));
    write_summary(json, loaded);
    json.key("player_names").on_one_line().begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.value(loaded.about.names.player(player));
    }
    json.end_array().key("actions").on_one_line().begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.value(extent_of_actions(frame, player).largest);
    }
    json.end_array().key("reward_range").begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.on_one_line().begin_array().value(frame.range(player).low);
      json.value(frame.range(player).high).end_array();
    }
    json.end_array().key("uniform_value").on_one_line().begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.value(in_user_units(frame, player, values[player.index()]));
    }
    json.end_array();
    write_known(json, loaded.about.known);
    print(json.end_object().text() + "\n");
    return ExitCode::good;
  }
  std::string text = fmt::format(
      "game       {}\n{}"
      "model      {}{}{}\n"
      "players    {}\n"
      "horizon    {}\n"
      "states     {}\n"
      "hash       {}\n{}\n"
      "{:<12}{:<10}{:<20}{}\n",
      printable(options.game), about_text(loaded.about), model_of(game),
      frame.stationary() ? ", stationary" : ", step-dependent",
      frame.zero_sum() ? ", zero-sum" : "", frame.num_players(), frame.horizon(),
      extent_of_states(frame).text(), hash, known_text(loaded.about), "player", "actions",
      "rewards", "exact value of uniform play");
  for (const Player player : all<Player>(std::min(frame.num_players(), kShownPlayers))) {
    const RewardRange& range = frame.range(player);
    text += fmt::format(
        "{:<12}{:<10}{:<20}{:.6g}\n", printable(loaded.about.names.player(player), 40),
        extent_of_actions(frame, player).text(), fmt::format("{:g} to {:g}", range.low, range.high),
        shown(in_user_units(frame, player, values[player.index()])));
  }
  print(text + rest_of(frame));
  return ExitCode::good;
}

ExitCode simulate(const Options& options) {
  const LoadedGame loaded = load(options.game);
  const AnyGame& game = loaded.game;
  const Frame& frame = frame_of(game);
  const std::vector<double> exact = uniform_value_of(game);
  std::vector<PlayedValue> played = std::visit(
      [&](const auto& model) { return play_uniformly(model, options.episodes, options.seed); },
      game);
  for (const Player player : all<Player>(frame.num_players())) {
    PlayedValue& value = played[player.index()];
    value.mean = in_user_units(frame, player, value.mean);
    value.standard_error *= frame.range(player).high - frame.range(player).low;
  }
  if (options.as_json) {
    JsonWriter json;
    json.begin_object()
        .member("schema", "vlearn.game-simulate/1")
        .member("game", as_utf8(options.game));
    json.member("hash", to_hex(law_hash_of(game))).member("seed", options.seed);
    json.member("episodes", options.episodes).key("players").begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.begin_object().member("mean", played[player.index()].mean);
      json.member("standard_error", played[player.index()].standard_error);
      json.member("exact", in_user_units(frame, player, exact[player.index()])).end_object();
    }
    print(json.end_array().end_object().text() + "\n");
    return ExitCode::good;
  }
  std::string text =
      fmt::format("{} episodes of uniform play, seed {}\n\n{:<8}{:<14}{:<16}{}\n", options.episodes,
                  options.seed, "player", "mean", "standard error", "exact");
  for (const Player player : all<Player>(std::min(frame.num_players(), kShownPlayers))) {
    text += fmt::format("{:<8}{:<14.6g}{:<16.2g}{:.6g}\n", player.number(),
                        played[player.index()].mean, played[player.index()].standard_error,
                        shown(in_user_units(frame, player, exact[player.index()])));
  }
  print(text + rest_of(frame));
  return ExitCode::good;
}

}  // namespace

void add_game_show(CLI::App& command, Task& task) {
  const auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* about, const char* examples,
                       ExitCode (*run)(const Options&)) {
    CLI::App* part = command.add_subcommand(name, about);
    part->footer(fmt::format("Examples:\n{}\n\n{}", examples, what_game_is()));
    part->add_option("GAME", options->game, "Which game")->required();
    part->add_flag("--json", options->as_json, "One JSON object");
    part->callback([options, run, &task] { task = [options, run] { return run(*options); }; });
    return part;
  };
  add("show", "What a game is, and the exact value of uniform play",
      "  vlearn game show soccer\n"
      "  vlearn game show congestion-100 --json",
      show);
  CLI::App* part = add("simulate", "Play uniformly and compare with the exact value",
                       "  vlearn game simulate soccer\n"
                       "  vlearn game simulate random:players=3,seed=7 --episodes 10000",
                       simulate);
  part->add_option("--episodes", options->episodes, "How many")
      ->check(CLI::Range(std::uint64_t{1}, kMaxEpisodes - 1))
      ->capture_default_str();
  part->add_option("--seed", options->seed, "Of nature and players")->capture_default_str();
}

}  // namespace vlearn::app
