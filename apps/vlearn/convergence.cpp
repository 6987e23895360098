// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn experiment convergence: whether certified gaps go on to fall in games whose best replies
// go in circles (docs/experiments.md).
#include "vlearn/experiment/convergence.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/experiment/efficiency.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string out = "experiments/convergence";
  std::vector<std::string> games;
  std::string target = "both";
  std::string preset = "fast";
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 10;
  std::string episodes;
  bool slow = false;
  std::uint64_t threads = 0;
  bool as_json = false;
};

ConvergenceSettings settings_of(const Options& options) {
  ConvergenceSettings settings;
  settings.games = select_cyclic_games(options.games);
  if (options.target != "both") settings.targets = {*target_named(options.target)};
  settings.preset = named<Preset>(kPresetNames, options.preset);
  settings.first_seed = options.first_seed;
  settings.seeds = options.seeds;
  if (options.slow) settings.episodes *= 10;
  if (!options.episodes.empty()) settings.episodes = parse_count("--episodes", options.episodes);
  if (settings.episodes < kLeastConvergenceEpisodes ||
      settings.episodes > kMostConvergenceEpisodes) {
    throw Error(ErrorKind::usage, "--episodes", fmt::format("is {}", settings.episodes),
                fmt::format("want {} to {}: at least the first half decade",
                            kLeastConvergenceEpisodes, kMostConvergenceEpisodes));
  }
  return settings;
}

std::string text_of(const ConvergenceSettings& settings, const ConvergenceRun& run) {
  const ConvergenceVerdict verdict = judge_convergence(run.worst);
  const auto bar = [](BarVerdict which) {
    return kBarVerdictNames[static_cast<std::size_t>(which)];
  };
  return fmt::format("{}, {}, seed {}: {:.3g} in the last half decade; rise {}, level {}",
                     settings.games[run.game].name, name_of(run.target), run.seed, run.worst.back(),
                     bar(verdict.rise), bar(verdict.level));
}

ExitCode convergence(const Options& options) {
  const ConvergenceSettings settings = settings_of(options);
  const std::filesystem::path out = options.out;
  // From here on Ctrl-C leaves a folder to go on from.
  const CancelToken cancel = stop_on_signals("keeping what was measured");
  ConvergenceLog log(out, settings);
  const std::size_t runs = settings.games.size() * settings.targets.size() * settings.seeds;
  const auto begin = std::chrono::steady_clock::now();
  if (log.size() > 0) note(fmt::format("{} of {} runs are there", log.size(), runs));
  Progress progress({.unit = fmt::format("of {} runs", runs), .rate = {}, .per_run = runs});
  progress.report(0, log.size());
  ConvergenceHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = cancel;
  hooks.done = [&](const ConvergenceRun& run) {
    progress.report(0, log.size());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    note(fmt::format("{} of {}, {}: {}", log.size(), runs, short_time(elapsed.count()),
                     text_of(settings, run)));
  };
  const bool measured = measure_convergence(settings, log, hooks);
  progress.end();
  if (!measured) {
    warn(fmt::format("stopped with {} of {} runs; go on with the same command", log.size(), runs));
    return ExitCode::checkpointed;
  }
  log.put_in_order();
  const std::string table = convergence_markdown(settings, log);
  const std::string json = convergence_json(settings, log);
  write_file(out / "table.md", table);
  write_file(out / "convergence.json", json);
  write_file(out / "convergence.csv", convergence_csv(settings, log));
  print(options.as_json ? json : table);
  note("files: " + out.string());
  if (overall_verdict(settings, log) != BarVerdict::broken) return ExitCode::good;
  warn("a bar is broken: gaps do not go on to fall, or end too high");
  return ExitCode::gap;
}

}  // namespace

void add_convergence(CLI::App& experiment, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "convergence", "Whether gaps go on to fall where best replies go in circles");
  std::string games;
  for (const CyclicGame& game : cyclic_games()) {
    games += fmt::format("  {:<20} {}\n", game.name, game.about);
  }
  command->footer(
      "Examples:\n"
      "  vlearn experiment convergence --games shapley,bad-rps --seeds 2 --episodes 1e6 --out "
      "small\n"
      "  vlearn experiment convergence --target ce\n"
      "  vlearn experiment convergence --slow --out long\n\n"
      "For each game, target and seed: the largest certified gap of each half decade of episodes, "
      "from 1000 on, 12 looks\nin each, in units of H times the range of rewards. Two bars, in "
      "every run: once 1e5 is passed a half decade is at\nmost 1.2 times the one before, and from "
      "1e7 on at most 0.002; less than 1e-4 counts as 1e-4. Exit code 4: a bar\nis broken. All of "
      "it takes about an hour of one core, a third of it for cce, and with --slow ten times as "
      "long:\nstopped or killed, the same command goes on. DIR gets results.jsonl, table.md, "
      "convergence.json and .csv.\n\nGames:\n" +
      games);
  command->add_option("--out", options->out, "DIR; default experiments/convergence");
  command->add_option("--target", options->target, "cce, ce or both (default)")
      ->check(one_of({"cce", "ce", "both"}));
  command->add_option("--games", options->games, "Some of the games, with commas; default all")
      ->delimiter(',');
  command
      ->add_option("--preset", options->preset,
                   fmt::format("Which learns: {}; default fast", fmt::join(kPresetNames, ", ")))
      ->check(one_of(kPresetNames));
  command->add_option("--seeds", options->seeds, "Of every game; default 10")
      ->check(CLI::Range(std::uint64_t{1}, kMaxExperimentSeeds));
  command
      ->add_option("--first-seed", options->first_seed, "Of runs, the others follow it; default 1")
      ->check(CLI::Range(std::uint64_t{1}, kMaxFirstSeed));
  CLI::Option* const episodes = command->add_option(
      "--episodes", options->episodes,
      "Of every run, up to the last half decade that ends within them; default 1e7");
  command->add_flag("--slow", options->slow, "1e8 episodes")->excludes(episodes);
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return convergence(*options); }; });
}

}  // namespace vlearn::app
