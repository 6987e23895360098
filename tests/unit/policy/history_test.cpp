// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
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
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/hash.h"
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
  const LearnerOptions cce = preset_options(Preset::proven, Target::cce);
  const LearnerOptions ce = preset_options(Preset::proven, Target::ce);
  const double events = BonusSchedule(cce, seat_of(game.frame(), Player(0))).log_events();
  const std::uint64_t horizon = game.frame().horizon();
  expect_same(record(GameRef(game), OptimisticRigorous(horizon, {events}), cce, 1000, 256));
  expect_same(record(GameRef(game), OptimisticSwapRigorous(horizon, {events}), ce, 1000, 256));
  // The fast preset, whose rules do not look at the horizon.
  expect_same(
      record(GameRef(game), Optimistic(), preset_options(Preset::fast, Target::cce), 1000, 256));
  expect_same(record(GameRef(game), OptimisticNash(), preset_options(Preset::fast, Target::nash),
                     1000, 256));
  expect_same(
      record(GameRef(game), OptimisticSwap(), preset_options(Preset::fast, Target::ce), 1000, 256));
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
  const RecordedRun run =
      record(GameRef(game), Ftrl<>(3), options, 500, segment_episodes(2, 3, 0), 4);
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

PolicyFile parse_text(const std::string& bytes) {
  return PolicyFile::parse(FileBytes::copy(std::as_bytes(std::span(bytes))), "file", make_replayer);
}

/// A header of a game with so many states in each of so many steps.
PolicyHeader header_of(std::size_t states, std::size_t steps, std::uint32_t actions) {
  PolicyHeader header;
  header.rule = "ftrl";
  header.weights = steps;
  header.segment_episodes = 4;
  header.seat = {.horizon = steps,
                 .num_players = 2,
                 .max_states = states,
                 .max_actions = actions,
                 .first_cell = {0},
                 .num_actions = std::vector<std::uint32_t>(states * steps, actions)};
  for (std::size_t h = 1; h <= steps; ++h) header.seat.first_cell.push_back(h * states);
  return header;
}

TEST(History, HeadersComeBack) {
  PolicyHeader header = header_of(5, 3, 7);
  header.player = Player(1);
  header.target = Target::ce;
  header.rule = "ftrl-swap-rigorous";
  header.control_variate = true;
  header.rule_parameter = 0.1;
  header.weights = 11;
  header.game_hash = "abc";
  header.config_hash = "\"";
  header.seat.num_actions[4] = 2;
  EXPECT_EQ(parse_text(encode_header(header)).header(), header);
}

