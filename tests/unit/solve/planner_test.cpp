// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Planned policies: certified by code that knows nothing of planners, and against a second
// computation of their values.
#include "vlearn/solve/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/random_game.h"
#include "vlearn/certify/certify.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/solve_game.h"

namespace vlearn::test {
namespace {

double widest(const Frame& frame) {
  double width = 0.0;
  for (const Player player : all<Player>(frame.num_players())) {
    width = std::max(width, frame.range(player).high - frame.range(player).low);
  }
  return width;
}

/// 1e-9 of what an episode can pay.
double exact(const Frame& frame) {
  return 1e-9 * static_cast<double>(frame.horizon()) * widest(frame);
}

Certificate certified(const AnyGame& game, const PlannerOptions& options) {
  return certify_table(game, {}, options.target, plan_policy(game, options).tables, {});
}

/// The values of backward induction, written plainly: payoffs from backups against pure profiles,
/// and Clp for every stage, which the planner asks only where its own kernel fails. At the start,
/// in the user's units.
class PlainInduction {
 public:
  PlainInduction(const AnyGame& game, const PlannerOptions& options)
      : frame_(frame_of(game)), options_(options) {
    std::vector<std::vector<double>> next;  // [player][state], in units of [0, 1] rewards
    for (std::size_t h = frame_.horizon(); h-- > 0;) {
      std::vector<std::vector<double>> values(frame_.num_players());
      for (const State s : all<State>(frame_.num_states(Step(h)))) {
        const std::vector<double> found = solve(game, Step(h), s, next);
        for (std::size_t j = 0; j < found.size(); ++j) values[j].push_back(found[j]);
      }
      next = values;
    }
    for (const Player player : all<Player>(frame_.num_players())) {
      double value = 0.0;
      for (std::size_t s = 0; s < frame_.initial().size(); ++s) {
        value += frame_.initial()[s] * next[player.index()][s];
      }
      values_.push_back(
          frame_.range(player).from_unit(value, static_cast<double>(frame_.horizon())));
    }
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> solve(const AnyGame& game,
                            Step h,
                            State s,
                            const std::vector<std::vector<double>>& next) {
    const auto begins = frame_.action_begins(h, s);
    const std::size_t m = frame_.num_players();
    std::vector<std::uint32_t> sizes;
    std::size_t joint = 1;
    for (std::size_t j = 0; j < m; ++j) {
      sizes.push_back(begins[j + 1] - begins[j]);
      joint *= sizes.back();
    }
    const double steps = static_cast<double>(frame_.horizon() - h.index());
    std::vector<double> payoffs(m * joint);
    Workspace workspace;
    for (std::size_t a = 0; a < joint; ++a) {
      std::vector<double> profile(begins.back(), 0.0);
      std::vector<std::size_t> own(m);
      std::size_t rest = a;
      for (std::size_t j = m; j-- > 0;) {
        own[j] = rest % sizes[j];
        rest /= sizes[j];
        profile[begins[j] + own[j]] = 1.0;
      }
      for (std::size_t j = 0; j < m; ++j) {
        std::vector<double> q(sizes[j]);
        std::visit(
            [&](const auto& model) {
              model.backup({h, s, Profile(begins, profile)}, Player(j),
                           next.empty() ? std::vector<double>() : next[j], q, workspace);
            },
            game);
        payoffs[j * joint + a] = q[own[j]];
      }
    }
    StageSolver solver(LpMethod::clp);
    if (options_.target == Target::optimal) {
      return {*std::max_element(payoffs.begin(), payoffs.end())};
    }
    if (options_.target == Target::nash) {
      const double value =
          solver.solve(MatrixGame{sizes[0], sizes[1], std::span(payoffs).first(joint)}).value;
      return {value, steps - value};
    }
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t a = 0; a < joint; ++a) {
        double& payoff = payoffs[j * joint + a];
        payoff = frame_.range(Player(j)).from_unit(payoff, steps);
      }
    }
    std::vector<double> values =
        solver.solve(StageGame{sizes, payoffs}, options_.target, options_.selection).values;
    for (std::size_t j = 0; j < m; ++j) {
      const RewardRange& range = frame_.range(Player(j));
      values[j] = (values[j] - steps * range.low) / (range.high - range.low);
    }
    return values;
  }

