// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Every entry of the catalogue: what its file claims is true, and it survives every format.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/expect_error.h"
#include "support/markov_gap.h"
#include "support/temporary_folder.h"
#include "vlearn/core/file.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using test::error_of;

class Catalogue : public testing::TestWithParam<std::string> {};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Catalogue, testing::ValuesIn(all_names()), [](const auto& name) {
  std::string text = name.param;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

TEST_P(Catalogue, HasTitleSourceAndKnownValues) {
  const LoadedGame loaded = load_game(GetParam());
  EXPECT_FALSE(loaded.about.title.empty());
  EXPECT_FALSE(loaded.about.source.empty());
  ASSERT_FALSE(loaded.about.known.empty());
  for (const KnownSolution& known : loaded.about.known) {
    EXPECT_FALSE(known.source.empty());
    EXPECT_EQ(known.values.size(), frame_of(loaded.game).num_players());
  }
  loaded.about.names.check(frame_of(loaded.game));
}

// Values of up to 20000 with 16 digits each step: 1e-9 of the range leaves room for rounding only.
TEST_P(Catalogue, KnownPoliciesAreEquilibria) {
  const LoadedGame loaded = load_game(GetParam());
  const Frame& frame = frame_of(loaded.game);
  for (const KnownSolution& known : loaded.about.known) {
    if (known.policy.empty()) continue;
    const test::MarkovGap gap = std::visit(
        [&](const auto& game) { return test::markov_gap(game, known.target, known.policy); },
        loaded.game);
    for (const Player player : all<Player>(frame.num_players())) {
      const RewardRange& range = frame.range(player);
      const double steps = static_cast<double>(frame.horizon());
      EXPECT_NEAR(range.from_unit(gap.values[player.index()], steps), known.values[player.index()],
                  1e-9 * (range.high - range.low))
          << known.source << ", player " << player.number();
      EXPECT_LE(gap.gains[player.index()], 1e-9) << known.source << ", player " << player.number();
      EXPECT_GE(gap.gains[player.index()], -1e-9);
    }
    if (known.target == Target::nash || known.target == Target::optimal) {
      for (const std::vector<WeightedProfile>& stage : known.policy) EXPECT_EQ(stage.size(), 1U);
    }
  }
}

TEST_P(Catalogue, SurvivesEveryFormat) {
  const test::TemporaryFolder folder;
  const LoadedGame loaded = load_game(GetParam());
  const Frame& frame = frame_of(loaded.game);
  const bool one_shot = frame.horizon() == 1 && frame.max_states() == 1;
  for (const char* ending : {".json", ".safetensors", ".nfg"}) {
    const std::filesystem::path path = folder.path() / ("game" + std::string(ending));
    if (std::string(ending) == ".nfg" && !one_shot) {
      error_of(ErrorKind::usage, [&] { write_game(path, loaded); });
      EXPECT_FALSE(std::filesystem::exists(path));
      continue;
    }
    write_game(path, loaded);
    const LoadedGame again = read_game(path);
    EXPECT_EQ(law_hash_of(again.game), law_hash_of(loaded.game)) << ending;
    EXPECT_TRUE(again.remarks.empty());
    EXPECT_EQ(again.about.title, loaded.about.title) << ending;
    for (const Player player : all<Player>(frame.num_players())) {
      EXPECT_EQ(again.about.names.player(player), loaded.about.names.player(player)) << ending;
      for (const State s : all<State>(frame.num_states(Step(0)))) {
        EXPECT_EQ(again.about.names.state(Step(0), s), loaded.about.names.state(Step(0), s));
        const Action last(frame.num_actions(player, Step(0), s) - 1);
        EXPECT_EQ(again.about.names.action(frame_of(again.game), player, Step(0), s, last),
                  loaded.about.names.action(frame, player, Step(0), s, last))
            << ending;
      }
    }
    if (std::string(ending) == ".nfg") continue;
    EXPECT_EQ(again.about.note, loaded.about.note) << ending;
    EXPECT_EQ(again.about.source, loaded.about.source) << ending;
    EXPECT_EQ(again.about.known, loaded.about.known) << ending;
    // What is read again is written as the same bytes.
    const std::filesystem::path second = folder.path() / ("again" + std::string(ending));
    write_game(second, again);
    const LoadedGame third = read_game(second);
    write_game(path, third);
    EXPECT_EQ(FileBytes::read(path, 1U << 30U).text(), FileBytes::read(second, 1U << 30U).text())
        << ending;
  }
}

TEST(CatalogueAsAWhole, HasWhatItPromises) {
  const std::vector<std::string> names = all_names();
  EXPECT_GE(names.size(), 25U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  const std::set<std::string> found(names.begin(), names.end());
  for (const char* name : {"rps",
                           "matching-pennies",
                           "matching-pennies-3",
                           "prisoners-dilemma",
                           "chicken",
                           "battle-of-the-sexes",
                           "stag-hunt",
                           "shapley",
                           "shapley-stakes",
                           "bad-rps",
                           "hide-and-seek-10",
                           "soccer",
                           "pursuit",
                           "grid-game-1",
                           "grid-game-2",
                           "cournot",
                           "fishery",
                           "public-good",
                           "congestion-10",
                           "congestion-100",
                           "lock",
                           "lock-2",
                           "river-swim",
                           "chain",
                           "random",
                           "random-zero-sum",
                           "random-team",
                           "random-polymatrix",
                           "commons"}) {
    EXPECT_TRUE(found.count(name)) << name;
  }
}

TEST(CatalogueAsAWhole, NamesThatAreFamiliesMeanTheFamily) {
  for (const char* name : {"random", "lock", "soccer", "pursuit", "congestion-10", "congestion-100",
                           "grid-game-1", "grid-game-2"}) {
    EXPECT_EQ(law_hash_of(load_game(name).game), law_hash_of(make_game(name))) << name;
  }
}

// By other means than the policies in the files.
TEST(CatalogueAsAWhole, ClosedForms) {
  const auto value = [](const char* name, std::size_t which, std::size_t player) {
    return load_game(name).about.known.at(which).values.at(player);
  };
  double harmonic = 0.0;
  for (int i = 1; i <= 10; ++i) harmonic += 1.0 / i;
  EXPECT_NEAR(std::abs(value("hide-and-seek-10", 0, 0)), 1.0 / harmonic, 1e-15);
  EXPECT_NEAR(value("lock", 0, 0), std::pow(0.9, 5), 1e-15);
  EXPECT_NEAR(value("grid-game-1", 0, 0), 100.0 * std::pow(0.9, 3), 1e-12);
  EXPECT_EQ(value("soccer", 0, 0), 0.0);
  // Everybody chooses evenly: a win of 1 and a loss of 2 are as likely as a tie; of three rounds
  // the first pays 1/3, the later ones 1/3 of stakes that are 2 on average.
  EXPECT_NEAR(value("bad-rps", 0, 1), (1.0 - 2.0) / 3.0, 1e-15);
  EXPECT_NEAR(value("shapley-stakes", 0, 1), (1.0 + 2.0 + 2.0) / 3.0, 1e-15);
  EXPECT_NEAR(value("shapley-stakes", 1, 1), (1.0 + 2.0) / 3.0 + 2.0 / 2.0, 1e-15);
}

TEST(LoadGame, SuggestsWhatWasMeant) {
  const auto message = [](const char* word) {
    return error_of(ErrorKind::usage, [&] { static_cast<void>(load_game(word)); });
  };
  EXPECT_NE(message("chiken").find("did you mean 'chicken'?"), std::string::npos);
  EXPECT_NE(message("socer:horizon=3").find("did you mean 'soccer'?"), std::string::npos);
  EXPECT_NE(message("qqqqqqqq").find("vlearn games"), std::string::npos);
  EXPECT_NE(message("a/b").find("has no ending"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::input, [] { static_cast<void>(load_game("/no/such.json")); })
                .find("cannot be opened"),
            std::string::npos);
}

}  // namespace
}  // namespace vlearn