/// A file of some hundred bytes cannot take much memory, whatever it says.
TEST(History, RefusesGamesThatAreTooLarge) {
  const std::string good = encode_header(header_of(1000, 20, 2));
  EXPECT_EQ(parse_text(good).header().seat.num_cells(), 20'000U);
  // The same with other numbers, and its length and checksum made right again.
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good.substr(8, good.size() - 16);
    text.replace(text.find(from), from.size(), to);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t size = text.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &size, 8);
    bytes += text;
    const std::uint64_t checksum = xxh3(std::as_bytes(std::span(bytes)));
    bytes.append(8, '\0');
    std::memcpy(bytes.data() + bytes.size() - 8, &checksum, 8);
    return bytes;
  };
  EXPECT_EQ(
      parse_text(with("[[2,20000]]", "[[2,10000],[1,10000]]")).header().seat.num_actions[10'000],
      1U);
  for (const char* const states :
       {"[[33554433,1]]", "[[1000,33555]]", "[[33554432,1048575]]", "[[1,1048576]]", "[[0,20]]",
        "[[1000,0]]", "[[1000]]", "[]", "[[18446744073709551615,18446744073709551615]]"}) {
    EXPECT_THROW(static_cast<void>(parse_text(with("[[1000,20]]", states))), Error) << states;
  }
  for (const char* const actions :
       {"[[2,19999]]", "[[2,20001]]", "[[3,20000]]", "[[2,20000],[2,1]]", "[[2,4294967296]]"}) {
    EXPECT_THROW(static_cast<void>(parse_text(with("[[2,20000]]", actions))), Error) << actions;
  }
  for (const char* const weights : {"0", "1048576", "-1", "1.5"}) {
    EXPECT_THROW(static_cast<void>(
                     parse_text(with("\"weights\":20", std::string("\"weights\":") + weights))),
                 Error)
        << weights;
  }
  for (const char* const segment : {"0", "65537"}) {
    EXPECT_THROW(static_cast<void>(parse_text(with(
                     "\"segment_episodes\":4", std::string("\"segment_episodes\":") + segment))),
                 Error)
        << segment;
  }
  // What cannot be read is not written.
  EXPECT_THROW(static_cast<void>(encode_header(header_of(kMaxPolicyCells + 1, 1, 2))), Error);
  PolicyHeader uneven = header_of(700'000, 1, 2);
  for (std::size_t cell = 0; cell < 700'000; cell += 2) uneven.seat.num_actions[cell] = 1;
  EXPECT_THROW(static_cast<void>(encode_header(uneven)), Error);
  uneven.seat.num_actions.resize(649'000);
  uneven.seat.first_cell = {0, 649'000};
  uneven.seat.max_states = 649'000;
  EXPECT_EQ(parse_text(encode_header(uneven)).header().seat, uneven.seat);
  // A bandit of a swap rule has the square of its actions.
  PolicyHeader swap = header_of(1, 1, 4095);
  swap.rule = "ftrl-swap";
  EXPECT_EQ(parse_text(encode_header(swap)).episodes(), 0U);
  swap = header_of(1, 1, 4096);
  swap.rule = "ftrl-swap";
  EXPECT_THROW(static_cast<void>(parse_text(encode_header(swap))), Error);
}

/// Whose checksums are right, and which no trainer writes: replays would not be policies.
TEST(History, RefusesNumbersThatNoRuleMakes) {
  const auto accepts = [](bool variates, const LoggedVisit& visit) {
    PolicyHeader header = header_of(1, 1, 3);
    header.control_variate = variates;
    VisitLog log(std::span(&header.seat, 1), 4, variates);
    log.begin_visit(0);
    log.add(0, visit);
    log.sort();
    std::string bytes = encode_header(header);
    const std::vector<std::byte> segment = log.encode(0, 0);
    bytes.append(reinterpret_cast<const char*>(segment.data()), segment.size());
    try {
      return parse_text(bytes).episodes() == 1;
    } catch (const Error&) {
      return false;
    }
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(accepts(false, {Action(2), {0x1p40F, 0.0F}}));
  EXPECT_TRUE(accepts(true, {Action(0), {-0x1p40F, -1.0F}}));
  EXPECT_FALSE(accepts(false, {Action(3), {1.0F, 0.0F}}));
  EXPECT_FALSE(accepts(false, {Action(0), {-1.0F, 0.0F}}));
  for (const float score : {0x1p42F, infinity, -infinity, nan}) {
    EXPECT_FALSE(accepts(false, {Action(0), {score, 0.0F}}));
    EXPECT_FALSE(accepts(true, {Action(0), {score, 0.0F}}));
  }
  for (const float mean : {3.0F, -3.0F, infinity, nan}) {
    EXPECT_FALSE(accepts(true, {Action(0), {0.0F, mean}}));
  }
}

TEST(History, RefusesSnapshotsThatNoRuleMakes) {
  const auto accepts = [](double number) {
    const PolicyHeader header = header_of(1, 1, 2);
    VisitLog log(std::span(&header.seat, 1), 64, false);
    for (int i = 0; i < 64; ++i) {
      log.begin_visit(0);
      log.add(0, {Action(0), {1.0F, 0.0F}});
    }
    const std::array<double, 2> numbers = {0.0, number};
    log.add_snapshot(0, numbers);
    log.sort();
    PolicyHeader longer = header;
    longer.segment_episodes = 64;
    std::string bytes = encode_header(longer);
    const std::vector<std::byte> segment = log.encode(0, 0);
    bytes.append(reinterpret_cast<const char*>(segment.data()), segment.size());
    try {
      return parse_text(bytes).episodes() == 64;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(accepts(1e6));
  EXPECT_FALSE(accepts(1e300));
  EXPECT_FALSE(accepts(-3.0));
  EXPECT_FALSE(accepts(std::numeric_limits<double>::quiet_NaN()));
}

TEST(History, KnowsItsRulesByName) {
  PolicyHeader header;
  header.seat = seat_of(small_game().frame(), Player(0));
  header.rule = "ftrl-of-tomorrow";
  header.weights = 3;
  header.segment_episodes = 10;
  const std::string text = encode_header(header);
  const std::string message = error_of(ErrorKind::input, [&] {
    static_cast<void>(
        PolicyFile::parse(FileBytes::copy(std::as_bytes(std::span(text))), "x", make_replayer));
  });
  EXPECT_TRUE(message.starts_with("x: rule: 'ftrl-of-tomorrow' is not known")) << message;
}

TEST(History, RefusesRulesWithoutTheControlVariatesThatTheyNeed) {
  for (const char* rule : {"optimistic", "optimistic-nash", "optimistic-swap",
                           "optimistic-rigorous", "optimistic-swap-rigorous"}) {
    PolicyHeader header = header_of(2, 3, 4);
    header.rule = rule;
    const std::string problem =
        error_of(ErrorKind::input, [&] { static_cast<void>(parse_text(encode_header(header))); });
    EXPECT_TRUE(problem.starts_with("file: control_variate: ")) << problem;
    header.control_variate = true;
    EXPECT_EQ(parse_text(encode_header(header)).header(), header);
  }
}

TEST(History, HeadersAreReadWithoutTheRest) {
  const test::TemporaryFolder folder;
  const PolicyHeader header = header_of(2, 3, 4);
  const std::string text = encode_header(header) + "no segment";
  write_file(folder / "player-1.policy", text);
  EXPECT_EQ(PolicyFile::read_header(folder / "player-1.policy"), header);
  EXPECT_THROW(static_cast<void>(parse_text(text)), Error);
}

TEST(History, SegmentsFitMemory) {
  EXPECT_EQ(segment_episodes(2, 10, 0), 65536U);
  EXPECT_EQ(segment_episodes(1000, 3, 0), 1024U);
  EXPECT_EQ(segment_episodes(1'000'000, 100, 0), 1U);
  // ftrl-swap with 64 actions: 8 (64 + 64^2) bytes every 64 visits.
  EXPECT_EQ(segment_episodes(2, 10, 520), 4096U);
}

}  // namespace
}  // namespace vlearn
