// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/learn.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/markov_gap.h"
#include "support/temporary_folder.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/container.h"
#include "vlearn/core/json.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/discovered.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/data_certificate.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/signature.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

std::unique_ptr<Trainer> trainer_of(const AnyGame& game,
                                    const LearnerOptions& options,
                                    std::uint64_t seed = 1) {
  return std::visit([&](const auto& model) { return make_trainer(GameRef(model), options, seed); },
                    game);
}

std::string read(const std::filesystem::path& path) {
  return std::string(FileBytes::read(path, 1U << 24U).text());
}

std::string recorded_signature() {
  std::ifstream file(VLEARN_SIGNATURE_FILE);
  std::string word;
  file >> word;
  return word;
}

TEST(Signature, IsTheRecordedOneForEveryThreadCountAndVectorWidth) {
  const auto now = [](std::size_t threads) {
    std::string text(16, '0');
    std::snprintf(text.data(), 17, "%016llx",
                  static_cast<unsigned long long>(learning_signature(threads)));
    return text;
  };
  for (const std::size_t threads : {1U, 2U, 3U, 8U}) EXPECT_EQ(now(threads), recorded_signature());
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    EXPECT_EQ(now(0), recorded_signature()) << target;
  }
  use_simd_target("");
}

TEST(Signature, ChangesWithWhatIsLearned) {
  const AnyGame game = make_game("random:players=2,states=2,actions=2,horizon=2,seed=1");
  const LearnerOptions options = preset_options(Preset::practical, Target::cce);
  const auto signature = [&](std::uint64_t seed, std::uint64_t episodes) {
    const auto trainer = trainer_of(game, options, seed);
    trainer->play_until(episodes, {});
    return trainer->signature();
  };
  EXPECT_EQ(signature(1, 50), signature(1, 50));
  EXPECT_NE(signature(1, 50), signature(2, 50));
  EXPECT_NE(signature(1, 50), signature(1, 51));
}

TEST(Trainer, PlaysOnWhereItStopped) {
  const AnyGame game = make_game("random:players=3,states=3,actions=3,horizon=3,seed=4");
  const LearnerOptions options = preset_options(Preset::rigorous, Target::ce);
  const auto once = trainer_of(game, options);
  once->play_until(500, {});
  const auto pieces = trainer_of(game, options);
  for (const std::uint64_t end : {1U, 2U, 77U, 77U, 499U, 500U}) pieces->play_until(end, {});
  EXPECT_EQ(once->signature(), pieces->signature());
  EXPECT_EQ(once->gap_bound(Player(1)).value(), pieces->gap_bound(Player(1)).value());
  CancelSource source;
  source.request();
  pieces->play_until(600, source.token());
  EXPECT_EQ(pieces->episodes(), 500U);
}

/// Which bound is kept for which target, computed here from the values.
TEST(Trainer, BoundsTheGapThatTheTargetSpeaksOf) {
  const AnyGame game =
      make_game("random:players=2,states=2,actions=2,horizon=2,kind=zero-sum,seed=8");
  const std::uint64_t episodes = 40'000;
  for (const bool monotone : {false, true}) {
    LearnerOptions options = preset_options(Preset::rigorous, Target::nash);
    options.monotone = monotone;
    options.horizon_episodes = episodes;
    const auto trainer = trainer_of(game, options);
    double sum = 0.0;
    double last = 0.0;
    for (std::uint64_t k = 0; k < episodes; ++k) {
      sum += trainer->at_start(trainer->values(Player(0))) +
             trainer->at_start(trainer->values(Player(1))) - 2.0;
      trainer->play_until(k + 1, {});
    }
    last = trainer->at_start(trainer->values(Player(0))) +
           trainer->at_start(trainer->values(Player(1))) - 2.0;
    EXPECT_NEAR(trainer->gap_bound(Player(0)).value(),
                monotone ? last : sum / static_cast<double>(episodes), 1e-10);
    EXPECT_LT(last, 1.9);  // of 2: it says something
    trainer->play_until(episodes + 1, {});
    EXPECT_EQ(trainer->gap_bound(Player(0)), std::nullopt);  // beyond what iota counts
  }
  for (const LearnerOptions& options : {preset_options(Preset::paper, Target::nash),
                                        preset_options(Preset::practical, Target::nash)}) {
    const auto trainer = trainer_of(game, options);
    trainer->play_until(10, {});
    EXPECT_EQ(trainer->gap_bound(Player(0)), std::nullopt);
  }
}