  const Frame& frame_;
  PlannerOptions options_;
  std::vector<double> values_;
};

void expect_planned(const AnyGame& game, const PlannerOptions& options) {
  const Frame& frame = frame_of(game);
  const Certificate certificate = certified(game, options);
  EXPECT_LE(certificate.gap_upper, exact(frame));
  const PlainInduction plain(game, options);
  for (std::size_t j = 0; j < certificate.players.size(); ++j) {
    EXPECT_NEAR(certificate.players[j].value_upper, plain.values()[j], 100.0 * exact(frame)) << j;
  }
}

// Payoffs drawn at random leave one best equilibrium, so both computations find the same values.
TEST(PlannerLp, FiveHundredGamesAgreeWithASecondComputation) {
  const Selection selections[] = {{Selection::Rule::welfare, {}},
                                  {Selection::Rule::egalitarian, {}},
                                  {Selection::Rule::player, Player(0)}};
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomSizes sizes;
    PlannerOptions options;
    if (seed % 5 == 0) {
      sizes = {.players = {1, 1}};
      options.target = Target::optimal;
    } else if (seed % 5 == 1) {
      sizes = {.players = {2, 2}, .actions = {1, 5}, .zero_sum = true};
      options.target = Target::nash;
    } else {
      options.target = seed % 5 == 2 ? Target::ce : Target::cce;
      options.selection = selections[seed / 5 % 3];
      // With three players the least value may leave the others' open.
      if (options.selection.rule == Selection::Rule::egalitarian) sizes.players = {2, 2};
    }
    const AnyGame game = random_game(seed, sizes);
    expect_planned(game, options);
  }
}

TEST(PlannerLp, EveryModelGivesItsPayoffs) {
  for (const char* name : {"congestion:players=4,routes=3,states=2,horizon=3,seed=5",
                           "random:players=3,states=3,actions=2,horizon=3,seed=3,kind=polymatrix",
                           "grid-game-1:horizon=4", "grid-game-2:horizon=4"}) {
    SCOPED_TRACE(name);
    const AnyGame game = make_game(name);
    for (const Target target : {Target::cce, Target::ce}) {
      PlannerOptions options;
      options.target = target;
      EXPECT_LE(certified(game, options).gap_upper, exact(frame_of(game)));
    }
  }
}

TEST(PlannerLp, SolvesTheCatalogue) {
  std::size_t values = 0;
  std::size_t planned = 0;
  for (const CatalogueEntry& entry : catalogue()) {
    SCOPED_TRACE(entry.name);
    const LoadedGame loaded = load_game(std::string(entry.name));
    const Frame& frame = frame_of(loaded.game);
    for (const Target target : {Target::optimal, Target::nash, Target::cce, Target::ce}) {
      if ((target == Target::optimal) != (frame.num_players() == 1)) continue;
      if (target == Target::nash && !frame.zero_sum()) continue;
      if (choose_method(frame, target).method != PlanMethod::lp) continue;
      PlannerOptions options;
      options.target = target;
      const Certificate certificate = certified(loaded.game, options);
      EXPECT_LE(certificate.gap_upper, exact(frame)) << name_of(target);
      ++planned;
      for (const KnownSolution& known : loaded.about.known) {
        if (known.target != target || known.values.empty()) continue;
        // Values of zero-sum games and of one player are unique; of others the best is at least as
        // good.
        double sum = 0.0;
        double known_sum = 0.0;
        for (std::size_t j = 0; j < certificate.players.size(); ++j) {
          const double value = certificate.players[j].value_upper;
          sum += value;
          known_sum += known.values[j];
          if (target == Target::optimal || target == Target::nash) {
            EXPECT_NEAR(value, known.values[j], exact(frame));
            ++values;
          }
        }
        // Stage by stage the best: of one stage that is the best of all.
        if (frame.horizon() == 1) {
          EXPECT_GE(sum, known_sum - exact(frame));
        }
      }
    }
  }
  std::printf("%zu planned, %zu known values\n", planned, values);
  EXPECT_GE(planned, 40U);
  EXPECT_GE(values, 12U);
}

