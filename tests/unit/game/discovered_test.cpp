// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulator that can only be reset and stepped, played through DiscoveredGame.
#include "vlearn/game/discovered.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/expect_error.h"

namespace vlearn {
namespace {

using test::error_of;

/// A walk on 0..9 from the middle: player 1 pushes right, player 2 left, each 0 or 1; noise may
/// move it too. Leaving the board ends the episode and pays the one who pushed it out 2, the other
/// -1.
class Walk {
 public:
  [[nodiscard]] std::size_t num_players() const { return 2; }
  [[nodiscard]] std::size_t horizon() const { return 30; }
  [[nodiscard]] std::uint32_t max_actions(Player) const { return 2; }
  /// At the edges a player has no choice.
  [[nodiscard]] std::uint32_t num_actions(Player) const { return at_ == 0 || at_ == 9 ? 1 : 2; }
  [[nodiscard]] RewardRange reward_range(Player) const { return {-1.0, 2.0}; }
  [[nodiscard]] std::string state_key() const { return std::to_string(at_); }
  void reset(Draws&) { at_ = 5; }
  bool step(std::span<const Action> joint, Draws& draws, std::span<double> rewards) {
    for (const Player player : all<Player>(2)) {
      if (joint[player.index()].value() >= num_actions(player)) throw std::logic_error("illegal");
    }
    at_ += static_cast<int>(joint[0].value()) - static_cast<int>(joint[1].value());
    at_ += static_cast<int>(draws.below(3)) - 1;
    const bool out = at_ < 0 || at_ > 9;
    rewards[0] = at_ > 9 ? 2.0 : (at_ < 0 ? -1.0 : 0.0);
    rewards[1] = at_ < 0 ? 2.0 : (at_ > 9 ? -1.0 : 0.0);
    return out;
  }

 private:
  int at_ = 5;
};

static_assert(EpisodicGame<Walk>);
static_assert(SampledGame<DiscoveredGame<Walk>>);
static_assert(!KnownGame<DiscoveredGame<Walk>>);

/// Plays one episode of random actions; returns the state of each step.
std::vector<State> play(DiscoveredGame<Walk>& game,
                        std::uint64_t k,
                        std::vector<double>* total = nullptr) {
  std::vector<State> path;
  std::vector<double> rewards(2);
  State s = game.start(Nature(1, Episode(k), Step(0)));
  for (const Step h : all<Step>(game.frame().horizon())) {
    path.push_back(s);
    Draws draws({.seed = 2, .purpose = Purpose::action, .episode = Episode(k), .step = h});
    const std::vector<Action> joint = {Action(draws.below(2)), Action(draws.below(2))};
    s = game.sample(h, s, joint, Nature(1, Episode(k), h), rewards);
    for (std::size_t i = 0; total != nullptr && i < 2; ++i) (*total)[i] += rewards[i];
  }
  return path;
}

TEST(DiscoveredGame, FindsStatesAsTheyCome) {
  DiscoveredGame<Walk> game(Walk(), 20);
  EXPECT_EQ(game.frame().num_states(Step(3)), 20U);
  for (std::uint64_t k = 0; k < 500; ++k) play(game, k);
  EXPECT_EQ(game.num_discovered(Step(0)), 1U);
  EXPECT_EQ(game.num_discovered(Step(1)), 5U);  // 5 + {-2..2}
  EXPECT_LE(game.num_discovered(Step(20)), 10U);
  // The same play finds the same numbers.
  DiscoveredGame<Walk> again(Walk(), 20);
  DiscoveredGame<Walk> other(Walk(), 20);
  for (std::uint64_t k = 0; k < 50; ++k) EXPECT_EQ(play(again, k), play(other, k));
}

TEST(DiscoveredGame, PadsAnEarlyEndWithTheImageOfZero) {
  DiscoveredGame<Walk> game(Walk(), 20);
  int ended = 0;
  for (std::uint64_t k = 0; k < 200; ++k) {
    std::vector<double> total(2, 0.0);
    const std::vector<State> path = play(game, k, &total);
    // Sums of user rewards: 0, or 2 and -1 once.
    const RewardRange& range = game.frame().range(Player(0));
    const double first = range.from_unit(total[0], 30.0);
    const double second = range.from_unit(total[1], 30.0);
    const bool out = path.back() == State(19);
    if (out) {
      ++ended;
      EXPECT_NEAR(first + second, 1.0, 1e-9);
    } else if (std::abs(first) < 1e-9) {
      EXPECT_NEAR(second, 0.0, 1e-9);
    }
  }
  EXPECT_GT(ended, 20);
}

TEST(DiscoveredGame, StopsAtTheCapWithAdvice) {
  DiscoveredGame<Walk> game(Walk(), 4);
  const std::string message = error_of(ErrorKind::resource, [&] {
    for (std::uint64_t k = 0; k < 500; ++k) play(game, k);
  });
  EXPECT_NE(message.find("more than 3 states"), std::string::npos);
  EXPECT_NE(message.find("raise the cap"), std::string::npos);
}

TEST(DiscoveredGame, CannotStartAnywhere) {
  DiscoveredGame<Walk> game(Walk(), 20);
  const State s = game.start(Nature(1, Episode(0), Step(0)));
  std::vector<double> rewards(2);
  const std::vector<Action> joint(2);
  error_of(ErrorKind::usage, [&] {
    static_cast<void>(game.sample(Step(3), s, joint, Nature(1, Episode(0), Step(3)), rewards));
  });
  error_of(ErrorKind::usage, [&] {
    static_cast<void>(
        game.sample(Step(0), s.next(), joint, Nature(1, Episode(0), Step(0)), rewards));
  });
  // Nor go on before the first start or after the last step.
  DiscoveredGame<Walk> fresh(Walk(), 20);
  error_of(ErrorKind::usage, [&] {
    static_cast<void>(
        fresh.sample(Step(0), State(0), joint, Nature(1, Episode(0), Step(0)), rewards));
  });
  const State last = play(fresh, 0).back();
  error_of(ErrorKind::usage, [&] {
    static_cast<void>(
        fresh.sample(Step(29), last, joint, Nature(1, Episode(0), Step(29)), rewards));
  });
}

}  // namespace
}  // namespace vlearn