TEST(Trainer, RefusesWhatHasNoGuarantee) {
  const auto refusal = [](const char* name, Target target, bool monotone) {
    const AnyGame game = make_game(name);
    LearnerOptions options = preset_options(Preset::practical, target);
    options.monotone = monotone;
    return error_of(ErrorKind::usage, [&] { static_cast<void>(trainer_of(game, options)); });
  };
  const auto says = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(refusal("random:players=3", Target::nash, false), "ask for cce or ce");
  says(refusal("random:players=2", Target::nash, false), "zero-sum games only");
  says(refusal("random:players=2", Target::optimal, false), "ask for cce");
  says(refusal("soccer", Target::optimal, false), "ask for nash");
  says(refusal("soccer", Target::cce, true), "not with cce");
  says(refusal("random:players=1", Target::nash, false), "ask for cce or ce");
  says(refusal("random:players=2", Target::nash, true), "leave out --monotone");
  LearnerOptions options = preset_options(Preset::practical, Target::ce);
  options.rule = RuleName::ftrl;
  EXPECT_NE(flaw_of(options), std::nullopt);
  options = preset_options(Preset::practical, Target::cce);
  options.delta = 1.0;
  EXPECT_NE(flaw_of(options), std::nullopt);
  options.delta = std::nan("");
  EXPECT_NE(flaw_of(options), std::nullopt);
  options.delta = 0.1;
  EXPECT_EQ(flaw_of(options), std::nullopt);
  options.bonus_constant = -1.0;
  EXPECT_NE(flaw_of(options), std::nullopt);
  options.bonus_constant = 1.0;
  options.horizon_episodes = 0;
  EXPECT_NE(flaw_of(options), std::nullopt);
  // What the fast preset cannot be combined with.
  const LearnerOptions fast = preset_options(Preset::fast, Target::cce);
  EXPECT_EQ(flaw_of(fast), std::nullopt);
  const auto flaw = [&](const auto& change, Target target = Target::cce) {
    options = preset_options(Preset::fast, target);
    change(options);
    return flaw_of(options).value_or("fine");
  };
  says(flaw([](LearnerOptions& o) { o.control_variate = false; }), "needs control variates");
  says(flaw([](LearnerOptions& o) { o.control_variate = false; }, Target::ce),
       "'optimistic-swap' needs control variates");
  says(flaw([](LearnerOptions& o) { o.rule = RuleName::optimistic; }, Target::ce), "swap regret");
  says(flaw([](LearnerOptions& o) { o.pessimistic = true; }), "the paper's weights only");
  says(flaw([](LearnerOptions& o) { o.monotone = true; }, Target::nash),
       "the paper's weights only");
  says(flaw([](LearnerOptions& o) { o.bonus = Bonus::rigorous; }), "the paper's weights only");
  const auto bounded = [](LearnerOptions& o) {
    o.value_weights = ValueWeights::paper;
    o.pessimistic = true;
  };
  says(flaw(bounded), "fine");
  // What values that are read off estimates cannot be combined with.
  options = preset_options(Preset::proven, Target::nash);
  EXPECT_EQ(flaw_of(options), std::nullopt);
  options.monotone = true;
  says(flaw_of(options).value_or("fine"), "not monotone");
  options = preset_options(Preset::proven, Target::cce);
  options.rule = RuleName::optimistic;
  says(flaw_of(options).value_or("fine"), "'optimistic' bound no values");
  options = preset_options(Preset::proven, Target::cce);
  options.value_weights = ValueWeights::step;
  says(flaw_of(options).value_or("fine"), "the paper's weights only");
  options = preset_options(Preset::proven, Target::ce);
  options.control_variate = false;
  says(flaw_of(options).value_or("fine"), "'optimistic-swap-rigorous' needs control variates");
  for (const std::uint64_t weights : {std::uint64_t{0}, kMaxSteps}) {
    says(flaw([&](LearnerOptions& o) { o.output_weights = weights; }), "output weights");
  }
  for (const std::uint64_t weights : {std::uint64_t{1}, kMaxSteps - 1}) {
    says(flaw([&](LearnerOptions& o) { o.output_weights = weights; }), "fine");
  }
}

