// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn games, and vlearn game show | validate | convert | random | simulate: find, check and look
// at a game before learning it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/game/evaluate.h"
#include "vlearn/game/game_io.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

struct Options {
  std::string game;
  std::string to;
  bool as_json = false;
  std::uint64_t players = 2;
  std::uint64_t states = 4;
  std::uint64_t actions = 3;
  std::uint64_t horizon = 5;
  std::string kind = "general";
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
    text += fmt::format("{:<11}{}: {:.6g}{} ({})\n", text.empty() ? "known" : "",
                        name_of(known.target), fmt::join(values, ", "),
                        shown_values < known.values.size() ? ", ..." : "",
                        printable(known.source, 200));
  }
  return text;
}

/// The game of the command line; what is to be said about it goes to standard error.
LoadedGame load(const std::string& word) {
  LoadedGame loaded = load_game(word);
  for (const std::string& remark : loaded.remarks) note(remark);
  return loaded;
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

/// What every command says about a game.
void write_summary(JsonWriter& json, const LoadedGame& loaded) {
  const Frame& frame = frame_of(loaded.game);
  json.member("title", loaded.about.title).member("source", loaded.about.source);
  json.member("model", model_of(loaded.game)).member("hash", to_hex(law_hash_of(loaded.game)));
  json.member("players", frame.num_players()).member("horizon", frame.horizon());
  json.member("states", extent_of_states(frame).largest);
  json.member("stationary", frame.stationary()).member("zero_sum", frame.zero_sum());
}

ExitCode list(const Options& options) {
  JsonWriter json;
  std::string text = fmt::format("{:<20}{:>7}{:>8}{:>9}   {}\n", "name", "players", "states",
                                 "horizon", "title");
  json.begin_object().member("schema", "vlearn.games/1").key("games").begin_array();
  for (const CatalogueEntry& entry : catalogue()) {
    const LoadedGame loaded = load_game(entry.name);
    json.begin_object().member("name", entry.name);
    write_summary(json, loaded);
    write_known(json, loaded.about.known);
    json.end_object();
    const Frame& frame = frame_of(loaded.game);
    text += fmt::format("{:<20}{:>7}{:>8}{:>9}   {}\n", entry.name, frame.num_players(),
                        extent_of_states(frame).largest, frame.horizon(), loaded.about.title);
  }
  json.end_array().key("families").begin_array();
  text += "\nFamilies, with their defaults:\n";
  for (const GameFamily& family : game_families()) {
    json.begin_object().member("name", family.name).member("pattern", family.pattern);
    json.member("about", family.about).end_object();
    text += fmt::format("  {}\n      {}\n", family.pattern, family.about);
  }
  json.end_array().end_object();
  print(options.as_json ? json.text() + "\n" : text);
  return ExitCode::good;
}

ExitCode validate(const Options& options) {
  const LoadedGame loaded = load(options.game);
  const Frame& frame = frame_of(loaded.game);
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.game-validate/1");
    json.member("game", options.game).member("valid", true);
    write_summary(json, loaded);
    json.key("remarks").begin_array();
    for (const std::string& remark : loaded.remarks) json.value(remark);
    print(json.end_array().end_object().text() + "\n");
  } else {
    const Extent states = extent_of_states(frame);
    print(fmt::format("{}: good: {}, {} players, {} states, horizon {}, hash {}\n", options.game,
                      model_of(loaded.game), frame.num_players(),
                      span_text(states.smallest, states.largest), frame.horizon(),
                      to_hex(law_hash_of(loaded.game))));
  }
  return ExitCode::good;
}

/// Writes a game, reads it back and says whether the law is the same; "-" is standard output.
ExitCode write_and_compare(const LoadedGame& loaded, const Options& options) {
  if (options.to == "-") {
    print(game_to_json(loaded));
    return ExitCode::good;
  }
  write_game(options.to, loaded);
  const std::string hash = to_hex(law_hash_of(loaded.game));
  const std::string written = to_hex(law_hash_of(read_game(options.to).game));
  const bool same = hash == written;
  if (!same && format_of(options.to) != GameFormat::nfg) {
    throw Error(ErrorKind::internal, options.to, "holds another law than it should");
  }
  if (!same) {
    note(options.to +
         ": an .nfg file has no place for reward ranges, noise or the zero-sum form of this game; "
         "payoffs and equilibria are the same, the hash is another");
  }
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.game-convert/1").member("to", options.to);
    json.member("hash", hash).member("hash_of_file", written).member("same_law", same);
    print(json.end_object().text() + "\n");
  } else {
    print(fmt::format("{}: hash {}\n", options.to, written));
  }
  return ExitCode::good;
}

ExitCode convert(const Options& options) {
  if (options.to != "-") static_cast<void>(format_of(options.to));  // before a long read
  return write_and_compare(load(options.game), options);
}

