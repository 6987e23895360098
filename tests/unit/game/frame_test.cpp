// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/expect_error.h"
#include "vlearn/game/tabular.h"

namespace vlearn {
namespace {

using test::error_of;

FrameOptions small() {
  return {.num_players = 2, .horizon = 3, .num_states = {2}, .num_actions = {2, 3}};
}

TEST(Frame, KnowsItsShape) {
  const Frame frame(small());
  EXPECT_EQ(frame.num_cells(), 2U);
  EXPECT_EQ(frame.cell(Step(2), State(1)), 1U);
  EXPECT_EQ(frame.num_actions(Player(1), Step(0), State(1)), 3U);
  EXPECT_EQ(frame.max_actions(), 3U);
  EXPECT_EQ(frame.max_profile_size(), 5U);
  EXPECT_EQ(frame.num_joint_actions(0), 6U);
  EXPECT_EQ(frame.initial()[0], 1.0);
  EXPECT_TRUE(frame.is_last(Step(2)));
  EXPECT_FALSE(frame.is_last(Step(1)));
}

TEST(Frame, StepDependentWithStatesOfItsOwn) {
  FrameOptions options = small();
  options.stationary = false;
  options.num_states = {1, 3, 2};
  const Frame frame(options);
  EXPECT_EQ(frame.num_cells(), 6U);
  EXPECT_EQ(frame.cell(Step(2), State(1)), 5U);
  EXPECT_EQ(frame.next_states(), (std::vector<std::uint32_t>{3, 2, 2, 2, 0, 0}));
  EXPECT_EQ(frame.max_states(), 3U);
  // And of actions that differ from cell to cell, the most.
  options.num_actions = {2, 1, 1, 1, 1, 1, 1, 7, 1, 1, 3, 1};
  EXPECT_EQ(Frame(options).max_actions(), 7U);
}

TEST(Frame, KeepsRowsThatAreAlmostRight) {
  FrameOptions options = small();
  options.initial = {0.5, 0.5 + 5e-13};
  EXPECT_EQ(Frame(options).initial()[1], 0.5 + 5e-13);
}

// Every part of a game is in its hash.
TEST(Frame, HashSeesEveryPart) {
  const auto hash = [](const FrameOptions& options, double reward, double probability) {
    std::vector<double> rewards(24, 0.25);
    rewards[7] = reward;
    std::vector<double> rows;
    for (int row = 0; row < 12; ++row) rows.insert(rows.end(), {0.5, 0.5});
    rows[6] = probability;
    rows[7] = 1.0 - probability;
    return law_hash(DenseGame(Frame(options), rewards, rows));
  };
  FrameOptions options = small();
  std::vector<Sha256Digest> hashes = {hash(options, 0.25, 0.5), hash(options, 0.5, 0.5),
                                      hash(options, 0.25, 0.25)};
  const auto add = [&](const auto& change) {
    FrameOptions changed = small();
    change(changed);
    hashes.push_back(hash(changed, 0.25, 0.5));
  };
  add([](auto& o) { o.horizon = 4; });
  add([](auto& o) { o.num_actions = {3, 2}; });
  add([](auto& o) { o.initial = {0.5, 0.5}; });
  add([](auto& o) { o.ranges = {{0.0, 2.0}}; });
  add([](auto& o) { o.ranges = {{0.0, 1.0}, {0.0, 2.0}}; });
  add([](auto& o) { o.noise = RewardNoise::bernoulli; });
  add([](auto& o) { o.noise = RewardNoise::uniform; });
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

TEST(Frame, CountsJointActionsUpToOverflow) {
  FrameOptions options = small();
  options.num_players = 70;
  options.num_actions = std::vector<std::uint32_t>(70, 2);
  const Frame frame(options);
  EXPECT_EQ(frame.num_joint_actions(0), std::nullopt);
  EXPECT_NE(error_of(ErrorKind::resource, [&] { JointIndex{frame}; }).find("70 players"),
            std::string::npos);
}

TEST(Frame, RefusesWhatMakesNoGame) {
  const auto refused = [](const auto& change, const char* words) {
    FrameOptions options = small();
    change(options);
    const std::string message = error_of(ErrorKind::input, [&] { Frame{options}; });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([](auto& o) { o.num_players = 0; }, "players");
  refused([](auto& o) { o.horizon = 0; }, "horizon");
  refused([](auto& o) { o.horizon = kMaxSteps; }, "horizon");
  refused([](auto& o) { o.num_states = {}; }, "states");
  refused([](auto& o) { o.num_states = {2, 2, 2}; }, "states");
  refused([](auto& o) { o.num_states = {0}; }, "states: step 1 has none");
  refused([](auto& o) { o.num_actions = {2}; }, "actions");
  refused([](auto& o) { o.num_actions = {2, 2, 2, 2, 2}; }, "actions");
  refused([](auto& o) { o.num_actions = {2, 0}; }, "without any action");
  refused([](auto& o) { o.initial = {1.0}; }, "initial");
  refused([](auto& o) { o.initial = {0.5, 0.4}; }, "sums to 0.9");
  refused([](auto& o) { o.initial = {0.5, 0.5 + 2e-12}; }, "want 1");
  refused([](auto& o) { o.ranges = {{5.0, 2.0}}, o.ends_early = true; }, "range");
  refused([](auto& o) { o.initial = {1.5, -0.5}; }, "entry 2");
  refused([&](auto& o) { o.initial = {nan, 1.0}; }, "entry 1");
  refused([](auto& o) { o.ranges = {{1.0, 1.0}}; }, "range");
  refused([&](auto& o) { o.ranges = {{nan, 1.0}}; }, "range");
  refused([](auto& o) { o.ranges = {{}, {}, {}}; }, "range");
  refused([](auto& o) { o.ranges = {{-1e308, 1e308}}; }, "range");
  refused(
      [](auto& o) {
        o.num_players = 3, o.num_actions = {2, 2, 2}, o.zero_sum = true;
      },
      "zero-sum");
}

TEST(Frame, ZeroSumRangesFitTogether) {
  FrameOptions options = small();
  options.zero_sum = true;
  options.ranges = {{-1.0, 3.0}, {-3.0, 1.0}};
  EXPECT_NO_THROW(Frame{options});
  options.ranges = {{-1.0, 3.0}, {0.0, 1.0}};
  const std::string message = error_of(ErrorKind::input, [&] { Frame{options}; });
  EXPECT_TRUE(message.starts_with("range: is [-1, 3] and [0, 1]")) << message;
  EXPECT_NE(message.find("one width"), std::string::npos) << message;
  options.ranges = {{0.0, 1.0}, {0.0, 1.0}};  // sums to one: fine as long as nothing ends early
  EXPECT_NO_THROW(Frame{options});
  options.ends_early = true;
  error_of(ErrorKind::input, [&] { Frame{options}; });
}

TEST(Frame, AnEarlyEndExtendsTheRangesToContainZero) {
  FrameOptions options = small();
  options.ends_early = true;
  options.ranges = {{2.0, 3.0}, {-3.0, -1.0}};
  const Frame frame(options);
  EXPECT_EQ(frame.range(Player(0)), (RewardRange{0.0, 3.0}));
  EXPECT_EQ(frame.range(Player(1)), (RewardRange{-3.0, 0.0}));
}

TEST(RewardRange, GoesThereAndBack) {
  const RewardRange range{-2.0, 6.0};
  EXPECT_EQ(range.to_unit(-2.0), 0.0);
  EXPECT_EQ(range.to_unit(6.0), 1.0);
  EXPECT_EQ(range.to_unit(0.0), 0.25);
  // Three steps that paid 6, -2 and 0: 1.25 inside.
  EXPECT_EQ(range.from_unit(1.25, 3.0), 4.0);
}

TEST(TabularGame, RefusesBadTablesAndNamesThePlace) {
  const Frame frame({.num_players = 2,
                     .horizon = 2,
                     .stationary = false,
                     .num_states = {1, 2},
                     .num_actions = {1, 2}});
  const std::vector<double> rewards(12, 0.5);
  const std::vector<double> probabilities = {0.5, 0.5, 1.0, 0.0};
  EXPECT_NO_THROW(DenseGame(frame, rewards, probabilities));
  const auto message = [&](std::vector<double> r, std::vector<double> p) {
    return error_of(ErrorKind::input, [&] { DenseGame(frame, r, p); });
  };
  std::vector<double> bad = probabilities;
  bad[2] = 0.9987;
  EXPECT_EQ(message(rewards, bad), "transition[h=1, s=1, a=(1,2)]: sums to 0.9987, want 1");
  bad[2] = -1.0;
  EXPECT_NE(message(rewards, bad).find("entry 1 is -1"), std::string::npos);
  bad = rewards;
  bad[9] = 2.0;
  EXPECT_EQ(message(bad, probabilities),
            "reward of player 1[h=2, s=2, a=(1,2)]: is 2; want a number from 0 to 1");
  EXPECT_NE(message({0.5}, probabilities).find("too few"), std::string::npos);
  EXPECT_NE(message(rewards, {1.0}).find("too few"), std::string::npos);
  EXPECT_NE(message(rewards, {0.5, 0.5, 1.0, 0.0, 1.0}).find("has 5 numbers, want 4"),
            std::string::npos);
}

TEST(SparseGame, RefusesRowsOutOfOrder) {
  const Frame frame({.num_players = 1, .horizon = 2, .num_states = {2}, .num_actions = {1}});
  const auto message = [&](std::vector<std::uint64_t> begins, std::vector<std::uint32_t> states) {
    const std::vector<double> p(states.size(), 0.5);
    return error_of(ErrorKind::input, [&] { SparseGame(frame, {0.5, 0.5}, {begins, states, p}); });
  };
  EXPECT_NE(message({0, 2, 4}, {0, 1, 1, 0}).find("[s=2, a=(1)]"), std::string::npos);
  EXPECT_NE(message({0, 2, 4}, {0, 1, 0, 2}).find("rising order"), std::string::npos);
  EXPECT_NE(message({0, 2, 3}, {0, 1, 0, 1}).find("do not fit"), std::string::npos);
  EXPECT_NE(message({0, 3, 2}, {0, 1}).find("do not fit"), std::string::npos);
  EXPECT_NE(message({0, 2, 3}, {0, 1, 0}).find("sums to 0.5"), std::string::npos);
}

}  // namespace
}  // namespace vlearn
