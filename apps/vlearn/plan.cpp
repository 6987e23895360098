// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn plan: the episodes that each theorem asks for, constants in view.
#include "vlearn/run/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "game_text.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string game;
  double eps = 0.1;
  double delta = 0.01;
  std::string target;
  double bonus_constant = kPaperBonusConstant;
  bool as_json = false;
};

RewardRange widest_range(const Frame& frame) {
  RewardRange widest = frame.range(Player(0));
  for (const Player player : all<Player>(frame.num_players())) {
    const RewardRange& range = frame.range(player);
    if (range.high - range.low > widest.high - widest.low) widest = range;
  }
  return widest;
}

/// Before the game is read, which may take long.
void check(const Options& options) {
  if (!(options.eps > 0.0 && std::isfinite(options.eps))) {
    throw Error(ErrorKind::usage, "--eps", fmt::format("{:g} is no gap", options.eps),
                "give a number above 0, in units of the game's rewards");
  }
  if (!(options.delta > 0.0 && options.delta < 1.0)) {
    throw Error(ErrorKind::usage, "--delta",
                fmt::format("{:g} is no probability of failure", options.delta),
                "give a number between 0 and 1");
  }
  if (!(options.bonus_constant >= 0.0 && std::isfinite(options.bonus_constant))) {
    throw Error(ErrorKind::usage, "--bonus-constant",
                fmt::format("{:g} is no constant of a bonus", options.bonus_constant),
                "give a number from 0 on; the proofs want 11");
  }
  if (!options.target.empty() && !target_named(options.target)) {
    std::string fix = suggestion(options.target, kTargetNames);
    if (fix.empty()) fix = fmt::format("want one of {}", fmt::join(kTargetNames, ", "));
    throw Error(ErrorKind::usage, "--target",
                fmt::format("'{}' is no target", printable(options.target, 100)), fix);
  }
}

PlanOptions plan_options(const Frame& frame, const Options& options) {
  const RewardRange widest = widest_range(frame);
  const double width = widest.high - widest.low;
  const Seat seat = seat_of(frame, Player(0));
  PlanOptions plan;
  plan.num_players = seat.num_players;
  plan.horizon = seat.horizon;
  plan.max_states = seat.max_states;
  plan.max_actions = seat.max_actions;
  plan.zero_sum = frame.constant_sum();
  plan.eps = options.eps / width;
  plan.delta = options.delta;
  plan.bonus_constant = options.bonus_constant;
  const double most = static_cast<double>(seat.horizon) * width;
  if (plan.eps >= static_cast<double>(seat.horizon)) {
    throw Error(ErrorKind::usage, "--eps",
                fmt::format("no policy of this game has a gap above {:g}", most),
                fmt::format("ask for less than {:g}", most));
  }
  if (!options.target.empty()) {
    plan.target = target_named(options.target);
    LearnerOptions learner;
    learner.target = *plan.target;
    if (const std::optional<std::string> reason = why_not(frame, learner)) {
      throw Error(ErrorKind::usage, "--target", *reason);
    }
  }
  return plan;
}

/// "Theorem 6", or what stands in its place.
std::string name_of(const PlannedRun& run) {
  if (run.preset != Preset::paper) {
    return std::string(kPresetNames[static_cast<std::size_t>(run.preset)]);
  }
  return fmt::format("Theorem {}", static_cast<int>(run.theorem));
}

std::string episodes_text(const PlannedRun& run) {
  if (!run.episodes) {
    return fmt::format("more than 9.2e18 episodes (10^{:.2f})", run.episodes_log10);
  }
  const std::string steps =
      run.agent_steps ? fmt::format("{}", *run.agent_steps) : "more than 1.8e19";
  return fmt::format("{} episodes, {} agent-steps", *run.episodes, steps);
}

void write_count(JsonWriter& json, const char* key, const std::optional<std::uint64_t>& count) {
  json.key(key);
  if (count) {
    json.value(*count);
  } else {
    json.null();
  }
}

