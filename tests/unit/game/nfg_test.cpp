// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "support/expect_error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;
using test::error_of;

constexpr double kLargest = std::numeric_limits<double>::max();

// As Gambit's manual lays them out.
constexpr std::string_view kListed =
    "NFG 1 R \"Selten (IJGT, 75), Figure 2, normal form\"\n"
    "{ \"Player 1\" \"Player 2\" } { 3 2 }\n"
    "\n"
    "1 1 0 2 0 2 1 1 0 3 2 0\n";
constexpr std::string_view kOutcomes =
    "NFG 1 R \"Selten (IJGT, 75), Figure 2, normal form\" { \"Player 1\" \"Player 2\" }\n"
    "\n"
    "{ { \"1\" \"2\" \"3\" }\n"
    "  { \"left\" \"right\" }\n"
    "}\n"
    "\"Has a comment.\"\n"
    "{ { \"\" 1, 1 }\n"
    "  { \"\" 0, 2 }\n"
    "  { \"\" 0 3 }\n"
    "  { \"\" 2/1, 0 }\n"
    "}\n"
    "1 2 2 1 3 4\n";

LoadedGame parsed(std::string_view text) { return parse_nfg(text, "file.nfg"); }

const DenseGame& table_of(const LoadedGame& game) { return std::get<DenseGame>(game.game); }

/// In the file's order of profiles, one player's payoffs.
std::vector<double> payoffs_of(const LoadedGame& game, std::size_t player) {
  const DenseGame& table = table_of(game);
  std::vector<double> payoffs;
  for (std::size_t joint = 0; joint < table.frame().num_joint_actions(0); ++joint) {
    payoffs.push_back(table.user_reward(Player(player), 0, joint));
  }
  return payoffs;
}

RewardRange range_of(const LoadedGame& game, std::size_t player) {
  return table_of(game).frame().range(Player(player));
}

/// A game of one player whose strategies pay these.
std::vector<double> payoffs_of(const std::vector<std::string>& numbers) {
  return payoffs_of(parsed(fmt::format("NFG 1 R \"\" {{ \"a\" }} {{ {} }} {}", numbers.size(),
                                       fmt::join(numbers, " "))),
                    0);
}

void expect_round_trip(const LoadedGame& game) {
  const std::string text = game_to_nfg(game);
  const LoadedGame again = parsed(text);
  EXPECT_EQ(law_hash_of(again.game), law_hash_of(game.game)) << text;
  EXPECT_EQ(again.about, game.about) << text;
  EXPECT_TRUE(again.remarks.empty()) << text;
  EXPECT_EQ(game_to_nfg(again), text);
}

TEST(Nfg, ReadsListedPayoffs) {
  const LoadedGame game = parsed(kListed);
  const Frame& frame = frame_of(game.game);
  EXPECT_EQ(frame.num_players(), 2U);
  EXPECT_EQ(frame.horizon(), 1U);
  EXPECT_EQ(frame.max_states(), 1U);
  EXPECT_TRUE(frame.stationary());
  EXPECT_FALSE(frame.zero_sum());
  EXPECT_EQ(frame.noise(), RewardNoise::none);
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(0)), 3U);
  EXPECT_EQ(frame.num_actions(Player(1), Step(0), State(0)), 2U);
  // (1,1) (1,2) (2,1) (2,2) (3,1) (3,2); the file has (1,1) (2,1) (3,1) (1,2) (2,2) (3,2).
  EXPECT_EQ(payoffs_of(game, 0), (std::vector<double>{1, 1, 0, 0, 0, 2}));
  EXPECT_EQ(payoffs_of(game, 1), (std::vector<double>{1, 1, 2, 3, 2, 0}));
  EXPECT_EQ(range_of(game, 0), (RewardRange{0.0, 2.0}));
  EXPECT_EQ(range_of(game, 1), (RewardRange{0.0, 3.0}));
  EXPECT_EQ(game.about.title, "Selten (IJGT, 75), Figure 2, normal form");
  EXPECT_EQ(game.about.note, "");
  EXPECT_EQ(game.about.names.players, (std::vector<std::string>{"Player 1", "Player 2"}));
  EXPECT_TRUE(game.about.names.action_lists.empty());
  EXPECT_TRUE(game.about.names.action_list.empty());
  EXPECT_TRUE(game.remarks.empty());
}