TEST(Presets, AreWhatTheyAreCalled) {
  const LearnerOptions paper = preset_options(Preset::paper, Target::cce);
  EXPECT_EQ(paper.bonus_constant, 11.0);
  EXPECT_EQ(paper.loss_scale, LossScale::paper);
  EXPECT_NE(guarantee_of(paper, 1000).find("theorem"), std::string::npos);
  LearnerOptions weak = paper;
  weak.bonus_constant = 0.01;
  EXPECT_NE(guarantee_of(weak, 1000).find("none"), std::string::npos);
  const LearnerOptions rigorous = preset_options(Preset::rigorous, Target::ce);
  EXPECT_EQ(rigorous.rule, RuleName::ftrl_swap_rigorous);
  EXPECT_NE(guarantee_of(rigorous, 1000).find("upper and lower"), std::string::npos);
  LearnerOptions late = rigorous;
  late.horizon_episodes = 999;
  EXPECT_NE(guarantee_of(late, 1000).find("none"), std::string::npos);
  EXPECT_NE(guarantee_of(late, 999).find("upper and lower"), std::string::npos);
  const LearnerOptions proven = preset_options(Preset::proven, Target::ce);
  EXPECT_EQ(proven.rule, RuleName::optimistic_swap_rigorous);
  EXPECT_EQ(preset_options(Preset::proven, Target::nash).rule, RuleName::optimistic_rigorous);
  EXPECT_EQ(guarantee_of(proven, 1000), guarantee_of(rigorous, 1000));
  LearnerOptions by_horizon = proven;
  by_horizon.loss_scale = LossScale::paper;
  EXPECT_NE(guarantee_of(by_horizon, 1000).find("none"), std::string::npos);
  LearnerOptions without = proven;
  without.bonus = Bonus::rigorous;
  EXPECT_NE(guarantee_of(without, 1000).find("none"), std::string::npos);
  LearnerOptions other_rule = preset_options(Preset::rigorous, Target::cce);
  other_rule.rule = RuleName::tsallis;
  EXPECT_NE(guarantee_of(other_rule, 1000).find("none"), std::string::npos);
  weak.bonus_constant = 10.9;
  EXPECT_NE(guarantee_of(weak, 1000).find("none"), std::string::npos);
  LearnerOptions variates = rigorous;
  variates.control_variate = true;
  EXPECT_NE(guarantee_of(variates, 1000).find("none"), std::string::npos);
}

TEST(Presets, OfWhichTheFastOneHasNoGuarantee) {
  const LearnerOptions fast = preset_options(Preset::fast, Target::nash);
  EXPECT_EQ(fast.rule, RuleName::optimistic_nash);
  EXPECT_EQ(preset_options(Preset::fast, Target::cce).rule, RuleName::optimistic);
  EXPECT_EQ(preset_options(Preset::fast, Target::ce).rule, RuleName::optimistic_swap);
  EXPECT_TRUE(fast.control_variate);
  EXPECT_EQ(fast.bonus, Bonus::visits);
  EXPECT_EQ(fast.bonus_constant, usual_constant(Bonus::visits));
  EXPECT_EQ(fast.value_weights, ValueWeights::step);
  EXPECT_EQ(fast.action_draws, ActionDraws::spread);
  EXPECT_FALSE(has_bounds(fast));
  EXPECT_NE(guarantee_of(fast, 1000).find("none"), std::string::npos);
  // Proofs are about independent draws, and about the paper's weights of values and output.
  for (const Preset preset : {Preset::paper, Preset::rigorous, Preset::proven}) {
    const LearnerOptions proven = preset_options(preset, Target::cce);
    EXPECT_EQ(guarantee_of(proven, 1000).find("none"), std::string::npos);
    LearnerOptions other = proven;
    other.action_draws = ActionDraws::spread;
    EXPECT_NE(guarantee_of(other, 1000).find("none"), std::string::npos);
    other = proven;
    other.output_weights = 3;
    EXPECT_NE(guarantee_of(other, 1000).find("none"), std::string::npos);
    other = proven;
    other.value_weights = ValueWeights::step;
    EXPECT_NE(guarantee_of(other, 1000).find("none"), std::string::npos);
  }
}

