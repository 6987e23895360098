// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracles that certificates are judged by, against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "support/brute_force.h"
#include "support/exact_deviation.h"
#include "support/independent_value.h"
#include "support/markov_mixture.h"
#include "support/mixture_record.h"
#include "support/nested_bounds.h"
#include "support/nested_value.h"
#include "support/random_game.h"
#include "support/random_record.h"
#include "support/recorded_run.h"
#include "support/theory_run.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn::test {
namespace {

constexpr StartRule kUniform{StartRule::Kind::uniform};
constexpr StartRule kLast{StartRule::Kind::last};
constexpr StartRule at(std::uint64_t k) { return {StartRule::Kind::at, k}; }

constexpr double kClose = 1e-12;

/// Player 1 is paid for player 2's action at step 2: R if it plays R too, half of it for L and L.
DenseGame matching_game() {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 2;
  options.stationary = false;
  options.num_states = {1};
  options.num_actions = {2, 2};
  std::vector<double> rewards(8, 0.0);
  rewards.insert(rewards.end(), {0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0});
  return {Frame(options), rewards, {1.0, 1.0, 1.0, 1.0}};
}

TEST(ExactDeviation, LearnsFromWhatTheOthersPlay) {
  const DenseGame game = matching_game();
  // Two episodes, both with all of player 2's actions L, then both R.
  RecordedRun run;
  for (std::size_t player = 0; player < 2; ++player) {
    run.visits.emplace_back(
        2, std::vector<RecordedVisit>{{0, Action(), {1.0, 0.0}}, {1, Action(), {0.0, 1.0}}});
  }
  const MixtureRecord record(game, run, 2);
  // Visit 2 of step 1 is drawn with probability 3/4. Then L is played at step 2 for sure, as in
  // episode 1, and after visit 1 anything. The two are told apart by what is played at step 1.
  const ExactDeviation exact(record, Player(0), Told::nothing);
  EXPECT_NEAR(exact.value(kLast), 0.75 * 0.5 + 0.25 * 0.5, kClose);
  // Who does not look plays L.
  const Answer always_left = [](Step, State, Action) { return Action(0); };
  EXPECT_NEAR(nested_value(record, Player(0), always_left, kLast), 0.875 * 0.5, kClose);
  // Who follows: L where that is sure, else anything.
  EXPECT_NEAR(nested_value(record, Player(0), follow, kLast), 0.75 * 0.5 + 0.25 * 0.375, kClose);
  // k = 1: nothing was visited; k = 2: L at step 1, then anything.
  EXPECT_NEAR(exact.value(at(1)), 0.5, kClose);
  EXPECT_NEAR(exact.value(kUniform), 0.5, kClose);
}

TEST(ExactDeviation, MayBeWorseThanFollowing) {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 1;
  options.num_states = {1};
  options.num_actions = {2, 2};
  const DenseGame game(Frame(options), {1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0},
                       {1.0, 1.0, 1.0, 1.0});
  RecordedRun run;
  for (std::size_t player = 0; player < 2; ++player) {
    run.visits.emplace_back(
        1, std::vector<RecordedVisit>{{0, Action(), {1.0, 0.0}}, {1, Action(), {0.0, 1.0}}});
  }
  const MixtureRecord record(game, run, 1);  // visit 2 with probability 2/3
  EXPECT_NEAR(nested_value(record, Player(0), follow, kLast), 1.0, kClose);
  EXPECT_NEAR(ExactDeviation(record, Player(0), Told::nothing).value(kLast), 2.0 / 3.0, kClose);
  EXPECT_NEAR(ExactDeviation(record, Player(0), Told::recommended).value(kLast), 1.0, kClose);
}

/// Bounds of one player, from one start.
struct Judged {
  double value = 0.0;
  double lower = 0.0;  ///< what the witness gets
  double exact = 0.0;
  double upper = 0.0;  ///< where the deviator is not told k
  double told = 0.0;   ///< where it is
};

/// All of them in one run, with everything that must hold between them.
std::vector<Judged> judge(const MixtureRecord& record, Told told, const StartRule& start) {
  const Frame& frame = record.frame();
  const bool uniform = start.kind == StartRule::Kind::uniform;
  const std::uint64_t end = uniform ? record.episodes() : record.starts(start).front();
  NestedBounds<DenseGame> bounds(record.game(), record.alpha().c());
  for (std::uint64_t k = 0; k < end; ++k) {
    bounds.add_start();
    for_each_visit(record, k, k + 1,
                   [&](Step h, State s, const Profile& profile) { bounds.visit(h, s, profile); });
  }
  std::vector<Judged> result;
  for (const Player player : all<Player>(frame.num_players())) {
    const auto from = uniform ? bounds.from_uniform(player) : bounds.from_now(player);
    const auto knowing = uniform ? bounds.from_uniform_told(player) : from;
    const bool modifies = told == Told::recommended;
    const auto best_of = [&](Step h, State s, const auto& worth) {
      Action best;
      for (const Action b : all<Action>(frame.num_actions(player, h, s))) {
        if (worth(b) > worth(best)) best = b;
      }
      return best;
    };
    const Answer mu = [&](Step h, State s, Action) {
      return best_of(h, s, [&](Action b) { return bounds.answer(player, h, s, b); });
    };
    const Answer phi = [&](Step h, State s, Action drawn) {
      return best_of(h, s, [&](Action b) { return bounds.modification(player, h, s, drawn, b); });
    };
    Judged& now = result.emplace_back();
    now.value = nested_value(record, player, follow, start);
    now.lower = nested_value(record, player, mu, start);
    if (modifies) now.lower = std::max(now.lower, nested_value(record, player, phi, start));
    now.exact = ExactDeviation(record, player, told).value(start);
    now.upper = modifies ? from.modifying : from.deviating;
    now.told = modifies ? knowing.modifying : knowing.deviating;
    EXPECT_NEAR(from.value, now.value, 1e-10);
    EXPECT_NEAR(knowing.value, now.value, 1e-10);
    EXPECT_LE(now.lower, now.exact + 1e-10);
    EXPECT_LE(now.exact, now.upper + 1e-10);
    EXPECT_LE(now.upper, now.told + 1e-10);
    if (modifies) {
      EXPECT_LE(now.value, now.exact + 1e-10);
    }
    if (frame.horizon() == 1) {
      EXPECT_NEAR(now.exact, now.upper, 1e-10);
    }
  }
  return result;
}

struct Played {
  DenseGame game;
  RecordedRun run;
};

/// Even seeds: two steps, some with two states; odd seeds: three steps, one state at each.
Played tiny(std::uint64_t seed, RandomSizes sizes) {
  sizes.horizon = seed % 2 == 0 ? Sizes{2, 2} : Sizes{3, 3};
  sizes.states = seed % 2 == 0 ? Sizes{1, 2} : Sizes{1, 1};
  DenseGame game = random_game(seed, sizes);
  RecordedRun run = random_record(game.frame(), 5, seed);
  return {std::move(game), std::move(run)};
}

// Many deviations take too long; most games have few.
constexpr double kMostWork = double{1 << 20};

TEST(TinyGames, ExactIsTheBestOfAllDeviations) {
  std::array<std::size_t, 2> compared = {};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto [game, run] = tiny(seed, {.players = {1, 3}, .actions = {1, 3}});
    const MixtureRecord record(game, run, game.frame().horizon() + seed % 3);
    for (const StartRule& start : {kUniform, kLast, at(3)}) {
      for (const Player player : all<Player>(game.frame().num_players())) {
        for (const Told told : {Told::nothing, Told::recommended}) {
          const BruteForce all_of_them(game, shared_draws(record, start), player, told);
          EXPECT_NEAR(nested_value(record, player, follow, start), all_of_them.value(), kClose);
          if (all_of_them.work() > kMostWork) continue;
          EXPECT_NEAR(ExactDeviation(record, player, told).value(start), all_of_them.best(), kClose)
              << "seed " << seed << ", player " << player.number();
          if (all_of_them.count() > 1.0) ++compared.at(static_cast<std::size_t>(told));
        }
      }
    }
  }
  EXPECT_GT(compared[0], 150u);
  EXPECT_GT(compared[1], 50u);
}