TEST(PlannerLp, SelectsInTheUsersUnits) {
  const AnyGame game = load_game("chicken").game;
  const auto values = [&](Selection selection) {
    PlannerOptions options;
    options.target = Target::ce;
    options.selection = selection;
    const Certificate certificate = certified(game, options);
    return std::vector<double>{certificate.players[0].value_upper,
                               certificate.players[1].value_upper};
  };
  // (6,6), (2,7), (7,2), (0,0): the best sum of a correlated equilibrium is 10.5 (Aumann 1987).
  EXPECT_NEAR(values({Selection::Rule::egalitarian, {}})[0], 5.25, 1e-9);
  EXPECT_NEAR(values({Selection::Rule::egalitarian, {}})[1], 5.25, 1e-9);
  const std::vector<double> welfare = values({Selection::Rule::welfare, {}});
  EXPECT_NEAR(welfare[0] + welfare[1], 10.5, 1e-9);
  EXPECT_NEAR(values({Selection::Rule::player, Player(0)})[0], 7.0, 1e-9);
  EXPECT_NEAR(values({Selection::Rule::player, Player(1)})[1], 7.0, 1e-9);
}

/// Both want to meet, one of them a hundred times as much.
AnyGame unequal_meeting() {
  return parse_game_json(R"({"format": "vlearn.game/1", "players": 2, "actions": 2, "horizon": 1,
      "rules": [{"payoffs": [[[1, 0], [0, 0]], [[0, 0], [0, 100]]]}]})",
                         "test")
      .game;
}

TEST(PlannerLp, ComparesPlayersAsTheUserPaysThem) {
  const AnyGame game = unequal_meeting();
  const auto values = [&](Selection selection) {
    PlannerOptions options;
    options.selection = selection;
    const Certificate certificate = certified(game, options);
    return std::vector<double>{certificate.players[0].value_upper,
                               certificate.players[1].value_upper};
  };
  const std::vector<double> welfare = values({Selection::Rule::welfare, {}});
  EXPECT_NEAR(welfare[0], 0.0, 1e-9);
  EXPECT_NEAR(welfare[1], 100.0, 1e-9);
  // p of the time at 1, else at 100: p = 100 (1 - p).
  for (const double value : values({Selection::Rule::egalitarian, {}})) {
    EXPECT_NEAR(value, 100.0 / 101.0, 1e-8);
  }
}

TEST(PlannerOftrl, MixesIterationsWhereJointActionsAreNotListed) {
  for (const Target target : {Target::cce, Target::ce}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::string(name_of(target)) + " " + std::to_string(seed));
      const AnyGame game = make_game("random:players=7,states=1,actions=4,horizon=1,seed=" +
                                     std::to_string(seed));  // 16384 joint actions
      PlannerOptions options;
      options.target = target;
      options.method = PlanMethod::oftrl;
      options.tolerance = 1e-3;
      const PlannedPolicy planned = plan_policy(game, options);
      EXPECT_TRUE(planned.complete);
      EXPECT_GT(planned.tables.front().weights.size(), 1U);
      EXPECT_LE(certify_table(game, {}, target, planned.tables, {}).gap_upper, 1e-3 + 1e-9);
    }
  }
}

TEST(PlannerOftrl, ZeroSumTolerancesAreOfBothTogether) {
  const AnyGame game =
      make_game("random:players=2,states=1,actions=5,horizon=1,seed=3,kind=zero-sum");
  PlannerOptions options;
  options.target = Target::nash;
  options.method = PlanMethod::oftrl;
  for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4}) {
    options.tolerance = tolerance;
    EXPECT_LE(certified(game, options).sum_upper, tolerance + 1e-9);
  }
}

struct OftrlCase {
  const char* game;
  Target target;
};
constexpr OftrlCase kOftrlCases[] = {
    {"random:players=4,states=3,actions=3,horizon=3,seed=1", Target::cce},
    {"random:players=3,states=3,actions=3,horizon=3,seed=2", Target::ce},
    {"random:players=2,states=3,actions=4,horizon=3,seed=3,kind=zero-sum", Target::nash},
    {"random:players=2,states=2,actions=1,horizon=2,seed=3", Target::cce},
    {"grid-game-1:horizon=4", Target::cce},
    {"soccer", Target::nash},
    {"matching-pennies", Target::nash},
    {"shapley", Target::cce},
    {"stag-hunt", Target::ce},
    // More joint actions than are listed:
    {"congestion:players=6,routes=5,states=2,horizon=2,seed=5", Target::cce},
    {"congestion:players=6,routes=5,states=2,horizon=2,seed=5", Target::ce},
    {"random:players=13,states=2,actions=2,horizon=2,seed=5,kind=polymatrix", Target::cce},
};