ExitCode random(const Options& options) {
  LoadedGame loaded{make_game(fmt::format(
      "random:players={},states={},actions={},horizon={},seed={},kind={}", options.players,
      options.states, options.actions, options.horizon, options.seed, options.kind))};
  loaded.about.title = fmt::format("random {} game, seed {}", options.kind, options.seed);
  return write_and_compare(loaded, options);
}

ExitCode show(const Options& options) {
  const LoadedGame loaded = load(options.game);
  const AnyGame& game = loaded.game;
  const Frame& frame = frame_of(game);
  const std::vector<double> values = uniform_value_of(game);
  const std::string hash = to_hex(law_hash_of(game));
  const Extent states = extent_of_states(frame);
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.game-show/1").member("game", options.game);
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
      options.game, about_text(loaded.about), model_of(game), frame.stationary() ? ", stationary" : ", step-dependent",
      frame.zero_sum() ? ", zero-sum" : "", frame.num_players(), frame.horizon(),
      span_text(states.smallest, states.largest), hash, known_text(loaded.about), "player", "actions",
      "rewards", "exact value of uniform play");
  for (const Player player : all<Player>(std::min(frame.num_players(), kShownPlayers))) {
    const Extent actions = extent_of_actions(frame, player);
    const RewardRange& range = frame.range(player);
    text += fmt::format("{:<12}{:<10}{:<20}{:.6g}\n",
                        printable(loaded.about.names.player(player), 40),
                        span_text(actions.smallest, actions.largest),
                        fmt::format("{:g} to {:g}", range.low, range.high),
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

std::string game_list() {
  std::string text =
      "GAME is a name of the catalogue ('vlearn games' lists it), a file (.json, .safetensors,\n"
      ".nfg), '-' for standard input, or a family with its parameters (these are the defaults):";
  for (const GameFamily& family : game_families()) {
    text += fmt::format("\n  {}\n      {}", family.pattern, family.about);
  }
  return text;
}

}  // namespace

void add_games(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("games", "List the games that come with vlearn");
  command->footer(
      "Examples:\n"
      "  vlearn games\n"
      "  vlearn games --json");
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return list(*options); }; });
}

void add_game(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("game", "Check, convert and look at a game");
  command->footer(
      "Examples:\n"
      "  vlearn game show soccer\n"
      "  vlearn game convert chicken chicken.nfg\n\n" +
      game_list());
  command->require_subcommand(1);
  const auto add_command = [&](const char* name, const char* about, const char* examples,
                               ExitCode (*run)(const Options&)) {
    CLI::App* part = command->add_subcommand(name, about);
    part->footer(fmt::format("Examples:\n{}\n\n{}", examples, game_list()));
    part->add_flag("--json", options->as_json, "One JSON object");
    part->callback([options, run, &task] { task = [options, run] { return run(*options); }; });
    return part;
  };
  const auto add = [&](const char* name, const char* about, const char* examples,
                       ExitCode (*run)(const Options&)) {
    CLI::App* part = add_command(name, about, examples, run);
    part->add_option("GAME", options->game, "Which game")->required();
    return part;
  };
  add("show", "What a game is, and the exact value of uniform play",
      "  vlearn game show soccer\n"
      "  vlearn game show congestion-100 --json",
      show);
  add("validate", "Check a game file",
      "  vlearn game validate mine.json\n"
      "  vlearn game validate mine.safetensors --json",
      validate);
  CLI::App* part = add("convert", "Write a game in another format, chosen by the ending",
                       "  vlearn game convert chicken chicken.nfg\n"
                       "  vlearn game convert mine.json mine.safetensors",
                       convert);
  part->add_option("TO", options->to, "FILE.json, FILE.safetensors, FILE.nfg, or - for JSON on "
                                      "standard output")
      ->required();
  part = add_command("random", "Make a random game",
                     "  vlearn game random --players 3 --seed 7\n"
                     "  vlearn game random --states 20 --actions 5 -o random.safetensors",
                     random);
  options->to = "-";
  part->add_option("--players", options->players, "How many")->capture_default_str();
  part->add_option("--states", options->states, "In each step")->capture_default_str();
  part->add_option("--actions", options->actions, "Of each player")->capture_default_str();
  part->add_option("--horizon", options->horizon, "Steps of an episode")->capture_default_str();
  part->add_option("--kind", options->kind, "general, zero-sum, team or polymatrix")
      ->capture_default_str();
  part->add_option("--seed", options->seed, "Of the numbers")->capture_default_str();
  part->add_option("-o,--out", options->to, "A file instead of JSON on standard output");
  part = add("simulate", "Play uniformly and compare with the exact value",
             "  vlearn game simulate soccer\n"
             "  vlearn game simulate random:players=3,seed=7 --episodes 10000",
             simulate);
  part->add_option("--episodes", options->episodes, "How many")
      ->check(CLI::Range(std::uint64_t{1}, kMaxEpisodes - 1))
      ->capture_default_str();
  part->add_option("--seed", options->seed, "Of nature and players")->capture_default_str();
}

}  // namespace vlearn::app
