// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates by sampling against the exact ones, over many seeds.
#include "vlearn/certify/sampled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "vlearn/game/game_io.h"
#include "vlearn/policy/average.h"
#include "vlearn/run/kept_run.h"

namespace vlearn::test {
namespace {

struct Learned {
  const char* game;
  Target target;
  std::uint64_t episodes = 60;
};

/// A short run and its exact certificate.
struct Case {
  explicit Case(const Learned& learned)
      : target(learned.target),
        game(load_game(learned.game).game),
        run(learn_kept(ref_of(game),
                       markov_config(frame_of(game), Preset::fast, target, learned.episodes, 5))) {
    if (target != Target::nash) {
      exact = certify_markov(game, {}, target, run.files, {.threads = 1});
      policy = make_drawn_mixture(run.files);
      return;
    }
    const Frame& frame = frame_of(game);
    const AverageTable table = table_of(run.files, learned.episodes, {.threads = 1});
    const auto average = [&](Player player, Step h, State s) {
      const std::size_t row =
          (player.index() * frame.horizon() + h.index()) * frame.max_states() + s.index();
      return std::span(table.averaged)
          .subspan(row * frame.max_actions(), frame.num_actions(player, h, s));
    };
    exact = certify_marginals(game, {}, target, run.files.front().header().markov_weights(),
                              learned.episodes, average);
    policy = make_drawn_marginals(run.files, {.threads = 1});
  }

  [[nodiscard]] Certificate sampled(const SampledOptions& options) const {
    return certify_sampled(ref_of(game), run.files, options);
  }