TEST(Presets, OutputWeightsAreThoseOfTheFile) {
  const AnyGame game = make_game("random:players=2,states=2,actions=2,horizon=4,seed=1");
  LearnerOptions options = preset_options(Preset::fast, Target::cce);
  EXPECT_EQ(trainer_of(game, options)->policy_header(Player(1)).weights, 4U);
  options.output_weights = 7;
  EXPECT_EQ(trainer_of(game, options)->policy_header(Player(1)).weights, 7U);
  EXPECT_FALSE(trainer_of(game, options)->policy_header(Player(1)).taper);
  options.output_taper = true;
  EXPECT_TRUE(trainer_of(game, options)->policy_header(Player(1)).taper);
  // Only Markov outputs of the fast preset are tapered.
  EXPECT_TRUE(preset_config(game, Preset::fast, Target::ce, 100, 1).learner.output_taper);
  EXPECT_FALSE(preset_config(game, Preset::practical, Target::ce, 100, 1).learner.output_taper);
  EXPECT_FALSE(natural_taper(Preset::fast, CertifiedOutput::nested));
  options.output_weights = kMaxSteps - 1;
  EXPECT_TRUE(flaw_of(options).has_value());
}

TEST(Rows, ComeAtFixedEpisodes) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t k = 0; k < 1000;) rows.push_back(k = next_row_episode(k));
  const std::vector<std::uint64_t> want = {1,   2,   3,   4,   5,   6,   8,   10,  12,  15,
                                           20,  25,  30,  40,  50,  60,  80,  100, 120, 150,
                                           200, 250, 300, 400, 500, 600, 800, 1000};
  EXPECT_EQ(rows, want);
  EXPECT_EQ(next_row_episode(10), 12U);
  EXPECT_EQ(next_row_episode(999'999), 1'000'000U);
  EXPECT_GT(next_row_episode(std::uint64_t{1} << 60U), std::uint64_t{1} << 60U);
}

TEST(Learn, ReportsRowsAndStops) {
  const AnyGame game = make_game("random:players=2,states=3,actions=2,horizon=3,seed=1");
  LearnConfig config;
  config.learner = preset_options(Preset::rigorous, Target::cce);
  config.episodes = 1234;
  std::vector<MetricsRow> rows;
  std::uint64_t reported = 0;
  LearnHooks hooks;
  hooks.row = [&](const MetricsRow& row) { rows.push_back(row); };
  hooks.progress = [&](std::uint64_t episodes) { reported = episodes; };
  const auto trainer = trainer_of(game, config.learner);
  const LearnResult result = learn(*trainer, frame_of(game), config, hooks);
  EXPECT_EQ(result.stopped, Stopped::episodes);
  EXPECT_EQ(result.last.episode, 1234U);
  EXPECT_EQ(result.agent_steps, 1234U * 6U);
  EXPECT_EQ(reported, 1234U);
  EXPECT_EQ(rows.front().episode, 1U);
  EXPECT_EQ(rows.back().episode, 1234U);
  EXPECT_EQ(rows[rows.size() - 2].episode, 1200U);
  // Returns of the rows, weighted with their episodes, make the return of the run.
  double earned = 0.0;
  std::uint64_t before = 0;
  for (const MetricsRow& row : rows) {
    earned += row.players[1].mean_return.value() * static_cast<double>(row.episode - before);
    before = row.episode;
  }
  EXPECT_NEAR(earned / 1234.0, result.last.players[1].mean_return.value(), 1e-12);
  for (const PlayerMetrics& player : result.last.players) {
    EXPECT_LE(*player.lower, player.value);
    EXPECT_GE(player.upper, player.value);
    EXPECT_GE(*player.gap_bound, player.upper - *player.lower);  // bounds shrink with time
  }
  CancelSource source;
  source.request();
  hooks.cancel = source.token();
  const auto stopped = trainer_of(game, config.learner);
  EXPECT_EQ(learn(*stopped, frame_of(game), config, hooks).stopped, Stopped::interrupt);
  config.episodes.reset();
  config.max_seconds = 1e-9;
  const auto late = trainer_of(game, config.learner);
  EXPECT_EQ(learn(*late, frame_of(game), config, {}).stopped, Stopped::time);
}

/// The estimate is the average of what came, without bonus: computed here from the visits.
TEST(Learn, EstimatesWhatWasEarned) {
  const AnyGame any = make_game("random:players=2,states=3,actions=2,horizon=3,seed=1");
  const auto& game = std::get<DenseGame>(any);
  SelfPlay<Tsallis<>> play(GameRef(game), Tsallis<>(3),
                           preset_options(Preset::practical, Target::cce), 3);
  const Seat& seat = play.seat();
  std::vector<double> estimate(seat.num_cells() + 1, 0.0);
  for (std::size_t h = 0; h < 3; ++h) {
    for (std::size_t i = seat.first_cell[h]; i < seat.first_cell[h + 1]; ++i) {
      estimate[i] = 0.5 * static_cast<double>(3 - h);
    }
  }
  std::vector<std::uint64_t> visits(seat.num_cells(), 0);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const double alpha = 4.0 / (3.0 + static_cast<double>(++visits[visit.cell]));
      const std::size_t next =
          visit.h.index() == 2 ? seat.num_cells() : seat.cell(visit.h.next(), visit.next);
      estimate[visit.cell] =
          (1.0 - alpha) * estimate[visit.cell] + alpha * (visit.rewards[1] + estimate[next]);
    });
  }
  for (std::size_t i = 0; i <= seat.num_cells(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(play.table(Player(1)).estimates()[i]),
              std::bit_cast<std::uint64_t>(estimate[i]));
  }
}

