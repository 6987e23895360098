// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/efficiency.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "support/expect_error.h"
#include "vlearn/experiment/efficiency_report.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/solve_game.h"

namespace vlearn {
namespace {

using test::error_of;

std::vector<SuiteGame> games(Target target, std::vector<std::string> names) {
  return select_games(target, names);
}

TEST(Suite, LoadsAndSuits) {
  std::set<std::string_view> names;
  for (const SuiteGame& game : efficiency_suite()) {
    const Frame frame = frame_of(load_game(word_of(game, 3)).game);
    EXPECT_TRUE(names.insert(game.name).second);
    EXPECT_TRUE(frame.start_known());
    if (game.measure == Measure::share) {
      // Shares are of the first player's value: everybody must want the same.
      EXPECT_TRUE(frame.num_players() == 1 || game.name == "team-lock");
      EXPECT_NE(natural_target(frame), Target::nash);
    }
  }
  for (const SuiteGame& game : games(Target::ce, {})) {
    EXPECT_EQ(frame_of(load_game(word_of(game, 1)).game).num_players(), 2U);
  }
  EXPECT_EQ(games(Target::cce, {}).size(), efficiency_suite().size());
}

TEST(Suite, SelectsInItsOwnOrder) {
  const std::vector<SuiteGame> chosen = games(Target::cce, {"soccer", "rps"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].name, "rps");
  const auto refused = [](Target target, const char* name) {
    return error_of(ErrorKind::usage, [&] { static_cast<void>(games(target, {name})); });
  };
  EXPECT_NE(refused(Target::cce, "socer").find("did you mean 'soccer'?"), std::string::npos);
  EXPECT_NE(refused(Target::cce, "zzz").find("congestion-10"), std::string::npos);
  EXPECT_NE(refused(Target::ce, "team").find("two players"), std::string::npos);
}

/// Results by hand, for reports.
class Results {
 public:
  void add(const PartResult& result) { results_[{result.game, result.seed, result.part}] = result; }
  [[nodiscard]] EfficiencySummary summary(const EfficiencySettings& settings) const {
    return summarize(settings, [&](std::size_t game, std::uint64_t seed, Part part) {
      const auto its = results_.find({game, seed, part});
      return its == results_.end() ? std::nullopt : std::optional(its->second);
    });
  }