TEST(PlannerOftrl, IsAsGoodAsItWasAskedToBe) {
  for (const OftrlCase& each : kOftrlCases) {
    SCOPED_TRACE(std::string(each.game) + " " + std::string(name_of(each.target)));
    const AnyGame game = load_game(each.game).game;
    const Frame& frame = frame_of(game);
    PlannerOptions options;
    options.target = each.target;
    options.method = PlanMethod::oftrl;
    for (const double tolerance : {1e-1, 1e-2, 1e-3}) {
      options.tolerance = tolerance * widest(frame);
      const PlannedPolicy planned = plan_policy(game, options);
      EXPECT_TRUE(planned.complete);
      const Certificate certificate = certify_table(game, {}, each.target, planned.tables, {});
      // Gains of the steps add up.
      EXPECT_LE(certificate.gap_upper,
                static_cast<double>(frame.horizon()) * options.tolerance + exact(frame));
    }
  }
}

TEST(PlannerOftrl, AgreesWithLinearProgramsOnZeroSumValues) {
  const AnyGame game =
      make_game("random:players=2,states=3,actions=4,horizon=3,seed=3,kind=zero-sum");
  PlannerOptions options;
  options.target = Target::nash;
  const double value = certified(game, options).players[0].value_upper;
  options.method = PlanMethod::oftrl;
  options.tolerance = 1e-4;
  EXPECT_NEAR(certified(game, options).players[0].value_upper, value, 3e-4);
}

TEST(PlannerOftrl, GivesUpAfterSoManyIterations) {
  std::size_t unfinished = 0;
  for (const OftrlCase& each : kOftrlCases) {
    const AnyGame game = load_game(each.game).game;
    PlannerOptions options;
    options.target = each.target;
    options.method = PlanMethod::oftrl;
    options.tolerance = 0.0;
    options.max_iterations = 1100;  // more than are kept of large games
    const PlannedPolicy planned = plan_policy(game, options);
    const Certificate certificate = certify_table(game, {}, each.target, planned.tables, {});
    unfinished += planned.complete ? 0 : 1;
    EXPECT_LT(certificate.gap_upper,
              0.05 * static_cast<double>(frame_of(game).horizon()) * widest(frame_of(game)))
        << each.game;
  }
  // Some games are solved exactly by where everybody begins.
  EXPECT_GE(unfinished, 8U);
  const AnyGame game = make_game("random:players=3,states=1,actions=3,horizon=1,seed=1");
  PlannerOptions options;
  options.method = PlanMethod::oftrl;
  options.tolerance = 0.0;
  options.max_iterations = 77;
  const PlannedPolicy planned = plan_policy(game, options);
  EXPECT_FALSE(planned.complete);
  EXPECT_EQ(planned.iterations, 77U);
}

TEST(Planner, IsTheSameForEveryNumberOfThreads) {
  for (const PlanMethod method : {PlanMethod::lp, PlanMethod::oftrl}) {
    const AnyGame game = make_game("random:players=3,states=5,actions=3,horizon=3,seed=2");
    PlannerOptions options;
    options.method = method;
    options.tolerance = 1e-3;
    options.parallel.threads = 1;
    const PlannedPolicy one = plan_policy(game, options);
    for (const std::size_t threads : {2U, 3U, 8U}) {
      options.parallel.threads = threads;
      const PlannedPolicy many = plan_policy(game, options);
      EXPECT_EQ(many.tables, one.tables);
      EXPECT_EQ(many.iterations, one.iterations);
    }
  }
}

TEST(Planner, ChoosesBySize) {
  const auto method = [](const char* name, Target target) {
    const AnyGame game = load_game(name).game;
    const MethodChoice choice = choose_method(frame_of(game), target);
    EXPECT_FALSE(choice.reason.empty());
    return choice.method;
  };
  EXPECT_EQ(method("soccer", Target::nash), PlanMethod::lp);
  EXPECT_EQ(method("river-swim", Target::optimal), PlanMethod::lp);
  EXPECT_EQ(method("random:players=4,states=4,actions=3,horizon=4", Target::ce), PlanMethod::lp);
  EXPECT_EQ(method("congestion-10", Target::cce), PlanMethod::oftrl);
  EXPECT_EQ(method("congestion-100", Target::cce), PlanMethod::oftrl);
}

