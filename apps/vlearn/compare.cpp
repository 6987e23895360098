// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn compare: presets side by side in one game.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/experiment/compare.h"
#include "vlearn/experiment/efficiency.h"
#include "vlearn/run/trainer.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string game;
  std::vector<std::string> presets = {"paper", "fast"};
  std::string target;
  std::string episodes = "1e5";
  std::uint64_t seeds = 5;
  std::uint64_t threads = 0;
  bool as_json = false;
};

ExitCode compare(const Options& options) {
  const LoadedGame game = load(options.game);
  const Frame& frame = frame_of(game.game);
  if (!frame.start_known()) {
    throw Error(ErrorKind::usage, options.game, "does not say where episodes begin",
                "gaps are certified where the law of the game is known");
  }
  CompareSettings settings;
  settings.target = options.target.empty() ? natural_target(frame) : *target_named(options.target);
  settings.seeds = options.seeds;
  settings.episodes = parse_count("--episodes", options.episodes);
  for (const std::string& word : options.presets) {
    const auto preset = named<Preset>(kPresetNames, word);
    const std::vector<Preset>& known = settings.presets;
    if (std::find(known.begin(), known.end(), preset) != known.end()) {
      throw Error(ErrorKind::usage, "--presets", "has '" + word + "' twice");
    }
    settings.presets.push_back(preset);
  }
  CompareHooks hooks;
  hooks.parallel.threads = options.threads;
  hooks.cancel = stop_on_signals();
  Progress progress({.unit = fmt::format("of {} runs", settings.presets.size() * settings.seeds),
                     .rate = {},
                     .per_run = settings.presets.size() * settings.seeds});
  progress.report(0, 0);
  hooks.progress = [&](std::size_t runs, std::size_t /*all*/) { progress.report(0, runs); };
  const std::optional<Comparison> comparison = compare_presets(game.game, settings, hooks);
  progress.end();
  if (!comparison) {
    warn("stopped before all runs had ended");
    return interrupted();
  }
  const std::string word = as_utf8(options.game);
  print(options.as_json ? to_json(*comparison, word) : to_text(*comparison));
  return ExitCode::good;
}

}  // namespace

void add_compare(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("compare", "Train presets side by side: certified gap against episodes");
  command->footer(
      "Examples:\n"
      "  vlearn compare soccer\n"
      "  vlearn compare chicken --presets paper,practical,fast --target ce --seeds 3\n\n"
      "Every preset learns with the same seeds, 1 to N. A gap is the smallest that was certified "
      "in the last three quarters\nof the episodes so far, for nash the sum of what both players "
      "can gain.\n\n" +
      what_game_is());
  command->add_option("game", options->game, "GAME, see above")->required();
  command
      ->add_option(
          "--presets", options->presets,
          "Which, with commas: paper, rigorous, proven, practical, fast; default paper,fast")
      ->delimiter(',')
      ->check(one_of(kPresetNames));
  command->add_option("--episodes", options->episodes, "Of every run; default 1e5");
  command->add_option("--seeds", options->seeds, "Runs of every preset; default 5")
      ->check(CLI::Range(std::uint64_t{1}, kMaxExperimentSeeds));
  command
      ->add_option("--target", options->target,
                   "nash (two players, zero-sum), cce, ce or optimal (one player); default: what "
                   "fits the game")
      ->check(one_of(kTargetNames));
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "One JSON object, with the gap of every run");
  command->callback([options, &task] { task = [options] { return compare(*options); }; });
}

}  // namespace vlearn::app
