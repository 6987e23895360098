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
#include "vlearn/core/json.h"
#include "vlearn/game/any_game.h"
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

/// Sizes that vary over the game as "3" or "1 to 5".
std::string span_text(std::size_t smallest, std::size_t largest) {
  return smallest == largest ? fmt::format("{}", smallest)
                             : fmt::format("{} to {}", smallest, largest);
}

struct Extent {
  std::size_t smallest = SIZE_MAX;
  std::size_t largest = 0;
  void add(std::size_t size) {
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
};

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

ExitCode show(const Options& options) {
  const AnyGame game = make_game(options.game);
  const Frame& frame = frame_of(game);
  const std::vector<double> values = uniform_value_of(game);
  const std::string hash = to_hex(law_hash_of(game));
  const Extent states = extent_of_states(frame);
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.game-show/1").member("game", options.game);
    json.member("model", model_of(game)).member("hash", hash);
    json.member("players", frame.num_players()).member("horizon", frame.horizon());
    json.member("states", states.largest).member("stationary", frame.stationary());
    json.member("zero_sum", frame.zero_sum());
    json.key("actions").begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.value(extent_of_actions(frame, player).largest);
    }
    json.end_array().key("reward_range").begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.begin_array().value(frame.range(player).low).value(frame.range(player).high).end_array();
    }
    json.end_array().key("uniform_value").begin_array();
    for (const Player player : all<Player>(frame.num_players())) {
      json.value(in_user_units(frame, player, values[player.index()]));
    }
    print(json.end_array().end_object().text() + "\n");
    return ExitCode::good;
  }
  std::string text = fmt::format(
      "game       {}\n"
      "model      {}{}{}\n"
      "players    {}\n"
      "horizon    {}\n"
      "states     {}\n"
      "hash       {}\n\n"
      "{:<8}{:<10}{:<20}{}\n",
      options.game, model_of(game), frame.stationary() ? ", stationary" : ", step-dependent",
      frame.zero_sum() ? ", zero-sum" : "", frame.num_players(), frame.horizon(),
      span_text(states.smallest, states.largest), hash, "player", "actions", "rewards",
      "exact value of uniform play");
  for (const Player player : all<Player>(std::min(frame.num_players(), kShownPlayers))) {
    const Extent actions = extent_of_actions(frame, player);
    const RewardRange& range = frame.range(player);
    text += fmt::format("{:<8}{:<10}{:<20}{:.6g}\n", player.number(),
                        span_text(actions.smallest, actions.largest),
                        fmt::format("{:g} to {:g}", range.low, range.high),
                        shown(in_user_units(frame, player, values[player.index()])));
  }
  print(text + rest_of(frame));
  return ExitCode::good;
}

ExitCode simulate(const Options& options) {
  const AnyGame game = make_game(options.game);
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
    json.begin_object().member("schema", "vlearn.game-simulate/1").member("game", options.game);
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

std::string family_list() {
  std::string text = "GAME is a family with its parameters (these are the defaults):";
  for (const GameFamily& family : game_families()) {
    text += fmt::format("\n  {}\n      {}", family.pattern, family.about);
  }
  return text;
}

}  // namespace

void add_game(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("game", "Look at a game");
  command->footer(
      "Examples:\n"
      "  vlearn game show soccer\n"
      "  vlearn game simulate random:players=3,seed=7 --episodes 10000\n\n" +
      family_list());
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, ExitCode (*run)(const Options&)) {
    CLI::App* part = command->add_subcommand(name, about);
    part->footer(fmt::format(
        "Examples:\n  vlearn game {0} soccer\n  vlearn game {0} congestion-100 --json\n\n{1}", name,
        family_list()));
    part->add_option("GAME", options->game, "Which game")->required();
    part->add_flag("--json", options->as_json, "One JSON object");
    part->callback([options, run, &task] { task = [options, run] { return run(*options); }; });
    return part;
  };
  add("show", "What a game is, and the exact value of uniform play", show);
  CLI::App* part = add("simulate", "Play uniformly and compare with the exact value", simulate);
  part->add_option("--episodes", options->episodes, "How many")
      ->check(CLI::Range(std::uint64_t{1}, kMaxEpisodes - 1))
      ->capture_default_str();
  part->add_option("--seed", options->seed, "Of nature and players")->capture_default_str();
}

}  // namespace vlearn::app
