// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn experiment: the measurements that docs/sample_efficiency.md and docs/experiments.md state,
// for everybody to repeat.
#include <fmt/format.h>

#include <algorithm>
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
#include "vlearn/core/text.h"
#include "vlearn/experiment/efficiency.h"
#include "vlearn/experiment/efficiency_log.h"
#include "vlearn/experiment/efficiency_report.h"
#include "vlearn/experiment/levers.h"
#include "vlearn/experiment/regret.h"

namespace vlearn::app {
namespace {

struct EfficiencyOptions {
  std::string out;
  std::string target = "cce";
  std::string preset = "fast";
  std::string reference = "paper";
  std::vector<std::string> games;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 5;
  std::string reference_episodes = "1e6";
  std::uint64_t threads = 0;
  bool as_json = false;
};

std::string text_of(const EfficiencySettings& settings, const PartResult& result) {
  const Preset preset = result.part == Part::reference ? settings.reference : settings.preset;
  const std::string who = fmt::format("{}, seed {}: {}", settings.games[result.game].name,
                                      result.seed, name_of(preset));
  switch (result.part) {
    case Part::preset:
      if (!result.reached) return who + " does not hold it";
      return fmt::format("{} holds it from {} episodes on", who, result.episodes);
    case Part::reference:
    case Part::gap: return fmt::format("{} certifies {:.3g}", who, result.gap);
    case Part::share: break;
  }
  return fmt::format("{} has {:.3g} of the optimum", who, result.share);
}

ExitCode efficiency(const EfficiencyOptions& options) {
  EfficiencySettings settings;
  settings.target = *target_named(options.target);
  settings.preset = named<Preset>(kPresetNames, options.preset);
  settings.reference = named<Preset>(kPresetNames, options.reference);
  settings.first_seed = options.first_seed;
  settings.seeds = options.seeds;
  settings.reference_episodes = parse_count("--reference-episodes", options.reference_episodes);
  settings.games = select_games(settings.target, options.games);
  const std::filesystem::path usual =
      std::filesystem::path("experiments") /
      (settings.target == Target::ce ? "efficiency-ce" : "efficiency");
  const std::filesystem::path out =
      options.out.empty() ? usual : std::filesystem::path(options.out);
  // From here on Ctrl-C leaves a folder to go on from.
  const CancelToken cancel = stop_on_signals("keeping what was measured");
  EfficiencyLog log(out, settings);
  std::size_t parts = 0;
  for (const SuiteGame& game : settings.games) {
    parts += parts_of(game.measure).size() * settings.seeds;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t had = log.size();
  Progress progress({.unit = fmt::format("of {} parts", parts), .rate = {}, .per_run = parts});
  progress.report(0, had);
  if (had > 0) note(fmt::format("{} of {} parts are there", had, parts));
  EfficiencyHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = cancel;
  const auto find = [&](std::size_t game, std::uint64_t seed, Part part) {
    return log.find(game, seed, part);
  };
  hooks.find = find;
  hooks.done = [&](const PartResult& result) {
    log.add(result);
    progress.report(0, log.size());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    note(fmt::format("{} of {}, {}: {}", log.size(), parts, short_time(elapsed.count()),
                     text_of(settings, result)));
  };
  const bool measured = measure_efficiency(settings, hooks);
  progress.end();
  if (!measured) {
    warn(
        fmt::format("stopped with {} of {} parts; go on with the same command", log.size(), parts));
    return ExitCode::checkpointed;
  }
  log.put_in_order();
  const EfficiencySummary summary = summarize(settings, find);
  const std::string table = to_markdown(summary);
  const std::string json = to_json(summary);
  write_file(out / "table.md", table);
  write_file(out / "efficiency.json", json);
  write_file(out / "efficiency.csv", to_csv(summary));
  write_file(out / "efficiency.svg", to_svg(summary));
  print(options.as_json ? json : table);
  note("files: " + out.string());
  return ExitCode::good;
}

void add_efficiency(CLI::App& experiment, Task& task) {
  const auto options = std::make_shared<EfficiencyOptions>();
  CLI::App* command = experiment.add_subcommand(
      "efficiency", "How many fewer episodes a preset needs than another one");
  std::string games;
  for (const SuiteGame& game : efficiency_suite()) {
    games += fmt::format("  {:<20} {}\n", game.name, game.pattern);
  }
  command->footer(
      "Examples:\n"
      "  vlearn experiment efficiency\n"
      "  vlearn experiment efficiency --games rps,general --seeds 3 --out small\n"
      "  vlearn experiment efficiency --first-seed 1001 --out other-seeds\n"
      "  vlearn experiment efficiency --preset proven --reference rigorous --out proven\n\n"
      "For each game and seed: the gap that the reference certifies after 1e6 "
      "episodes, and the episodes\nafter which the preset certifies it and holds it, within twice "
      "the "
      "gap until 8 times as many. It takes a while: stopped\nor killed, the same command goes "
      "on. DIR gets results.jsonl, table.md, efficiency.json, .csv and .svg.\n\nGames, %d is the "
      "seed:\n" +
      games);
  command->add_option("--out", options->out,
                      "DIR; default experiments/efficiency, for ce experiments/efficiency-ce");
  command
      ->add_option("--target", options->target,
                   "cce (default; nash where a game is zero-sum) or ce (games of two players)")
      ->check(one_of({"cce", "ce"}));
  command->add_option("--preset", options->preset, "The preset that is measured; default fast")
      ->check(one_of(kPresetNames));
  command
      ->add_option(
          "--reference", options->reference,
          "The preset it is compared with; default paper, here with the bonus constant 0.01")
      ->check(one_of(kPresetNames));
  command->add_option("--games", options->games, "Some of the games, with commas; default all")
      ->delimiter(',');
  command->add_option("--seeds", options->seeds, "Of every game; default 5")
      ->check(CLI::Range(std::uint64_t{1}, kMaxExperimentSeeds));
  command
      ->add_option("--first-seed", options->first_seed,
                   "Of games and runs, the others follow it; default 1")
      ->check(CLI::Range(std::uint64_t{1}, kMaxFirstSeed));
  command->add_option("--reference-episodes", options->reference_episodes,
                      "Of the reference, default 1e6; the others play in proportion");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return efficiency(*options); }; });
}

