// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the players' own data certify, beside what the law of the game does. Each comparison fails
// with probability kDelta at most, for simulators 2 kDelta: 0.001 and 0.002; seeds are fixed.
#include "vlearn/run/data_certificate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "support/theory_run.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/container.h"
#include "vlearn/game/discovered.h"
#include "vlearn/run/learn.h"

namespace vlearn {
namespace {

using test::error_of;
using test::kDelta;

LearnerOptions options_of(Preset preset, Target target, std::uint64_t episodes) {
  LearnerOptions options = preset_options(preset, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  return options;
}
LearnerOptions rigorous(Target target, std::uint64_t episodes) {
  return options_of(Preset::rigorous, target, episodes);
}

Certificate exact_of(const AnyGame& game,
                     const RunCertifier& certifier,
                     Target target,
                     CertifiedStart start) {
  return certify_nested(game, {}, target, frame_of(game).horizon(), certifier.episodes(),
                        certifier.at(start), {}, {});
}

/// Every number that is stated bounds what the law of the game says.
void expect_bounds(const Certificate& data, const Certificate& exact) {
  EXPECT_EQ(data.method->name, MethodName::data);
  EXPECT_EQ(data.target, exact.target);
  EXPECT_EQ(data.output, exact.output);
  EXPECT_EQ(data.start, exact.start);
  EXPECT_EQ(data.start_episode, exact.start_episode);
  EXPECT_EQ(data.gap_lower, std::nullopt);
  EXPECT_GE(data.gap_upper, exact.gap_upper);
  EXPECT_GE(data.sum_upper, exact.sum_upper);
  for (std::size_t j = 0; j < exact.players.size(); ++j) {
    const PlayerCertificate& own = data.players[j];
    EXPECT_LE(own.gap_upper, data.gap_upper);
    EXPECT_GE(own.gap_upper, exact.players[j].gap_upper);
    EXPECT_GE(own.deviation_upper, exact.players[j].deviation_upper);
    EXPECT_LE(own.value_lower, exact.players[j].value_lower);
    EXPECT_GE(own.value_upper, exact.players[j].value_upper);
    EXPECT_EQ(own.deviation_lower, std::nullopt);
  }
}

void expect_certificates(Preset preset) {
  struct Case {
    const char* game;
    Target target;
    std::uint64_t episodes;
  };
  // Episodes such that most of what could be gained is ruled out.
  for (const Case& one :
       {Case{"random:players=3,states=2,actions=2,horizon=2,seed=2", Target::cce, 60'000},
        Case{"random:players=2,states=2,actions=2,horizon=2,seed=1", Target::ce, 120'000},
        Case{"random:players=2,states=2,actions=2,horizon=2,kind=zero-sum,seed=4", Target::nash,
             60'000},
        Case{"random:players=1,states=3,actions=2,horizon=2,seed=5", Target::optimal, 60'000}}) {
    SCOPED_TRACE(one.game);
    const AnyGame game = make_game(one.game);
    const Frame& frame = frame_of(game);
    const LearnerOptions options = options_of(preset, one.target, one.episodes);
    const auto trainer = make_trainer(GameRef(std::get<DenseGame>(game)), options, 31);
    RunCertifier certifier(game, one.target, frame.horizon());
    trainer->watch([&](Step h, State s, const Profile& play) { certifier.visit(h, s, play); });
    trainer->play_until(one.episodes, {});
    for (const CertifiedStart start : {CertifiedStart::uniform, CertifiedStart::last}) {
      const auto data = data_certificate(*trainer, frame, options, start);
      ASSERT_TRUE(data);
      EXPECT_EQ(data->method->confidence, 1.0 - kDelta);
      EXPECT_EQ(data->episodes, one.episodes);
      expect_bounds(*data, exact_of(game, certifier, one.target, start));
      EXPECT_LT(data->gap_upper, 1.5);  // of 2: it says something
    }
    const auto uniform = data_certificate(*trainer, frame, options, CertifiedStart::uniform);
    EXPECT_NEAR(uniform->gap_upper,
                std::max(*trainer->gap_bound(Player(0)),
                         *trainer->gap_bound(Player(frame.num_players() - 1))),
                one.target == Target::cce ? 0.1 : 1e-12);
    const auto best = data_certificate(*trainer, frame, options);
    EXPECT_EQ(best->start, CertifiedStart::last);  // values shrink as they learn
    EXPECT_LT(best->gap_upper, uniform->gap_upper);
  }
}

TEST(DataCertificate, BoundsWhatTheLawSays) { expect_certificates(Preset::rigorous); }
TEST(DataCertificate, OfThePresetProvenBoundsWhatTheLawSays) {
  expect_certificates(Preset::proven);
}

/// Two states to begin in, one of them rare.
DenseGame two_starts() {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 2;
  options.num_states = {3};
  options.num_actions = {2, 2};
  options.initial = {0.1, 0.0, 0.9};
  options.noise = RewardNoise::bernoulli;
  std::vector<double> rewards;
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < 12; ++i) {
    rewards.push_back(static_cast<double>(i * 7 % 8) / 8.0);
    rewards.push_back(static_cast<double>(i * 5 % 8) / 8.0);
    const double stay = static_cast<double>(1 + i % 4) / 8.0;
    for (const double p : {stay, 0.5, 0.5 - stay}) probabilities.push_back(p);
  }
  return {Frame(options), rewards, probabilities};
}

/// The same game for who can only reset and step it. `seen[h]` has its states in the order in which
/// they were discovered.
class Blind {
 public:
  Blind(const DenseGame& game, std::vector<std::vector<State>>& seen) : game_(&game), seen_(&seen) {
    seen.assign(game.frame().horizon(), {});
  }
  [[nodiscard]] std::size_t num_players() const { return game_->frame().num_players(); }
  [[nodiscard]] std::size_t horizon() const { return game_->frame().horizon(); }
  [[nodiscard]] std::uint32_t max_actions(Player) const { return 2; }
  [[nodiscard]] std::uint32_t num_actions(Player) const { return 2; }
  [[nodiscard]] RewardRange reward_range(Player) const { return {}; }
  [[nodiscard]] std::string state_key() const {
    std::vector<State>& of_step = (*seen_)[h_];
    if (std::find(of_step.begin(), of_step.end(), s_) == of_step.end()) of_step.push_back(s_);
    return std::to_string(s_.value());
  }
  void reset(Draws& draws) {
    h_ = 0;
    s_ = State(sample(game_->frame().initial(), draws.uniform()));
  }
  bool step(std::span<const Action> joint, Draws& draws, std::span<double> rewards) {
    const Nature nature(draws.bits(), Episode(), Step(h_));
    s_ = game_->sample(Step(h_), s_, joint, nature, rewards);
    ++h_;
    return false;
  }

 private:
  const DenseGame* game_;
  std::vector<std::vector<State>>* seen_;
  std::size_t h_ = 0;
  State s_;
};

TEST(DataCertificate, SimulatorsPayForTheirFirstStates) {
  const AnyGame known{two_starts()};
  std::vector<std::vector<State>> seen;
  constexpr std::uint32_t kCap = 20;
  constexpr std::uint64_t kEpisodes = 100'000;
  for (const Target target : {Target::cce, Target::ce}) {
    DiscoveredGame<Blind> game(Blind(std::get<DenseGame>(known), seen), kCap);
    const LearnerOptions options = rigorous(target, kEpisodes);
    const auto trainer = make_trainer(GameRef(game), options, 32);
    // iota counts all states that there may be: log(4 m H S K / delta).
    EXPECT_NEAR(trainer->policy_header(Player(0)).rule_parameter,
                std::log(4.0 * 2.0 * 2.0 * kCap * static_cast<double>(kEpisodes) / kDelta), 1e-12);
    RunCertifier certifier(known, target, 2);
    State first;
    trainer->watch([&](Step h, State s, const Profile& play) {
      if (h == Step()) first = s;
      certifier.visit(h, seen[h.index()][s.index()], play);
    });
    // Values as they stand before an episode, at the state that it begins in.
    double upper = 0.0;
    double lower = 0.0;
    constexpr std::uint64_t kLooks = 2'000;
    for (std::uint64_t k = 0; k < kLooks; ++k) {
      const std::vector<double> values(trainer->values(Player(1)).begin(),
                                       trainer->values(Player(1)).end());
      const std::vector<double> low(trainer->low_values(Player(1)).begin(),
                                    trainer->low_values(Player(1)).end());
      trainer->play_until(k + 1, {});
      upper += values[first.index()];
      lower += low[first.index()];
    }
    EXPECT_NEAR(trainer->start_means(Player(1))->upper, upper / kLooks, 1e-12);
    EXPECT_NEAR(*trainer->start_means(Player(1))->lower, lower / kLooks, 1e-12);
    trainer->play_until(kEpisodes, {});
    const auto data = data_certificate(*trainer, game.frame(), options);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->method->confidence, 1.0 - 2.0 * kDelta);
    expect_bounds(*data, exact_of(known, certifier, target, CertifiedStart::uniform));
    EXPECT_LT(data->gap_upper, 1.8);  // of 2
    const auto means = *trainer->start_means(Player(0));
    const double radius =
        2.0 * std::sqrt(std::log(3.0 * 2.0 * kEpisodes / kDelta) / (2.0 * kEpisodes));
    EXPECT_NEAR(*trainer->gap_bound(Player(0)), means.upper - *means.lower + radius, 1e-12);
    EXPECT_NEAR(data->players[0].gap_upper, means.upper - *means.lower + radius, 1e-12);
    EXPECT_NEAR(data->players[0].deviation_upper, means.upper + radius, 1e-12);
    EXPECT_NEAR(data->players[0].value_lower, *means.lower - radius, 1e-12);
    // The last values are of first states whose law nobody knows.
    EXPECT_FALSE(data_certificate(*trainer, game.frame(), options, CertifiedStart::last));
    trainer->play_until(kEpisodes + 1, {});
    EXPECT_FALSE(data_certificate(*trainer, game.frame(), options));
  }
}

/// A run on a simulator that goes on from a checkpoint has the same sums to the last bit.
TEST(DataCertificate, CheckpointsKeepTheSumsOfSimulators) {
  const test::TemporaryFolder folder;
  const DenseGame known = two_starts();
  std::vector<std::vector<State>> seen;
  DiscoveredGame<Blind> game(Blind(known, seen), 20);
  const LearnerOptions options = rigorous(Target::cce, 3'000);
  const auto whole = make_trainer(GameRef(game), options, 34);
  whole->play_until(1'000, {});
  ContainerWriter writer("test");
  whole->save(writer);
  writer.write(folder / "state");
  whole->play_until(3'000, {});
  const auto second = make_trainer(GameRef(game), options, 34);
  ContainerArrays arrays = ContainerArrays::read(folder / "state", [](const ContainerHeader&) {});
  second->load(arrays);
  second->play_until(3'000, {});
  for (const Player player : all<Player>(2)) {
    EXPECT_EQ(second->start_means(player)->upper, whole->start_means(player)->upper);
    EXPECT_EQ(second->start_means(player)->lower, whole->start_means(player)->lower);
  }
}

/// After one episode nothing is known, and nothing larger than everything is said.
TEST(DataCertificate, NeverSaysMoreThanEverything) {
  std::vector<std::vector<State>> seen;
  const DenseGame known = two_starts();
  DiscoveredGame<Blind> game(Blind(known, seen), 5);
  const LearnerOptions options = rigorous(Target::cce, 10);
  const auto trainer = make_trainer(GameRef(game), options, 33);
  EXPECT_FALSE(data_certificate(*trainer, game.frame(), options));
  trainer->play_until(1, {});
  const auto data = data_certificate(*trainer, game.frame(), options);
  ASSERT_TRUE(data);
  EXPECT_EQ(*trainer->gap_bound(Player(0)), 2.0);
  EXPECT_NEAR(data->gap_upper, 2.0, 1e-12);
  EXPECT_EQ(data->players[0].value_lower, 0.0);
  EXPECT_EQ(data->players[0].deviation_upper, 2.0);
}

TEST(DataCertificate, IsForRunsWhoseValuesAreBounds) {
  const AnyGame game = make_game("random:players=2,states=2,actions=2,horizon=2,kind=zero-sum");
  const Frame& frame = frame_of(game);
  const auto certificate_of = [&](const LearnerOptions& options) {
    const auto trainer = make_trainer(GameRef(std::get<DenseGame>(game)), options, 1);
    trainer->play_until(10, {});
    return data_certificate(*trainer, frame, options);
  };
  EXPECT_TRUE(certificate_of(rigorous(Target::cce, 10)));
  EXPECT_TRUE(certificate_of(rigorous(Target::nash, 10)));
  EXPECT_FALSE(certificate_of(rigorous(Target::cce, 9)));
  EXPECT_FALSE(certificate_of(preset_options(Preset::practical, Target::cce)));
  EXPECT_FALSE(certificate_of(preset_options(Preset::fast, Target::cce)));
  LearnerOptions options = rigorous(Target::nash, 10);
  options.monotone = true;
  EXPECT_FALSE(certificate_of(options));
  options = rigorous(Target::cce, 10);
  options.pessimistic = false;
  EXPECT_FALSE(certificate_of(options));
  const auto trainer = make_trainer(GameRef(std::get<DenseGame>(game)), options, 1);
  error_of(ErrorKind::usage, [&] {
    static_cast<void>(data_certificate(*trainer, frame, options, CertifiedStart::best));
  });
}

/// The result of a run has it, in the user's units, of the output that the theorem is about.
TEST(DataCertificate, StandsInTheResult) {
  const AnyGame game = make_game("random:players=2,states=2,actions=2,horizon=2,seed=1");
  LearnConfig config;
  config.learner = rigorous(Target::cce, 500);
  config.episodes = 500;
  for (const CertifiedOutput output : {CertifiedOutput::nested, CertifiedOutput::markov}) {
    config.output = output;
    const auto trainer = make_trainer(GameRef(std::get<DenseGame>(game)), config.learner, 1);
    const LearnResult result = learn(*trainer, frame_of(game), config);
    EXPECT_EQ(result.data_certificate.has_value(), output == CertifiedOutput::nested);
  }
}

}  // namespace
}  // namespace vlearn
