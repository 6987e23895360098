// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/compare.h"

#include <gtest/gtest.h>

#include <string>

#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using Looks = std::vector<std::uint64_t>;

TEST(Looks, OfTables) {
  EXPECT_EQ(shown_looks_of(1), (Looks{1}));
  EXPECT_EQ(shown_looks_of(10), (Looks{10}));
  EXPECT_EQ(shown_looks_of(300), (Looks{10, 30, 100, 300}));
  EXPECT_EQ(shown_looks_of(250), (Looks{10, 30, 100, 250}));
  EXPECT_EQ(shown_looks_of(std::uint64_t{1} << 53U).back(), std::uint64_t{1} << 53U);
}

TEST(Looks, OfRunsHaveThoseOfTables) {
  for (const std::uint64_t episodes : {1U, 2U, 30U, 1000U, 1001U}) {
    const Looks looks = looks_of(episodes);
    EXPECT_TRUE(std::is_sorted(looks.begin(), looks.end(), std::less_equal<>()));
    EXPECT_EQ(looks.back(), episodes);
    for (const std::uint64_t shown : shown_looks_of(episodes)) {
      EXPECT_TRUE(std::binary_search(looks.begin(), looks.end(), shown));
    }
  }
}

Comparison by_hand() {
  Comparison comparison;
  comparison.settings = {{Preset::paper, Preset::fast, Preset::practical}, Target::cce, 1, 100};
  comparison.looks = {1, 5, 10, 100};
  // The gap of fast is small at first, and rises: that does not count.
  comparison.curves = {{Preset::paper, {{9.0, 8.0, 4.0, 3.0}}},
                       {Preset::fast, {{1.0, 8.0, 2.0, 1.0}}},
                       {Preset::practical, {{9.0, 9.0, 4.0, 1.5}}}};
  return comparison;
}

TEST(Judge, WhoIsBestAndSinceWhen) {
  const CompareVerdict verdict = judge(by_hand());
  EXPECT_EQ(verdict.best, 1U);
  ASSERT_EQ(verdict.others.size(), 2U);
  EXPECT_EQ(verdict.others[0].place, 0U);
  EXPECT_EQ(verdict.others[0].gap, 3.0);
  EXPECT_EQ(verdict.others[0].episodes, 10U);
  EXPECT_EQ(verdict.others[1].episodes, 100U);
  const std::string text = to_text(by_hand());
  EXPECT_NE(text.find("fast certified the smaller gap, 1 against 3 of paper after 100 episodes; "
                      "from 10 episodes on it "
                      "was as good, 10 times fewer."),
            std::string::npos)
      << text;
}

TEST(Compare, TheSameForAnyNumberOfThreads) {
  const LoadedGame game = load_game("chicken");
  const CompareSettings settings{{Preset::paper, Preset::fast}, Target::cce, 3, 200};
  std::vector<std::string> texts;
  for (const std::size_t threads : {1U, 4U}) {
    std::size_t runs = 0;
    const CompareHooks hooks{[&](std::size_t ended, std::size_t all) {
                               EXPECT_EQ(ended, ++runs);
                               EXPECT_EQ(all, 6U);
                             },
                             {.threads = threads},
                             {}};
    const std::optional<Comparison> comparison = compare_presets(game.game, settings, hooks);
    ASSERT_TRUE(comparison);
    EXPECT_EQ(runs, 6U);
    texts.push_back(to_json(*comparison, "chicken") + to_text(*comparison));
    // Seeds are seeds: no two runs are the same.
    EXPECT_NE(comparison->curves[1].gaps[0], comparison->curves[1].gaps[1]);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Compare, StopsWhenAsked) {
  CancelSource source;
  source.request();
  const CompareSettings settings{{Preset::paper}, Target::cce, 1, 1'000'000'000};
  EXPECT_FALSE(compare_presets(load_game("chicken").game, settings, {{}, {}, source.token()}));
}

}  // namespace
}  // namespace vlearn
