// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A caller can cast any number to an enumeration: every boundary refuses those that name nothing,
// with the field.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.h"
#include "vlearn/agent/options.h"
#include "vlearn/baseline/options.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/certificate.h"
#include "vlearn/game/game_io.h"
#include "vlearn/lp/stage_solver.h"
#include "vlearn/policy/execute.h"
#include "vlearn/run/baseline_folder.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/kept_run.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/plan.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/solve_game.h"
#include "vlearn/run/trainer.h"
#include "vlearn/solve/planner.h"
#include "vlearn/verify/verify.h"

namespace vlearn {
namespace {

using test::error_of;

/// A number that no enumeration here has.
template <class Enum>
constexpr Enum none() {
  return static_cast<Enum>(77);
}

template <class Call>
void refused(const std::string& field, const Call& call) {
  const std::string message = error_of(ErrorKind::usage, call);
  EXPECT_TRUE(message.starts_with(field + ": is 77, which is no enumerator")) << message;
}

const LoadedGame& rps() {
  static const LoadedGame game = load_game("rps");
  return game;
}

/// Refused by all that take a config.
void refused(const std::string& field, const LearnConfig& config) {
  refused(field, [&] { static_cast<void>(config_to_json(RunTitle{}, config)); });
  StoredRun run;
  run.config = config;
  refused(field, [&] { static_cast<void>(certify_stored(run, rps(), {})); });
  if (field == "output") return;
  refused(field, [&] { static_cast<void>(flaw_of(config.learner)); });
  refused(field, [&] { static_cast<void>(make_trainer(ref_of(rps().game), config.learner, 1)); });
}

TEST(Choices, OfLearners) {
  const auto with = [](auto change) {
    LearnConfig config;
    change(config);
    return config;
  };
  refused("target", with([](auto& c) { c.learner.target = none<Target>(); }));
  refused("rule", with([](auto& c) { c.learner.rule = none<RuleName>(); }));
  refused("bonus", with([](auto& c) { c.learner.bonus = none<Bonus>(); }));
  refused("loss_scale", with([](auto& c) { c.learner.loss_scale = none<LossScale>(); }));
  refused("value_weights", with([](auto& c) { c.learner.value_weights = none<ValueWeights>(); }));
  refused("action_draws", with([](auto& c) { c.learner.action_draws = none<ActionDraws>(); }));
  refused("output", with([](auto& c) { c.output = none<CertifiedOutput>(); }));
  refused("target", [] { check_output(none<Target>(), CertifiedOutput::nested); });
  refused("output", [] { check_output(Target::cce, none<CertifiedOutput>()); });
  const auto trainer = make_trainer(ref_of(rps().game), {}, 1);
  LearnConfig config;
  config.output = none<CertifiedOutput>();
  config.episodes = 1;
  refused("output", [&] { static_cast<void>(learn(*trainer, frame_of(rps().game), config, {})); });
}

TEST(Choices, OfPlanners) {
  const auto plan = [](const PlannerOptions& options) {
    static_cast<void>(plan_policy(rps().game, options));
  };
  refused("target", [&] { plan({.target = none<Target>()}); });
  refused("method", [&] { plan({.method = none<PlanMethod>()}); });
  refused("selection.rule", [&] { plan({.selection = {none<Selection::Rule>(), {}}}); });
  const auto solve = [](const SolveConfig& config) {
    static_cast<void>(config_to_json(RunTitle{}, config));
  };
  refused("target", [&] { solve({.target = none<Target>()}); });
  refused("method", [&] { solve({.method = none<PlanMethod>()}); });
  refused("selection.rule", [&] { solve({.selection = {none<Selection::Rule>(), {}}}); });
  refused("target", [] {
    PlanOptions options{.num_players = 1, .horizon = 1, .max_states = 1, .max_actions = 1};
    options.target = none<Target>();
    static_cast<void>(plan_episodes(options));
  });
}

TEST(Choices, OfBaselines) {
  const auto with = [](const std::string& field, auto change) {
    BaselineConfig config;
    change(config.baseline);
    refused(field, [&] { static_cast<void>(config_to_json(RunTitle{}, config)); });
    refused(field, [&] { check_options(frame_of(rps().game), config.baseline); });
  };
  with("algorithm", [](auto& b) { b.algorithm = none<BaselineName>(); });
  with("target", [](auto& b) { b.target = none<Target>(); });
  with("bonus", [](auto& b) { b.bonus = none<BaselineBonus>(); });
  with("replan", [](auto& b) { b.replan = none<Replan>(); });
  with("output", [](auto& b) { b.output = none<BaselineOutput>(); });
}

TEST(Choices, OfLinearPrograms) {
  refused("method", [] { const StageSolver solver(none<LpMethod>()); });
  const std::vector<std::uint32_t> actions = {1, 1};
  const std::vector<double> payoffs = {0.0, 0.0};
  StageSolver solver;
  refused("target", [&] {
    static_cast<void>(solver.solve(StageGame{actions, payoffs}, none<Target>()));
  });
  refused("selection.rule", [&] {
    static_cast<void>(
        solver.solve(StageGame{actions, payoffs}, Target::cce, {none<Selection::Rule>(), {}}));
  });
}

TEST(Choices, OfCertificates) {
  refused("target", [] { const RunCertifier certifier(rps().game, none<Target>(), 1); });
  refused("output", [] {
    const RunCertifier certifier(rps().game, Target::nash, 1, none<CertifiedOutput>());
  });
  const StoredRun run;
  refused("output", [&] {
    static_cast<void>(certify_stored(run, rps(), {.output = none<CertifiedOutput>()}));
  });
  refused("start", [&] {
    static_cast<void>(certify_stored(run, rps(), {.start = none<CertifiedStart>()}));
  });
  const auto check = [](const Certificate& certificate, const VerifyOptions& options = {}) {
    static_cast<void>(verify(rps().game, {}, certificate, options));
  };
  Certificate certificate;
  refused("numbers", [&] { check(certificate, {.numbers = none<VerifyNumbers>()}); });
  certificate.target = none<Target>();
  refused("target", [&] { check(certificate); });
  certificate = {};
  certificate.output = none<CertifiedOutput>();
  refused("output", [&] { check(certificate); });
  certificate = {};
  certificate.start = none<CertifiedStart>();
  refused("start", [&] { check(certificate); });
}

TEST(Choices, OfExecutions) {
  LearnConfig config;
  config.episodes = 2;
  const KeptRun run = learn_kept(ref_of(rps().game), config);
  const auto execute = [&](const ExecuteOptions& options) {
    const PolicyPlayer player(run.files[0], options);
  };
  refused("start.kind", [&] { execute({.start = {none<StartRule::Kind>(), 0}}); });
  refused("output", [&] { execute({.output = none<OutputKind>()}); });
}

TEST(Choices, OfGames) {
  refused("noise", [] {
    const Frame frame({.num_players = 1,
                       .horizon = 1,
                       .num_states = {1},
                       .num_actions = {1},
                       .noise = none<RewardNoise>()});
  });
}

}  // namespace
}  // namespace vlearn