/// Players with different moves learn side by side, and each legal action is played.
TEST(Learn, PlayersMayHaveDifferentMoves) {
  const AnyGame game = load_game("pursuit").game;
  const LearnerOptions options = preset_options(Preset::practical, Target::cce);
  const auto trainer = trainer_of(game, options);
  trainer->play_until(2000, {});
  for (const Player player : all<Player>(frame_of(game).num_players())) {
    const Seat& seat = trainer->seat(player);
    for (std::size_t i = 0; i < seat.num_cells(); ++i) {
      double sum = 0.0;
      for (const double p : trainer->policy(player, i)) sum += p;
      EXPECT_NEAR(sum, 1.0, 1e-12);
      EXPECT_EQ(trainer->policy(player, i).size(), seat.num_actions[i]);
    }
  }
}

/// Numbers of states and of moves that differ from step to step and from state to state, and a
/// random first state.
DenseGame uneven_game() {
  const Frame frame({.num_players = 2,
                     .horizon = 3,
                     .stationary = false,
                     .num_states = {2, 3, 1},
                     .num_actions = {1, 2, 3, 2, 2, 2, 1, 4, 3, 3, 2, 5},
                     .initial = {0.25, 0.75},
                     .ranges = {{-1.0, 3.0}}});
  Draws draws({.seed = 11, .purpose = Purpose::test});
  std::vector<double> rewards;
  std::vector<double> rows;
  const std::vector<std::uint32_t> next = frame.next_states();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::size_t joints = frame.num_joint_actions(cell).value();
    for (std::size_t i = 0; i < 2 * joints; ++i) rewards.push_back(4.0 * draws.uniform() - 1.0);
    for (std::size_t i = 0; i < joints && next[cell] > 0; ++i) {
      std::vector<double> row;
      for (std::size_t s = 0; s < next[cell]; ++s) row.push_back(draws.uniform());
      EXPECT_TRUE(normalise(row));
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return {frame, rewards, rows};
}

TEST(RunFolder, TablesHaveTheirPlaces) {
  const TemporaryFolder folder;
  const LoadedGame game{AnyGame(uneven_game())};
  const Frame& frame = frame_of(game.game);
  LearnConfig config;
  config.learner = preset_options(Preset::rigorous, Target::cce);
  config.episodes = 30'000;
  const auto trainer = trainer_of(game.game, config.learner);
  RunFolder run(folder / "a", "{}", 0, RunFolder::Existing::refuse);
  run.open({*trainer}, {"x", "rigorous", ""}, config, {});
  std::vector<MetricsRow> rows;
  LearnHooks hooks;
  hooks.row = [&](const MetricsRow& row) { rows.push_back(row); };
  const LearnResult result = learn(*trainer, frame, config, hooks);
  EXPECT_EQ(rows.front().visited_cells, 3U);
  // After one episode nothing is known: V is cut at 3, values from below at 0; ranges are 4 wide.
  EXPECT_EQ(rows.front().players[0].gap_bound.value(), 12.0);
  run.finish_history({*trainer});
  run.finish("{}", *trainer, frame, config, std::nullopt, result.stopped);
  const Container tables = Container::open(folder / "a" / "tables.safetensors");
  const auto place = [](std::size_t player, std::size_t h, std::size_t s) {
    return (player * 3 + h) * 3 + s;
  };
  for (std::size_t h = 0; h < 3; ++h) {
    for (std::size_t s = 0; s < 3; ++s) {
      const bool there = s < frame.num_states(Step(h));
      const std::size_t cell = there ? trainer->seat(Player(0)).cell(Step(h), State(s)) : 0;
      EXPECT_EQ(tables.view<std::uint64_t>("visits")[h * 3 + s], there ? trainer->visits(cell) : 0);
      for (const Player player : all<Player>(2)) {
        const std::size_t i = place(player.index(), h, s);
        const auto number = [&](const char* name) { return tables.view<double>(name)[i]; };
        EXPECT_EQ(number("upper"), there ? trainer->values(player)[cell] : 0.0);
        EXPECT_EQ(number("lower"), there ? trainer->low_values(player)[cell] : 0.0);
        EXPECT_EQ(number("value"), there ? trainer->estimates(player)[cell] : 0.0);
        const std::size_t actions = there ? frame.num_actions(player, Step(h), State(s)) : 0;
        for (std::size_t a = 0; a < 5; ++a) {
          EXPECT_EQ(tables.view<double>("current_policy")[i * 5 + a],
                    a < actions ? trainer->policy(player, cell)[a] : 0.0);
        }
      }
    }
  }
  double start = 0.25 * trainer->values(Player(1))[0] + 0.75 * trainer->values(Player(1))[1];
  EXPECT_NEAR(result.last.players[1].upper, 4.0 * start - 3.0, 1e-12);
  JsonWriter json;
  json.begin_object();
  write_result(json, {"x", "rigorous", ""}, game.about.names, config, "00", result, std::nullopt);
  const JsonDocument text = JsonDocument::parse(json.end_object().text(), "result");
  EXPECT_EQ(text.root().at("gap_bound").number(),
            std::max(*result.last.players[0].gap_bound, *result.last.players[1].gap_bound));
  EXPECT_NE(*result.last.players[0].gap_bound, *result.last.players[1].gap_bound);
}

TEST(RunFolder, RowsOfManyPlayersAreShort) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game("rps");
  const auto trainer = trainer_of(game.game, preset_options(Preset::practical, Target::nash));
  for (const std::size_t players : {100U, 101U}) {
    RunFolder run(folder / std::to_string(players), "{}", 0, RunFolder::Existing::refuse);
    run.open({*trainer}, {"rps", "practical", ""}, {}, {});
    MetricsRow row{7, 3, {}};
    for (std::size_t j = 0; j < players; ++j) {
      PlayerMetrics metrics;
      metrics.value = static_cast<double>(j);
      metrics.mean_return = 1.0;
      row.players.push_back(metrics);
    }
    run.add(row, 0.0);
    const std::string text = read(folder / std::to_string(players) / "metrics.csv");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), players == 100 ? 101 : 4);
    if (players == 101) {
      EXPECT_NE(text.find("\n7,min,0,"), std::string::npos);
      EXPECT_NE(text.find("\n7,mean,50,"), std::string::npos);
      EXPECT_NE(text.find("\n7,max,100,"), std::string::npos);
    }
  }
}

