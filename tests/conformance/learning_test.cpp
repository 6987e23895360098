// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine against the plain transcription of the paper: every table, bit for bit, for every
// rule, bonus, scale and vector width; and players on their own against players of one process.
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/plain_bandit.h"
#include "support/plain_vlearning.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/simd.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/self_play.h"

namespace vlearn {
namespace {

using test::PlainBandit;
using test::PlainFtrl;
using test::PlainProvenBandit;
using test::PlainRule;
using test::PlainVLearning;

/// The plain bandits of all cells of one player, of any rule.
class PlainBandits {
 public:
  PlainBandits(const PlainRule& rule, const std::vector<std::size_t>& actions) {
    for (const std::size_t n : actions) bandits_.emplace_back(rule, n);
  }
  [[nodiscard]] const double* policy(std::size_t cell) const {
    return bandits_[cell].policy().data();
  }
  void update(std::size_t cell, std::size_t a, double loss, std::uint64_t visit) {
    bandits_[cell].update(a, loss, visit);
  }
  [[nodiscard]] double floor(std::size_t cell, std::uint64_t visit) const {
    return bandits_[cell].floor(visit);
  }

 private:
  std::vector<PlainBandit> bandits_;
};

/// The same of the rules whose estimates bound values.
class PlainProvenBandits {
 public:
  PlainProvenBandits(const PlainProvenBandit::Settings& settings,
                     const std::vector<std::size_t>& actions) {
    for (const std::size_t n : actions) bandits_.emplace_back(settings, n);
  }
  [[nodiscard]] const double* policy(std::size_t cell) const {
    return bandits_[cell].policy().data();
  }
  void update(std::size_t cell, std::size_t a, double loss, std::uint64_t visit) {
    bandits_[cell].update(a, loss, visit);
  }
  [[nodiscard]] double least_estimate(std::size_t cell) const {
    return bandits_[cell].least_estimate();
  }
  [[nodiscard]] double lambda(std::size_t cell) const { return bandits_[cell].lambda(); }
  [[nodiscard]] double nu(std::size_t cell, double t) const { return bandits_[cell].nu(t); }