TEST(Nfg, ReadsOutcomes) {
  const LoadedGame game = parsed(kOutcomes);
  EXPECT_EQ(law_hash_of(game.game), law_hash_of(parsed(kListed).game));
  EXPECT_EQ(game.about.note, "Has a comment.");
  EXPECT_EQ(game.about.names.action_lists,
            (std::vector<std::vector<std::string>>{{"1", "2", "3"}, {"left", "right"}}));
  EXPECT_EQ(game.about.names.action_list, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(game.remarks.empty());
}

// Gambit takes every way to give strategies with every way to give payoffs.
TEST(Nfg, ReadsEveryMixture) {
  const Sha256Digest hash = law_hash_of(parsed(kListed).game);
  const std::string head = "NFG 1 D \"\"{\"a\"\"b\"}";
  const std::string counts = "{3 2}";
  const std::string names = "{{\"x\"\"y\"\"z\"}{\"x\"\"y\"}}";
  const std::string listed = "1\r\n1\t0 2\v0 2\f1 1 0 3 2 0";
  const std::string outcomes = "{{\"\"1,1}{\"\"0,2}{\"\"0 ,3}{\"\"2 0}}1 2 2 1 3 4";
  for (const std::string& strategies : {counts, names}) {
    for (const std::string note : {"", "\"n\""}) {
      for (const std::string& payoffs : {listed, outcomes}) {
        const LoadedGame game = parsed(head + strategies + note + payoffs);
        EXPECT_EQ(law_hash_of(game.game), hash);
        EXPECT_EQ(game.about.note, note.empty() ? "" : "n");
        EXPECT_EQ(game.about.names.action_list.empty(), strategies == counts);
      }
    }
  }
}

TEST(Nfg, OutcomeZeroPaysNothing) {
  const LoadedGame game = parsed("NFG 1 R \"\" {\"a\" \"b\"} {2 2} { {\"\" 5 7} } 0 1 0 0");
  EXPECT_EQ(payoffs_of(game, 0), (std::vector<double>{0, 0, 5, 0}));
  EXPECT_EQ(payoffs_of(game, 1), (std::vector<double>{0, 0, 7, 0}));
  EXPECT_EQ(payoffs_of(parsed("NFG 1 R \"\" {\"a\" \"b\"} {2 1} {} 0 0"), 1),
            (std::vector<double>{0, 0}));
}

// Three players with 2, 3 and 4 strategies; player i's payoff spells i and the profile.
TEST(Nfg, FirstPlayerIsFastestInTheFileAndSlowestHere) {
  std::string text = "NFG 1 R \"\" { \"a\" \"b\" \"c\" } { 2 3 4 }";
  for (int c = 1; c <= 4; ++c) {
    for (int b = 1; b <= 3; ++b) {
      for (int a = 1; a <= 2; ++a) {
        for (int i = 1; i <= 3; ++i) text += fmt::format(" {}{}{}{}", i, a, b, c);
      }
    }
  }
  const LoadedGame game = parsed(text);
  const DenseGame& table = table_of(game);
  const std::span<const std::uint32_t> begins = table.frame().begins_of_cell(0);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t c = 0; c < 4; ++c) {
        const std::size_t joint =
            joint_offset(begins, std::vector<Action>{Action(a), Action(b), Action(c)});
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(table.user_reward(Player(i), 0, joint),
                    static_cast<double>(1000 * i + 100 * a + 10 * b + c + 1111));
        }
      }
    }
  }
  EXPECT_EQ(range_of(game, 1), (RewardRange{2111.0, 2234.0}));
  expect_round_trip(game);
}

TEST(Nfg, ZeroSumIsSeen) {
  const LoadedGame game = parsed("NFG 1 R \"\" {\"a\" \"b\"} {2 2} 1/3 -1/3 -2 2 0 -0 5e-1 -0.5");
  EXPECT_TRUE(frame_of(game.game).zero_sum());
  EXPECT_EQ(range_of(game, 0), (RewardRange{-2.0, 0.5}));
  EXPECT_EQ(range_of(game, 1), (RewardRange{-0.5, 2.0}));
  EXPECT_EQ(payoffs_of(game, 0), (std::vector<double>{1.0 / 3.0, 0, -2, 0.5}));
  EXPECT_EQ(payoffs_of(game, 1), (std::vector<double>{-1.0 / 3.0, 0, 2, -0.5}));
  expect_round_trip(game);
  EXPECT_FALSE(frame_of(parsed("NFG 1 R \"\" {\"a\" \"b\"} {2 1} 1 -1 2 -3").game).zero_sum());
  // One player or three cannot be zero-sum.
  EXPECT_FALSE(frame_of(parsed("NFG 1 R \"\" {\"a\"} {2} 0 0").game).zero_sum());
  EXPECT_FALSE(frame_of(parsed("NFG 1 R \"\" {\"a\" \"b\" \"c\"} {1 1 1} 1 -1 0").game).zero_sum());
}