std::string as_json(const Options& options,
                    const Frame& frame,
                    const PlanOptions& plan,
                    const std::vector<PlannedRun>& runs) {
  const RewardRange widest = widest_range(frame);
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.plan/1").member("game", as_utf8(options.game));
  json.member("players", plan.num_players).member("horizon", plan.horizon);
  json.member("states", plan.max_states).member("actions", plan.max_actions);
  json.member("eps", options.eps).member("eps_unit", plan.eps);
  json.key("widest_range").on_one_line().begin_array().value(widest.low).value(widest.high);
  json.end_array().member("delta", plan.delta).key("theorems").begin_array();
  for (const PlannedRun& run : runs) {
    json.begin_object().member("theorem", name_of(run));
    json.member("target", vlearn::name_of(run.target)).member("promise", run.promise);
    json.member("formula", run.formula).key("constant");
    if (run.constant) {
      json.value(*run.constant);
    } else {
      json.null();
    }
    json.member("iota", run.iota);
    write_count(json, "episodes", run.episodes);
    json.member("episodes_log10", run.episodes_log10);
    write_count(json, "agent_steps", run.agent_steps);
    json.end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

std::string as_text(const Options& options,
                    const Frame& frame,
                    const PlanOptions& plan,
                    const std::vector<PlannedRun>& runs) {
  const RewardRange widest = widest_range(frame);
  std::string text = fmt::format(
      "game       {}\n"
      "sizes      m = {} players, H = {} steps, S = {} states, A = {} actions\n"
      "gap        {:g} where rewards go from {:g} to {:g}, the widest range of a player:\n"
      "           eps = {:.6g} for rewards in [0, 1]\n"
      "delta      {:g}, the probability with which a promise may fail\n",
      printable(options.game), plan.num_players, plan.horizon, plan.max_states, plan.max_actions,
      options.eps, widest.low, widest.high, plan.eps, plan.delta);
  for (const PlannedRun& run : runs) {
    const std::string constant = run.constant ? fmt::format("c = {:g}, ", *run.constant) : "";
    text += fmt::format(
        "\n{:<11}{}: {}\n"
        "  promise  {}\n"
        "  bound    eps >= {}\n"
        "           {}iota = {:.4g}\n",
        name_of(run), vlearn::name_of(run.target), episodes_text(run), run.promise, run.formula,
        constant, run.iota);
  }
  return text;
}

ExitCode plan(const Options& options) {
  check(options);
  const LoadedGame loaded = load(options.game);
  const Frame& frame = frame_of(loaded.game);
  const PlanOptions plan = plan_options(frame, options);
  const std::vector<PlannedRun> runs = plan_episodes(plan);
  if (options.bonus_constant < kPaperBonusConstant) {
    note(fmt::format("the proofs want a bonus constant of {:g}; with {:g} there is no theorem",
                     kPaperBonusConstant, options.bonus_constant));
  }
  if (std::count_if(frame.initial().begin(), frame.initial().end(),
                    [](double probability) { return probability > 0.0; }) > 1) {
    note("the theorems are about a first state that is always the same; here it is drawn");
  }
  print(options.as_json ? as_json(options, frame, plan, runs)
                        : as_text(options, frame, plan, runs));
  return ExitCode::good;
}

}  // namespace

void add_plan(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plan", "The episodes that each theorem asks for, constants in view");
  command->footer(
      "Examples:\n"
      "  vlearn plan chicken --eps 0.1 --delta 0.01\n"
      "  vlearn plan soccer --eps 0.5 --target nash --json\n\n"
      "These are upper bounds for the worst game of its size. A certificate of what was learned "
      "is\n"
      "usually much better.\n\n" +
      what_game_is());
  command->add_option("GAME", options->game, "Which game")->required();
  command->add_option("--eps", options->eps, "The gap that is wanted, in the game's rewards")
      ->capture_default_str();
  command->add_option("--delta", options->delta, "The probability with which a promise may fail")
      ->capture_default_str();
  command->add_option(
      "--target", options->target,
      fmt::format("One of {}; all that the game has unless given", fmt::join(kTargetNames, ", ")));
  command
      ->add_option("--bonus-constant", options->bonus_constant,
                   "c of the paper's bonus; its proofs want 11")
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return plan(*options); }; });
}

}  // namespace vlearn::app
