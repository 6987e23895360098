// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/memory.h"

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.h"
#include "vlearn/baseline/learner.h"
#include "vlearn/game/game_io.h"
#include "vlearn/lp/stage_solver.h"

namespace vlearn::test {
namespace {

BaselineMemory memory_of(const char* game, BaselineName algorithm) {
  const AnyGame loaded = load_game(game).game;
  return baseline_memory(frame_of(loaded), usual_options(algorithm, frame_of(loaded)));
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

// 3 players with 2 actions: J = 8. H = 2 steps of 4 states; the first step leads to 4 states, the
// second nowhere. A plan has 7 joint actions at most: 6 rows of deviations, and one for the sum.
TEST(BaselineMemory, IsTheSumOfItsTables) {
  const std::uint32_t actions[] = {2, 2, 2};
  const std::uint64_t program = *StageSolver::cells(actions, Target::cce);
  const std::uint64_t counted = 4 * 8 * (4 + 8 * 3 + 4 * 4) + 4 * 8 * (4 + 8 * 3) +
                                8 * 3 * (16 * 3 + 16 + 16 * 7) + 16 * 3 * 8 + 8 * program;
  const BaselineMemory memory =
      memory_of("random:players=3,states=4,actions=2,horizon=2", BaselineName::multi_cce_vi);
  EXPECT_EQ(memory.joint_actions, 8U);
  EXPECT_EQ(memory.bytes, counted);
}

TEST(BaselineMemory, KnowsWhatCannotBeCounted) {
  const BaselineMemory ten = memory_of("congestion-10", BaselineName::multi_cce_vi);
  EXPECT_EQ(ten.joint_actions, 10'000'000'000U);
  EXPECT_GT(ten.bytes.value_or(0), 10'000'000'000U);
  const BaselineMemory hundred = memory_of("congestion-100", BaselineName::plug_in);
  EXPECT_FALSE(hundred.joint_actions);
  EXPECT_FALSE(hundred.bytes);
}

TEST(BaselineMemory, RefusesBeforeItAllocates) {
  const auto refusal = [](const char* name) {
    const AnyGame game = load_game(name).game;
    return error_of(ErrorKind::resource, [&] {
      const auto& model = std::get<CongestionGame>(game);
      BaselineLearner(GameRef(model), usual_options(BaselineName::multi_ce_vi, model.frame()), 1);
    });
  };
  expect_words(refusal("congestion-10"),
               {" bytes", "10000000000 joint actions", "4294967296", "v-learning"});
  expect_words(refusal("congestion-100"), {"more bytes than can be counted", "v-learning"});
}

TEST(BaselineMemory, TheLimitItselfIsAllowed) {
  const AnyGame game = load_game("rps").game;
  const Frame& frame = frame_of(game);
  BaselineOptions options = usual_options(BaselineName::nash_vi, frame);
  options.max_memory = baseline_memory(frame, options).bytes.value();
  check_memory(frame, options);
  --options.max_memory;
  const std::string text = error_of(ErrorKind::resource, [&] { check_memory(frame, options); });
  expect_words(text, {std::to_string(options.max_memory + 1).c_str(),
                      std::to_string(options.max_memory).c_str(), "9 joint actions"});
}

TEST(BaselineMemory, ProgramsHaveALimitOfTheirOwn) {
  // 300 x 300 joint actions are few bytes, but a row of the program for each of 2 x 300 x 299 pairs
  // is not.
  const AnyGame game = make_game("random:players=2,states=1,actions=300,horizon=1,seed=1");
  BaselineOptions options = usual_options(BaselineName::multi_ce_vi, frame_of(game));
  options.max_memory = UINT64_MAX;
  expect_words(error_of(ErrorKind::resource, [&] { check_memory(frame_of(game), options); }),
               {"linear programs"});
}

}  // namespace
}  // namespace vlearn::test