TEST(Nfg, ConstantsHaveARange) {
  const auto ranges = [](std::string_view first, std::string_view second) {
    const LoadedGame game =
        parsed(fmt::format("NFG 1 R \"\" {{\"a\" \"b\"}} {{1 1}} {} {}", first, second));
    expect_round_trip(game);
    return std::vector<RewardRange>{range_of(game, 0), range_of(game, 1)};
  };
  using Ranges = std::vector<RewardRange>;
  EXPECT_EQ(ranges("0", "1"), (Ranges{{0.0, 1.0}, {0.0, 1.0}}));
  EXPECT_EQ(ranges("0.5", "7"), (Ranges{{0.0, 1.0}, {7.0, 8.0}}));
  EXPECT_EQ(ranges("-1/2", "1.5"), (Ranges{{-0.5, 0.5}, {1.5, 2.5}}));
  EXPECT_EQ(ranges("0", "0"), (Ranges{{0.0, 1.0}, {-1.0, 0.0}}));  // zero-sum from here on
  EXPECT_FALSE(std::signbit(ranges("0", "0")[1].high));
  EXPECT_EQ(ranges("3", "-3"), (Ranges{{3.0, 4.0}, {-4.0, -3.0}}));
  // Here r + 1 is r.
  EXPECT_EQ(ranges("1e300", "-1e20"), (Ranges{{1e300, std::nextafter(1e300, kLargest)},
                                              {-1e20, std::nextafter(-1e20, 0.0)}}));
}

TEST(Nfg, KeepsNames) {
  const LoadedGame game =
      parsed(R"(NFG 1 R "The \"game\" of C:\\new\dir" { "Zoë" "玩家 \"2\"" } )"
             "{ { \"\\\\\" \"a b\" } { \"1\" \"2\" } } \"two\nlines, {braces}\" 1 2 3 4 5 6 7 8");
  EXPECT_EQ(game.about.title, R"(The "game" of C:\new\dir)");
  EXPECT_EQ(game.about.note, "two\nlines, {braces}");
  EXPECT_EQ(game.about.names.players, (std::vector<std::string>{"Zoë", "玩家 \"2\""}));
  EXPECT_EQ(game.about.names.action_lists,
            (std::vector<std::vector<std::string>>{{"\\", "a b"}, {"1", "2"}}));
  EXPECT_EQ(game.about.names.action_list, (std::vector<std::uint32_t>{0, 1}));
  expect_round_trip(game);
}

TEST(Nfg, KeepsAListOfNamesOnce) {
  const LoadedGame game = parsed(
      "NFG 1 R \"\" {\"a\" \"b\" \"c\"} {{\"x\" \"y\"} {\"y\" \"x\"} {\"x\" \"y\"}} {} "
      "0 0 0 0 0 0 0 0");
  EXPECT_EQ(game.about.names.action_lists,
            (std::vector<std::vector<std::string>>{{"x", "y"}, {"y", "x"}}));
  EXPECT_EQ(game.about.names.action_list, (std::vector<std::uint32_t>{0, 1, 0}));
  expect_round_trip(game);
}

TEST(Nfg, NumbersTakeThePlaceOfUnusableNames) {
  const auto remark = [](std::string_view players, std::string_view strategies) {
    const LoadedGame game = parsed(
        fmt::format("NFG 1 R \"\" {{ {} }} {{ {} {{\"z\"}} }} 1 2 3 4", players, strategies));
    expect_round_trip({game.game, game.about, {}});
    EXPECT_LE(game.remarks.size(), 1U);
    if (game.remarks.empty()) return std::string();
    const GameNames& names = game.about.names;
    if (game.remarks[0].find("players") != std::string::npos) {
      EXPECT_TRUE(names.players.empty());
    } else {
      EXPECT_EQ(names.action_lists, (std::vector<std::vector<std::string>>{{"1", "2"}, {"z"}}));
    }
    return game.remarks[0];
  };
  const std::string good = "{\"x\" \"y\"}";
  EXPECT_EQ(remark("\"a\" \"b\"", good), "");
  EXPECT_EQ(remark("\"1\" \"2\"", good), "");
  EXPECT_EQ(remark("\"2\" \"1\"", good), "");
  const std::string rest = ": numbers take their place";
  const std::string players = "the names of the players cannot be used ";
  EXPECT_EQ(remark("\"a\" \"\"", good), players + "(one is empty)" + rest);
  EXPECT_EQ(remark("\"a\" \"a\"", good), players + "('a' is there twice)" + rest);
  EXPECT_EQ(remark("\"a\" \"*\"", good), players + "('*' is taken)" + rest);
  const std::string strategies = "the names of the strategies of player 1 cannot be used ";
  EXPECT_EQ(remark("\"a\" \"b\"", "{\"\" \"\"}"), strategies + "(one is empty)" + rest);
  EXPECT_EQ(remark("\"a\" \"b\"", "{\"\\u\" \"\\u\"}"),
            strategies + "('\\u' is there twice)" + rest);
}

TEST(Nfg, SaysThatNamesOfOutcomesAreLost) {
  const std::string head = "NFG 1 R \"\" {\"a\"} {1} ";
  EXPECT_TRUE(parsed(head + "{ {\"\" 1} {\"2\" 1} } 1").remarks.empty());
  EXPECT_EQ(parsed(head + "{ {\"\" 1} {\"win\" 1} } 1").remarks,
            (std::vector<std::string>{"the names of the outcomes are not kept"}));
}

