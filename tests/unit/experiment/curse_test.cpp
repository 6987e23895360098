// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/curse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

constexpr std::array<CurseFamily, 2> kFamilies = {CurseFamily::random, CurseFamily::congestion};

std::vector<CurseMethod> methods() {
  std::vector<CurseMethod> all;
  for (std::size_t i = 0; i < kCurseMethodNames.size(); ++i) {
    all.push_back(static_cast<CurseMethod>(i));
  }
  return all;
}

/// Times are the machine's.
CurseRun without_times(CurseRun run) {
  run.seconds = run.learn_seconds = 0.0;
  return run;
}

TEST(Curse, EveryMethodReachesTheGapWithFewPlayers) {
  const CurseSettings settings;
  for (const CurseFamily family : kFamilies) {
    for (const CurseMethod method : methods()) {
      const CurseRun run = run_curse(settings, family, method, 2, 1).value();
      EXPECT_EQ(run.end, CurseEnd::reached);
      EXPECT_LE(run.gap, 0.15);
      EXPECT_GT(run.episodes, 1U);
      EXPECT_GT(run.bytes, 0U);
      EXPECT_GT(run.uniform_gap, 0.15);
      EXPECT_GE(run.seconds, 0.0);
      EXPECT_EQ(without_times(run),
                without_times(run_curse(settings, family, method, 2, 1).value()));
    }
  }
}

TEST(Curse, TablesOfTheMethodGrowWithSumsOrProducts) {
  const CurseSettings settings;
  const auto bytes = [&](CurseMethod method, std::uint64_t players) {
    return static_cast<double>(
        run_curse(settings, CurseFamily::congestion, method, players, 1).value().bytes);
  };
  // Twice the players, at most a little more than twice the bytes; joint actions are 27 times more.
  EXPECT_LT(bytes(CurseMethod::fast, 6), 2.5 * bytes(CurseMethod::fast, 3));
  EXPECT_GT(bytes(CurseMethod::plug_in, 6), 10.0 * bytes(CurseMethod::plug_in, 3));
}

TEST(Curse, EndsByTimeOrMemory) {
  CurseSettings settings;
  settings.max_seconds = 1e-9;
  for (const CurseMethod method : methods()) {
    EXPECT_EQ(run_curse(settings, CurseFamily::congestion, method, 2, 1)->end, CurseEnd::time);
  }
  settings = {};
  settings.max_bytes = 10'000;
  EXPECT_EQ(run_curse(settings, CurseFamily::congestion, CurseMethod::plug_in, 4, 1)->end,
            CurseEnd::memory);
  EXPECT_EQ(run_curse(settings, CurseFamily::congestion, CurseMethod::fast, 4, 1)->end,
            CurseEnd::reached);
  // The game alone is too large, however the gap is to be had.
  settings = {};
  for (const CurseMethod method : methods()) {
    const CurseRun run = run_curse(settings, CurseFamily::random, method, 64, 1).value();
    EXPECT_EQ(run.end, CurseEnd::memory);
    EXPECT_GT(run.game_bytes, settings.max_bytes);
    EXPECT_EQ(parse_curse_line(result_line(run), "line"), run);
  }
}

TEST(Curse, AMethodThatStopsIsNotAskedAgain) {
  const TemporaryFolder folder;
  CurseSettings settings;
  settings.last_players = 5;
  settings.seeds = 1;
  settings.max_bytes = 25'000;  // three players fit, four do not
  CurseLog log(folder / "in", settings);
  ASSERT_TRUE(measure_curse(settings, log, {}));
  const auto find = [&](CurseMethod method, std::uint64_t players) {
    return log.find(CurseFamily::congestion, method, players, 1);
  };
  ASSERT_NE(find(CurseMethod::plug_in, 4), nullptr);
  EXPECT_EQ(find(CurseMethod::plug_in, 4)->end, CurseEnd::memory);
  EXPECT_EQ(find(CurseMethod::plug_in, 5), nullptr);
  ASSERT_NE(find(CurseMethod::fast, 5), nullptr);
  EXPECT_EQ(find(CurseMethod::fast, 5)->end, CurseEnd::reached);
  const std::string table = curse_markdown(settings, log);
  EXPECT_NE(table.find("too large: "), std::string::npos) << table;
  const std::string json = curse_json(settings, log);
  EXPECT_NE(json.find("\"stops_at\": 4"), std::string::npos) << json;
  EXPECT_NE(curse_svg(settings, log).find("with 4 players"), std::string::npos);
  EXPECT_NE(curse_csv(log).find("congestion,plug-in,4,1,memory,0,"), std::string::npos);
}

TEST(Curse, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  CurseSettings settings;
  settings.last_players = 2;
  settings.seeds = 1;
  std::size_t done = 0;
  const CurseHooks hooks{.done = [&](const CurseRun&) { ++done; }};
  {
    CurseLog log(folder / "in", settings);
    EXPECT_TRUE(measure_curse(settings, log, hooks));
    EXPECT_EQ(done, 10U);
  }
  CurseLog log(folder / "in", settings);
  EXPECT_EQ(log.runs().size(), 10U);
  EXPECT_TRUE(measure_curse(settings, log, hooks));
  EXPECT_EQ(done, 10U);
  CancelSource stop;
  stop.request();
  CurseLog other(folder / "other", settings);
  EXPECT_FALSE(measure_curse(settings, other, {.cancel = stop.token()}));
  EXPECT_TRUE(other.runs().empty());
}

TEST(Curse, RefusesHostileLines) {
  const std::string good = result_line({.episodes = 10,
                                        .gap = 0.1,
                                        .learn_seconds = 1.0,
                                        .seconds = 2.0,
                                        .bytes = 3,
                                        .game_bytes = 4});
  EXPECT_NO_THROW(static_cast<void>(parse_curse_line(good, "line")));
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    return error_of(ErrorKind::input, [&] { static_cast<void>(parse_curse_line(text, "line")); });
  };
  EXPECT_NE(refusal("\"random\"", "\"chess\"").find("family"), std::string::npos);
  EXPECT_NE(refusal("v-learning-paper", "magic").find("method"), std::string::npos);
  EXPECT_NE(refusal("reached", "won").find("end"), std::string::npos);
  EXPECT_NE(refusal("\"players\":2", "\"players\":1e9").find("players"), std::string::npos);
  EXPECT_NE(refusal("\"seconds\":2", "\"seconds\":-2").find("below 0"), std::string::npos);
  EXPECT_NE(refusal("\"bytes\":3", "\"bytes\":-3").find("bytes"), std::string::npos);
  EXPECT_NE(refusal("\"gap\"", "\"gaps\"").find("gaps"), std::string::npos);
}

}  // namespace
}  // namespace vlearn
