// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "learn_baseline.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include "certificate_text.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/text.h"
#include "vlearn/run/baseline_folder.h"
#include "vlearn/run/baseline_game.h"

namespace vlearn::app {
namespace {

/// Options of `vlearn learn` that mean nothing to a baseline.
constexpr std::array kVLearningAlone = {"--seeds",
                                        "--history",
                                        "--resume",
                                        "--certify",
                                        "--preset",
                                        "--rule",
                                        "--bonus",
                                        "--bonus-constant",
                                        "--loss-scale",
                                        "--value-weights",
                                        "--action-draws",
                                        "--output",
                                        "--output-weights",
                                        "--control-variate",
                                        "--monotone",
                                        "--pessimistic",
                                        "--checkpoint-seconds",
                                        "--checkpoint-episodes"};
constexpr std::array kBaselinesAlone = {"--vi-bonus", "--vi-constant", "--vi-replan", "--vi-output",
                                        "--max-memory"};

constexpr std::array kOptimistic = {"--vi-constant", "--vi-replan", "--vi-output", "--delta",
                                    "--horizon-episodes"};

template <std::size_t kSize>
void refuse_given(const CLI::App& command,
                  const std::array<const char*, kSize>& options,
                  const std::string& problem,
                  const std::string& fix) {
  for (const char* option : options) {
    if (command.get_option(option)->count() == 0) continue;
    throw Error(ErrorKind::usage, option, problem, fix);
  }
}

void check_positive(const char* option, const std::optional<double>& number) {
  if (number && !(std::isfinite(*number) && *number > 0.0)) {
    throw Error(ErrorKind::usage, option, "is not a number above 0");
  }
}

BaselineConfig resolve(const BaselineArguments& arguments, const Frame& frame) {
  BaselineConfig config;
  BaselineOptions& options = config.baseline;
  options = usual_options(named<BaselineName>(kBaselineNames, arguments.algorithm), frame);
  if (!arguments.target.empty()) options.target = *target_named(arguments.target);
  if (!arguments.bonus.empty()) {
    if (options.algorithm != BaselineName::nash_vi) {
      throw Error(ErrorKind::usage, "--vi-bonus", "is for nash-vi; others have one bonus or none");
    }
    options.bonus = named<BaselineBonus>(kBaselineBonusNames, arguments.bonus);
  }
  if (arguments.constant) options.constant = *arguments.constant;
  if (!arguments.replan.empty()) options.replan = named<Replan>(kReplanNames, arguments.replan);
  if (!arguments.output.empty()) {
    options.output = named<BaselineOutput>(kBaselineOutputNames, arguments.output);
  }
  if (!arguments.max_memory.empty()) {
    options.max_memory = parse_count("--max-memory", arguments.max_memory);
  }
  options.delta = arguments.delta;
  config.seed = parse_natural("--seed", arguments.seed);
  check_positive("--until-gap", arguments.until_gap);
  check_positive("--max-time", arguments.max_time);
  config.until_gap = arguments.until_gap;
  config.max_seconds = arguments.max_time;
  if (!arguments.episodes.empty()) config.episodes = parse_count("--episodes", arguments.episodes);
  if (!config.episodes && !config.max_seconds && !config.until_gap) {
    throw Error(ErrorKind::usage, "learn", "nobody said when to stop",
                "add --until-gap GAP, --episodes N or --max-time SECONDS");
  }
  if (config.episodes) options.horizon_episodes = *config.episodes;
  if (!arguments.horizon_episodes.empty()) {
    options.horizon_episodes = parse_count("--horizon-episodes", arguments.horizon_episodes);
  }
  check_options(frame, options);
  check_memory(frame, options);
  return config;
}

std::string text_of(const RunTitle& title,
                    const BaselineConfig& config,
                    const BaselineResult& result) {
  std::string text = fmt::format(
      "{}: {} by {}, seed {}, {} episodes, {} plans, {} bytes{}\n", printable(title.game, 200),
      name_of(config.baseline.target), name_of(config.baseline.algorithm), config.seed,
      result.last.episodes, result.last.plans, result.last.bytes,
      result.stopped == Stopped::episodes || result.stopped == Stopped::gap
          ? ""
          : fmt::format(" (stopped by {})", name_of(result.stopped)));
  if (result.last.optimism_gap) {
    const double needed = theory_constant(config.baseline.algorithm);
    const std::string what =
        is_proven(config, result.episodes)
            ? fmt::format("a bound with probability {}", 1.0 - config.baseline.delta)
        : config.baseline.constant < needed
            ? fmt::format("no bound, which takes --vi-constant {}", needed)
            : std::string("no bound, which takes larger --horizon-episodes");
    text += fmt::format("optimism gap {:.6g}: {}\n", *result.last.optimism_gap, what);
  }
  return text + certificate_text(result.certificate, config.until_gap);
}

}  // namespace

void add_baseline_options(CLI::App& command, BaselineArguments& arguments) {
  std::vector<std::string> algorithms = {kVLearning};
  algorithms.insert(algorithms.end(), kBaselineNames.begin(), kBaselineNames.end());
  command
      .add_option("--algorithm", arguments.algorithm,
                  "v-learning (default), or a centralised baseline that sees all actions and "
                  "rewards: nash-vi, multi-cce-vi, multi-ce-vi, plug-in")
      ->check(one_of(algorithms));
  command.add_option("--vi-bonus", arguments.bonus, "Of nash-vi: bernstein (default) or hoeffding")
      ->check(one_of(kBaselineBonusNames));
  command.add_option("--vi-constant", arguments.constant,
                     "c of the bonus of nash-vi (default 0.0001, proven: 6), multi-cce-vi and "
                     "multi-ce-vi (0.01, proven: 1)");
  command
      .add_option("--vi-replan", arguments.replan,
                  "When they plan: doubling (default: of some count) or episode (each)")
      ->check(one_of(kReplanNames));
  command
      .add_option("--vi-output", arguments.output,
                  "Which plan they return: newest (default) or least (optimism gap)")
      ->check(one_of(kBaselineOutputNames));
  command.add_option("--max-memory", arguments.max_memory,
                     "Of a baseline: bytes of its tables at most; default 4 GiB, exit code 5 for "
                     "a game that needs more");
}

void check_given(const CLI::App& command, const BaselineArguments& arguments) {
  if (arguments.algorithm == kVLearning) {
    refuse_given(command, kBaselinesAlone, "is for centralised baselines",
                 "choose one with --algorithm, or leave it out");
  } else {
    refuse_given(command, kVLearningAlone,
                 fmt::format("is for V-learning, and {} has nothing like it", arguments.algorithm),
                 "leave it out, or leave out --algorithm");
    if (arguments.algorithm == name_of(BaselineName::plug_in)) {
      refuse_given(command, kOptimistic, "is for optimistic learners, and plug-in is none",
                   "leave it out");
    }
  }
}

ExitCode learn_by_baseline(const BaselineArguments& arguments) {
  if (arguments.game.empty()) {
    throw Error(ErrorKind::usage, "learn", "nobody said which game", "vlearn learn GAME");
  }
  const LoadedGame game = load_for_run(arguments.game);
  const Frame& frame = frame_of(game.game);
  if (!frame.start_known()) {
    throw Error(ErrorKind::usage, arguments.game, "does not say where episodes begin",
                "certificates need a game whose law is known");
  }
  const BaselineConfig config = resolve(arguments, frame);
  const RunTitle title{arguments.game, "", to_hex(law_hash_of(game.game))};
  const std::filesystem::path out =
      arguments.out.empty()
          ? std::filesystem::path("runs") /
                fmt::format("{}-{}-{}", file_name(arguments.game), arguments.algorithm, config.seed)
          : std::filesystem::path(arguments.out);
  const auto existing =
      arguments.force ? RunFolder::Existing::replace : RunFolder::Existing::refuse;
  RunFolder::check(out, existing);
  CertificateTitle certificate{title.game, title.game_hash, {}, {}};
  for (const Player player : all<Player>(frame.num_players())) {
    certificate.player_names.emplace_back(game.about.names.player(player));
  }
  Progress progress({.per_run = config.episodes.value_or(0),
                     .steps_per_unit = frame.num_players() * frame.horizon(),
                     .max_seconds = config.max_seconds.value_or(0.0),
                     .wanted_gap = config.until_gap});
  BaselineHooks hooks;
  hooks.progress = [&](std::uint64_t episodes) { progress.report(0, episodes); };
  hooks.look = [&](const BaselineLook& look) {
    progress.report_gap(0, look.episodes, look.gap.largest);
  };
  hooks.parallel.threads = arguments.threads;
  hooks.cancel = stop_on_signals("keeping the best so far");
  std::optional<BaselineResult> result = learn_baseline(game.game, certificate, config, hooks);
  progress.end();
  if (!result) {
    warn("stopped before there was anything to return");
    return hooks.cancel.requested() ? interrupted() : ExitCode::gap;
  }
  write_baseline(out, existing, title, config, *result);
  if (arguments.as_json) {
    JsonWriter json;
    json.begin_object();
    write_result(json, title, config, *result);
    json.member("out", as_utf8(out.string()));
    print(json.end_object().text() + "\n");
  } else {
    print(text_of(title, config, *result) + run_folder_text(out));
  }
  if (result->stopped == Stopped::interrupt) return interrupted();
  return config.until_gap && result->certificate.gap_upper > *config.until_gap ? ExitCode::gap
                                                                               : ExitCode::good;
}

}  // namespace vlearn::app