TEST(Nfg, ReadsNumbersAsTheyAreWritten) {
  EXPECT_EQ(
      payoffs_of({"3",
                  "-4",
                  "0.25",
                  "1e-3",
                  "1/3",
                  "-7/2",
                  ".5",
                  "3.",
                  "1E+2",
                  "007",
                  "-0",
                  "00/5",
                  "-0/3",
                  "4/002",
                  "1e-400",
                  "-0.1e-999999999999999999999",
                  "0e99999999999999999999",
                  "9007199254740993",
                  "9007199254740993/1",
                  "2.4703282292062327208e-324",
                  "2.4703282292062327209e-324"}),
      (std::vector<double>{3, -4, 0.25, 0.001, 1.0 / 3.0, -3.5, 0.5,    3,      100, 7,        0,
                           0, 0,  2,    0,     0,         0,    0x1p53, 0x1p53, 0,   0x1p-1074}));
  EXPECT_FALSE(std::signbit(payoffs_of({"-0", "1"})[0]));
  EXPECT_FALSE(std::signbit(payoffs_of({"-0/3", "1"})[0]));
  // 1000 digits, with either part beyond what doubles hold, and both.
  const std::string ones(1000, '1');
  const std::string zeros(700, '0');
  const std::string largest = cpp_int(kLargest).str();
  EXPECT_EQ(payoffs_of({ones + "/" + ones, "1" + zeros + "/4" + zeros, "1/" + ones,
                        "0." + std::string(999, '9'), largest, largest + "/1",
                        "0." + zeros + "1e+701", "1" + zeros + "e-701"}),
            (std::vector<double>{1.0, 0.25, 0.0, 1.0, kLargest, kLargest, 1.0, 0.1}));
}

TEST(Nfg, RefusesWhatIsNoNumber) {
  const std::string digits(1001, '1');
  for (const std::string& number : std::vector<std::string>{"x",
                                                            "+1",
                                                            "--1",
                                                            "-",
                                                            ".",
                                                            "e5",
                                                            "1e",
                                                            "1e+",
                                                            "0x10",
                                                            "inf",
                                                            "-inf",
                                                            "nan",
                                                            "infinity",
                                                            "1/0",
                                                            "1/00",
                                                            "0/0",
                                                            "1/-3",
                                                            "-1/-3",
                                                            "1/+3",
                                                            "1/",
                                                            "/3",
                                                            "/",
                                                            "1/2/3",
                                                            "1.5/2",
                                                            "1/2.5",
                                                            "1e1/3",
                                                            "1/3x",
                                                            "1_000",
                                                            "1e309",
                                                            "-1e309",
                                                            "1e99999999999999999999",
                                                            "1" + std::string(400, '0') + ".5",
                                                            "1" + std::string(309, '0') + "/1",
                                                            digits,
                                                            "0." + digits,
                                                            digits + "/1",
                                                            "1/" + digits,
                                                            "1" + std::string(600, '0') + "e-200",
                                                            "1;",
                                                            "\xFF"}) {
    const std::string message =
        error_of(ErrorKind::input, [&] { static_cast<void>(payoffs_of({number})); });
    EXPECT_NE(message.find("file.nfg:1: found '"), std::string::npos) << number << ": " << message;
    EXPECT_NE(message.find("; want a payoff"), std::string::npos) << number << ": " << message;
  }
}

/// Whether no double is nearer to the number; of two equally near ones the even one counts.
bool is_nearest(double x, const cpp_rational& number) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto middle = [&](double other) -> cpp_rational {
    const cpp_rational exact =
        std::isfinite(other) ? cpp_rational(other) : cpp_rational(cpp_int(1) << 1024);
    return (cpp_rational(x) + exact) / 2;
  };
  const cpp_rational below = middle(std::nextafter(x, -infinity));
  const cpp_rational above = middle(std::nextafter(x, infinity));
  const bool even = (std::bit_cast<std::uint64_t>(x) & 1U) == 0;
  return even ? below <= number && number <= above : below < number && number < above;
}

/// Fractions of whole numbers and what reading makes of them, all from 0 up.
void expect_nearest(const std::vector<std::pair<cpp_int, cpp_int>>& fractions) {
  std::vector<std::string> texts;
  for (const auto& [a, b] : fractions) texts.push_back(a.str() + "/" + b.str());
  const std::vector<double> values = payoffs_of(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(is_nearest(values[i], cpp_rational(fractions[i].first, fractions[i].second)))
        << texts[i] << " became " << values[i];
  }
}

Draws draws(std::uint64_t seed) { return Draws({.seed = seed, .purpose = Purpose::test}); }

