// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Many players, played and certified by several threads: the same bits as by one.
#include <gtest/gtest.h>

#include <memory>

#include "vlearn/certify/certify.h"
#include "vlearn/core/crew.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

struct Learned {
  std::uint64_t signature;
  double gap;
  friend bool operator==(const Learned&, const Learned&) = default;
};

Learned learn_with(const std::shared_ptr<Crew>& crew) {
  const AnyGame any = make_game("congestion:players=40,routes=5");
  const auto& game = std::get<CongestionGame>(any);
  const LearnConfig config = preset_config(any, Preset::fast, Target::cce, 100, 1);
  const auto trainer = make_trainer(GameRef(game), config.learner, config.seed);
  RunCertifier certifier(any, Target::cce, config.learner.output_weights.value());
  trainer->watch([&](Step h, State s, const Profile& profile) { certifier.visit(h, s, profile); });
  trainer->use(crew);
  certifier.use(crew);
  trainer->play_until(30, {});
  return {trainer->signature(), certifier.record(true).value()};
}

TEST(CrewPlay, LearnsAndCertifiesTheSameBits) {
  const Learned alone = learn_with(nullptr);
  for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
    EXPECT_EQ(learn_with(std::make_shared<Crew>(threads)), alone) << threads;
  }
}

}  // namespace
}  // namespace vlearn
