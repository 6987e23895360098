// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/core/container.h"
#include "vlearn/core/file.h"
#include "vlearn/core/hash.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

constexpr const char* kFour = "random:players=3,states=3,actions=3,horizon=3,seed=4";

/// A trainer, and what its history has handed out.
struct Played {
  std::unique_ptr<Trainer> trainer;
  std::vector<std::vector<std::byte>> segments;

  Played(const AnyGame& game, const LearnerOptions& options, bool history)
      : trainer(std::visit(
            [&](const auto& model) { return make_trainer(GameRef(model), options, 5); }, game)) {
    if (!history) return;
    trainer->keep_history([this](Player player, std::span<const std::byte> bytes) {
      segments.resize(std::max(segments.size(), player.index() + 1));
      std::vector<std::byte>& file = segments[player.index()];
      file.insert(file.end(), bytes.begin(), bytes.end());
    });
  }
  Played(const Played&) = delete;  // the trainer hands out to this one
  Played& operator=(const Played&) = delete;
  Played(Played&&) = delete;
  Played& operator=(Played&&) = delete;
  ~Played() = default;

  void finish(std::uint64_t episodes) const {
    trainer->play_until(episodes, {});
    trainer->hand_out_rest();
  }
};

void write(const Trainer& trainer, const std::filesystem::path& path) {
  ContainerWriter writer("test");
  trainer.save(writer);
  writer.write(path);
}

ContainerArrays read(const std::filesystem::path& path) {
  return ContainerArrays::read(path, [](const ContainerHeader&) {});
}

LearnerOptions options_of(RuleName rule, bool variates, Target target = Target::cce) {
  LearnerOptions options = preset_options(Preset::practical, target);
  options.rule = rule;
  options.control_variate = variates;
  return options;
}

struct Case {
  const char* name;
  std::string game;
  LearnerOptions options;
  bool history = true;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < kRuleNames.size(); ++i) {
    const auto rule = static_cast<RuleName>(i);
    const bool rigorous = kRuleNames[i].ends_with("rigorous");
    if (rigorous) continue;  // with their own bonus, below
    for (const bool variates : {false, true}) {
      if (needs_control_variate(rule) && !variates) continue;
      cases.push_back({kRuleNames[i].data(), kFour, options_of(rule, variates)});
    }
  }
  for (const Target target : {Target::cce, Target::ce}) {
    cases.push_back({"rigorous", kFour, preset_options(Preset::rigorous, target)});
    cases.push_back({"proven", kFour, preset_options(Preset::proven, target)});
    cases.push_back({"fast", kFour, preset_options(Preset::fast, target)});
  }
  LearnerOptions monotone = preset_options(Preset::rigorous, Target::nash);
  monotone.monotone = true;
  cases.push_back(
      {"monotone", "random:players=2,states=3,actions=3,horizon=3,kind=zero-sum,seed=4", monotone});
  LearnerOptions alone = preset_options(Preset::paper, Target::optimal);
  alone.monotone = true;
  cases.push_back({"one player", "lock:horizon=4", alone});
  cases.push_back({"no history", kFour, options_of(RuleName::tsallis, false), false});
  cases.push_back({"many players", "congestion-10", options_of(RuleName::ftrl, false)});
  return cases;
}

TEST(Checkpoint, RunsGoOnAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const LoadedGame game = load_game(one.game);
    const std::uint64_t episodes = one.game == "congestion-10" ? 2'000 : 3'000;
    Played whole(game.game, one.options, one.history);
    whole.finish(episodes);
    for (const std::uint64_t stop : {std::uint64_t{0}, std::uint64_t{1}, episodes / 3, episodes}) {
      Played first(game.game, one.options, one.history);
      first.trainer->play_until(stop / 2, {});
      first.trainer->set_mark();
      first.trainer->play_until(stop, {});
      write(*first.trainer, folder / "state");
      Played second(game.game, one.options, one.history);
      second.trainer->play_until(7, {});  // whatever was there is replaced
      second.segments.clear();
      ContainerArrays arrays = read(folder / "state");
      second.trainer->load(arrays);
      EXPECT_EQ(second.trainer->episodes(), stop);
      EXPECT_EQ(second.trainer->mark().episodes, stop / 2);
      EXPECT_EQ(second.trainer->mark().earned, first.trainer->mark().earned);
      write(*second.trainer, folder / "again");
      EXPECT_EQ(sha256(FileBytes::read(folder / "state", 1U << 26U).bytes()),
                sha256(FileBytes::read(folder / "again", 1U << 26U).bytes()));
      second.segments = first.segments;
      second.finish(episodes);
      EXPECT_EQ(second.trainer->signature(), whole.trainer->signature());
      for (const Player player : all<Player>(whole.trainer->seat(Player(0)).num_players)) {
        EXPECT_EQ(second.trainer->gap_bound(player), whole.trainer->gap_bound(player));
        const auto again = second.trainer->start_means(player);
        const auto means = whole.trainer->start_means(player);
        ASSERT_EQ(again.has_value(), means.has_value());
        if (!means) continue;
        EXPECT_EQ(again->upper, means->upper);
        EXPECT_EQ(again->lower, means->lower);
      }
      EXPECT_EQ(second.segments, whole.segments);
    }
  }
}