/// Errata 3 and 4 of the paper: player 1's policy is the average at the last visit at which player
/// 2's value fell. Computed here from the visits.
TEST(Learn, MonotoneOutputsAreCrossed) {
  const AnyGame any =
      make_game("random:players=2,states=2,actions=3,horizon=2,kind=zero-sum,seed=9");
  const auto& game = std::get<DenseGame>(any);
  LearnerOptions options = preset_options(Preset::practical, Target::nash);
  options.monotone = true;
  SelfPlay<Tsallis<>> play(GameRef(game), Tsallis<>(2), options, 3);
  const std::size_t cells = play.seat().num_cells();
  std::vector<std::uint64_t> visits(cells, 0);
  std::vector<std::vector<double>> mean(2 * cells, std::vector<double>(3, 1.0 / 3.0));
  std::vector<std::vector<double>> output = mean;
  std::vector<bool> fell_ever(2 * cells, false);
  int differ = 0;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    std::vector<std::size_t> path;
    std::vector<double> before;
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const double alpha = 3.0 / (2.0 + static_cast<double>(++visits[visit.cell]));
      for (const Player player : all<Player>(2)) {
        const std::span<const double> policy = play.table(player).policy(visit.cell);
        for (std::size_t b = 0; b < 3; ++b) {
          double& number = mean[2 * visit.cell + player.index()][b];
          number = (1.0 - alpha) * number + alpha * policy[b];
        }
        before.push_back(play.table(player).value(visit.cell));
      }
      path.push_back(visit.cell);
    });
    for (std::size_t h = 0; h < path.size(); ++h) {
      for (std::size_t j = 0; j < 2; ++j) {
        if (play.table(Player(1 - j)).value(path[h]) < before[2 * h + 1 - j]) {
          output[2 * path[h] + j] = mean[2 * path[h] + j];
          fell_ever[2 * path[h] + j] = true;
        }
      }
    }
  }
  for (std::size_t i = 0; i < 2 * cells; ++i) {
    const std::vector<double>& want = fell_ever[i] ? output[i] : mean[i];
    const std::span<const double> got = play.markov_policy(Player(i % 2), i / 2);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin()));
    differ += output[i] != mean[i] ? 1 : 0;
  }
  EXPECT_GT(differ, 0);  // the last average is not the one that counts
  EXPECT_NE(error_of(ErrorKind::usage,
                     [&] {
                       const AnyGame three = make_game("random:players=3");
                       SelfPlay<Tsallis<>>(GameRef(std::get<DenseGame>(three)), Tsallis<>(5),
                                           options, 1);
                     })
                .find("two players"),
            std::string::npos);
}