cpp_int random_integer(Draws& random, std::uint64_t max_bits) {
  const std::uint64_t bits = 1 + random.below(max_bits);
  cpp_int result = 1;
  for (std::uint64_t i = 1; i < bits; i += 32) {
    result = (result << 32) + cpp_int(random.bits() >> 32U);
  }
  return result;
}

TEST(Nfg, FractionsBecomeTheNearestDouble) {
  Draws random = draws(1);
  std::vector<std::pair<cpp_int, cpp_int>> fractions;
  for (const std::uint64_t bits : {10U, 50U, 60U, 70U, 200U, 950U}) {
    for (int i = 0; i < 1000; ++i) {
      const cpp_int first = random_integer(random, bits);
      fractions.emplace_back(first, random_integer(random, bits));
    }
  }
  expect_nearest(fractions);
}

// Exactly between two doubles, and next to it on both sides; all sizes down to the subnormals.
TEST(Nfg, FractionsThatAreTiesGoToTheEvenOne) {
  Draws random = draws(2);
  std::vector<std::pair<cpp_int, cpp_int>> fractions;
  const auto add = [&](double x) {
    const double next = std::nextafter(x, std::numeric_limits<double>::infinity());
    const cpp_rational middle = (cpp_rational(x) + cpp_rational(next)) / 2;
    const cpp_int factor = random_integer(random, 300);
    const cpp_int a = numerator(middle) * factor;
    const cpp_int b = denominator(middle) * factor;
    for (const int off : {-1, 0, 1}) fractions.emplace_back(a + off, b);
  };
  for (int i = 0; i < 1000; ++i) {
    add(std::ldexp(1.0 + random.uniform(), static_cast<int>(random.below(1800)) - 1000));
    add(std::ldexp(random.uniform(), -1022));                            // subnormal
    add(static_cast<double>(1 + random.below(64)) * 0x1p-1074);          // the smallest ones
    add(0x1p-1022 - static_cast<double>(random.below(64)) * 0x1p-1074);  // where they end
    add(std::ldexp(1.0, static_cast<int>(random.below(1800)) - 1000));   // powers of two
    add(std::nextafter(std::ldexp(1.0, static_cast<int>(random.below(1000)) - 500), 0.0));
  }
  add(0.0);
  expect_nearest(fractions);
}

TEST(Nfg, FractionsRoundToTheLargestDoubleOrAreRefused) {
  const cpp_int tie = (cpp_int(1) << 1024) - (cpp_int(1) << 970);  // kLargest + half a step
  EXPECT_EQ(payoffs_of({fmt::format("{}/3", cpp_int(tie * 3 - 1).str()), "0"})[0], kLargest);
  for (const int off : {0, 1}) {
    const std::string message = error_of(ErrorKind::input, [&] {
      static_cast<void>(payoffs_of({fmt::format("{}/3", cpp_int(tie * 3 + off).str()), "0"}));
    });
    EXPECT_NE(message.find("want a payoff"), std::string::npos);
  }
}

