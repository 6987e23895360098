// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/recorded_run.h"
#include "support/temporary_folder.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/game/any_game.h"

namespace vlearn {
namespace {

using test::error_of;
using test::record;
using test::RecordedRun;
using test::RecordedVisit;

const DenseGame& small_game() {
  static const AnyGame game = make_game("random:players=2,states=3,actions=3,horizon=3,seed=1");
  return std::get<DenseGame>(game);
}

template <class Rule, class... Steps>
RecordedRun run_of(const DenseGame& game,
                   RuleName name,
                   bool variates,
                   std::uint64_t episodes,
                   const Steps&... steps) {
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = name;
  options.control_variate = variates;
  return record(GameRef(game), Rule(game.frame().horizon(), steps...), options, episodes, 256);
}

/// Everything that was played comes back from the file, bit for bit.
void expect_same(const RecordedRun& run) {
  for (std::size_t j = 0; j < run.files.size(); ++j) {
    const PolicyFile file = run.file(j);
    ReplayMemory memory;
    for (std::size_t cell = 0; cell < run.visits[j].size(); ++cell) {
      const std::vector<RecordedVisit>& visits = run.visits[j][cell];
      ASSERT_EQ(file.visits_before(cell, file.episodes()), visits.size());
      std::vector<double> policy(file.header().seat.num_actions[cell]);
      for (std::size_t i = 0; i < visits.size(); ++i) {
        ASSERT_EQ(file.episode_of(cell, i + 1), visits[i].episode);
        ASSERT_EQ(file.visits_before(cell, visits[i].episode), i);
        ASSERT_EQ(file.visits_before(cell, visits[i].episode + 1), i + 1);
        ASSERT_EQ(file.logged(cell, i + 1).action, visits[i].action);
        file.policy(cell, i + 1, policy, memory);
        for (std::size_t b = 0; b < policy.size(); ++b) {
          ASSERT_EQ(std::bit_cast<std::uint64_t>(policy[b]),
                    std::bit_cast<std::uint64_t>(visits[i].policy[b]))
              << "cell " << cell << ", visit " << i + 1;
        }
      }
    }
  }
}

TEST(History, GivesBackEveryPolicyOfEveryRule) {
  const DenseGame& game = small_game();
  const LearnerOptions options = preset_options(Preset::practical, Target::cce);
  const double log_events = BonusSchedule(options, seat_of(game.frame(), Player(0))).log_events();
  constexpr auto on = ControlVariate::on;
  expect_same(run_of<Ftrl<>>(game, RuleName::ftrl, false, 1000));
  expect_same(run_of<Ftrl<on>>(game, RuleName::ftrl, true, 1000));
  expect_same(run_of<Ftrl<>>(game, RuleName::ftrl_predictive, false, 1000,
                             FtrlSteps{FtrlIndex::predictive}));
  expect_same(run_of<FtrlRigorous<>>(game, RuleName::ftrl_rigorous, false, 1000,
                                     RigorousSteps<Regret::external>{log_events}));
  expect_same(run_of<FtrlSwap<>>(game, RuleName::ftrl_swap, false, 1000));
  expect_same(run_of<FtrlSwap<on>>(game, RuleName::ftrl_swap, true, 1000));
  expect_same(run_of<FtrlSwapRigorous<>>(game, RuleName::ftrl_swap_rigorous, false, 1000,
                                         RigorousSteps<Regret::swap>{log_events}));
  expect_same(run_of<Exp3Ix<>>(game, RuleName::exp3_ix, false, 1000));
  expect_same(run_of<Exp3Ix<on>>(game, RuleName::exp3_ix, true, 1000));
  expect_same(run_of<Tsallis<>>(game, RuleName::tsallis, false, 1000));
  expect_same(run_of<Tsallis<on>>(game, RuleName::tsallis, true, 1000));
  expect_same(run_of<LogBarrier<>>(game, RuleName::log_barrier, false, 1000));
  expect_same(run_of<LogBarrier<on>>(game, RuleName::log_barrier, true, 1000));
}

TEST(History, HoldsManyActionsAndManySteps) {
  const AnyGame wide = make_game("random:players=2,states=2,actions=300,horizon=1,seed=1");
  expect_same(run_of<Ftrl<>>(std::get<DenseGame>(wide), RuleName::ftrl, false, 300));
  const AnyGame many = make_game("random:players=2,states=30,actions=65,horizon=2,seed=1");
  expect_same(run_of<Tsallis<>>(std::get<DenseGame>(many), RuleName::tsallis, false, 2000));
  const AnyGame dull = make_game("random:players=1,states=2,actions=1,horizon=7,seed=1");
  expect_same(run_of<Ftrl<>>(std::get<DenseGame>(dull), RuleName::ftrl, false, 300));
}

/// What the docs promise: 4 bytes of score, 2 of episode, 1 of action, snapshots below one.
TEST(History, IsSmall) {
  const AnyGame game = make_game("random:players=2,states=4,actions=10,horizon=5,seed=1");
  const auto bytes_per_visit = [&](const RecordedRun& run, std::uint64_t episodes) {
    return static_cast<double>(run.files[0].size()) / static_cast<double>(5 * episodes);
  };
  const LearnerOptions base = preset_options(Preset::practical, Target::cce);
  LearnerOptions ftrl = base;
  ftrl.rule = RuleName::ftrl;
  const auto& dense = std::get<DenseGame>(game);
  EXPECT_LE(bytes_per_visit(record(GameRef(dense), Ftrl<>(5), ftrl, 20'000, 4096), 20'000), 8.0);
  LearnerOptions tsallis = base;
  tsallis.control_variate = true;
  EXPECT_LE(
      bytes_per_visit(record(GameRef(dense), Tsallis<ControlVariate::on>(5), tsallis, 20'000, 4096),
                      20'000),
      16.0);
}

TEST(History, TrainersWriteTheSameFile) {
  const DenseGame& game = small_game();
  LearnerOptions options = preset_options(Preset::paper, Target::cce);
  options.horizon_episodes = 500;
  const RecordedRun run = record(GameRef(game), Ftrl<>(3), options, 500, segment_episodes(2, 3), 4);
  const auto trainer = make_trainer(GameRef(game), options, 4);
  std::vector<std::vector<std::byte>> files(2);
  for (const Player player : all<Player>(2)) {
    const std::string header = encode_header(trainer->policy_header(player));
    test::append(files[player.index()], std::as_bytes(std::span(header)));
  }
  trainer->keep_history([&](Player player, std::span<const std::byte> bytes) {
    test::append(files[player.index()], bytes);
  });
  trainer->play_until(500, {});
  trainer->hand_out_rest();
  EXPECT_EQ(files, run.files);
}

TEST(History, RefusesEveryDamage) {
  const RecordedRun run =
      run_of<Tsallis<ControlVariate::on>>(small_game(), RuleName::tsallis, true, 300);
  const std::vector<std::byte>& good = run.files[0];
  const auto parse = [](std::vector<std::byte> bytes) {
    static_cast<void>(PolicyFile::parse(FileBytes::copy(bytes), "damaged", make_replayer));
  };
  parse(good);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bytes = good;
    bytes[i] ^= std::byte{static_cast<unsigned char>(1U << (i % 8))};
    EXPECT_THROW(parse(bytes), Error) << "byte " << i;
  }
  // Cut off: a shorter file is one only where a segment ends.
  int accepted = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    try {
      parse({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
  }
  EXPECT_EQ(accepted, 2);  // the header alone, and the first of two segments
}

TEST(History, KnowsItsRulesByName) {
  PolicyHeader header;
  header.seat = seat_of(small_game().frame(), Player(0));
  header.rule = "ftrl-of-tomorrow";
  header.weights = 3;
  header.segment_episodes = 10;
  const std::string text = encode_header(header);
  EXPECT_NE(error_of(ErrorKind::input,
                     [&] {
                       static_cast<void>(PolicyFile::parse(
                           FileBytes::copy(std::as_bytes(std::span(text))), "x", make_replayer));
                     })
                .find("ftrl-of-tomorrow"),
            std::string::npos);
}

TEST(History, SegmentsFitMemory) {
  EXPECT_EQ(segment_episodes(2, 10), 65536U);
  EXPECT_EQ(segment_episodes(1000, 3), 1024U);
  EXPECT_EQ(segment_episodes(1'000'000, 100), 1U);
}

}  // namespace
}  // namespace vlearn