/// A simulator's first states are known by how often they came.
TEST(Learn, SimulatorsStartWhereTheyStart) {
  struct Coin {  // two first states, one pays 1 and the other 0
    bool heads = false;
    std::size_t num_players() const { return 1; }
    std::size_t horizon() const { return 1; }
    std::uint32_t max_actions(Player) const { return 2; }
    std::uint32_t num_actions(Player) const { return 2; }
    RewardRange reward_range(Player) const { return {}; }
    std::string state_key() const { return heads ? "heads" : "tails"; }
    void reset(Draws& draws) { heads = draws.uniform() < 0.75; }
    bool step(std::span<const Action>, Draws&, std::span<double> rewards) const {
      rewards[0] = heads ? 1.0 : 0.0;
      return true;
    }
  };
  DiscoveredGame<Coin> game(Coin{}, 5);
  LearnConfig config;
  config.learner = preset_options(Preset::rigorous, Target::optimal);
  config.episodes = 4000;
  const auto trainer = make_trainer(GameRef(game), config.learner, 1);
  const LearnResult result = learn(*trainer, game.frame(), config);
  // Four standard errors of a coin.
  EXPECT_NEAR(result.last.players[0].value, 0.75, 4.0 * std::sqrt(0.75 * 0.25 / 4000.0));
  EXPECT_NEAR(result.last.players[0].value, result.last.players[0].mean_return.value(), 1e-9);
  // Nothing can be gained; what the draws of the coin may hide is a part of the bound.
  EXPECT_GE(*result.last.players[0].gap_bound, start_radius(game.frame(), config.learner, 4000));
  EXPECT_LE(*result.last.players[0].gap_bound, 1.0);
}