 private:
  std::vector<PlainProvenBandit> bandits_;
};

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

/// Steps, as PlainRule wants them.
template <class Steps>
PlainRule plain_rule(const Steps& steps, double horizon, bool swap, bool means) {
  const auto size = [](double n) { return static_cast<std::size_t>(n); };
  const auto visit = [](double t) { return static_cast<std::uint64_t>(t); };
  PlainRule rule{horizon,
                 Steps::kPotential,
                 swap,
                 means,
                 [=](double n, double t) {
                   return steps.rate(horizon, size(n), visit(t),
                                     steps.gamma(horizon, size(n), visit(t)));
                 },
                 [=](double n, double t) { return steps.gamma(horizon, size(n), visit(t)); }};
  return rule;
}

/// The same for the optimistic rules, which have a floor under what is played.
template <class Steps>
PlainRule plain_optimistic(const Steps& steps, double memory, bool swap) {
  PlainRule rule = plain_rule(steps, memory, swap, true);
  rule.optimistic = true;
  rule.floor = [steps](double n, double t) {
    return steps.floor(static_cast<std::size_t>(n), static_cast<std::uint64_t>(t));
  };
  return rule;
}

template <class Rule, class Plain>
void expect_same_tables(const SelfPlay<Rule>& play, const Plain& plain, bool pessimistic) {
  const std::size_t cells = play.seat().num_cells();
  for (std::size_t i = 0; i < cells; ++i) ASSERT_EQ(play.visits(i), plain.visits(i));
  for (const Player player : all<Player>(play.frame().num_players())) {
    const ValueTable<Rule>& table = play.table(player);
    const std::size_t first = player.index() * (cells + 1);
    for (std::size_t i = 0; i < cells; ++i) {
      ASSERT_EQ(bits(table.values()[i]), bits(plain.value[first + i])) << "cell " << i;
      ASSERT_EQ(bits(table.averages()[i]), bits(plain.average[first + i])) << "cell " << i;
      if (pessimistic) {
        ASSERT_EQ(bits(table.low_values()[i]), bits(plain.low[first + i]));
      }
      const std::span<const double> policy = table.policy(i);
      const double* const other = plain.bandits(player.index()).policy(i);
      for (std::size_t b = 0; b < policy.size(); ++b) ASSERT_EQ(bits(policy[b]), bits(other[b]));
    }
    EXPECT_EQ(bits(play.earned()[player.index()]), bits(plain.earned[player.index()]));
  }
}

template <class Rule>
void expect_same_learning(const DenseGame& game,
                          const Rule& rule,
                          const PlainRule& plain_rule,
                          const LearnerOptions& options,
                          std::uint64_t episodes) {
  SelfPlay<Rule> play(GameRef(game), rule, options, 5);
  PlainVLearning<PlainBandits> plain(game, options, 5,
                                     [&](std::size_t, const std::vector<std::size_t>& actions) {
                                       return PlainBandits(plain_rule, actions);
                                     });
  for (std::uint64_t k = 0; k < episodes; ++k) {
    play.play_episode(Episode(k));
    plain.play_episode(k);
  }
  expect_same_tables(play, plain, options.pessimistic);
}

template <class Rule, class Steps>
void expect_plain(const DenseGame& game,
                  const Steps& steps,
                  const LearnerOptions& options,
                  std::uint64_t episodes) {
  const std::uint64_t horizon = game.frame().horizon();
  const PlainRule rule = plain_rule(steps, static_cast<double>(horizon),
                                    has_swap_regret(options.rule), options.control_variate);
  expect_same_learning(game, Rule(horizon, steps), rule, options, episodes);
}

const std::vector<std::string>& game_names() {
  static const std::vector<std::string> names = {
      "random:players=2,states=4,actions=4,horizon=5,seed=1",
      "random:players=3,states=3,actions=3,horizon=4,seed=2",
      "random:players=1,states=5,actions=3,horizon=6,seed=3",
      "random:players=2,states=40,actions=10,horizon=3,seed=4",
      "random:players=4,states=2,actions=2,horizon=1,seed=5",
      "random:players=2,states=3,actions=2,horizon=4,kind=zero-sum,seed=6"};
  return names;
}

TEST(Learning, ThePapersPresetIsTheTranscription) {
  for (const std::string& name : game_names()) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    const auto& game = std::get<DenseGame>(any);
    const auto horizon = static_cast<double>(game.frame().horizon());
    for (const double constant : {11.0, 0.01}) {
      LearnerOptions options = preset_options(Preset::paper, Target::cce);
      options.bonus_constant = constant;
      options.horizon_episodes = 3000;
      for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        use_simd_target(target);
        SelfPlay<Ftrl<>> play(GameRef(game), Ftrl<>(game.frame().horizon()), options, 7);
        PlainVLearning<> plain(game, options, 7,
                               [&](std::size_t, const std::vector<std::size_t>& actions) {
                                 return PlainFtrl(horizon, actions);
                               });
        for (std::uint64_t k = 0; k < 3000; ++k) {
          play.play_episode(Episode(k));
          plain.play_episode(k);
        }
        use_simd_target("");
        expect_same_tables(play, plain, false);
      }
    }
  }
}