struct LeversOptions {
  std::vector<std::string> games;
  std::uint64_t seeds = 8;
  std::string episodes = "1e4";
  std::uint64_t threads = 0;
  bool as_json = false;
};

ExitCode measure_worth(const LeversOptions& options) {
  LeverSettings settings;
  settings.games = select_lever_games(options.games);
  settings.seeds = options.seeds;
  settings.episodes = parse_count("--episodes", options.episodes);
  LeverHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = stop_on_signals();
  const std::size_t all_runs = settings.games.size() * settings.seeds * levers().size();
  Progress progress({.unit = fmt::format("of {} runs", all_runs), .rate = {}, .per_run = all_runs});
  progress.report(0, 0);
  hooks.progress = [&](std::size_t runs, std::size_t /*all*/) { progress.report(0, runs); };
  const std::optional<LeverResults> results = measure_levers(settings, hooks);
  progress.end();
  if (!results) {
    warn("stopped before all runs had ended");
    return interrupted();
  }
  print(options.as_json ? to_json(*results) : to_text(*results));
  return ExitCode::good;
}

void add_levers(CLI::App& experiment, Task& task) {
  const auto options = std::make_shared<LeversOptions>();
  CLI::App* command =
      experiment.add_subcommand("levers", "What each choice of preset fast is worth");
  std::string names;
  for (const Lever& lever : levers()) names += fmt::format("  {}\n", lever.name);
  command->footer(
      "Examples:\n"
      "  vlearn experiment levers\n"
      "  vlearn experiment levers --games rps,general --seeds 3 --episodes 1e3 --json\n\n"
      "One choice of fast is undone at a time. The table has the certified gap over that of fast "
      "as it is: more than 1\nsays that fast is better off with its own choice. Seeds are those "
      "of games and runs, from 101 on.\n\nWhat is tried:\n" +
      names);
  command
      ->add_option("--games", options->games,
                   "Some of the games of experiment efficiency, with commas; default all but the "
                   "slow ones")
      ->delimiter(',');
  command->add_option("--seeds", options->seeds, "Of every game; default 8")
      ->check(CLI::Range(std::uint64_t{1}, kMaxExperimentSeeds));
  command->add_option("--episodes", options->episodes, "Of every run; default 1e4");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object, with the gap of every run");
  command->callback([options, &task] { task = [options] { return measure_worth(*options); }; });
}