/// How good the Markov policies of monotonic V-learning are, exactly.
TEST(Learn, MonotoneOutputsAreNearlyEquilibria) {
  const AnyGame any =
      make_game("random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=7");
  const auto& game = std::get<DenseGame>(any);
  LearnerOptions options = preset_options(Preset::practical, Target::nash);
  options.monotone = true;
  options.horizon_episodes = 200'000;
  const auto trainer = trainer_of(any, options);
  const auto gap = [&] {
    std::vector<std::vector<WeightedProfile>> policy;
    for (std::size_t i = 0; i < trainer->seat(Player(0)).num_cells(); ++i) {
      WeightedProfile profile{1.0, {}};
      for (const Player player : all<Player>(2)) {
        const std::span<const double> own = trainer->markov_policy(player, i);
        profile.policies.insert(profile.policies.end(), own.begin(), own.end());
      }
      policy.push_back({profile});
    }
    const std::vector<double> gains = test::markov_gap(game, Target::nash, policy).gains;
    return gains[0] + gains[1];
  };
  trainer->play_until(2'000, {});
  const double early = gap();
  trainer->play_until(200'000, {});
  const double late = gap();
  EXPECT_GT(early, 0.2);  // 0.376
  EXPECT_LT(late, 0.04);  // 0.0204 with this seed
  EXPECT_GT(late, 0.0);
}

TEST(RunFolder, HoldsEverythingAndReplacesNothing) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game("rps");
  LearnConfig config;
  config.learner = preset_options(Preset::rigorous, Target::nash);
  config.learner.monotone = true;
  config.episodes = 100;
  const RunTitle title{"rps", "rigorous", "00"};
  const auto write = [&](const std::filesystem::path& path, bool force) {
    const auto trainer = trainer_of(game.game, config.learner);
    RunFolder run(path, config_to_json(title, config), 2,
                  force ? RunFolder::Existing::replace : RunFolder::Existing::refuse);
    run.open({*trainer}, title, config, {});
    LearnHooks hooks;
    hooks.row = [&](const MetricsRow& row) { run.add(row, 0.5); };
    const LearnResult result = learn(*trainer, frame_of(game.game), config, hooks);
    JsonWriter json;
    json.begin_object();
    write_result(json, title, game.about.names, config, run.config_hash(), result, std::nullopt);
    run.finish_history({*trainer});
    run.finish(json.end_object().text(), *trainer, frame_of(game.game), config, std::nullopt,
               result.stopped);
  };
  write(folder / "a", false);
  write(folder / "b" / "c", false);
  for (const char* file : {"config.json", "metrics.jsonl", "metrics.csv", "result.json",
                           "tables.safetensors", "timing.jsonl", "checkpoint.safetensors"}) {
    EXPECT_EQ(read(folder / "a" / file), read(folder / "b" / "c" / file)) << file;
  }
  const Container tables = Container::open(folder / "a" / "tables.safetensors");
  EXPECT_EQ(tables.view<std::uint64_t>("visits")[0], 100U);
  EXPECT_EQ(tables.view<double>("current_policy").size(), 6U);
  EXPECT_EQ(tables.view<double>("markov_policy").size(), 6U);
  EXPECT_EQ(tables.view<double>("lower").size(), 2U);
  const std::string metrics = read(folder / "a" / "metrics.csv");
  EXPECT_EQ(metrics.substr(0, 14), "episode,player");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 1 + 2 * 18);
  EXPECT_NE(error_of(ErrorKind::usage, [&] { write(folder / "a", false); }).find("--force"),
            std::string::npos);
  write_file(folder / "a" / "mine.txt", "keep");
  write(folder / "a", true);
  EXPECT_EQ(read(folder / "a" / "mine.txt"), "keep");
  {
    const auto trainer = trainer_of(game.game, config.learner);
    RunFolder unfinished(folder / "a", config_to_json(title, config), 2,
                         RunFolder::Existing::replace);
    unfinished.open({*trainer}, title, config, {});
    EXPECT_NE(error_of(ErrorKind::usage, [&] { write(folder / "a", true); }).find("in use"),
              std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a" / "result.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a" / "tables.safetensors"));
  std::filesystem::create_directory(folder / "other");
  write_file(folder / "other" / "config.json", "{}");
  EXPECT_NE(error_of(ErrorKind::usage, [&] { write(folder / "other", true); }).find("other things"),
            std::string::npos);
  EXPECT_EQ(read(folder / "other" / "config.json"), "{}");
  error_of(ErrorKind::usage, [&] { write(folder / "a" / "mine.txt", true); });
}

TEST(RunFolder, NamesAreSafe) {
  EXPECT_EQ(run_name("rps", 1), "rps-1");
  EXPECT_EQ(run_name("random:players=8,seed=1", 3), "random-players=8,seed=1-3");
  EXPECT_EQ(run_name("../my games/poker.json", 2), "poker-2");
  EXPECT_EQ(run_name("-", 2), "stdin-2");
  EXPECT_EQ(run_name("a\nb\x1b[31m", 2), "a-b--31m-2");
}

}  // namespace
}  // namespace vlearn