  Target target;
  AnyGame game;
  KeptRun run;
  Certificate exact;
  std::unique_ptr<DrawnPolicy> policy;
};

/// How many of many certificates had a bound that did not hold.
struct Failures {
  int of_all = 0;         ///< that must hold at once
  int of_a_fifth = 0;     ///< the same with radii a fifth of what they should be
  int of_the_best = 0;    ///< the best reply, without its radius
  int of_witnesses = 0;   ///< what the witness is worth, without its radius
  int of_the_values = 0;  ///< values, with a fifth
};

constexpr double kRounding = 1e-9;

/// In units of [0, 1] rewards, as an assessment has it.
double to_unit(const Frame& frame, std::size_t player, double value) {
  const RewardRange& range = frame.range(Player(player));
  const auto horizon = static_cast<double>(frame.horizon());
  return (value - horizon * range.low) / (range.high - range.low);
}

void count(const Case& one, const std::vector<SampledPlayer>& found, Failures& failures) {
  bool all = false;
  bool fifth = false;
  bool best = false;
  bool witness = false;
  bool values = false;
  for (std::size_t j = 0; j < found.size(); ++j) {
    const SampledPlayer& own = found[j];
    const PlayerCertificate& truth = one.exact.players[j];
    // No witness is worth more than the best.
    const double most =
        to_unit(frame_of(one.game), j, truth.deviation_upper) + one.exact.players[j].rounding;
    const double value = to_unit(frame_of(one.game), j, truth.value_upper);
    const auto any = [&](double scale) {
      return most > own.best.estimate + scale * own.best.radius + kRounding ||
             std::abs(value - own.value.estimate) > scale * own.value.radius + kRounding ||
             own.witness.estimate - scale * own.witness.radius > most + kRounding;
    };
    all = all || any(1.0);
    fifth = fifth || any(0.2);
    best = best || most > own.best.estimate + kRounding;
    witness = witness || own.witness.estimate > most + kRounding;
    values = values || std::abs(value - own.value.estimate) > 0.2 * own.value.radius;
  }
  failures.of_all += all ? 1 : 0;
  failures.of_a_fifth += fifth ? 1 : 0;
  failures.of_the_best += best ? 1 : 0;
  failures.of_witnesses += witness ? 1 : 0;
  failures.of_the_values += values ? 1 : 0;
}

// All bounds of a certificate hold at once with probability 0.9 at least. Of 1000 independent ones
// more than 143 fail with probability 6.9e-6 where each fails with 0.1 (the upper tail of the
// binomial, summed), so each case of this test may fail with that. And it sees bounds that are too
// narrow: of radii that are a fifth, more fail than may, and so do the parts without a radius.
void expect_confidence(const Learned& learned) {
  constexpr int most = 143;
  const Case one(learned);
  Failures failures;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const SampledOptions options{
        .samples = 100, .confidence = 0.9, .seed = seed, .parallel = {.threads = 1}};
    count(one, assess_sampled(ref_of(one.game), one.target, *one.policy, options), failures);
  }
  EXPECT_LE(failures.of_all, most);
  EXPECT_GT(failures.of_a_fifth, most);
  EXPECT_GT(failures.of_the_best, most);
  EXPECT_GT(failures.of_witnesses, most);
  EXPECT_GT(failures.of_the_values, most);
}

TEST(Sampled, HoldsAsOftenAsItSaysForCce) {
  expect_confidence({"random:players=3,states=2,actions=2,horizon=2,seed=2", Target::cce});
}
TEST(Sampled, HoldsAsOftenAsItSaysForCe) {
  expect_confidence({"random:players=2,states=2,actions=3,horizon=2,seed=3", Target::ce});
}
TEST(Sampled, HoldsAsOftenAsItSaysForNash) {
  expect_confidence({"matching-pennies", Target::nash});
}

constexpr Learned kLearned[] = {
    {"random:players=3,states=3,actions=3,horizon=3,seed=2", Target::cce, 200},
    {"random:players=2,states=3,actions=3,horizon=3,seed=3", Target::ce, 200},
    {"random:players=2,states=3,actions=3,horizon=3,seed=4,kind=zero-sum", Target::nash, 200},
    // Rewards that are not in [0, 1], actions that depend on the state, states without visits.
    {"commons", Target::cce, 200},
    {"grid-game-1:horizon=3", Target::ce, 3},
    {"river-swim", Target::optimal, 50},
    {"congestion:players=6,routes=3,states=2,horizon=2,seed=5", Target::cce, 200},
};

// One certificate each at confidence 0.99999: a false failure has probability 7e-5 in all.
TEST(Sampled, HoldsTheExactGap) {
  for (const Learned& learned : kLearned) {
    SCOPED_TRACE(learned.game);
    const Case one(learned);
    const Certificate found =
        one.sampled({.samples = 400, .confidence = 0.99999, .parallel = {.threads = 2}});
    EXPECT_EQ(found.output, one.exact.output);
    EXPECT_EQ(found.target, one.exact.target);
    EXPECT_EQ(found.weights, one.exact.weights);
    EXPECT_EQ(found.episodes, one.exact.episodes);
    EXPECT_EQ(found.method, (UncertainMethod{MethodName::sampled, 0.99999, 400, 1}));
    EXPECT_LE(found.gap_lower.value(), one.exact.gap_upper);
    EXPECT_GE(found.gap_upper, one.exact.gap_lower.value());
    EXPECT_LE(found.sum_lower.value(), one.exact.sum_upper);
    EXPECT_GE(found.sum_upper, one.exact.sum_lower.value());
    for (std::size_t j = 0; j < found.players.size(); ++j) {
      const PlayerCertificate& own = found.players[j];
      const PlayerCertificate& truth = one.exact.players[j];
      EXPECT_LT(own.rounding, 1e-9 * (1.0 + std::abs(own.value_upper)));
      EXPECT_LE(own.value_lower, truth.value_upper + own.rounding);
      EXPECT_GE(own.value_upper, truth.value_lower - own.rounding);
      EXPECT_LE(own.deviation_lower.value(), truth.deviation_upper + own.rounding);
      EXPECT_GE(own.deviation_upper, truth.deviation_lower.value() - own.rounding);
      EXPECT_GE(own.value_estimate.value(), own.value_lower);
      EXPECT_LE(own.value_estimate.value(), own.value_upper);
      EXPECT_GE(own.deviation_estimate.value(), own.deviation_lower.value());
      EXPECT_LE(own.gap_lower.value(), own.gap_upper);
      EXPECT_EQ(own.witness.size(), truth.witness.size());
    }
  }
}

// Sixteen times as many samples: four times narrower, and a little more, because the part of the
// bounds that falls like 1/n is gone. The rewards are 0 or 1, so that this part is small.
TEST(Sampled, NarrowsLikeTheRoot) {
  const Case one({"matching-pennies-3", Target::cce});
  const auto at = [&](std::uint64_t samples) {
    return assess_sampled(ref_of(one.game), one.target, *one.policy,
                          {.samples = samples, .parallel = {.threads = 1}});
  };
  const std::vector<SampledPlayer> wide = at(1500);
  const std::vector<SampledPlayer> narrow = at(24000);
  for (std::size_t j = 0; j < wide.size(); ++j) {
    for (const auto part : {&SampledPlayer::best, &SampledPlayer::value, &SampledPlayer::witness}) {
      const double ratio = (wide[j].*part).radius / (narrow[j].*part).radius;
      EXPECT_GT(ratio, 3.9);
      EXPECT_LT(ratio, 5.0);
    }
  }
}

// Several blocks, several groups of states.
TEST(Sampled, IsTheSameForAnyNumberOfThreads) {
  for (const Learned& learned :
       {Learned{"random:players=2,states=20,actions=2,horizon=2,seed=3", Target::ce},
        Learned{"random:players=2,states=3,actions=3,horizon=2,seed=4,kind=zero-sum",
                Target::nash}}) {
    const Case one(learned);
    const auto bytes = [&](std::size_t threads, std::uint64_t seed) {
      return to_json(
          one.sampled({.samples = 1100, .seed = seed, .parallel = {.threads = threads}}));
    };
    const std::string wanted = bytes(1, 7);
    EXPECT_EQ(bytes(1, 7), wanted);
    EXPECT_EQ(bytes(2, 7), wanted);
    EXPECT_EQ(bytes(3, 7), wanted);
    EXPECT_NE(bytes(1, 8), wanted);
  }
}

// A draw is its number's, whatever else is drawn with it.
TEST(DrawnPolicy, DrawsByNumber) {
  const Case one({"random:players=3,states=2,actions=3,horizon=2,seed=2", Target::cce});
  const auto independent = make_drawn_marginals(one.run.files, {.threads = 1});
  const DrawnPolicy* const both[] = {one.policy.get(), independent.get()};
  std::vector<std::uint64_t> numbers(200);
  std::iota(numbers.begin(), numbers.end(), 1000);
  for (const DrawnPolicy* const policy : both) {
    std::vector<Action> together(600);
    policy->draw(Step(1), State(1), 9, numbers, together);
    std::vector<Action> alone(3);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      policy->draw(Step(1), State(1), 9, std::span(numbers).subspan(i, 1), alone);
      EXPECT_TRUE(std::ranges::equal(alone, std::span(together).subspan(3 * i, 3)));
    }
    std::vector<Action> other(600);
    policy->draw(Step(1), State(1), 10, numbers, other);
    EXPECT_NE(other, together);
  }
}