struct RegretOptions {
  std::vector<std::string> rules = {"ftrl", "tsallis", "optimistic"};
  std::vector<std::string> visits;
  std::uint64_t seeds = 20;
  std::uint64_t threads = 0;
  bool as_json = false;
};

/// Rising, without those that were named twice.
std::vector<std::uint64_t> parse_visits(const std::vector<std::string>& words) {
  std::vector<std::uint64_t> visits;
  for (const std::string& word : words) {
    visits.push_back(parse_count("--visits", word));
    if (visits.back() > kMostMatchVisits) {
      throw Error(ErrorKind::usage, "--visits", fmt::format("is {}", visits.back()),
                  fmt::format("want at most {}", kMostMatchVisits));
    }
  }
  std::sort(visits.begin(), visits.end());
  visits.erase(std::unique(visits.begin(), visits.end()), visits.end());
  return visits;
}

ExitCode regret(const RegretOptions& options) {
  RegretSettings settings;
  settings.seeds = options.seeds;
  if (!options.visits.empty()) settings.visits = parse_visits(options.visits);
  ParallelOptions parallel{.threads = options.threads};
  parallel.cancel = stop_on_signals();
  std::vector<RuleRegret> rules;
  Progress progress({.unit = fmt::format("of {} rules", options.rules.size()),
                     .rate = {},
                     .per_run = options.rules.size()});
  progress.report(0, 0);
  try {
    for (const std::string& word : options.rules) {
      rules.push_back(measure_regret(named<RuleName>(kRuleNames, word), settings, parallel));
      progress.report(0, rules.size());
    }
  } catch (const Cancelled&) {
    warn("stopped before all was played");
    return interrupted();
  }
  progress.end();
  print(options.as_json ? to_json(settings, rules) : to_text(settings, rules));
  return ExitCode::good;
}

void add_regret(CLI::App& experiment, Task& task) {
  const auto options = std::make_shared<RegretOptions>();
  CLI::App* command = experiment.add_subcommand(
      "regret", "Weighted regret of bandit rules against six adversaries");
  command->footer(
      "Examples:\n"
      "  vlearn experiment regret\n"
      "  vlearn experiment regret --rules ftrl-swap,optimistic-swap --seeds 100\n"
      "  vlearn experiment regret --visits 20000,320000\n\n"
      "A rule is measured with the weights that it is made for: (c+1)/(c+t), where c is H = 5, or "
      "its own.\n"
      "A measurement against these adversaries bounds nothing against others: each rule says "
      "whether a bound is proven.");
  command
      ->add_option("--rules", options->rules,
                   fmt::format("Which, with commas: {}; default ftrl,tsallis,optimistic",
                               fmt::join(kRuleNames, ", ")))
      ->delimiter(',')
      ->check(one_of(kRuleNames));
  command
      ->add_option("--visits", options->visits,
                   "After how many, with commas; default 100,1000,10000,100000")
      ->delimiter(',');
  command->add_option("--seeds", options->seeds, "Plays against each adversary; default 20")
      ->check(CLI::Range(std::uint64_t{1}, kMaxExperimentSeeds));
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return regret(*options); }; });
}

}  // namespace

void add_experiment(CLI::App& app, Task& task) {
  CLI::App* command = app.add_subcommand("experiment", "Repeat the measurements of the documents");
  command->footer(
      "Examples:\n"
      "  vlearn experiment efficiency --games rps,general --seeds 3 --out small\n"
      "  vlearn experiment levers --games rps,general --seeds 3\n"
      "  vlearn experiment curse --players 2-4 --max-seconds 2 --out small\n"
      "  vlearn experiment convergence --games shapley --seeds 2 --episodes 1e6 --out small\n"
      "  vlearn experiment regret");
  command->require_subcommand(1);
  add_convergence(*command, task);
  add_curse(*command, task);
  add_efficiency(*command, task);
  add_levers(*command, task);
  add_regret(*command, task);
}

}  // namespace vlearn::app
