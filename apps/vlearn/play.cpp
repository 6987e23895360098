// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn play: executes the output policy of a run, all players in the game or one player alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command.h"
#include "executed_output.h"
#include "game_text.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/observations.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/joint_play.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/stored_policies.h"
#include "vlearn/run/trainer.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

struct Options {
  std::string what;
  std::string start;  // empty: what the run certified, else last
  std::string output;
  std::string episodes = "1000";
  std::string seed = "1";
  std::string index_seed;
  std::string private_seed;
  std::optional<std::uint64_t> player;
  bool trace = false;
  bool as_json = false;
};

void write_move(JsonWriter& json, const PolicyPlayer::Move& move) {
  json.member("action", move.action.number()).member("visit", move.visit);
  json.member("k", move.episode);
}

void print_step(const JointPlay::Seen& seen) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("episode", seen.episode.number()).member("step", seen.h.number());
  json.member("state", seen.s.number()).key("players").begin_array();
  for (const PolicyPlayer::Move& move : seen.moves) {
    json.begin_object();
    write_move(json, move);
    json.end_object();
  }
  print(json.end_array().end_object().text() + "\n");
}

/// All players in the game of the run.
ExitCode play_run(const Options& options) {
  const StoredRun run = read_run(options.what);
  const LoadedGame game = load_game_of(run);
  const std::uint64_t episodes = parse_count("--episodes", options.episodes);
  const std::uint64_t seed = parse_natural("--seed", options.seed);
  const ExecutedOutput executed = executed_output(run, game, {options.output, options.start});
  JointPlay play =
      executed.is_table
          ? JointPlay(run.path, run.title.game_hash, ref_of(game.game), run.config.learner.target)
          : JointPlay(run, ref_of(game.game), executed.rule, executed.kind);
  if (options.trace) {
    static_cast<void>(play.play(episodes, seed, print_step));
    return ExitCode::good;
  }
  const std::vector<PlayedValue> returns = play.play(episodes, seed);
  const std::size_t players = returns.size();
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.play/1").member("game", run.title.game);
    json.member("start", executed.start).member("output", executed.output);
    json.member("episodes", episodes).key("players").begin_array();
    for (std::size_t j = 0; j < players; ++j) {
      json.begin_object().member("player", std::uint64_t{j + 1});
      json.member("mean_return", returns[j].mean);
      json.member("standard_error", returns[j].standard_error);
      json.end_object();
    }
    print(json.end_array().end_object().text() + "\n");
    return ExitCode::good;
  }
  std::string text =
      fmt::format("{}: {} episodes, start {}, output {}\n", printable(run.title.game, 200),
                  episodes, executed.start, executed.output);
  text += fmt::format("{:<20}{:>14}{:>16}\n", "player", "mean return", "standard error");
  for (std::size_t j = 0; j < std::min(players, kShownPlayers); ++j) {
    text +=
        fmt::format("{:<20}{:>14.6g}{:>16.3g}\n", printable(game.about.names.player(Player(j)), 18),
                    returns[j].mean, returns[j].standard_error);
  }
  if (players > kShownPlayers) {
    text += fmt::format("... and {} more (--json has all)\n", players - kShownPlayers);
  }
  print(text);
  return ExitCode::good;
}

/// States in, actions out.
template <class OnePlayer>
void answer_observations(OnePlayer& player, std::span<const std::size_t> first_cell) {
  Observations observations(std::cin, "standard input", first_cell);
  while (const std::optional<Observation> seen = observations.next()) {
    if (seen->begins) player.begin(seen->episode);
    const PolicyPlayer::Move move = player.act(seen->h, seen->s);
    JsonWriter json(JsonWriter::Layout::compact);
    json.begin_object().member("episode", seen->episode.number());
    json.member("step", seen->h.number()).member("state", seen->s.number());
    write_move(json, move);
    print(json.end_object().text() + "\n");
  }
}

void check_player(const Options& options, Player owner) {
  if (options.player && *options.player != owner.number()) {
    throw Error(ErrorKind::usage, "--player",
                fmt::format("the file is player {}'s", owner.number()));
  }
}