TEST(SampledPlan, SaysWhatItWillTake) {
  const Case one({"random:players=2,states=2,actions=3,horizon=2,seed=2", Target::cce});
  const Frame& frame = frame_of(one.game);
  const SampledPlan plan = plan_sampled(frame, Target::cce, {.samples = 300});
  EXPECT_EQ(plan.samples, 300U);
  // Three (step, state) pairs, since the first state is known: what was drawn, and two other
  // actions of either player. 8 plays, and 2 for each player, of two steps.
  EXPECT_EQ(plan.game_steps, 300.0 * (3 * 5 + 12 * 2));
  // What comes out is better than what was planned.
  for (const SampledPlayer& own : assess_sampled(ref_of(one.game), Target::cce, *one.policy,
                                                 {.samples = 300, .parallel = {.threads = 1}})) {
    EXPECT_LE(own.best.radius + own.value.radius, plan.radius);
  }
  EXPECT_GT(plan_sampled(frame, Target::ce, {.samples = 300}).radius, plan.radius);
  EXPECT_GT(plan_sampled(frame, Target::cce, {.samples = 300, .confidence = 0.999}).radius,
            plan.radius);
  EXPECT_EQ(plan_sampled(frame, Target::cce, {}).samples, 10'000'000U / 39U);
}

TEST(Sampled, RefusesWhatItCannotDo) {
  const Case one({"random:players=2,states=2,actions=2,horizon=2,seed=2", Target::cce});
  const auto refuse = [&](ErrorKind kind, const SampledOptions& options) {
    return error_of(kind, [&] { static_cast<void>(one.sampled(options)); });
  };
  EXPECT_NE(refuse(ErrorKind::usage, {.confidence = 1.0}).find("confidence"), std::string::npos);
  EXPECT_NE(refuse(ErrorKind::usage, {.confidence = 0.0}).find("confidence"), std::string::npos);
  EXPECT_NE(refuse(ErrorKind::usage, {.samples = 1}).find("2 at least"), std::string::npos);
  EXPECT_NE(refuse(ErrorKind::usage, {.samples = UINT64_MAX}).find("fewer"), std::string::npos);
  const AnyGame other = make_game("random:players=2,states=2,actions=3,horizon=2,seed=2");
  const std::string error = error_of(ErrorKind::input, [&] {
    static_cast<void>(certify_sampled(ref_of(other), one.run.files, {.samples = 10}));
  });
  EXPECT_NE(error.find("another game"), std::string::npos);
  FrameOptions unknown{.num_players = 1, .horizon = 1, .num_states = {1}, .num_actions = {2}};
  unknown.start_known = false;
  EXPECT_NE(error_of(ErrorKind::usage,
                     [&] { static_cast<void>(plan_sampled(Frame(unknown), Target::optimal, {})); })
                .find("its start"),
            std::string::npos);
}

