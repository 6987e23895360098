// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/joint_play.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/core/running_mean.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

GameRef ref_of(const LoadedGame& game) {
  return std::visit([](const auto& model) { return GameRef(model); }, game.game);
}

StoredRun run_of(const std::string& word, const LoadedGame& game, const TemporaryFolder& folder) {
  LearnConfig config;
  config.learner = preset_options(Preset::practical, Target::cce);
  config.episodes = 500;
  const RunTitle title{word, "practical", to_hex(law_hash_of(game.game))};
  const std::size_t players = frame_of(game.game).num_players();
  RunFolder run(folder / "run", config_to_json(title, config), players,
                RunFolder::Existing::refuse);
  const auto trainer = make_trainer(ref_of(game), config.learner, config.seed);
  run.open({*trainer}, title, config, {});
  trainer->play_until(500, {});
  trainer->hand_out_rest();
  return read_run(run.path());
}

TEST(JointPlay, ShowsWhatIsPlayedAndSaysWhatItEarns) {
  const TemporaryFolder folder;
  const std::string word = "congestion:players=3,routes=2,states=2,horizon=2";
  const LoadedGame game = load_game(word);
  const StoredRun run = run_of(word, game, folder);
  JointPlay play(run, ref_of(game), {StartRule::Kind::uniform}, OutputKind::nested);
  const Frame& frame = frame_of(game.game);
  constexpr std::uint64_t kSeed = 5;
  std::vector<RunningMean> returns(3);
  std::vector<double> earned(3);
  std::vector<double> rewards(3);
  std::uint64_t steps = 0;
  const auto values = play.play(200, kSeed, [&](const JointPlay::Seen& seen) {
    ASSERT_EQ(seen.episode.index(), steps / 2);
    ASSERT_EQ(seen.h.index(), steps % 2);
    ++steps;
    if (seen.h == Step(0)) std::fill(earned.begin(), earned.end(), 0.0);
    std::vector<Action> joint;
    for (const PolicyPlayer::Move& move : seen.moves) {
      EXPECT_EQ(move.visit, seen.moves[0].visit);
      joint.push_back(move.action);
    }
    ref_of(game).sample(seen.h, seen.s, joint, Nature(kSeed, seen.episode, seen.h), rewards);
    for (std::size_t j = 0; j < 3; ++j) earned[j] += rewards[j];
    if (!frame.is_last(seen.h)) return;
    for (std::size_t j = 0; j < 3; ++j) returns[j].add(earned[j]);
  });
  EXPECT_EQ(steps, 400U);
  ASSERT_EQ(values.size(), 3U);
  for (const Player player : all<Player>(3)) {
    const RewardRange& range = frame.range(player);
    const RunningMean& of = returns[player.index()];
    EXPECT_EQ(values[player.index()].mean, range.from_unit(of.mean(), 2.0));
    EXPECT_EQ(values[player.index()].standard_error,
              (range.high - range.low) * of.standard_error());
    EXPECT_GT(of.standard_error(), 0.0);
  }
}

TEST(JointPlay, RefusesFilesOfAnotherGame) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game("chicken");
  StoredRun run = run_of("chicken", game, folder);
  const std::string hash = run.title.game_hash;
  const auto refusal = [&] {
    return error_of(ErrorKind::input, [&] {
      static_cast<void>(JointPlay(run, ref_of(game), {}, OutputKind::nested));
    });
  };
  run.title.game_hash[0] = hash[0] == '0' ? '1' : '0';
  EXPECT_NE(refusal().find("another game"), std::string::npos);
  run.title.game_hash = hash;
  const std::filesystem::path path = policy_path(run.path, Player(0));
  PolicyHeader header = PolicyFile::open(path, make_replayer).header();
  header.player = Player(1);
  write_file(path, encode_header(header));
  EXPECT_NE(refusal().find("player 2"), std::string::npos);
  // The right hash, and other sizes.
  header.player = Player(0);
  for (std::uint32_t& count : header.seat.num_actions) ++count;
  ++header.seat.max_actions;
  write_file(path, encode_header(header));
  EXPECT_NE(refusal().find("another game"), std::string::npos);
}

}  // namespace
}  // namespace vlearn
