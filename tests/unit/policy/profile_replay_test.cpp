// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/profile_replay.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/executed_run.h"
#include "support/expect_error.h"
#include "support/recorded_run.h"
#include "vlearn/game/any_game.h"

namespace vlearn::test {
namespace {

/// A number for each thing that is seen, policies as their bits.
using Seen = std::vector<std::uint64_t>;

void see_visit(Seen& seen, Step h, State s, std::span<const double> policies) {
  seen.push_back(h.index());
  seen.push_back(s.index());
  for (const double p : policies) seen.push_back(std::bit_cast<std::uint64_t>(p));
}

using Bytes = std::vector<std::byte>;

struct Played {
  std::vector<Bytes> files;
  Seen seen;                            ///< in the order of play
  std::vector<std::size_t> ends = {0};  ///< of what was seen in each episode
};

Played play(const std::string& name, RuleName rule, std::uint64_t episodes, std::uint64_t seed) {
  const AnyGame game = make_game(name);
  const Frame& frame = frame_of(game);
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = rule;
  const auto trainer = std::visit(
      [&](const auto& model) { return make_trainer(GameRef(model), options, seed); }, game);
  Played played;
  for (const Player player : all<Player>(frame.num_players())) {
    const std::string header = encode_header(trainer->policy_header(player));
    append(played.files.emplace_back(), std::as_bytes(std::span(header)));
  }
  trainer->keep_history([&](Player player, std::span<const std::byte> more) {
    append(played.files[player.index()], more);
  });
  trainer->watch([&](Step h, State s, const Profile& profile) {
    std::vector<double> policies;
    for (const Player player : all<Player>(frame.num_players())) {
      policies.insert(policies.end(), profile[player].begin(), profile[player].end());
    }
    see_visit(played.seen, h, s, policies);
    if (frame.is_last(h)) played.ends.push_back(played.seen.size());
  });
  trainer->play_until(episodes, {});
  trainer->hand_out_rest();
  return played;
}

Seen replayed(const std::vector<Bytes>& bytes, std::uint64_t episodes, std::size_t threads) {
  std::vector<PolicyFile> files;
  files.reserve(bytes.size());
  for (const Bytes& own : bytes) {
    const std::string source = "file-" + std::to_string(files.size() + 1);
    files.push_back(PolicyFile::parse(FileBytes::copy(own), source, make_replayer));
  }
  Seen seen;
  replay_profiles(
      files, episodes, {.threads = threads},
      [&](Step h, State s, std::span<const double> policies) { see_visit(seen, h, s, policies); });
  return seen;
}

constexpr const char* kGame = "random:players=3,states=3,actions=3,horizon=3,seed=2";

TEST(ReplayProfiles, IsThePlayInItsOrder) {
  for (const RuleName rule : {RuleName::ftrl, RuleName::tsallis, RuleName::exp3_ix}) {
    const Played played = play(kGame, rule, 400, 1);
    for (const std::size_t threads : {1U, 2U, 3U}) {
      for (const std::uint64_t episodes : {0U, 1U, 63U, 399U, 400U}) {
        const Seen wanted(played.seen.begin(),
                          played.seen.begin() + static_cast<std::ptrdiff_t>(played.ends[episodes]));
        EXPECT_TRUE(replayed(played.files, episodes, threads) == wanted)
            << episodes << " episodes, " << threads << " threads";
      }
    }
  }
}

// 40 steps of profiles of 80 numbers: some 1300 episodes are kept at a time.
TEST(ReplayProfiles, GoesFromBlockToBlock) {
  const Played played =
      play("congestion:players=40,routes=2,states=2,horizon=40,seed=1", RuleName::tsallis, 2000, 1);
  for (const std::size_t threads : {1U, 3U}) {
    EXPECT_TRUE(replayed(played.files, 2000, threads) == played.seen);
  }
}

TEST(ReplayProfiles, RefusesFilesThatAreNotOfOneRun) {
  const Played one = play(kGame, RuleName::ftrl, 200, 1);
  const Played other = play(kGame, RuleName::ftrl, 200, 2);
  const Played shorter = play(kGame, RuleName::ftrl, 150, 1);
  const Played wider =
      play("random:players=3,states=4,actions=3,horizon=3,seed=2", RuleName::ftrl, 200, 1);
  // The message names a file, the key and what to do.
  const auto refuse = [](const std::vector<Bytes>& files, std::uint64_t episodes) {
    const std::string message =
        error_of(ErrorKind::input, [&] { static_cast<void>(replayed(files, episodes, 2)); });
    EXPECT_TRUE(message.starts_with("file-")) << message;
    EXPECT_NE(message.find("all players of one run"), std::string::npos) << message;
    return message;
  };
  for (const std::size_t place : {0U, 1U, 2U}) {
    for (const Played* strange : {&other, &shorter, &wider}) {
      std::vector<Bytes> files = one.files;
      files[place] = strange->files[place];
      const std::string message = refuse(files, 200);
      // The first is what the others are compared with.
      if (place == 0) continue;
      const std::string named = "file-" + std::to_string(place + 1) + ": ";
      EXPECT_TRUE(message.starts_with(named)) << message;
    }
  }
  // As far as both have been played they are the same run.
  std::vector<Bytes> files = one.files;
  files[1] = shorter.files[1];
  EXPECT_TRUE(replayed(files, 150, 1) == replayed(one.files, 150, 1));
  // Players in another order, or one twice.
  std::swap(files[0], files[2]);
  EXPECT_TRUE(refuse(files, 150).starts_with("file-1: player: is 3, want 1"));
  EXPECT_TRUE(refuse({one.files[0], one.files[0], one.files[2]}, 200)
                  .starts_with("file-2: player: is 1, want 2"));
  EXPECT_TRUE(refuse({one.files[0], one.files[1]}, 200)
                  .starts_with("file-1: players: is 3, and there are 2 files"));
}

// One state at each step: all runs have the same visits.
TEST(ReplayProfiles, RefusesFilesThatSayOtherThings) {
  const RecordedRun& run = narrow_run();
  static_cast<void>(replayed(run.files, 50, 1));
  const auto refuse = [&](const std::string& key, const auto& change) {
    PolicyHeader header = run.file(1).header();
    const std::size_t begin = encode_header(header).size();
    change(header);
    const std::string text = encode_header(header);
    Bytes changed;
    append(changed, std::as_bytes(std::span(text)));
    append(changed, std::span(run.files[1]).subspan(begin));
    const std::string message = error_of(ErrorKind::input, [&] {
      static_cast<void>(replayed({run.files[0], changed}, 50, 1));
    });
    EXPECT_TRUE(message.starts_with("file-2: " + key + ": is not of the same run as file-1"))
        << message;
  };
  refuse("weights", [](PolicyHeader& header) { header.weights += 1; });
  refuse("target", [](PolicyHeader& header) { header.target = Target::nash; });
  refuse("game_hash", [](PolicyHeader& header) { header.game_hash = "another"; });
  refuse("config_hash", [](PolicyHeader& header) { header.config_hash = "another"; });
}

}  // namespace
}  // namespace vlearn::test