/// One law for both steps; the joint action says where the game goes.
DenseGame turning_game() {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 2;
  options.num_states = {2};
  options.num_actions = {2, 2};
  options.initial = {0.25, 0.75};
  const std::vector<double> rewards = {0.1, 0.9, 0.4, 0.3, 0.7, 0.2, 0.5, 0.8,
                                       0.6, 0.0, 1.0, 0.2, 0.3, 0.9, 0.1, 0.6};
  const std::vector<double> rows = {1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0,
                                    0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  return {Frame(options), rewards, rows};
}

TEST(TinyGames, ExactIsTheBestWhereOneLawHoldsForAllSteps) {
  for (const DenseGame& game : {turning_game(), noisy_game()}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const RecordedRun run = random_record(game.frame(), 6, seed);
      const MixtureRecord record(game, run, 2);
      for (const StartRule& start : {kUniform, kLast}) {
        for (const Player player : all<Player>(2)) {
          const BruteForce all_of_them(game, shared_draws(record, start), player, Told::nothing);
          ASSERT_LE(all_of_them.work(), kMostWork);
          EXPECT_NEAR(ExactDeviation(record, player, Told::nothing).value(start),
                      all_of_them.best(), kClose);
          EXPECT_NEAR(nested_value(record, player, follow, start), all_of_them.value(), kClose);
        }
        const std::vector<Judged> judged = judge(record, Told::recommended, start);
        EXPECT_EQ(judged.size(), 2u);
      }
    }
  }
}