 private:
  std::map<std::tuple<std::size_t, std::uint64_t, Part>, PartResult> results_;
};

EfficiencySettings two_games(std::uint64_t seeds) {
  EfficiencySettings settings;
  settings.games = games(Target::cce, {"rps", "general", "lock"});
  settings.seeds = seeds;
  settings.reference_episodes = 1000;
  return settings;
}

Results results_by_hand() {
  Results results;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (std::size_t game = 0; game < 2; ++game) {
      results.add({.game = game, .seed = seed, .episodes = 1000, .gap = 0.2, .wanted = 0.2});
      // The second game is reached by one seed only.
      const bool reached = game == 0 || seed == 2;
      results.add({.game = game,
                   .seed = seed,
                   .part = Part::preset,
                   .episodes = reached ? 10 * seed : 1164,
                   .gap = 0.1,
                   .reached = reached});
    }
    results.add({.game = 2, .seed = seed, .part = Part::share, .episodes = 100, .share = 0.5});
  }
  return results;
}

TEST(Summary, WhoNeverArrivesHasARatioOfOneAtMost) {
  const EfficiencySummary summary = results_by_hand().summary(two_games(3));
  ASSERT_EQ(summary.rows.size(), 3U);
  EXPECT_EQ(summary.rows[0].values, (std::vector{100.0, 50.0, 1000.0 / 30.0}));
  EXPECT_EQ(summary.rows[0].target, Target::nash);
  EXPECT_EQ(summary.rows[1].values, (std::vector{1.0, 50.0, 1.0}));
  EXPECT_EQ(summary.rows[1].reached, 1U);
  EXPECT_EQ(summary.least, 1.0);
  EXPECT_EQ(summary.over_games->median, 25.5);  // of two games' medians: shares are no ratios
  const std::string table = to_markdown(summary);
  EXPECT_NE(table.find("<= 1"), std::string::npos);
  EXPECT_NE(table.find("1 of 3"), std::string::npos);
  EXPECT_EQ(table.find("<= 50"), std::string::npos);
  EXPECT_NE(table.find("share of the optimum"), std::string::npos);
}

TEST(Summary, TheFigureHasARowForEachRatio) {
  const std::string figure = to_svg(results_by_hand().summary(two_games(3)));
  EXPECT_NE(figure.find(">rps</text>"), std::string::npos);
  EXPECT_NE(figure.find(">general</text>"), std::string::npos);
  EXPECT_EQ(figure.find(">lock</text>"), std::string::npos);
  EXPECT_NE(figure.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(Measure, TheSameForAnyNumberOfThreads) {
  EfficiencySettings settings;
  settings.games = games(Target::cce, {"rps", "general", "horizon-20", "team-lock"});
  settings.seeds = 2;
  settings.reference_episodes = 300;
  std::vector<std::string> texts;
  for (const std::size_t threads : {1U, 3U}) {
    std::map<std::tuple<std::size_t, std::uint64_t, Part>, PartResult> results;
    EfficiencyHooks hooks;
    hooks.parallel.threads = threads;
    hooks.find = [&](std::size_t game, std::uint64_t seed, Part part) -> std::optional<PartResult> {
      const auto its = results.find({game, seed, part});
      return its == results.end() ? std::nullopt : std::optional(its->second);
    };
    hooks.done = [&](const PartResult& result) {
      EXPECT_TRUE(
          results.emplace(std::tuple(result.game, result.seed, result.part), result).second);
    };
    EXPECT_TRUE(measure_efficiency(settings, hooks));
    EXPECT_EQ(results.size(), 2U * (2 + 2 + 1 + 1));
    const EfficiencySummary summary = summarize(settings, hooks.find);
    texts.push_back(to_json(summary) + to_csv(summary));
    for (const EfficiencyRow& row : summary.rows) {
      const double floor = default_gap(frame_of(load_game(word_of(row.game, 1)).game));
      for (const PartResult& part : row.parts) {
        if (part.part == Part::reference) {
          EXPECT_EQ(part.episodes, 300U);
          EXPECT_EQ(part.wanted, std::max(part.gap, floor));
        }
        if (part.part == Part::gap) {
          EXPECT_EQ(part.episodes, 90U);
        }
        if (part.part == Part::share) {
          EXPECT_EQ(part.episodes, 30U);
          EXPECT_GT(part.share, 0.0);
          EXPECT_LE(part.share, 1.0 + 1e-9);
        }
      }
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Measure, SeedsCountFromTheFirst) {
  EfficiencySettings settings;
  settings.games = games(Target::cce, {"horizon-20"});
  settings.reference_episodes = 100;
  const auto measured = [&](std::uint64_t first, std::uint64_t seeds) {
    settings.first_seed = first;
    settings.seeds = seeds;
    std::map<std::uint64_t, PartResult> results;
    EfficiencyHooks hooks;
    hooks.find = [&](std::size_t, std::uint64_t seed, Part) -> std::optional<PartResult> {
      const auto its = results.find(seed);
      return its == results.end() ? std::nullopt : std::optional(its->second);
    };
    hooks.done = [&](const PartResult& result) { results.emplace(result.seed, result); };
    EXPECT_TRUE(measure_efficiency(settings, hooks));
    return summarize(settings, hooks.find).rows.at(0).values;
  };
  const std::vector<double> values = measured(1, 3);
  EXPECT_NE(values[0], values[2]);
  EXPECT_EQ(measured(2, 2), (std::vector{values[1], values[2]}));
}

TEST(Measure, StopsWhenAsked) {
  EfficiencySettings settings = two_games(2);
  settings.reference_episodes = 1'000'000'000;
  CancelSource source;
  source.request();
  EfficiencyHooks hooks;
  hooks.find = [](std::size_t, std::uint64_t, Part) -> std::optional<PartResult> { return {}; };
  hooks.done = [](const PartResult&) { ADD_FAILURE(); };
  hooks.cancel = source.token();
  EXPECT_FALSE(measure_efficiency(settings, hooks));
}

}  // namespace
}  // namespace vlearn