TEST(Planner, RefusesWhatItCannotDo) {
  const auto refusal = [](const char* name, PlannerOptions options, ErrorKind kind) {
    const AnyGame game = load_game(name).game;
    return error_of(kind, [&] { static_cast<void>(plan_policy(game, options)); });
  };
  const auto says = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  PlannerOptions options;
  says(refusal("congestion-10", options, ErrorKind::resource), " bytes");
  says(refusal("congestion-10", options, ErrorKind::resource), "oftrl");
  says(refusal("congestion-100", options, ErrorKind::resource), "more bytes than can be counted");
  options.target = Target::nash;
  says(refusal("chicken", options, ErrorKind::usage), "zero-sum");
  options.target = Target::optimal;
  says(refusal("chicken", options, ErrorKind::usage), "one player");
  options.method = PlanMethod::oftrl;
  says(refusal("river-swim", options, ErrorKind::usage), "lp");
  options = {};
  options.selection = {Selection::Rule::player, Player(2)};
  says(refusal("chicken", options, ErrorKind::usage), "1 to 2");
}

TEST(Planner, StopsWhenItIsAskedTo) {
  const AnyGame game = make_game("random:players=3,states=5,actions=3,horizon=3,seed=2");
  PlannerOptions options;
  options.method = PlanMethod::oftrl;
  options.tolerance = 0.0;
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  options.parallel.threads = 1;
  EXPECT_THROW(static_cast<void>(plan_policy(game, options)), Cancelled);
  // Within one stage, and within one linear program.
  const AnyGame one = make_game("random:players=2,states=1,actions=40,horizon=1,seed=1");
  for (const PlanMethod method : {PlanMethod::lp, PlanMethod::oftrl}) {
    asked = 0;
    options.method = method;
    options.target = Target::ce;
    EXPECT_THROW(static_cast<void>(plan_policy(one, options)), Cancelled);
    EXPECT_EQ(asked, 4);
  }
}

TEST(SolveGame, ReturnsItsBestWhenItIsStopped) {
  const AnyGame game = make_game("random:players=3,states=3,actions=3,horizon=3,seed=2");
  SolveConfig config;
  config.method = PlanMethod::oftrl;
  config.target = Target::ce;
  config.until_gap = 1e-12;  // out of reach of so many iterations
  config.max_iterations = 2000;
  const auto result = solve_game(game, {}, config);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stopped, SolveStopped::limit);
  double least = result->rows.front().gap_upper;
  for (std::size_t i = 0; i < result->rows.size(); ++i) {
    EXPECT_EQ(result->rows[i].round, i + 1);
    if (i > 0) {
      EXPECT_GE(result->rows[i].iterations, result->rows[i - 1].iterations);
    }
    least = std::min(least, result->rows[i].gap_upper);
  }
  EXPECT_EQ(result->certificate.gap_upper, least);
  // Interrupted after the second round.
  SolveHooks hooks;
  CancelSource interrupt;
  hooks.cancel = interrupt.token();
  hooks.row = [&](const SolveRow& row) {
    if (row.round == 2) interrupt.request();
  };
  const auto interrupted = solve_game(game, {}, config, hooks);
  ASSERT_TRUE(interrupted);
  EXPECT_EQ(interrupted->stopped, SolveStopped::interrupt);
  EXPECT_EQ(interrupted->rows.size(), 2U);
  EXPECT_EQ(interrupted->certificate.gap_upper, result->rows[1].gap_upper);
  // Out of time before the first.
  config.max_seconds = 1e-9;
  EXPECT_FALSE(solve_game(game, {}, config));
  // Exact, whatever gap was wanted.
  config.max_seconds.reset();
  config.method = PlanMethod::lp;
  config.until_gap = 1e-30;
  const auto planned = solve_game(game, {}, config);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->stopped, SolveStopped::exact);
}

}  // namespace
}  // namespace vlearn::test
