// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a certificate costs a run that learns: an agent-step with one and without.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "measure.h"
#include "vlearn/certify/certify.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/trainer.h"

namespace vlearn::bench {
namespace {

struct Subject {
  std::string name;
  std::string game;
  Target target;
};

/// A run that goes on from call to call; operations are agent-steps.
Work learning(const AnyGame& game, Target target, bool certified) {
  struct Run {
    std::unique_ptr<Trainer> trainer;
    std::unique_ptr<RunCertifier> certifier;
  };
  const auto run = std::make_shared<Run>();
  const Frame& frame = frame_of(game);
  run->trainer = make_trainer(ref_of(game), preset_options(Preset::paper, target), 1);
  if (certified) {
    run->certifier = std::make_unique<RunCertifier>(game, target, frame.horizon());
    run->trainer->watch(
        [certifier = run->certifier.get()](Step h, State s, const Profile& profile) {
          certifier->visit(h, s, profile);
        });
  }
  const std::size_t steps = frame.num_players() * frame.horizon();
  return [run, steps](std::size_t operations) {
    run->trainer->play_until(run->trainer->episodes() + (operations + steps - 1) / steps, {});
    if (run->certifier) run->certifier->record();
    return run->trainer->earned(Player(0));
  };
}

}  // namespace

std::vector<Measurement> certify() {
  std::vector<Subject> subjects;
  const auto random = [&](std::size_t players, std::size_t actions, std::size_t states,
                          Target target) {
    subjects.push_back(
        {fmt::format("{} {}x{}, {} states", name_of(target), players, actions, states),
         fmt::format("random:players={},states={},actions={},horizon=5,kind={}", players, states,
                     actions, target == Target::nash ? "zero-sum" : "general"),
         target});
  };
  random(2, 4, 4, Target::cce);
  random(3, 4, 4, Target::cce);
  random(6, 2, 4, Target::cce);
  random(2, 4, 4, Target::ce);
  random(2, 4, 4, Target::nash);
  // How it grows: with joint actions, states, players.
  random(2, 8, 4, Target::cce);
  random(2, 16, 4, Target::cce);
  random(2, 4, 32, Target::cce);
  random(4, 4, 4, Target::cce);
  subjects.push_back({"cce congestion, 10 players", "congestion:players=10", Target::cce});
  subjects.push_back({"cce congestion, 100 players", "congestion:players=100", Target::cce});
  std::vector<Measurement> measurements;
  for (const Subject& subject : subjects) {
    const AnyGame game = make_game(subject.game);
    measurements.push_back(compare(subject.name, learning(game, subject.target, true),
                                   "without certificate", learning(game, subject.target, false)));
  }
  return measurements;
}

}  // namespace vlearn::bench
