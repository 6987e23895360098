// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn experiment curse: what a certified gap takes as players are added, for V-learning and for
// the centralised baselines (docs/experiments.md).
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "command.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/experiment/curse.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string out = "experiments/curse";
  std::string players = "2-12";
  CurseSettings settings;
  std::uint64_t threads = 0;
  bool as_json = false;
};

/// "2-12" or "5".
void parse_players(const std::string& text, CurseSettings& settings) {
  const std::size_t dash = text.find('-');
  settings.first_players = parse_count("--players", text.substr(0, dash));
  settings.last_players = dash == std::string::npos
                              ? settings.first_players
                              : parse_count("--players", text.substr(dash + 1));
  if (settings.first_players < 2 || settings.last_players < settings.first_players ||
      settings.last_players > kMostCursePlayers) {
    throw Error(ErrorKind::usage, "--players", fmt::format("is {}", text),
                fmt::format("want a range within 2-{}, as 2-12", kMostCursePlayers));
  }
}

std::string text_of(const CurseRun& run) {
  const std::string_view end = kCurseEndNames[static_cast<std::size_t>(run.end)];
  return fmt::format(
      "{}, {} players, {}, seed {}: {} after {} episodes and {:.3g} s, gap {:.3g}",
      kCurseFamilyNames[static_cast<std::size_t>(run.family)], run.players,
      kCurseMethodNames[static_cast<std::size_t>(run.method)], run.seed,
      run.end == CurseEnd::reached ? std::string(end) : fmt::format("out of {}", end), run.episodes,
      run.seconds, run.gap);
}

ExitCode curse(Options options) {
  parse_players(options.players, options.settings);
  const CurseSettings& settings = options.settings;
  const std::filesystem::path out = options.out;
  // From here on Ctrl-C leaves a folder to go on from.
  const CancelToken cancel = stop_on_signals("keeping what was measured");
  CurseLog log(out, settings);
  const std::size_t had = log.runs().size();
  if (had > 0) note(fmt::format("{} runs are there", had));
  const auto begin = std::chrono::steady_clock::now();
  CurseHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = cancel;
  hooks.done = [&](const CurseRun& run) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    note(fmt::format("{}: {}", short_time(elapsed.count()), text_of(run)));
  };
  Progress progress({.work = "measuring"});
  const bool measured = measure_curse(settings, log, hooks);
  progress.end();
  if (!measured) {
    warn(fmt::format("stopped after {} runs; go on with the same command", log.runs().size()));
    return ExitCode::checkpointed;
  }
  log.put_in_order();
  const std::string table = curse_markdown(settings, log);
  const std::string json = curse_json(settings, log);
  write_file(out / "table.md", table);
  write_file(out / "curse.json", json);
  write_file(out / "curse.csv", curse_csv(log));
  write_file(out / "curse.svg", curse_svg(settings, log));
  print(options.as_json ? json : table);
  note("files: " + out.string());
  return ExitCode::good;
}

}  // namespace

void add_curse(CLI::App& experiment, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = experiment.add_subcommand(
      "curse", "What a certified gap takes as players are added, with and without joint actions");
  command->footer(
      "Examples:\n"
      "  vlearn experiment curse\n"
      "  vlearn experiment curse --players 2-4 --max-seconds 2 --out small\n\n"
      "For random games and congestion games of three actions, states and steps: the episodes, "
      "seconds and bytes until a\ncce gap of 0.05 H is certified, for V-learning (presets paper "
      "and fast) and centralised baselines. A method that no\nseed gets there with is not asked "
      "with more players. It takes a while: stopped or killed, the same command goes on.\nDIR "
      "gets results.jsonl, table.md, curse.json, .csv and .svg.");
  command->add_option("--out", options->out, "DIR; default experiments/curse");
  command->add_option("--players", options->players, "From-to; default 2-12");
  command->add_option("--seeds", options->settings.seeds, "Of every game; default 3")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}));
  command
      ->add_option("--max-seconds", options->settings.max_seconds,
                   "Of the processor, for a run; default 60")
      ->check(CLI::Range(0.001, 1e6));
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return curse(*options); }; });
}

}  // namespace vlearn::app