TEST(TinyGames, ExactIsTheBestResponseToIndependentDraws) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto [game, run] = tiny(seed, {.players = {2, 2}, .actions = {1, 3}, .zero_sum = true});
    const MixtureRecord record(game, run, game.frame().horizon());
    for (const StartRule& start : {kUniform, kLast}) {
      const DrawLaw law = independent_draws(record, start);
      double sum = 0.0;
      double followed = independent_value(record, start);
      for (const Player player : all<Player>(2)) {
        const double exact = ExactDeviation(record, player, Told::nothing).value(start);
        const BruteForce all_of_them(game, law, player, Told::nothing);
        EXPECT_NEAR(followed, all_of_them.value(), kClose);
        followed = static_cast<double>(game.frame().horizon()) - followed;
        EXPECT_GE(exact, all_of_them.value() - kClose);
        sum += exact;
        if (all_of_them.work() > kMostWork) continue;
        EXPECT_NEAR(exact, all_of_them.best(), kClose) << "seed " << seed;
        if (all_of_them.count() > 1.0) ++compared;
      }
      EXPECT_GE(sum, static_cast<double>(game.frame().horizon()) - kClose);
    }
  }
  EXPECT_GT(compared, 60u);
}

TEST(TinyGames, MarkovMixturesByAllMeans) {
  std::array<std::size_t, 2> compared = {};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto [game, run] = tiny(seed, {.players = {1, 3}, .actions = {1, 3}});
    const Frame& frame = game.frame();
    const MixtureRecord record(game, run, frame.horizon() + seed % 3);
    for (const MarkovMixture& mixture : {markov_mixture(record), marginal_mixture(record)}) {
      const DrawLaw law = [&](const States& states, const Joints& joints) {
        double product = 1.0;
        for (const Step h : all<Step>(frame.horizon())) {
          const State s = states[h.index()];
          product *= mixture[h.index()][s.index()]
                            [joint_offset(frame.action_begins(h, s), joints[h.index()])];
        }
        return product;
      };
      for (const Player player : all<Player>(frame.num_players())) {
        const MarkovPlayer markov(game, mixture, player);
        EXPECT_NEAR(markov.value(), markov.forward(follow), kClose);
        for (const Told told : {Told::nothing, Told::recommended}) {
          if (markov.count(told) < 1e4) {
            EXPECT_NEAR(markov.best(told), markov.best_of_all(told), kClose) << "seed " << seed;
          }
          const BruteForce all_of_them(game, law, player, told);
          EXPECT_NEAR(markov.value(), all_of_them.value(), kClose);
          if (all_of_them.work() > kMostWork) continue;
          EXPECT_NEAR(markov.best(told), all_of_them.best(), kClose) << "seed " << seed;
          if (all_of_them.count() > 1.0) ++compared.at(static_cast<std::size_t>(told));
        }
      }
    }
  }
  EXPECT_GT(compared[0], 100u);
  EXPECT_GT(compared[1], 30u);
}