TEST(Learning, EveryRuleAndBonusIsTheTranscription) {
  for (const std::string& name : game_names()) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    const auto& game = std::get<DenseGame>(any);
    LearnerOptions options = preset_options(Preset::practical, Target::cce);
    options.horizon_episodes = 300;
    options.pessimistic = true;
    expect_plain<Ftrl<>>(game, FtrlSteps{}, options, 300);
    options.bonus = Bonus::none;
    options.rule = RuleName::ftrl_predictive;
    expect_plain<Ftrl<>>(game, FtrlSteps{FtrlIndex::predictive}, options, 300);
    options.loss_scale = LossScale::paper;
    options.bonus = Bonus::practical;
    options.rule = RuleName::exp3_ix;
    expect_plain<Exp3Ix<>>(game, Exp3IxSteps{}, options, 300);
    options.rule = RuleName::log_barrier;
    expect_plain<LogBarrier<>>(game, LogBarrierSteps{}, options, 300);
    options.rule = RuleName::tsallis;
    options.control_variate = true;
    options.monotone = game.frame().num_players() == 2;
    expect_plain<Tsallis<ControlVariate::on>>(game, TsallisSteps{}, options, 300);
    options.control_variate = false;
    options.monotone = false;
    for (const Bonus bonus : {Bonus::paper, Bonus::practical, Bonus::rigorous}) {
      options.rule = RuleName::ftrl_swap;
      options.bonus = bonus;
      expect_plain<FtrlSwap<>>(game, FtrlSwapSteps{}, options, 300);
    }
    const double log_events = BonusSchedule(options, seat_of(game.frame(), Player(0))).log_events();
    for (const LossScale scale : {LossScale::paper, LossScale::step}) {
      options.bonus = Bonus::rigorous;
      options.loss_scale = scale;
      options.rule = RuleName::ftrl_rigorous;
      expect_plain<FtrlRigorous<>>(game, RigorousSteps<Regret::external>{log_events}, options, 300);
      options.rule = RuleName::ftrl_swap_rigorous;
      expect_plain<FtrlSwapRigorous<>>(game, RigorousSteps<Regret::swap>{log_events}, options, 300);
    }
  }
}

/// Longer than the 512 visits after which a cell draws anew; and with more players than spread
/// their draws.
TEST(Learning, TheFastPresetIsTheTranscription) {
  std::vector<std::string> names = game_names();
  names.emplace_back("random:players=9,states=2,actions=2,horizon=2,seed=7");
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    const auto& game = std::get<DenseGame>(any);
    LearnerOptions options = preset_options(Preset::fast, Target::cce);
    PlainRule rule = plain_optimistic(OptimisticSteps{}, 2.0, false);
    expect_same_learning(game, Optimistic(), rule, options, 3000);
    options = preset_options(Preset::fast, Target::nash);
    rule = plain_optimistic(OptimisticNashSteps{}, 1.0, false);
    expect_same_learning(game, OptimisticNash(), rule, options, 1500);
    options = preset_options(Preset::fast, Target::ce);
    rule = plain_optimistic(OptimisticSwapSteps{}, 3.0, true);
    expect_same_learning(game, OptimisticSwap(), rule, options, 1500);
    // Its parts one by one, with another rule.
    for (const ValueWeights weights : {ValueWeights::paper, ValueWeights::step}) {
      for (const ActionDraws draws : {ActionDraws::independent, ActionDraws::spread}) {
        options = preset_options(Preset::practical, Target::cce);
        options.bonus = draws == ActionDraws::independent ? Bonus::visits : Bonus::practical;
        options.value_weights = weights;
        options.action_draws = draws;
        options.pessimistic = weights == ValueWeights::paper;
        expect_plain<Tsallis<>>(game, TsallisSteps{}, options, 300);
      }
    }
  }
}

template <class Rule>
void expect_proven(const DenseGame& game,
                   const Rule& rule,
                   const LearnerOptions& options,
                   double log_events,
                   std::uint64_t episodes) {
  SelfPlay<Rule> play(GameRef(game), rule, options, 5);
  const PlainProvenBandit::Settings settings{static_cast<double>(game.frame().horizon()),
                                             log_events, has_swap_regret(options.rule)};
  PlainVLearning<PlainProvenBandits> plain(
      game, options, 5, [&](std::size_t, const std::vector<std::size_t>& actions) {
        return PlainProvenBandits(settings, actions);
      });
  for (std::uint64_t k = 0; k < episodes; ++k) {
    play.play_episode(Episode(k));
    plain.play_episode(k);
  }
  expect_same_tables(play, plain, options.pessimistic);
}

