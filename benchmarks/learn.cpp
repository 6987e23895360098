// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Self-play with the paper's preset, per agent-step, beside the plain transcription of the paper;
// and the cost of an agent-step as players become many.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "learn_plain.h"
#include "measure.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn::bench {
namespace {

LearnerOptions paper() {
  LearnerOptions options = preset_options(Preset::paper, Target::cce);
  options.horizon_episodes = 1'000'000;
  return options;
}

using Play = std::function<double(std::size_t episodes)>;

/// Goes on learning from call to call.
Play learning(GameRef game) {
  const Ftrl<> rule(game.frame().horizon());
  const auto play = std::make_shared<SelfPlay<Ftrl<>>>(game, rule, paper(), 1);
  return [play, k = std::uint64_t{0}](std::size_t episodes) mutable {
    for (std::size_t i = 0; i < episodes; ++i) play->play_episode(Episode(k++));
    return play->earned()[0];
  };
}

/// Operations are agent-steps.
Work per_agent_step(const Frame& frame, Play play) {
  const std::size_t steps = frame.num_players() * frame.horizon();
  return [steps, play = std::move(play)](std::size_t operations) {
    return play((operations + steps - 1) / steps);
  };
}

Measurement against_plain(std::size_t players,
                          std::size_t actions,
                          std::size_t horizon,
                          std::size_t states) {
  const AnyGame any = make_game(fmt::format("random:players={},actions={},horizon={},states={}",
                                            players, actions, horizon, states));
  const auto& game = std::get<DenseGame>(any);
  return compare(fmt::format("{}x{}, H = {}, S = {}", players, actions, horizon, states),
                 per_agent_step(game.frame(), learning(GameRef(game))), "plain transcription, -O2",
                 per_agent_step(game.frame(), plain_learning(game, paper())));
}

/// The preset, whatever its rule; goes on learning from call to call.
Play learning_by(const AnyGame& any, const LearnerOptions& options) {
  const std::shared_ptr<Trainer> trainer = make_trainer(ref_of(any), options, 1);
  return [trainer](std::size_t episodes) {
    trainer->play_until(trainer->episodes() + episodes, {});
    return trainer->earned(Player(0));
  };
}

/// An agent-step of preset fast beside one of the paper's: its rule, and everything else.
Measurement fast_against_paper(const char* name) {
  const auto any = std::make_shared<AnyGame>(make_game(name));
  const Target target = natural_target(frame_of(*any));
  const Frame& frame = frame_of(*any);
  const auto work = [&](const LearnerOptions& options) -> Work {
    return [any, work = per_agent_step(frame, learning_by(*any, options))](std::size_t operations) {
      return work(operations);
    };
  };
  LearnerOptions options = preset_options(Preset::paper, target);
  options.horizon_episodes = 1'000'000;
  return compare(fmt::format("fast, {}", name), work(preset_options(Preset::fast, target)), "paper",
                 work(options));
}

Measurement crowd(std::size_t players) {
  const AnyGame any = make_game(fmt::format("congestion:players={}", players));
  const auto& game = std::get<CongestionGame>(any);
  return measure(fmt::format("congestion, {} players", players),
                 per_agent_step(game.frame(), learning(GameRef(game))));
}

/// Wall time: independent seeds on all cores beside the same on one.
Measurement seeds_on_all_cores() {
  constexpr std::size_t seeds = 8;
  const AnyGame any = make_game("random:players=2,actions=4,horizon=5,states=4");
  const auto& game = std::get<DenseGame>(any);
  const std::size_t steps = seeds * game.frame().num_players() * game.frame().horizon();
  const auto on = [&](std::size_t threads) -> Work {
    return [&game, threads, steps](std::size_t operations) {
      std::vector<double> earned(seeds);
      parallel_for(seeds, {.threads = threads}, [&](std::size_t i) {
        SelfPlay<Ftrl<>> play(GameRef(game), Ftrl<>(game.frame().horizon()), paper(), i);
        for (std::size_t k = 0; k < operations / steps; ++k) play.play_episode(Episode(k));
        earned[i] = play.earned()[0];
      });
      return earned[0];
    };
  };
  return compare_wall(fmt::format("{} seeds on {} cores, wall", seeds, available_cores()), on(0),
                      "on one core, wall", on(1), std::size_t{1} << 24U);
}

}  // namespace

std::vector<Measurement> learn() {
  std::vector<Measurement> measurements = {
      against_plain(2, 4, 5, 4),    against_plain(2, 4, 10, 100), against_plain(4, 2, 5, 20),
      against_plain(2, 10, 10, 20), against_plain(8, 3, 5, 4),
  };
  for (const char* game : {"random:players=2,actions=3,horizon=3,states=4",
                           "random:players=2,actions=4,horizon=5,states=4",
                           "random:players=2,actions=10,horizon=2,states=2",
                           "random:players=2,actions=10,horizon=10,states=20",
                           "random:players=4,actions=2,horizon=4,states=3", "congestion-10"}) {
    measurements.push_back(fast_against_paper(game));
  }
  for (const std::size_t players : {2U, 10U, 100U, 1000U, 10'000U}) {
    measurements.push_back(crowd(players));
  }
  measurements.push_back(seeds_on_all_cores());
  return measurements;
}

}  // namespace vlearn::bench