TEST(Nfg, ErrorsNameLineAndFix) {
  const std::string head = "NFG 1 R \"t\"\n{ \"a\" \"b\" }\n";
  const std::string good = head + "{ 3 2 }\n";
  const std::string outcome = good + "{ { \"\" 1, 1 }\n";
  const std::string eleven = "1 1 0 2 0 2\n1 1 0 3 2";
  const std::string payoffs = "want a payoff";
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"", 1, "found the end; want 'NFG'"},
      {"\n\nEFG 2 R", 3, "found 'EFG'; want 'NFG'"},
      {"nfg", 1, "found 'nfg'; want 'NFG'"},
      {"NFG\n2", 2, "found '2'; want version '1'"},
      {"NFG 1 \"t\"", 1, "found \"t\"; want 'R'"},
      {"NFG 1 X", 1, "found 'X'; want 'R'"},
      {"NFG 1 R t", 1, "found 't'; want the title in quotes"},
      {"NFG 1 R\n\"t\n", 2, "a text begins here and does not end; close it with a quote"},
      {"NFG 1 R \"t\\\"", 1, "a text begins here and does not end"},
      {"NFG 1 R\n\n\"t\xFF\"", 3, "the text \"t\\xff\" is not UTF-8"},
      {"NFG 1 R \"t\" 3", 1, "found '3'; want '{' and the names of the players"},
      {"NFG 1 R \"t\" {\n}", 2, "there are no players; want at least one"},
      {"NFG 1 R \"t\" {\na}", 2, "found 'a'; want the name of a player in quotes, or '}'"},
      {"NFG 1 R \"t\" { \"a\",\n", 1, "found ','; want the name of a player in quotes, or '}'"},
      {head, 3, "found the end; want '{' and the strategies of each player"},
      {head + "{ 3\n0 }", 4, "found '0'; want a number of strategies from 1 to 1048576"},
      {head + "{ 3\n-1 }", 4, "found '-1'; want a number of strategies"},
      {head + "{ 3\n2.0 }", 4, "found '2.0'; want a number of strategies"},
      {head + "{ 99999999999999999999 }", 3, "found '99999999999999999999'; want a number of"},
      {head + "{ 3\n{ \"x\" } }", 4, "found '{'; want a number of strategies"},
      {head + "{ 3 }", 3, "there are strategies for 1 of 2 players"},
      {head + "{ }", 3, "there are strategies for 0 of 2 players"},
      {head + "{ 3 2\n2 }", 4, "found '2'; want '}' after 2 players"},
      {head + "{ 2048\n512 }", 4, "there are more than 1048576 payoffs; use the array container"},
      {head + "{ {\"x\"}\n3 }", 4, "found '3'; want '{' and names of strategies"},
      {head + "{ {\"x\"}\n{} }", 4, "a player has no strategies; want at least one"},
      {head + "{ {x}", 3, "found 'x'; want the name of a strategy in quotes, or '}'"},
      {good + eleven, 5, "has 11 payoffs, want 12"},
      {good + eleven + "\n0 7\n8", 7, "has 14 payoffs, want 12"},
      {good, 4, "has 0 payoffs, want 12"},
      {good + eleven + "\nx", 6, "found 'x'; want a payoff"},
      {good + eleven + "\n, 0", 6, "found ','; want a payoff"},
      {good + eleven + " 0\n}", 6, "found '}'; want the end"},
      {good + "\"c\"\n\"d\"", 5, "found \"d\"; want a payoff"},
      {good + "{ 1, 1 }", 4, "found '1'; want '{' and an outcome, or '}'"},
      {good + "{ { 1, 1 }", 4, "found '1'; want the name of the outcome"},
      {outcome + "{ \"\" 1 } }", 5, "outcome 2 has 1 payoffs, want 2"},
      {outcome + "{ \"\" 1 2 3 } }", 5, "outcome 2 has 3 payoffs, want 2"},
      {outcome + "{ \"\" , 2 } }", 5, "found ','; want a payoff or '}'"},
      {outcome + "{ \"\" 1,, 2 } }", 5, "found ','; want a payoff or '}'"},
      {outcome + "{ \"\" 1, 1,\n} }", 6, "found '}'; want a payoff or '}'"},
      {outcome + "{ \"\" 1", 5, "found the end; want a payoff or '}'"},
      {outcome, 5, "found the end; want '{' and an outcome, or '}'"},
      {outcome + "} 1 1 1 1 1\n2", 6, "found '2'; want the number of an outcome, from 0 to 1"},
      {outcome + "} -1", 5, "found '-1'; want the number of an outcome, from 0 to 1"},
      {outcome + "} 1.0", 5, "found '1.0'; want the number of an outcome, from 0 to 1"},
      {outcome + "} 1 1 1 1 1", 5, "has 5 outcome numbers, want 6"},
      {outcome + "} 1 1 1 1 1 1\n1", 6, "has 7 outcome numbers, want 6"},
      {outcome + "} 1 1 1 1 1 1\nend", 6, "found 'end'; want the end"},
      {head + "{ 2 1 }\n\n-1e308 0 1e308 0", 5,
       "the payoffs of player 1, from -1e+308 to 1e+308, are too large for a range; scale them"},
      {"\xEF\xBB\xBFNFG", 1, "found '\\xef\\xbb\\xbfNFG'; want 'NFG'"},
      {"\x1b[2J", 1, "found '\\x1b[2J'; want 'NFG'"},
  };
  for (const auto& [text, line, problem] : cases) {
    const std::string message =
        error_of(ErrorKind::input, [&, text = &text] { static_cast<void>(parsed(*text)); });
    EXPECT_TRUE(message.starts_with(fmt::format("file.nfg:{}: {}", line, problem))) << text << "\n"
                                                                                    << message;
  }
}