/// V is read off the estimates, for every loss scale.
TEST(Learning, TheProvenPresetIsTheTranscription) {
  for (const std::string& name : game_names()) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    const auto& game = std::get<DenseGame>(any);
    const std::uint64_t horizon = game.frame().horizon();
    LearnerOptions options = preset_options(Preset::proven, Target::cce);
    options.horizon_episodes = 3000;
    const double log_events = BonusSchedule(options, seat_of(game.frame(), Player(0))).log_events();
    expect_proven(game, OptimisticRigorous(horizon, {log_events}), options, log_events, 3000);
    options.loss_scale = LossScale::paper;
    expect_proven(game, OptimisticRigorous(horizon, {log_events}), options, log_events, 300);
    options = preset_options(Preset::proven, Target::ce);
    options.horizon_episodes = 3000;
    expect_proven(game, OptimisticSwapRigorous(horizon, {log_events}), options, log_events, 1000);
  }
}

/// Every player alone learns what it learns in self-play.
template <class Rule>
void expect_alone_as_together(const DenseGame& game,
                              const Rule& rule,
                              const LearnerOptions& options,
                              std::uint64_t episodes) {
  const std::uint64_t seed = 9;
  SelfPlay<Rule> together(GameRef(game), rule, options, seed);
  std::vector<std::unique_ptr<VLearner<Rule>>> alone;
  const std::size_t m = game.frame().num_players();
  for (const Player player : all<Player>(m)) {
    alone.push_back(
        std::make_unique<VLearner<Rule>>(rule, options, seat_of(game.frame(), player), player));
  }
  std::vector<Action> joint(m);
  std::vector<double> rewards(m);
  for (std::uint64_t k = 0; k < episodes; ++k) {
    together.play_episode(Episode(k));
    State s = game.start(Nature(seed, Episode(k), Step()));
    for (const Step h : all<Step>(game.frame().horizon())) {
      for (const Player player : all<Player>(m)) {
        Draws draws({.seed = seed,
                     .purpose = Purpose::action,
                     .player = player,
                     .episode = Episode(k),
                     .step = h});
        joint[player.index()] = alone[player.index()]->act(h, s, draws.uniform());
      }
      const State next = game.sample(h, s, joint, Nature(seed, Episode(k), h), rewards);
      for (std::size_t j = 0; j < m; ++j) alone[j]->observe(h, s, joint[j], rewards[j], next);
      s = next;
    }
  }
  for (const Player player : all<Player>(m)) {
    const ValueTable<Rule>& one = alone[player.index()]->table();
    const ValueTable<Rule>& other = together.table(player);
    for (std::size_t i = 0; i < together.seat().num_cells(); ++i) {
      ASSERT_EQ(alone[player.index()]->clock().visits(i), together.visits(i));
      ASSERT_EQ(bits(one.value(i)), bits(other.value(i)));
      ASSERT_EQ(bits(one.estimates()[i]), bits(other.estimates()[i]));
      if (!options.pessimistic) continue;
      ASSERT_EQ(bits(one.low_values()[i]), bits(other.low_values()[i]));
    }
    ASSERT_TRUE(std::ranges::equal(one.bank().memory(), other.bank().memory()));
  }
}

/// A player sees its own actions and rewards and the states; that is all it takes.
TEST(Learning, PlayersOnTheirOwnLearnTheSame) {
  for (const std::string& name : game_names()) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    const auto& game = std::get<DenseGame>(any);
    LearnerOptions options = preset_options(Preset::practical, Target::cce);
    options.pessimistic = true;
    expect_alone_as_together(game, Tsallis<>(game.frame().horizon()), options, 500);
    options = preset_options(Preset::fast, Target::cce);
    expect_alone_as_together(game, Optimistic(), options, 1500);
    options = preset_options(Preset::fast, Target::nash);
    expect_alone_as_together(game, OptimisticNash(), options, 300);
    options = preset_options(Preset::fast, Target::ce);
    expect_alone_as_together(game, OptimisticSwap(), options, 300);
    options = preset_options(Preset::proven, Target::cce);
    expect_alone_as_together(game, OptimisticRigorous(game.frame().horizon(), {20.0}), options,
                             500);
  }
}

}  // namespace
}  // namespace vlearn