/// With many players segments are short.
TEST(Checkpoint, SegmentsAreCutAtFixedEpisodes) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game("congestion:players=1000,routes=3,horizon=50,seed=2");
  const LearnerOptions options = options_of(RuleName::ftrl, false);
  Played whole(game.game, options, true);
  const std::uint64_t segment = whole.trainer->policy_header(Player(0)).segment_episodes;
  ASSERT_LT(segment, 600U);
  const std::uint64_t episodes = segment + 10;
  whole.finish(episodes);
  for (const std::uint64_t stop : {segment - 1, segment}) {
    Played first(game.game, options, true);
    first.trainer->play_until(stop, {});
    write(*first.trainer, folder / "state");
    Played second(game.game, options, true);
    ContainerArrays arrays = read(folder / "state");
    second.trainer->load(arrays);
    second.segments = first.segments;
    second.finish(episodes);
    EXPECT_EQ(second.segments, whole.segments);
  }
}

/// A file whose checksum is right, with one array of it replaced by what `change` makes of it.
template <class Change>
std::vector<std::byte> changed(const std::filesystem::path& path,
                               const std::string& name,
                               const std::filesystem::path& scratch,
                               const Change& change) {
  const Container before = Container::open(path);
  ContainerWriter writer("test");
  for (const ArrayInfo& info : before.header().arrays()) {
    const auto copy = [&]<class T>(T /*unused*/) {
      const std::span<const T> values = before.view<T>(info.name);
      std::vector<T> own(values.begin(), values.end());
      if (info.name == name) change(own);
      writer.own(info.name, std::move(own));
    };
    switch (info.type) {
      case ElementType::f64: copy(0.0); break;
      case ElementType::f32: copy(0.0F); break;
      case ElementType::u64: copy(std::uint64_t{0}); break;
      case ElementType::u32: copy(std::uint32_t{0}); break;
      case ElementType::u16: copy(std::uint16_t{0}); break;
      default: copy(std::uint8_t{0}); break;
    }
  }
  writer.write(scratch);
  const FileBytes bytes = FileBytes::read(scratch, 1U << 26U);
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

TEST(Checkpoint, RefusesWhatNoRunLeaves) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game(kFour);
  for (const bool variates : {false, true}) {
    LearnerOptions options = variates ? options_of(RuleName::tsallis, true)
                                      : preset_options(Preset::rigorous, Target::ce);
    Played played(game.game, options, true);
    played.trainer->play_until(500, {});
    write(*played.trainer, folder / "state");
    const auto accepts = [&](const std::vector<std::byte>& bytes) {
      Played other(game.game, options, true);
      ContainerArrays arrays = ContainerArrays::copy(bytes, "state", [](const ContainerHeader&) {});
      try {
        other.trainer->load(arrays);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        return false;
      }
      other.finish(510);
      return true;
    };
    const auto with = [&](const std::string& name, const auto& change) {
      return accepts(changed(folder / "state", name, folder / "changed", change));
    };
    const auto nothing = [](auto& /*values*/) {};
    EXPECT_TRUE(with("run.episodes", nothing));
    const Container state = Container::open(folder / "state");
    for (const ArrayInfo& info : state.header().arrays()) {
      SCOPED_TRACE(info.name);
      EXPECT_FALSE(with(info.name, [](auto& values) { values.emplace_back(); }));
      if (info.bytes == 0) continue;
      EXPECT_FALSE(with(info.name, [](auto& values) { values.pop_back(); }));
      if (info.name == "run.episodes" || info.type == ElementType::u8) continue;
      EXPECT_FALSE(with(info.name, [](auto& values) {
        using T = std::remove_cvref_t<decltype(values[0])>;
        values[values.size() / 2] = std::numeric_limits<T>::has_quiet_NaN
                                        ? std::numeric_limits<T>::quiet_NaN()
                                        : std::numeric_limits<T>::max();
      }));
    }
    const auto set = [](auto number) {
      return [number](auto& values) {
        values[0] = static_cast<std::remove_cvref_t<decltype(values[0])>>(number);
      };
    };
    EXPECT_FALSE(with("run.episodes", set(499)));
    EXPECT_FALSE(with("run.episodes", set(501)));
    EXPECT_FALSE(with("play.bandits", set(0.9)));
    EXPECT_FALSE(with("play.numbers", set(-1)));
    EXPECT_FALSE(with("play.numbers", set(3.5)));
    EXPECT_FALSE(with("play.earned", set(1501)));
    EXPECT_FALSE(with("run.earned_at_mark", set(1501)));
    // Sums of V and of V from below, each with what it has lost: of each player four numbers.
    const auto set_at = [](std::size_t i, double number) {
      return [i, number](auto& values) {
        values[i] = static_cast<std::remove_cvref_t<decltype(values[0])>>(number);
      };
    };
    for (const double number : {-1.0, 1501.0, std::numeric_limits<double>::infinity()}) {
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_FALSE(with("run.start_sums", set_at(i, number))) << i << " " << number;
      }
    }
    EXPECT_FALSE(with("run.start_sums", [](auto& values) {  // from below, and above V
      values[6] = static_cast<std::remove_cvref_t<decltype(values[0])>>(
          static_cast<double>(values[4]) + 1.0);
    }));
    EXPECT_FALSE(with("log.cells", set(4)));  // of the second step
    EXPECT_FALSE(with("log.actions", set(3)));
    EXPECT_FALSE(with("log.snapshots", set(3)));  // there is no fourth player
  }
}