template <class Rule>
RecordedRun learned(const DenseGame& game, RuleName name, std::uint64_t episodes) {
  const Target target = has_swap_regret(name) ? Target::ce : Target::cce;
  LearnerOptions options = preset_options(Preset::practical, target);
  options.rule = name;
  options.control_variate = true;
  return record(GameRef(game), Rule(game.frame().horizon()), options, episodes, 64);
}

TEST(RandomGames, BoundsHoldTheExactDeviation) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const DenseGame game = random_game(seed, {.horizon = {1, 3}, .states = {1, 3}});
    const RecordedRun run = seed % 2 == 0
                                ? learned<Ftrl<ControlVariate::on>>(game, RuleName::ftrl, 120)
                                : random_record(game.frame(), 40, seed);
    const MixtureRecord record(game, run, game.frame().horizon() + seed % 2);
    for (const StartRule& start : {kUniform, kLast, at(seed % 7 + 1)}) {
      for (const Told told : {Told::nothing, Told::recommended}) {
        const std::vector<Judged> judged = judge(record, told, start);
        EXPECT_EQ(judged.size(), game.frame().num_players());
      }
    }
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double largest_of(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// Prints how far bounds are from the truth, in units of the gap that they enclose.
void measure(const char* rule,
             Told told,
             const StartRule& start,
             const std::vector<Played>& games) {
  std::vector<double> gaps;
  std::vector<double> above;  // (upper - exact)/gap of each player
  std::vector<double> told_above;
  std::vector<double> width;          // (upper - lower)/gap of each player
  std::vector<double> width_of_game;  // the same of the largest gaps of each game
  std::size_t none = 0;
  for (const auto& [game, run] : games) {
    const MixtureRecord record(game, run, game.frame().horizon());
    Judged largest;
    for (const Judged& judged : judge(record, told, start)) {
      const double gap = judged.exact - judged.value;
      largest.lower = std::max(largest.lower, judged.lower - judged.value);
      largest.exact = std::max(largest.exact, gap);
      largest.upper = std::max(largest.upper, judged.upper - judged.value);
      if (gap <= 1e-9) {
        ++none;
        continue;
      }
      gaps.push_back(gap);
      above.push_back((judged.upper - judged.exact) / gap);
      told_above.push_back((judged.told - judged.exact) / gap);
      width.push_back((judged.upper - judged.lower) / gap);
    }
    if (largest.exact > 1e-9) {
      width_of_game.push_back((largest.upper - largest.lower) / largest.exact);
    }
  }
  std::printf(
      "%-9s %-3s %-7s: %zu players with a gap, %zu without; gap median %.4f; (upper - exact)/gap "
      "median %.4f most %.3f, told k median %.4f most %.3f; (upper - lower)/gap median %.4f most "
      "%.3f, of games median %.4f most %.3f\n",
      rule, told == Told::nothing ? "cce" : "ce",
      start.kind == StartRule::Kind::last ? "last" : "uniform", gaps.size(), none, median(gaps),
      median(above), largest_of(above), median(told_above), largest_of(told_above), median(width),
      largest_of(width), median(width_of_game), largest_of(width_of_game));
}

template <class Rule>
void measure_rule(const char* rule, RuleName name, Told told) {
  std::vector<Played> games;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    DenseGame game = random_game(
        seed,
        {.players = {2, 3}, .horizon = {2, told == Told::nothing ? 4U : 3U}, .actions = {2, 3}});
    RecordedRun run = learned<Rule>(game, name, 2000);
    games.push_back({std::move(game), std::move(run)});
  }
  for (const StartRule& start : {kLast, kUniform}) measure(rule, told, start, games);
}

TEST(RandomGamesSlow, HowTightBoundsAre) {
  measure_rule<Ftrl<ControlVariate::on>>("ftrl", RuleName::ftrl, Told::nothing);
  measure_rule<Tsallis<ControlVariate::on>>("tsallis", RuleName::tsallis, Told::nothing);
  measure_rule<FtrlSwap<ControlVariate::on>>("ftrl-swap", RuleName::ftrl_swap, Told::recommended);
}

}  // namespace
}  // namespace vlearn::test