/// One player, without the game and without the others.
ExitCode play_alone(const Options& options) {
  const auto seeds = [&] {
    if (options.index_seed.empty() || options.private_seed.empty()) {
      throw Error(ErrorKind::usage, "play", "a player alone needs two seeds",
                  "add --index-seed FILE and --private-seed FILE");
    }
    return std::pair(read_seed(options.index_seed), read_seed(options.private_seed));
  };
  if (std::filesystem::path(options.what).extension() == ".markov") {
    if (!options.output.empty() && options.output != "table") {
      throw Error(ErrorKind::usage, "--output", "the file is a table", "leave it out");
    }
    if (!options.start.empty()) {
      throw Error(ErrorKind::usage, "--start", "has no place with a table", "leave it out");
    }
    const MarkovTable table = read_markov(options.what);
    check_player(options, table.player);
    const auto [index, own] = seeds();
    const std::string agreed = read_start(options.index_seed);
    if (options.output.empty() && !agreed.empty() && agreed != "table") {
      throw Error(ErrorKind::usage, options.index_seed,
                  fmt::format("says start {}: all play their histories, not tables",
                              printable(agreed, 100)),
                  "give the .policy file; or say --output table");
    }
    MarkovPlayer player(table, index, own);
    answer_observations(player, table.first_cell);
    return ExitCode::good;
  }
  if (options.output == "table") {
    throw Error(ErrorKind::usage, "--output table", "the file is a history",
                "use nested or markov, or give a .markov file");
  }
  const PolicyFile file = PolicyFile::open(options.what, make_replayer);
  check_player(options, file.header().player);
  check_words({options.output, options.start}, file.header().target);
  const auto [index, own] = seeds();
  std::string start = options.start;
  std::string output = options.output;
  const std::string agreed = read_start(options.index_seed);
  if (output.empty() && start.empty() && agreed == "table") {
    throw Error(ErrorKind::usage, options.index_seed,
                "says start table: all play their tables, not histories",
                "give the .markov file; or say what to execute with --output");
  }
  const bool anew = agreed.starts_with("anew");
  if (output.empty()) {
    const char* const markov = file.header().target == Target::nash ? "marginals" : "markov";
    output = anew && start != "uniform" ? markov : "nested";
  }
  // What is agreed is the start of one of them; of all visits it is `anew` alone.
  if (start.empty() && agreed != "table" && anew == (output != "nested")) {
    start = anew ? agreed.substr(std::min<std::size_t>(agreed.size(), 5)) : agreed;
  }
  PolicyPlayer player(file, {start_of(start, output), output_of(output), index, own});
  answer_observations(player, file.header().seat.first_cell);
  return ExitCode::good;
}

}  // namespace

void add_play(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("play", "Execute the output policy of a run");
  command->footer(
      "Examples:\n"
      "  vlearn play runs/soccer-1 --episodes 1e5\n"
      "  vlearn play player-2.policy --player 2 --index-seed index.seed --private-seed "
      "player-2.seed\n\n"
      "RUN is a run folder: all players play its game. A policy file is one player alone: it reads "
      "what is\nobserved as JSON lines, {\"episode\": 1, \"step\": 1, \"state\": 3}, and prints "
      "what "
      "it plays.");
  command->add_option("what", options->what, "RUN, or a policy file")->required();
  command->add_option(
      "--start", options->start,
      "The episode to begin from: last, a number, best, which the run's certificate names, or "
      "uniform as in the paper, which only the nested output has; default: the start that the "
      "certificate has (the index seed says it too), else last");
  command
      ->add_option(
          "--output", options->output,
          "nested (the paper's), markov: all draw one visit anew at each step, marginals: the same "
          "for nash, where each player draws its own, or table: the Markov policy of --monotone "
          "and of solve; default: what the certificate is about, else what the run returns")
      ->check(one_of({"nested", "markov", "marginals", "table"}));
  command->add_option("--episodes", options->episodes, "Of a run: episodes to play, default 1000");
  command->add_option("--seed", options->seed, "Of a run: what the game itself draws from");
  command->add_flag("--trace", options->trace, "Of a run: every step as a JSON line");
  command->add_option("--player", options->player, "Of a policy file: whose it is, to make sure");
  command->add_option("--index-seed", options->index_seed, "Of a policy file: the indices' seed");
  command->add_option("--private-seed", options->private_seed,
                      "Of a policy file: the player's own");
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] {
    task = [options] {
      return std::filesystem::is_directory(options->what) ? play_run(*options)
                                                          : play_alone(*options);
    };
  });
}

}  // namespace vlearn::app