TEST(Checkpoint, TheNewestGoodOneIsUsed) {
  const TemporaryFolder folder;
  const LoadedGame game = load_game(kFour);
  const LearnerOptions options = options_of(RuleName::ftrl, false);
  const std::filesystem::path newest = folder / "checkpoint.safetensors";
  const std::filesystem::path older = folder / "checkpoint-old.safetensors";
  Played played(game.game, options, false);
  const Checkpoints checkpoints(folder / "", "hash");
  std::vector<std::string> told;
  std::uint64_t metrics = 0;
  const auto load = [&](const char* hash = "hash") -> std::optional<std::uint64_t> {
    told.clear();
    Played other(game.game, options, false);
    const std::optional<FileSizes> sizes =
        Checkpoints(folder / "", hash)
            .load(
                {*other.trainer}, [](const FileSizes&) {},
                [&](const std::string& message) { told.push_back(message); });
    if (!sizes) return std::nullopt;
    metrics = sizes->metrics;
    return other.trainer->episodes();
  };
  const auto play_to = [&](std::uint64_t episodes) {
    played.trainer->play_until(episodes, {});
    checkpoints.save({*played.trainer}, {episodes + 1, 0, {}});
  };
  const auto damage = [](const std::filesystem::path& path) {
    std::string bytes(FileBytes::read(path, 1U << 26U).text());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file(path, bytes);
  };
  EXPECT_EQ(load(), std::nullopt);
  for (const std::uint64_t episodes : {10U, 20U, 30U}) play_to(episodes);
  EXPECT_EQ(load(), 30U);
  EXPECT_EQ(metrics, 31U);
  EXPECT_TRUE(told.empty());
  EXPECT_NE(error_of(ErrorKind::input, [&] { static_cast<void>(load("other")); }).find("remove"),
            std::string::npos);
  EXPECT_NE(told.at(0).find("another run"), std::string::npos);
  // A bad one does not take the place of the good one before it.
  damage(newest);
  EXPECT_EQ(load(), 20U);
  EXPECT_EQ(metrics, 21U);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(newest));
  play_to(40);
  EXPECT_EQ(load(), 40U);
  EXPECT_TRUE(std::filesystem::exists(older));
  damage(newest);
  damage(older);
  error_of(ErrorKind::input, [&] { static_cast<void>(load()); });
  EXPECT_EQ(told.size(), 2U);
  // No more is read than a run can have.
  std::filesystem::resize_file(newest, std::uint64_t{1} << 36U);
  error_of(ErrorKind::input, [&] { static_cast<void>(load()); });
  EXPECT_NE(told.at(0).find("the limit is"), std::string::npos);
  play_to(50);
  checkpoints.keep_newest();
  EXPECT_FALSE(std::filesystem::exists(older));
  EXPECT_EQ(load(), 50U);
  checkpoints.remove_all();
  EXPECT_EQ(load(), std::nullopt);
}

}  // namespace
}  // namespace vlearn
