// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What polymatrix and callback games refuse.
#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"
#include "vlearn/game/callback.h"
#include "vlearn/game/polymatrix.h"

namespace vlearn {
namespace {

using test::error_of;

Frame two_by_two() {
  return Frame({.num_players = 2, .horizon = 2, .num_states = {1}, .num_actions = {2, 2}});
}

TEST(Polymatrix, RefusesWhatDoesNotFit) {
  // Rows and columns: player 1's two actions, player 2's two actions.
  const PolymatrixOptions good{.rewards = {0.2, 0, 0.3, 0.8, /**/ 0, 0, 0, 0.5, /**/ 0.1, 0.2, 0, 0,
                                           /**/ 1, 0, 0, 0},
                               .weights = {},
                               .transitions = {1, 1, 1, 1}};
  EXPECT_NO_THROW(PolymatrixGame(two_by_two(), good));
  const auto refused = [](const PolymatrixOptions& options, const char* words) {
    const std::string message =
        error_of(ErrorKind::input, [&] { PolymatrixGame(two_by_two(), options); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  PolymatrixOptions bad = good;
  bad.rewards[3] = 0.81;
  refused(bad, "rewards[cell 1, player 1, action 1]: can be 0.5 to 1.01");
  bad = good;
  bad.rewards[1] = 0.5;
  refused(bad, "another own action");
  bad = good;
  bad.rewards[2] = std::numeric_limits<double>::infinity();
  refused(bad, "not finite");
  bad = good;
  bad.rewards.push_back(0.0);
  refused(bad, "has 17 numbers, want 16");
  bad = good;
  bad.transitions.pop_back();
  refused(bad, "too few");
  bad = good;
  bad.transitions[2] = 0.5;
  refused(bad, "transitions[cell 1, player 2, action 1]: sums to 0.5");
  bad = good;
  bad.weights = {0.5, 0.6};
  refused(bad, "weights[cell 1]");
  // Sizes whose product wraps 64 bits.
  const Frame large({.num_players = 1,
                     .horizon = 1,
                     .stationary = false,
                     .num_states = {4},
                     .num_actions = {std::uint32_t{1} << 31U}});
  error_of(ErrorKind::input, [&] { PolymatrixGame(large, {}); });
}

TEST(Callback, ChecksEveryAnswer) {
  using Change = void (*)(Outcome&);
  const auto message = [](Change change) {
    const CallbackGame game(two_by_two(), "test",
                            [change](Step, State, std::span<const Action>, Outcome& outcome) {
                              outcome.successors = {{State(0), 1.0}};
                              change(outcome);
                            });
    const std::vector<double> policies(4, 0.5);
    const std::vector<double> next(1, 0.0);
    std::vector<double> q(2);
    Workspace workspace;
    return error_of(ErrorKind::input, [&] {
      game.backup(
          {Step(0), State(0), Profile(game.frame().action_begins(Step(0), State(0)), policies)},
          Player(0), next, q, workspace);
    });
  };
  EXPECT_NE(message([](Outcome& o) { o.rewards[1] = 2.0; }).find("of player 2"), std::string::npos);
  EXPECT_NE(message([](Outcome& o) { o.rewards.pop_back(); }).find("one reward"),
            std::string::npos);
  EXPECT_NE(message([](Outcome& o) {
              o.successors = {{State(1), 1.0}};
            }).find("not there"),
            std::string::npos);
  EXPECT_NE(message([](Outcome& o) {
              o.successors = {{State(0), 0.9}};
            }).find("sums to 0.9"),
            std::string::npos);
  EXPECT_NE(message([](Outcome& o) {
              o.successors = {{State(0), -1.0}};
            }).find("negative"),
            std::string::npos);
  EXPECT_NE(message([](Outcome& o) {
              o.successors = {{State(0), 0.5}, {State(0), 0.5}};
            }).find("more successors"),
            std::string::npos);
  error_of(ErrorKind::usage, [] { CallbackGame(two_by_two(), "none", LawFunction()); });
}

}  // namespace
}  // namespace vlearn
