// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/levers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "vlearn/game/game_io.h"
#include "vlearn/run/gap_curve.h"

namespace vlearn {
namespace {

std::vector<SuiteGame> games(const std::vector<std::string>& names) {
  return select_lever_games(names);
}

TEST(Levers, EachIsAChoiceThatSuits) {
  for (const char* name : {"rps", "general", "lock", "congestion-10"}) {
    const LoadedGame loaded = load_game(word_of(games({name}).at(0), 1));
    const Target target = natural_target(frame_of(loaded.game));
    const LearnConfig fast = preset_config(loaded.game, Preset::fast, target, 100, 1);
    for (const Lever& lever : levers()) {
      LearnConfig config = fast;
      lever.undo(config);
      EXPECT_EQ(flaw_of(config.learner), std::nullopt) << lever.name;
      EXPECT_NO_THROW(check_output(config.learner.target, config.output)) << lever.name;
      EXPECT_NO_THROW(check_certifiable(loaded.game, config.output)) << lever.name;
      const bool same = config.learner == fast.learner && config.output == fast.output;
      // Nested outputs have no taper to leave out.
      const bool untapered =
          lever.name == "output weights without taper" && fast.output == CertifiedOutput::nested;
      EXPECT_EQ(same, lever.name == "fast" || untapered) << lever.name;
    }
  }
}

TEST(Levers, SlowGamesComeWhenTheyAreNamed) {
  std::set<std::string_view> names;
  for (const SuiteGame& game : games({})) names.insert(game.name);
  EXPECT_TRUE(names.contains("rps"));
  EXPECT_FALSE(names.contains("soccer"));
  EXPECT_EQ(games({"soccer"}).at(0).name, "soccer");
}

TEST(Levers, RatiosAreGeometricMeans) {
  LeverResults results;
  results.settings.games = games({"rps", "general"});
  results.settings.seeds = 2;
  results.gaps.assign(levers().size(), {{1.0, 1.0}, {0.5, 0.0}});
  results.gaps[1] = {{2.0, 8.0}, {0.5, 1e-9}};
  EXPECT_DOUBLE_EQ(results.ratio(1, 0), 4.0);
  EXPECT_DOUBLE_EQ(results.ratio(1, 1), 1.0);  // 0 and 1e-9 are the same
  EXPECT_DOUBLE_EQ(results.ratio(1), 2.0);
  EXPECT_EQ(results.ratio(0), 1.0);
}

TEST(Levers, TheSameForAnyNumberOfThreads) {
  const LeverSettings settings{games({"rps", "general"}), 2, 200};
  std::vector<std::string> texts;
  for (const std::size_t threads : {1U, 4U}) {
    std::size_t runs = 0;
    const LeverHooks hooks{[&](std::size_t ended, std::size_t all) {
                             EXPECT_EQ(ended, ++runs);
                             EXPECT_EQ(all, 4 * levers().size());
                           },
                           {.threads = threads},
                           {}};
    const std::optional<LeverResults> results = measure_levers(settings, hooks);
    ASSERT_TRUE(results);
    EXPECT_EQ(runs, 4 * levers().size());
    texts.push_back(to_json(*results) + to_text(*results));
    // In its place: the run of that game, seed and lever.
    const LoadedGame game = load_game(word_of(settings.games[1], 102));
    LearnConfig config = preset_config(game.game, Preset::fast, Target::cce, 200, 102);
    levers()[7].undo(config);
    EXPECT_EQ(config.learner.bonus, Bonus::none);
    EXPECT_EQ(results->gaps[7][1][1], gap_after(game.game, config, 200)->gap);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Levers, StopsWhenAsked) {
  CancelSource source;
  source.request();
  const LeverSettings settings{games({"rps"}), 1, 1'000'000'000};
  EXPECT_FALSE(measure_levers(settings, {{}, {}, source.token()}));
}

}  // namespace
}  // namespace vlearn
