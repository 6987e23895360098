// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/baseline_game.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "vlearn/game/game_io.h"

namespace vlearn::test {
namespace {

constexpr const char* kThree = "random:players=3,states=3,actions=2,horizon=3,seed=1";

BaselineConfig config_of(const AnyGame& game, BaselineName algorithm) {
  BaselineConfig config;
  config.baseline = usual_options(algorithm, frame_of(game));
  return config;
}

TEST(BaselineGame, LooksAtDoublings) {
  EXPECT_EQ(next_doubling(0), 1U);
  EXPECT_EQ(next_doubling(1), 2U);
  EXPECT_EQ(next_doubling(2), 4U);
  EXPECT_EQ(next_doubling(5), 8U);
  const AnyGame game = make_game(kThree);
  BaselineConfig config = config_of(game, BaselineName::multi_cce_vi);
  config.episodes = 100;
  const auto result = learn_baseline(game, {}, config);
  ASSERT_TRUE(result);
  std::vector<std::uint64_t> episodes;
  for (const BaselineLook& look : result->looks) episodes.push_back(look.episodes);
  EXPECT_EQ(episodes, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 100}));
  EXPECT_EQ(result->stopped, Stopped::episodes);
  EXPECT_EQ(result->episodes, 100U);
  EXPECT_EQ(result->last.gap.largest, result->certificate.gap_upper);
  EXPECT_EQ(result->last.bytes, *baseline_memory(frame_of(game), config.baseline).bytes);
}

TEST(BaselineGame, StopsAtTheGap) {
  const AnyGame game = make_game(kThree);
  BaselineConfig config = config_of(game, BaselineName::plug_in);
  config.until_gap = 0.02;
  const auto result = learn_baseline(game, {}, config);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stopped, Stopped::gap);
  EXPECT_LE(result->certificate.gap_upper, 0.02);
  for (std::size_t i = 0; i + 1 < result->looks.size(); ++i) {
    EXPECT_GT(result->looks[i].gap.largest, 0.02);
  }
  // Whoever follows it sees the same.
  std::vector<double> gaps;
  follow_baseline(game, config.baseline, config.seed, next_doubling, [&](const BaselineLook& look) {
    gaps.push_back(look.gap.largest);
    EXPECT_GE(look.cpu_seconds, 0.0);
    return look.gap.largest > 0.02;
  });
  ASSERT_EQ(gaps.size(), result->looks.size());
  for (std::size_t i = 0; i < gaps.size(); ++i) EXPECT_EQ(gaps[i], result->looks[i].gap.largest);
}

TEST(BaselineGame, StopsWhenTimeIsUp) {
  const AnyGame game = make_game(kThree);
  for (const BaselineName algorithm : {BaselineName::plug_in, BaselineName::multi_cce_vi}) {
    BaselineConfig config = config_of(game, algorithm);
    config.max_seconds = 1e-9;
    EXPECT_FALSE(learn_baseline(game, {}, config));  // nothing was planned
    config.max_seconds = 0.2;
    const auto begin = std::chrono::steady_clock::now();
    const auto result = learn_baseline(game, {}, config);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    ASSERT_TRUE(result);
    EXPECT_EQ(result->stopped, Stopped::time);
    EXPECT_GE(elapsed.count(), 0.2);
    EXPECT_LT(elapsed.count(), 30.0);  // the machine may be busy
    // Plug-in has the policy of its last look, others that or the one of their last plan.
    EXPECT_LE(result->last.episodes, result->episodes);
    EXPECT_EQ(result->tables.size(), 3U);
  }
}

TEST(BaselineGame, ReturnsItsLastLookWhenItIsInterrupted) {
  const AnyGame game = make_game(kThree);
  for (const BaselineName algorithm : {BaselineName::plug_in, BaselineName::multi_ce_vi}) {
    const BaselineConfig config = config_of(game, algorithm);
    CancelSource interrupt;
    BaselineHooks hooks;
    hooks.cancel = interrupt.token();
    hooks.look = [&](const BaselineLook& look) {
      if (look.episodes == 64) interrupt.request();
    };
    const auto result = learn_baseline(game, {}, config, hooks);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->stopped, Stopped::interrupt);
    EXPECT_EQ(result->episodes, 64U);
    EXPECT_EQ(result->last.episodes, 64U);
    EXPECT_EQ(result->looks.size(), 7U);  // 1, 2, 4, ..., 64: nothing new is there to be seen
    EXPECT_EQ(result->certificate.gap_upper, result->looks.back().gap.largest);
    EXPECT_EQ(result->tables.size(), 3U);
  }
}

TEST(BaselineGame, FollowsUntilItIsStopped) {
  const AnyGame game = make_game(kThree);
  const BaselineOptions options = usual_options(BaselineName::plug_in, frame_of(game));
  std::size_t looks = 0;
  // Episodes that are no more than were played end it,
  follow_baseline(
      game, options, 1, [](std::uint64_t played) { return played < 30 ? played + 10 : played; },
      [&](const BaselineLook&) { return ++looks > 0; });
  EXPECT_EQ(looks, 3U);
  // and whoever stops it.
  looks = 0;
  std::size_t asked = 0;
  follow_baseline(
      game, options, 1, next_doubling, [&](const BaselineLook&) { return ++looks > 0; },
      [&] { return ++asked > 200; });
  EXPECT_GE(looks, 1U);
  EXPECT_LE(looks, 8U);
}

}  // namespace
}  // namespace vlearn::test