TEST(Nfg, LimitsHold) {
  const auto message = [](ErrorKind kind, const std::string& text) {
    return error_of(kind, [&] { static_cast<void>(parsed(text)); });
  };
  const auto repeated = [](std::string_view part, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  const std::string head = "NFG 1 R \"\" ";
  EXPECT_EQ(message(ErrorKind::resource, std::string((16U << 20U) + 1, ' ')),
            "file.nfg: has 16777217 bytes, .nfg files have at most 16777216; "
            "use the array container");
  EXPECT_EQ(message(ErrorKind::input, std::string(16U << 20U, ' ')),
            "file.nfg:1: found the end; want 'NFG'");
  // Players.
  const LoadedGame most =
      parsed(head + "{" + repeated("\"\"", 64) + "}{" + repeated("1 ", 64) + "} {} 0");
  EXPECT_EQ(frame_of(most.game).num_players(), 64U);
  EXPECT_EQ(message(ErrorKind::input, head + "{" + repeated("\"\"", 65) + "}"),
            "file.nfg:1: there are more than 64 players");
  // Names.
  const std::string name = "\"" + std::string(255, 'a') + "\"";
  const std::string longer = "\"" + std::string(256, 'a') + "\"";
  expect_round_trip(parsed(head + "{" + name + "}{{" + name + "}} 1"));
  for (const std::string& text :
       {"{" + longer + "}", "{\"\"}{{" + longer + "}}", "{\"\"}{1} {{" + longer + "}}"}) {
    EXPECT_EQ(message(ErrorKind::input, head + text),
              "file.nfg:1: a name has 256 bytes; want at most 255");
  }
  // Payoffs: sizes that are declared, sizes that wrap 64 bits, and lists of names.
  EXPECT_EQ(message(ErrorKind::input, head + "{\"a\"}{1048576} 1 2"),
            "file.nfg:1: has 2 payoffs, want 1048576");
  const std::string too_many =
      "file.nfg:1: there are more than 1048576 payoffs; use the array container";
  EXPECT_EQ(message(ErrorKind::input,
                    head + "{" + repeated("\"\"", 64) + "}{" + repeated("1048576 ", 64) + "}"),
            too_many);
  EXPECT_EQ(message(ErrorKind::input, head + "{\"a\"\"b\"}{{" + repeated("\"\"", 3000) + "}{" +
                                          repeated("\"\"", 3000)),
            too_many);
  // Outcomes.
  const std::string outcomes = repeated("{\"\"1}", std::size_t{1} << 20U);
  EXPECT_EQ(payoffs_of(parsed(head + "{\"a\"}{1} {" + outcomes + "} 1048576"), 0)[0], 1.0);
  EXPECT_EQ(message(ErrorKind::input, head + "{\"a\"}{1} {" + outcomes + "{"),
            "file.nfg:1: there are more than 1048576 outcomes; use the array container");
}

// Cut anywhere, a text is an error that names its last line or is complete without the rest.
TEST(Nfg, CutTextsAreErrors) {
  for (const std::string_view text : {kListed, kOutcomes}) {
    const std::size_t last = text.find_last_not_of('\n') + 1;
    for (std::size_t size = 0; size < text.size(); ++size) {
      // On the heap and of this size, so that a read beyond it is seen.
      const std::vector<char> cut(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
      const auto read = [&] { return parsed({cut.data(), cut.size()}); };
      if (size >= last) {
        EXPECT_EQ(law_hash_of(read().game), law_hash_of(parsed(text).game));
      } else {
        EXPECT_FALSE(error_of(ErrorKind::input, [&] { static_cast<void>(read()); }).empty());
      }
    }
  }
}

TEST(Nfg, WritesListedPayoffsWithoutNames) {
  const LoadedGame game = parsed(kListed);
  expect_round_trip(game);
  EXPECT_EQ(game_to_nfg(game),
            "NFG 1 R \"Selten (IJGT, 75), Figure 2, normal form\" { \"Player 1\" \"Player 2\" } "
            "{ 3 2 }\n\n1 1\n0 2\n0 2\n1 1\n0 3\n2 0\n");
}

TEST(Nfg, WritesOutcomesWithNames) {
  const LoadedGame game = parsed(kOutcomes);
  expect_round_trip(game);
  EXPECT_EQ(game_to_nfg(game),
            "NFG 1 R \"Selten (IJGT, 75), Figure 2, normal form\" { \"Player 1\" \"Player 2\" }\n"
            "{\n{ \"1\" \"2\" \"3\" }\n{ \"left\" \"right\" }\n}\n\"Has a comment.\"\n\n"
            "{\n{ \"1\" 1, 1 }\n{ \"2\" 0, 2 }\n{ \"3\" 0, 3 }\n{ \"4\" 2, 0 }\n}\n1 2 2 1 3 4\n");
}

/// Rewards of any size, some of them 0 but not the first, in the range that they span.
FrameOptions random_game(Draws& random, std::vector<double>& rewards) {
  FrameOptions options{.num_players = 1 + random.below(4), .horizon = 1, .num_states = {1}};
  std::size_t joints = 1;
  for (std::size_t i = 0; i < options.num_players; ++i) {
    options.num_actions.push_back(static_cast<std::uint32_t>(2 + random.below(3)));
    joints *= options.num_actions.back();
  }
  options.ranges.clear();
  rewards.clear();
  for (std::size_t i = 0; i < options.num_players; ++i) {
    const int size = static_cast<int>(random.below(2000)) - 1000;
    const auto begin = static_cast<std::ptrdiff_t>(rewards.size());
    for (std::size_t joint = 0; joint < joints; ++joint) {
      rewards.push_back(
          joint > 0 && random.below(4) == 0 ? 0.0 : std::ldexp(random.uniform() - 0.5, size));
    }
    const auto [low, high] = std::minmax_element(rewards.begin() + begin, rewards.end());
    options.ranges.push_back({*low, *high});
  }
  return options;
}

TEST(Nfg, RoundTripsRandomGames) {
  Draws random = draws(3);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> rewards;
    const FrameOptions options = random_game(random, rewards);
    const Frame frame(options);
    const std::size_t joints = *frame.num_joint_actions(0);
    LoadedGame dense{DenseGame(frame, rewards, std::vector<double>(joints, 1.0))};
    SparseRows::Tables rows;
    for (std::size_t joint = 0; joint < joints; ++joint) {
      rows.successors.push_back(0);
      rows.probabilities.push_back(1.0);
      rows.begins.push_back(joint + 1);
    }
    LoadedGame sparse{SparseGame(frame, rewards, rows)};
    dense.about.title = sparse.about.title = fmt::format("game {}", i);
    EXPECT_EQ(game_to_nfg(dense), game_to_nfg(sparse));
    expect_round_trip(dense);
    expect_round_trip(sparse);
    for (std::size_t player = 0; player < frame.num_players(); ++player) {
      dense.about.names.players.push_back(fmt::format("p\"{}\\", player));
      dense.about.names.action_list.push_back(static_cast<std::uint32_t>(player));
      std::vector<std::string>& names = dense.about.names.action_lists.emplace_back();
      for (std::uint32_t a = 0; a < options.num_actions[player]; ++a) {
        names.push_back(fmt::format("{}.{}", player, a));
      }
    }
    dense.about.note = "\\";
    expect_round_trip(dense);
  }
}

// A zero-sum game whose rewards sum to something else is written with the rewards it pays.
TEST(Nfg, WritesWhatTheSecondPlayerEarns) {
  const Frame frame({.num_players = 2,
                     .horizon = 1,
                     .num_states = {1},
                     .num_actions = {2, 1},
                     .ranges = {{0.0, 10.0}, {5.0, 15.0}},
                     .zero_sum = true});
  const DenseGame game(frame, {0.0, 7.0}, {1.0, 1.0});
  EXPECT_EQ(game.user_reward(Player(0), 0, 1), 7.0);
  EXPECT_EQ(game.user_reward(Player(1), 0, 1), 8.0);
  EXPECT_EQ(game_to_nfg({game}), "NFG 1 R \"\" { \"1\" \"2\" } { 2 1 }\n\n0 15\n7 8\n");
}

TEST(Nfg, UserRewardsAreVerbatim) {
  const Frame frame({.num_players = 2,
                     .horizon = 2,
                     .num_states = {2},
                     .num_actions = {1, 2},
                     .ranges = {{-0.1, 0.3}, {-0.3, 0.1}},
                     .zero_sum = true});
  const DenseGame game(frame, {0.1, 0.2, -0.1, 0.3}, std::vector<double>(8, 0.5));
  EXPECT_EQ(game.user_reward(Player(0), 1, 0), -0.1);
  EXPECT_EQ(game.user_reward(Player(1), 0, 1), -0.2);
  EXPECT_EQ(game.user_reward(Player(1), 1, 1), -0.3);
}

TEST(Nfg, RefusesToWriteWhatTheFormatCannotHold) {
  const auto message = [](const LoadedGame& game) {
    return error_of(ErrorKind::usage, [&] { static_cast<void>(game_to_nfg(game)); });
  };
  EXPECT_EQ(message({make_game("random:players=2,states=3,actions=2,horizon=5")}),
            "game: has 5 steps and 3 states, .nfg files have one of each; "
            "write .json or .safetensors");
  EXPECT_EQ(message({make_game("congestion:players=3,routes=2,states=1,horizon=1")}),
            "game: is a congestion game, .nfg files have tables of payoffs; "
            "write .json or .safetensors");
  const auto table = [](std::size_t num_players, std::uint32_t num_actions) {
    Frame frame({.num_players = num_players,
                 .horizon = 1,
                 .num_states = {1},
                 .num_actions = std::vector<std::uint32_t>(num_players, num_actions)});
    const std::size_t joints = *frame.num_joint_actions(0);
    return LoadedGame{DenseGame(std::move(frame), std::vector<double>(joints * num_players, 0.1),
                                std::vector<double>(joints, 1.0))};
  };
  EXPECT_EQ(message(table(65, 1)),
            "game: has 65 players, .nfg files have at most 64; write .json or .safetensors");
  EXPECT_EQ(message(table(2, 725)),
            "game: has more than 1048576 payoffs; write .json or .safetensors");
  LoadedGame latin = table(1, 1);
  latin.about.title = "\xE9";
  EXPECT_EQ(message(latin),
            "game: has a title, note or name that is not UTF-8; write .json or .safetensors");
  LoadedGame long_note = table(1, 1);
  long_note.about.note.assign(16U << 20U, 'x');
  EXPECT_EQ(message(long_note).substr(0, 32), "game: takes 16777249 bytes, .nfg");
}

}  // namespace
}  // namespace vlearn
