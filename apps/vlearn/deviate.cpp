// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn deviate: what could a player gain by deviating from what a run has learned, by trying.
#include "vlearn/run/deviate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "executed_output.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

struct Options {
  std::string run;
  OutputWords words;
  std::optional<std::uint64_t> player;
  std::string episodes = "10000";
  std::string rollouts = "10000";
  double confidence = 0.99;
  std::string seed = "1";
  bool as_json = false;
};

std::string to_json(const StoredRun& run,
                    const GameNames& names,
                    const ExecutedOutput& executed,
                    const DeviateOptions& options,
                    const std::vector<FoundDeviation>& found) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.deviate/1");
  json.member("version", build_info().version).member("game", run.title.game);
  json.member("game_hash", run.title.game_hash);
  json.member("target", name_of(run.config.learner.target));
  json.member("output", executed.output).member("start", executed.start);
  json.member("episodes", options.episodes).member("rollouts", options.rollouts);
  json.member("confidence", options.confidence).member("seed", options.seed);
  json.key("players").begin_array();
  for (const FoundDeviation& one : found) {
    json.begin_object().member("player", one.player.number());
    json.member("name", names.player(one.player)).member("value", one.following);
    json.key("gain").on_one_line().begin_object().member("kind", "estimate");
    json.member("value", one.gain).member("standard_error", one.standard_error).end_object();
    json.key("gain_lower").on_one_line().begin_object().member("kind", "lower");
    json.member("value", one.lower).end_object();
    json.key("deviation").on_one_line().begin_array();
    for (const std::uint32_t action : one.plan) json.value(std::uint64_t{action} + 1);
    json.end_array().end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

std::string to_text(const StoredRun& run,
                    const GameNames& names,
                    const ExecutedOutput& executed,
                    const DeviateOptions& options,
                    const std::vector<FoundDeviation>& found) {
  std::string text =
      fmt::format("{}: output {}, start {}, {} episodes of learning each, {} pairs\n",
                  printable(run.title.game, 200), executed.output, executed.start, options.episodes,
                  options.rollouts);
  text += fmt::format("{:<20}{:>14}{:>14}{:>16}{:>14}\n", "player", "value", "gain",
                      "standard error", "at least");
  for (std::size_t i = 0; i < std::min(found.size(), kShownPlayers); ++i) {
    const FoundDeviation& one = found[i];
    text += fmt::format("{:<20}{:>14.6g}{:>14.6g}{:>16.3g}{:>14.6g}\n",
                        printable(names.player(one.player), 18), one.following, one.gain,
                        one.standard_error, one.lower);
  }
  if (found.size() > kShownPlayers) {
    text += fmt::format("... and {} more (--json has all)\n", found.size() - kShownPlayers);
  }
  const auto most = std::max_element(
      found.begin(), found.end(),
      [](const FoundDeviation& a, const FoundDeviation& b) { return a.lower < b.lower; });
  if (most->lower <= 0.0) return text + "nobody was seen to gain for sure\n";
  return text + fmt::format("with probability {}: player {} can gain {:.6g} at least\n",
                            options.confidence, most->player.number(), most->lower);
}

ExitCode deviate(const Options& options) {
  DeviateOptions wanted;
  wanted.episodes = parse_count("--episodes", options.episodes);
  wanted.rollouts = parse_count("--rollouts", options.rollouts);
  wanted.confidence = options.confidence;
  wanted.seed = parse_natural("--seed", options.seed);
  const StoredRun run = read_run(options.run);
  const LoadedGame game = load_game_of(run);
  const Frame& frame = frame_of(game.game);
  if (options.player) {
    if (*options.player < 1 || *options.player > frame.num_players()) {
      throw Error(ErrorKind::usage, "--player", "there is no such player",
                  fmt::format("want 1 to {}", frame.num_players()));
    }
    wanted.player = Player::from_number(*options.player);
  }
  const ExecutedOutput executed = executed_output(run, game, options.words);
  wanted.start = executed.rule;
  wanted.output = executed.kind;
  wanted.cancel = stop_on_signals();
  const std::size_t players = options.player ? 1 : frame.num_players();
  // Of each player: what it learns from, what it is judged by; and once what all do.
  Progress progress(
      {.rate = {}, .per_run = players * (wanted.episodes + wanted.rollouts) + wanted.rollouts});
  wanted.progress = [&](std::uint64_t episodes) { progress.report(0, episodes); };
  std::vector<FoundDeviation> found;
  try {
    if (executed.is_table) {
      found =
          find_deviations(ref_of(game.game),
                          open_tables(run.path, run.title.game_hash, frame.num_players()), wanted);
    } else {
      check_history(run);
      found = find_deviations(ref_of(game.game), open_policies(run, frame), wanted);
    }
  } catch (const Cancelled&) {
    progress.end();
    warn("stopped before anything was found");
    return interrupted();
  }
  progress.end();
  const GameNames& names = game.about.names;
  print(options.as_json ? to_json(run, names, executed, wanted, found)
                        : to_text(run, names, executed, wanted, found));
  return ExitCode::good;
}

}  // namespace

void add_deviate(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("deviate", "What could a player gain by deviating? Found by trying");
  command->footer(
      "Examples:\n"
      "  vlearn deviate runs/soccer-1\n"
      "  vlearn deviate runs/soccer-1 --player 2 --episodes 1e5 --json\n\n"
      "The others execute what the run returns; one player learns to do better and plays what it "
      "has learned\nin fresh episodes. 'at least' is a lower bound on what the best deviation "
      "gains: it holds for all players\nat once with the probability --confidence. What was not "
      "found may be there all the same; vlearn certify\nhas an upper bound.");
  command->add_option("run", options->run, "A run folder with its policies")->required();
  command->add_option("--player", options->player, "One alone; default: each in turn");
  command->add_option("--episodes", options->episodes, "That each learns from; default 10000");
  command->add_option("--rollouts", options->rollouts,
                      "Fresh pairs of episodes, with and without the deviation; default 10000");
  command->add_option("--confidence", options->confidence, "Of the lower bounds; default 0.99");
  command->add_option("--seed", options->seed, "Of everything that is drawn");
  command
      ->add_option("--output", options->words.output,
                   "Which policy: nested, markov, marginals or table; default: as vlearn play")
      ->check(one_of({"nested", "markov", "marginals", "table"}));
  command->add_option("--start", options->words.start,
                      "Where executions start: last, uniform, best or the number of an episode; "
                      "default: as vlearn play");
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return deviate(*options); }; });
}

}  // namespace vlearn::app
