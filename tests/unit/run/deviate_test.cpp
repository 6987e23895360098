// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Deviations that are found by trying, beside the best that there are. Lower bounds fail with
// probability 1 - confidence at most in each search: 0.001 unless a test says otherwise.
#include "vlearn/run/deviate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "vlearn/certify/certify.h"
#include "vlearn/game/discovered.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/kept_histories.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

using test::error_of;

constexpr double kConfidence = 0.999;

/// Tables of players who play uniformly.
std::vector<MarkovTable> uniform_play(const Frame& frame, Target target) {
  std::vector<MarkovTable> tables;
  for (const Player player : all<Player>(frame.num_players())) {
    const Seat seat = seat_of(frame, player);
    MarkovTable table = empty_markov_table(seat, player, target, "");
    for (const std::uint32_t n : seat.num_actions) {
      table.add_part(1, std::vector<double>(n, 1.0 / n));
      table.end_cell();
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

/// A run, what it returns, and the exact bounds on what can be gained against it.
struct Learned {
  std::vector<PolicyFile> policies;
  Certificate certificate;
};
Learned learn(const AnyGame& game, Target target, std::uint64_t episodes, CertifiedStart start) {
  const LearnerOptions options = preset_options(Preset::practical, target);
  const auto trainer = make_trainer(ref_of(game), options, 3);
  KeptHistories kept(*trainer);
  const std::size_t horizon = frame_of(game).horizon();
  RunCertifier certifier(game, target, horizon);
  trainer->watch([&](Step h, State s, const Profile& play) { certifier.visit(h, s, play); });
  trainer->play_until(episodes, {});
  Learned learned{kept.policies(), {}};
  learned.certificate = certify_nested(game, {}, target, horizon, episodes, certifier.at(start),
                                       learned.policies, {});
  return learned;
}

DeviateOptions options_of(std::uint64_t episodes, std::uint64_t rollouts) {
  DeviateOptions options;
  options.episodes = episodes;
  options.rollouts = rollouts;
  options.confidence = kConfidence;
  return options;
}

/// None is better than the best, and each is worth at least this share of it.
void expect_found(const std::vector<FoundDeviation>& found,
                  const Certificate& exact,
                  double share_of_gain,
                  double share_of_bound) {
  ASSERT_EQ(found.size(), exact.players.size());
  for (std::size_t j = 0; j < found.size(); ++j) {
    SCOPED_TRACE(j);
    const PlayerCertificate& best = exact.players[j];
    EXPECT_EQ(found[j].player, Player(j));
    EXPECT_LE(found[j].lower, best.gap_upper);
    EXPECT_LT(found[j].lower, found[j].gain);
    // Estimates are within five standard errors: one in 10^6 is not.
    EXPECT_LE(found[j].gain - 5.0 * found[j].standard_error, best.gap_upper);
    EXPECT_GE(found[j].gain, share_of_gain * *best.gap_lower);
    EXPECT_GE(found[j].lower, share_of_bound * *best.gap_lower);
    EXPECT_EQ(found[j].confidence, kConfidence);
  }
}

TEST(Deviate, FindsThatDefectingPays) {
  const AnyGame game = load_game("prisoners-dilemma").game;
  for (const Target target : {Target::cce, Target::ce}) {
    const auto tables = uniform_play(frame_of(game), target);
    const auto found = find_deviations(ref_of(game), tables, options_of(2'000, 5'000));
    expect_found(found, certify_table(game, {}, target, tables, {}), 0.9, 0.8);
    const std::vector<std::uint32_t> defect(target == Target::ce ? 2 : 1, 1);
    EXPECT_EQ(found[0].plan, defect);
    EXPECT_EQ(found[1].plan, defect);
    EXPECT_EQ(found[0].episodes, 2'000U + 2U * 5'000U);
  }
}

TEST(Deviate, FindsMostOfWhatCanBeGainedAgainstUniformPlay) {
  for (const char* name :
       {"random:players=3,states=4,actions=3,horizon=5,seed=1",
        "random:players=2,states=6,actions=5,horizon=8,seed=2", "lock:horizon=6"}) {
    SCOPED_TRACE(name);
    const AnyGame game = make_game(name);
    for (const Target target : {Target::cce, Target::ce}) {
      const auto tables = uniform_play(frame_of(game), target);
      const auto found = find_deviations(ref_of(game), tables, options_of(10'000, 5'000));
      expect_found(found, certify_table(game, {}, target, tables, {}), 0.85, 0.6);
    }
  }
}

TEST(Deviate, FindsMostOfWhatARunHasLeft) {
  const AnyGame game = make_game("random:players=3,states=4,actions=3,horizon=4,seed=1");
  const auto look = [&](Target target, CertifiedStart start, StartRule::Kind kind) {
    const Learned learned = learn(game, target, 300, start);
    DeviateOptions options = options_of(4'000, 3'000);
    options.start.kind = kind;
    const auto found = find_deviations(ref_of(game), learned.policies, options);
    expect_found(found, learned.certificate, 0.7, 0.3);
    // What it is worth to follow is known exactly.
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(found[j].following, learned.certificate.players[j].value_upper,
                  5.0 * 2.0 / std::sqrt(3'000.0));  // a return in [0, 4] has deviation 2 at most
    }
  };
  look(Target::cce, CertifiedStart::last, StartRule::Kind::last);
  look(Target::ce, CertifiedStart::uniform, StartRule::Kind::uniform);
}

/// The players of nash draw indices of their own: what both can gain is known together.
TEST(Deviate, PlayersOfNashDoNotCorrelate) {
  const AnyGame game =
      make_game("random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=7");
  const Learned learned = learn(game, Target::nash, 200, CertifiedStart::last);
  const auto found = find_deviations(ref_of(game), learned.policies, options_of(5'000, 5'000));
  EXPECT_LE(found[0].lower + found[1].lower, learned.certificate.sum_upper);
  EXPECT_GE(found[0].gain + found[1].gain, 0.7 * *learned.certificate.sum_lower);
  EXPECT_NEAR(found[0].following + found[1].following, 3.0, 1e-9);  // rewards sum to 1
}

/// One action: nothing can be changed, and pairs of rollouts do not differ at all.
TEST(Deviate, TheBoundIsMaurersAndPontils) {
  FrameOptions frame;
  frame.num_players = 2;
  frame.horizon = 3;
  frame.num_states = {1};
  frame.num_actions = {1, 2};
  frame.ranges = {{-1.0, 3.0}};
  frame.noise = RewardNoise::bernoulli;
  const DenseGame game(Frame(frame), std::vector<double>{-0.5, 0.5, 2.0, 2.5},
                       std::vector<double>{1.0, 1.0});
  const auto tables = uniform_play(game.frame(), Target::cce);
  const auto found = find_deviations(GameRef(game), tables, options_of(100, 1'000));
  const double events = std::log(2.0 / ((1.0 - kConfidence) / 2.0));
  EXPECT_EQ(found[0].gain, 0.0);
  EXPECT_EQ(found[0].standard_error, 0.0);
  EXPECT_NEAR(found[0].lower, -4.0 * 14.0 * 3.0 * events / (3.0 * 999.0), 1e-9);
  const double variance = std::pow(found[1].standard_error, 2.0) * 1'000.0 * 1'000.0 / 999.0;
  EXPECT_GT(variance, 0.0);
  EXPECT_NEAR(found[1].lower,
              found[1].gain - std::sqrt(2.0 * variance * events / 1'000.0) -
                  4.0 * 14.0 * 3.0 * events / (3.0 * 999.0),
              1e-9);
  // One alone pays for one.
  DeviateOptions alone = options_of(100, 1'000);
  alone.player = Player(1);
  const auto one = find_deviations(GameRef(game), tables, alone);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].gain, found[1].gain);
  EXPECT_GT(one[0].lower, found[1].lower);
}

/// How often a bound with confidence 0.9 is wrong. Each of 100 searches may be with probability 0.1
/// at most, so more than 30 of them are with probability 10^-8 (binomial). Means alone would be too
/// large in half of them.
TEST(Deviate, BoundsHoldAsOftenAsTheySay) {
  const AnyGame game = load_game("prisoners-dilemma").game;
  const auto tables = uniform_play(frame_of(game), Target::cce);
  const double best = certify_table(game, {}, Target::cce, tables, {}).players[0].gap_upper;
  int wrong = 0;
  int too_large = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    DeviateOptions options = options_of(50, 300);
    options.confidence = 0.9;
    options.player = Player(0);
    options.seed = seed;
    const FoundDeviation found = find_deviations(ref_of(game), tables, options)[0];
    wrong += found.lower > best ? 1 : 0;
    too_large += found.gain > best ? 1 : 0;
  }
  EXPECT_LE(wrong, 30);
  EXPECT_GE(too_large, 20);  // as a coin: less with probability 10^-9
}

/// Rock, paper, scissors against who plays rock, by reset and step; who wins twice in a row ends
/// it.
class Throws {
 public:
  [[nodiscard]] std::size_t num_players() const { return 2; }
  [[nodiscard]] std::size_t horizon() const { return 3; }
  [[nodiscard]] std::uint32_t max_actions(Player) const { return 3; }
  [[nodiscard]] std::uint32_t num_actions(Player) const { return 3; }
  [[nodiscard]] RewardRange reward_range(Player) const { return {-1.0, 1.0}; }
  [[nodiscard]] std::string state_key() const { return std::to_string(lead_); }
  void reset(Draws&) { lead_ = 0; }
  bool step(std::span<const Action> joint, Draws&, std::span<double> rewards) {
    const std::uint32_t won = (joint[0].value() + 3 - joint[1].value()) % 3;
    const int sign = won == 1 ? 1 : (won == 2 ? -1 : 0);
    rewards[0] = sign;
    rewards[1] = -sign;
    lead_ += sign;
    return lead_ == 2 || lead_ == -2;
  }

 private:
  int lead_ = 0;
};

TEST(Deviate, WorksInSimulatorsAndIsTheSameForTheSameSeed) {
  DiscoveredGame<Throws> game(Throws(), 8);
  const LearnerOptions learner = preset_options(Preset::fast, Target::cce);
  const auto trainer = make_trainer(GameRef(game), learner, 2);
  KeptHistories kept(*trainer);
  trainer->play_until(3, {});
  const std::vector<PolicyFile> early = kept.policies();
  trainer->play_until(2'000, {});
  const std::vector<PolicyFile> late = kept.policies();
  EXPECT_EQ(early[1].episodes(), 3U);
  EXPECT_EQ(late[1].episodes(), 2'000U);
  for (std::uint64_t visit = 1; visit <= 3; ++visit) {
    EXPECT_EQ(late[0].logged(0, visit).action, early[0].logged(0, visit).action);
  }
  const auto first = find_deviations(GameRef(game), late, options_of(2'000, 2'000));
  const auto again = find_deviations(GameRef(game), late, options_of(2'000, 2'000));
  DeviateOptions other = options_of(2'000, 2'000);
  other.seed = 2;
  const auto others = find_deviations(GameRef(game), late, other);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(first[j].gain, again[j].gain);
    EXPECT_EQ(first[j].lower, again[j].lower);
    EXPECT_EQ(first[j].plan, again[j].plan);
    EXPECT_NE(first[j].following, others[j].following);
    // Equilibrium is nearly learned: nobody gains much of the 2 that can be won.
    EXPECT_LT(first[j].gain, 0.5);
  }
  // Against one who always plays rock everything can be won: twice, and then it is over.
  std::vector<MarkovTable> rock = uniform_play(game.frame(), Target::cce);
  for (std::size_t i = 0; i < rock[1].policies.size(); ++i) {
    rock[1].policies[i] = i % 3 == 0 ? 1.0 : 0.0;
  }
  const auto found = find_deviations(GameRef(game), rock, options_of(500, 5'000));
  EXPECT_NEAR(found[0].following + found[0].gain, 2.0, 1e-12);
  EXPECT_GT(found[0].lower, 1.5);
  EXPECT_LT(found[0].lower, 2.0);
}

TEST(Deviate, RefusesWhatMakesNoSense) {
  const AnyGame game = load_game("prisoners-dilemma").game;
  const auto tables = uniform_play(frame_of(game), Target::cce);
  const auto refusal = [&](const auto& change) {
    DeviateOptions options = options_of(10, 10);
    change(options);
    return error_of(ErrorKind::usage,
                    [&] { static_cast<void>(find_deviations(ref_of(game), tables, options)); });
  };
  EXPECT_NE(refusal([](DeviateOptions& o) { o.rollouts = 1; }).find("rollouts"), std::string::npos);
  EXPECT_NE(refusal([](DeviateOptions& o) { o.episodes = 0; }).find("episodes"), std::string::npos);
  for (const double confidence : {0.0, 1.0, std::nan("")}) {
    EXPECT_NE(
        refusal([&](DeviateOptions& o) { o.confidence = confidence; }).find("between 0 and 1"),
        std::string::npos);
  }
  EXPECT_NE(refusal([](DeviateOptions& o) { o.player = Player(2); }).find("there are 2"),
            std::string::npos);
  const AnyGame other = make_game("random:players=2,states=2,actions=2,horizon=2,seed=1");
  error_of(ErrorKind::input,
           [&] { static_cast<void>(find_deviations(ref_of(other), tables, options_of(10, 10))); });
  Learned learned = learn(other, Target::cce, 10, CertifiedStart::last);
  error_of(ErrorKind::input, [&] {
    static_cast<void>(find_deviations(ref_of(game), learned.policies, options_of(10, 10)));
  });
  learned.policies.pop_back();
  error_of(ErrorKind::input, [&] {
    static_cast<void>(find_deviations(ref_of(other), learned.policies, options_of(10, 10)));
  });
  CancelSource source;
  source.request();
  DeviateOptions cancelled = options_of(10, 10);
  cancelled.cancel = source.token();
  EXPECT_THROW(static_cast<void>(find_deviations(ref_of(game), tables, cancelled)), Cancelled);
}

}  // namespace
}  // namespace vlearn
