// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn games, and vlearn game validate | convert | random: find games, check them, write them.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "command.h"
#include "game_text.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/game/game_io.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string game;
  std::string to = "-";
  bool as_json = false;
  std::uint64_t players = 2;
  std::uint64_t states = 4;
  std::uint64_t actions = 3;
  std::uint64_t horizon = 5;
  std::string kind = "general";
  std::uint64_t seed = 1;
};

ExitCode list(const Options& options) {
  JsonWriter json;
  std::string text =
      fmt::format("{:<20}{:>7}{:>8}{:>9}   {}\n", "name", "players", "states", "horizon", "title");
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
    json.member("game", as_utf8(options.game)).member("valid", true);
    write_summary(json, loaded);
    json.key("remarks").begin_array();
    for (const std::string& remark : loaded.remarks) json.value(remark);
    print(json.end_array().end_object().text() + "\n");
  } else {
    print(fmt::format("{}: good: {}, {} players, {} states, horizon {}, hash {}\n",
                      printable(options.game), model_of(loaded.game), frame.num_players(),
                      extent_of_states(frame).text(), frame.horizon(),
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
    json.begin_object().member("schema", "vlearn.game-convert/1").member("to", as_utf8(options.to));
    json.member("hash", hash).member("hash_of_file", written).member("same_law", same);
    print(json.end_object().text() + "\n");
  } else {
    print(fmt::format("{}: hash {}\n", printable(options.to), written));
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
  CLI::App* command = app.add_subcommand("game", "Look at a game, check it, convert it");
  command->footer(
      "Examples:\n"
      "  vlearn game show soccer\n"
      "  vlearn game convert chicken chicken.nfg\n\n" +
      what_game_is());
  command->require_subcommand(1);
  add_game_show(*command, task);
  const auto add = [&](const char* name, const char* about, const char* examples,
                       ExitCode (*run)(const Options&)) {
    CLI::App* part = command->add_subcommand(name, about);
    part->footer(fmt::format("Examples:\n{}\n\n{}", examples, what_game_is()));
    part->add_flag("--json", options->as_json, "One JSON object");
    part->callback([options, run, &task] { task = [options, run] { return run(*options); }; });
    return part;
  };
  CLI::App* part = add("validate", "Check a game file",
                       "  vlearn game validate mine.json\n"
                       "  vlearn game validate mine.safetensors --json",
                       validate);
  part->add_option("GAME", options->game, "Which game")->required();
  part = add("convert", "Write a game in another format, chosen by the ending",
             "  vlearn game convert chicken chicken.nfg\n"
             "  vlearn game convert mine.json mine.safetensors",
             convert);
  part->add_option("GAME", options->game, "Which game")->required();
  part->add_option("TO", options->to,
                   "FILE.json, FILE.safetensors, FILE.nfg, or - for JSON on standard output")
      ->required();
  part = add("random", "Make a random game",
             "  vlearn game random --players 3 --seed 7\n"
             "  vlearn game random --states 20 --actions 5 -o random.safetensors",
             random);
  part->add_option("--players", options->players, "How many")->capture_default_str();
  part->add_option("--states", options->states, "In each step")->capture_default_str();
  part->add_option("--actions", options->actions, "Of each player")->capture_default_str();
  part->add_option("--horizon", options->horizon, "Steps of an episode")->capture_default_str();
  part->add_option("--kind", options->kind, "general, zero-sum, team or polymatrix")
      ->capture_default_str();
  part->add_option("--seed", options->seed, "Of the numbers")->capture_default_str();
  part->add_option("-o,--out", options->to, "A file instead of JSON on standard output");
}

}  // namespace vlearn::app
