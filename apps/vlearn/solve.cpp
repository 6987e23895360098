// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn solve: the game is known, so an equilibrium is planned instead of learned.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "certificate_text.h"
#include "command.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/solve_game.h"
#include "vlearn/run/trainer.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string game;
  std::string target;
  std::string method = "auto";
  std::string select;
  std::optional<double> until_gap;
  std::optional<double> max_time;
  std::string max_iterations = "1e7";
  std::string seed = "1";
  std::string out;
  std::uint64_t threads = 0;
  bool force = false;
  bool as_json = false;
};

Selection parse_selection(const std::string& word) {
  const auto selection = selection_named(word);
  if (!selection) {
    const std::vector<std::string_view> known = {"welfare", "egalitarian", "player:1"};
    const std::string meant = suggestion(word, known);
    throw Error(ErrorKind::usage, "--select", "is '" + printable(word, 100) + "'",
                meant.empty() ? "want welfare, egalitarian or player:N" : meant);
  }
  return *selection;
}

SolveConfig resolve(const Options& options, const Frame& frame) {
  SolveConfig config;
  config.target = options.target.empty() ? natural_target(frame) : *target_named(options.target);
  check_target(frame, config.target);
  if (!options.select.empty()) config.selection = parse_selection(options.select);
  if (options.method == "auto") {
    // Who selects needs linear programs.
    const MethodChoice choice = options.select.empty()
                                    ? choose_method(frame, config.target)
                                    : MethodChoice{PlanMethod::lp, "it can select"};
    config.method = choice.method;
    note(fmt::format("method {}: {}", kPlanMethodNames[static_cast<std::size_t>(choice.method)],
                     choice.reason));
  } else {
    config.method = named<PlanMethod>(kPlanMethodNames, options.method);
  }
  if (!options.select.empty()) {
    if (config.method != PlanMethod::lp) {
      throw Error(ErrorKind::usage, "--select", "the method oftrl does not choose",
                  "use --method lp");
    }
    if (config.target != Target::cce && config.target != Target::ce) {
      throw Error(ErrorKind::usage, "--select", "is for cce and ce",
                  "the values of other targets leave no choice");
    }
  }
  const auto check_positive = [](const char* option, const std::optional<double>& number) {
    if (number && !(std::isfinite(*number) && *number > 0.0)) {
      throw Error(ErrorKind::usage, option, "is not a number above 0");
    }
  };
  check_positive("--until-gap", options.until_gap);
  check_positive("--max-time", options.max_time);
  config.until_gap = options.until_gap.value_or(default_gap(frame));
  config.max_seconds = options.max_time;
  config.max_iterations = parse_count("--max-iterations", options.max_iterations);
  config.seed = parse_natural("--seed", options.seed);
  return config;
}

ExitCode solve(const Options& options) {
  const LoadedGame game = load_for_run(options.game);
  const Frame& frame = frame_of(game.game);
  if (!frame.start_known()) {
    throw Error(ErrorKind::usage, options.game, "does not say where episodes begin",
                "planning needs a game whose law is known");
  }
  const SolveConfig config = resolve(options, frame);
  const RunTitle title{options.game, "", to_hex(law_hash_of(game.game))};
  const std::filesystem::path out =
      options.out.empty() ? std::filesystem::path("runs") / (file_name(options.game) + "-solved")
                          : std::filesystem::path(options.out);
  const auto existing = options.force ? RunFolder::Existing::replace : RunFolder::Existing::refuse;
  RunFolder::check(out, existing);
  CertificateTitle certificate{title.game, title.game_hash, {}, {}};
  for (const Player player : all<Player>(frame.num_players())) {
    certificate.player_names.emplace_back(game.about.names.player(player));
  }
  SolveHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = stop_on_signals("keeping the best so far");
  hooks.row = [&](const SolveRow& row) {
    if (config.method == PlanMethod::lp) return;
    note(fmt::format("round {}: certified gap {:.6g} after {} iterations", row.round, row.gap_upper,
                     row.iterations));
  };
  Progress progress({.work = "planning"});
  std::optional<SolveResult> result = solve_game(game.game, certificate, config, hooks);
  progress.end();
  if (!result) {
    warn("stopped before there was anything to return");
    return hooks.cancel.requested() ? interrupted() : ExitCode::gap;
  }
  RunFolder::write_planned(out, existing, title, config, *result);
  if (options.as_json) {
    JsonWriter json;
    json.begin_object();
    write_result(json, title, config, *result);
    json.member("run", as_utf8(out.string()));
    print(json.end_object().text() + "\n");
  } else {
    print(certificate_text(result->certificate, config.until_gap) + run_folder_text(out));
  }
  if (result->stopped == SolveStopped::interrupt) return interrupted();
  const bool reached = result->certificate.gap_upper <= config.until_gap;
  return reached || !options.until_gap ? ExitCode::good : ExitCode::gap;
}

}  // namespace

void add_solve(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("solve", "Plan an equilibrium of a game whose law is known");
  command->footer(
      "Examples:\n"
      "  vlearn solve soccer --target nash\n"
      "  vlearn solve chicken --target ce --select egalitarian\n\n"
      "Backward induction, and a certificate of what comes out. lp: a linear program at every "
      "(step, state), exact.\noftrl: players who learn without noise at every (step, state), for "
      "games with too many joint actions to list.\nExit code 4: the gap that was asked for was "
      "not reached.\n\n" +
      what_game_is());
  command->add_option("game", options->game, "GAME")->required();
  command
      ->add_option("--target", options->target,
                   "optimal (one player), nash (zero-sum), cce or ce; default: optimal, nash or "
                   "cce, whichever fits first")
      ->check(one_of(kTargetNames));
  command
      ->add_option("--method", options->method,
                   "lp, oftrl, or auto (default): lp where the programs are small")
      ->check(one_of({"lp", "oftrl", "auto"}));
  command->add_option("--select", options->select,
                      "Of all cce or ce of a stage the best for: welfare (default, the sum), "
                      "egalitarian (the least value), player:N");
  command->add_option("--until-gap", options->until_gap,
                      "Of oftrl: the certified gap that is enough, in the game's reward units; "
                      "default: 1e-4 of what an episode can pay");
  command->add_option("--max-time", options->max_time,
                      "Seconds after which the best so far is returned");
  command->add_option("--max-iterations", options->max_iterations,
                      "Of oftrl: when to give up a stage");
  command->add_option("--seed", options->seed, "Of the players who will execute the policy");
  command->add_option("--out", options->out, "Run folder; default runs/GAME-solved");
  command->add_flag("--force", options->force, "Replace a run that is there");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return solve(*options); }; });
}

}  // namespace vlearn::app