/// Thirty drivers, three roads, roads that jam: 3^30 joint actions. Whoever chose a road pays for
/// all who did, and more where it is jammed.
CallbackGame many_players(std::size_t num_players) {
  FrameOptions options{.num_players = num_players,
                       .horizon = 3,
                       .num_states = {3},
                       .num_actions = std::vector<std::uint32_t>(num_players, 3)};
  const auto law = [num_players](Step h, State s, std::span<const Action> joint, Outcome& outcome) {
    double on[3] = {0.0, 0.0, 0.0};
    for (const Action action : joint) on[action.index()] += 1.0 / static_cast<double>(num_players);
    for (std::size_t j = 0; j < num_players; ++j) {
      const std::size_t road = joint[j].index();
      outcome.rewards[j] = 1.0 - on[road] * (road == s.index() ? 1.0 : 0.5);
    }
    if (h.index() == 2) return;
    for (std::size_t road = 0; road < 3; ++road) {
      outcome.successors.emplace_back(State(road), on[road]);
    }
  };
  return {Frame(options), "roads", law};
}

TEST(Sampled, CertifiesThirtyAtOnce) {
  const CallbackGame game = many_players(30);
  const KeptRun run =
      learn_kept(GameRef(game), markov_config(game.frame(), Preset::fast, Target::cce, 300, 1));
  const Certificate found = certify_sampled(GameRef(game), run.files, {.samples = 300});
  EXPECT_EQ(found.players.size(), 30U);
  EXPECT_LT(found.gap_upper, 1.0);
  EXPECT_LE(found.gap_lower.value(), found.gap_upper);
}

// The same game with so few players that the truth is known.
TEST(Sampled, AgreesOnTheSameGameOfFour) {
  const AnyGame game = many_players(4);
  const KeptRun run =
      learn_kept(ref_of(game), markov_config(frame_of(game), Preset::fast, Target::cce, 300, 1));
  const Certificate exact = certify_markov(game, {}, Target::cce, run.files, {.threads = 1});
  const Certificate found =
      certify_sampled(ref_of(game), run.files, {.samples = 2000, .confidence = 0.99999});
  EXPECT_LE(found.gap_lower.value(), exact.gap_upper);
  EXPECT_GE(found.gap_upper, exact.gap_lower.value());
  EXPECT_LT(found.gap_upper, exact.gap_upper + 0.2);
}

/// Thirty players whose rewards and successors are hashes of the joint action: nothing to exploit.
CallbackGame without_structure(std::size_t horizon, std::size_t num_states) {
  constexpr std::size_t players = 30;
  FrameOptions options{.num_players = players,
                       .horizon = horizon,
                       .num_states = {static_cast<std::uint32_t>(num_states)},
                       .num_actions = std::vector<std::uint32_t>(players, 3)};
  const auto law = [=](Step h, State s, std::span<const Action> joint, Outcome& outcome) {
    std::uint64_t number = 0;  // below 3^30
    for (const Action action : joint) number = 3 * number + action.index();
    Draws draws(
        {.seed = s.index(), .purpose = Purpose::test, .episode = Episode(number), .step = h});
    for (double& reward : outcome.rewards) reward = draws.uniform();
    if (h.index() + 1 == horizon) return;
    double sum = 0.0;
    for (const State next : all<State>(num_states)) {
      outcome.successors.emplace_back(next, 0.1 + draws.uniform());
      sum += outcome.successors.back().second;
    }
    for (auto& [next, chance] : outcome.successors) chance /= sum;
  };
  return {Frame(options), "without structure", law};
}

// The figures of docs/theory/sampled_certificate.md.
TEST(SampledSlow, MeasuresGamesOfThirty) {
  const auto measure = [](const char* name, const CallbackGame& game, Target target) {
    const KeptRun run =
        learn_kept(GameRef(game), markov_config(game.frame(), Preset::fast, target, 10'000, 1));
    const std::clock_t begin = std::clock();
    const Certificate found = certify_sampled(GameRef(game), run.files);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    double estimate = -1.0;
    for (const PlayerCertificate& own : found.players) {
      estimate = std::max(estimate, *own.deviation_estimate - *own.value_estimate);
    }
    std::printf("| %s | %zu | %s | %llu | %.3f | %.4f | %.4f to %.4f | %.1f |\n", name,
                game.frame().horizon(), std::string(name_of(target)).c_str(),
                static_cast<unsigned long long>(found.method->samples),
                plan_sampled(game.frame(), target, {}).radius, estimate, found.gap_lower.value(),
                found.gap_upper, seconds);
    EXPECT_LT(found.gap_upper, 0.25);
    EXPECT_LE(found.gap_lower.value(), estimate);
  };
  measure("roads", many_players(30), Target::cce);
  measure("roads", many_players(30), Target::ce);
  measure("without structure", without_structure(3, 3), Target::cce);
  measure("without structure", without_structure(5, 5), Target::cce);
  measure("without structure", without_structure(5, 5), Target::ce);
}

}  // namespace
}  // namespace vlearn::test
