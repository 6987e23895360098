// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/json.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <string>

#include "support/expect_error.h"

namespace vlearn {
namespace {

using test::error_of;

JsonDocument parse(std::string_view text, const JsonLimits& limits = {}) {
  return JsonDocument::parse(text, "x.json", limits);
}

std::string parse_error(std::string_view text,
                        const JsonLimits& limits = {},
                        ErrorKind kind = ErrorKind::input) {
  return error_of(kind, [&] { static_cast<void>(parse(text, limits)); });
}

TEST(Json, ReadsEveryKind) {
  const JsonDocument document = parse(R"({"n": null, "t": true, "f": false, "i": -3, "x": 2.5e1,
    "s": "a\u00e9\n", "a": [1, [], {}], "o": {"k": 18446744073709551615}})");
  const JsonValue root = document.root();
  EXPECT_EQ(root.size(), 8U);
  EXPECT_EQ(root.at("n").kind(), JsonKind::null);
  EXPECT_TRUE(root.at("t").boolean());
  EXPECT_FALSE(root.at("f").boolean());
  EXPECT_EQ(root.at("i").integer(-3, 3), -3);
  EXPECT_EQ(root.at("i").number(), -3.0);
  EXPECT_EQ(root.at("x").number(), 25.0);
  EXPECT_EQ(root.at("s").string(), "a\xC3\xA9\n");
  EXPECT_EQ(root.at("a").size(), 3U);
  EXPECT_EQ(root.at("a").at(0U).natural(1), 1U);
  EXPECT_EQ(root.at("a").at(1U).size(), 0U);
  EXPECT_EQ(root.at("o").at("k").natural(UINT64_MAX), UINT64_MAX);
  EXPECT_FALSE(root.find("missing"));
  EXPECT_EQ(root.at(0U).key(), "n");
}

TEST(Json, IntegersKeepEveryBit) {
  EXPECT_EQ(parse("-9223372036854775808").root().integer(INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(parse("9223372036854775807").root().integer(0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(parse("9007199254740993").root().natural(UINT64_MAX), 9007199254740993U);
  error_of(ErrorKind::input,
           [] { static_cast<void>(parse("9223372036854775808").root().integer(0, INT64_MAX)); });
  error_of(ErrorKind::input, [] { static_cast<void>(parse("-1").root().natural(5)); });
  error_of(ErrorKind::input, [] { static_cast<void>(parse("3.0").root().natural(5)); });
}

TEST(Json, ErrorsNameFileLineAndKey) {
  const JsonDocument document =
      parse("{\n  \"rules\": [\n    {},\n    {\"reward\":\n \"high\"}\n  ]\n}");
  const JsonValue reward = document.root().at("rules").at(1U).at("reward");
  EXPECT_EQ(error_of(ErrorKind::input, [&] { static_cast<void>(reward.number()); }),
            "x.json:5: rules[1].reward: is a string, want a number");
  EXPECT_EQ(error_of(ErrorKind::input, [&] { static_cast<void>(document.root().at("name")); }),
            "x.json:1: lacks the key 'name'; add it");
  EXPECT_EQ(error_of(ErrorKind::input,
                     [&] {
                       document.root().at("rules").at(1U).allow_keys({"rewards", "when"});
                     }),
            "x.json:5: rules[1].reward: is not a key that may stand here; did you mean 'rewards'?");
  const JsonDocument range = parse("{\"horizon\": 0}");
  EXPECT_EQ(error_of(ErrorKind::input,
                     [&] { static_cast<void>(range.root().at("horizon").integer(1, 100)); }),
            "x.json:1: horizon: is 0, want an integer from 1 to 100");
}

TEST(Json, SyntaxErrorsNameTheLine) {
  EXPECT_EQ(parse_error("{\n\"a\": 1,\n}").substr(0, 20), "x.json:3: column 1: ");
  EXPECT_EQ(parse_error("[1,\n2\n3]").substr(0, 9), "x.json:3:");
  EXPECT_EQ(parse_error("").substr(0, 9), "x.json:1:");
  EXPECT_NE(parse_error("[1, 2").find("unexpected end of input"), std::string::npos);
}

TEST(Json, LinesOfValues) {
  const JsonDocument document = parse("[1\n,2,\n\n\"x\"\n,{\"k\"\n:\ntrue}]");
  const JsonValue items = document.root();
  EXPECT_EQ(items.at(0U).line(), 1U);
  EXPECT_EQ(items.at(1U).line(), 2U);
  EXPECT_EQ(items.at(2U).line(), 4U);
  EXPECT_EQ(items.at(3U).line(), 5U);
  EXPECT_EQ(items.at(3U).at("k").line(), 7U);
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_EQ(parse_error("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}"),
            "x.json:3: key 'a' stands twice in one object, first in line 1; keep one of them");
  // The same key by an escape.
  EXPECT_NE(parse_error("{\"a\": 1, \"\\u0061\": 2}").find("twice"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(parse("[{\"a\": 1}, {\"a\": {\"a\": 2}}]")));
}

TEST(Json, RefusesWhatIsNotANumber) {
  for (const char* text : {"NaN", "[Infinity]", "-Infinity", "nan", "1e999", "-1e999", "01", "+1",
                           ".5", "1.", "0x10", "[1,]", "{,}", "'a'", "[1] 2", "// x\n1"}) {
    EXPECT_FALSE(parse_error(text).empty()) << text;
  }
}

TEST(Json, NumbersDoNotDependOnTheRoundingMode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const JsonDocument document = parse("[0.1, 0.3, 9007199254740993]");
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(document.root().at(0U).number(), 0.1);
    EXPECT_EQ(document.root().at(1U).number(), 0.3);
    EXPECT_EQ(document.root().at(2U).number(), 0x1p53);
  }
}

TEST(Json, RefusesBadText) {
  for (const std::string& text :
       {std::string("\"\xff\""), std::string("\"\xc0\xaf\""), std::string("\"\\ud800\""),
        std::string("\"\n\""), std::string("\"a"), std::string("[\0]", 3),
        std::string("1\0garbage", 9), std::string("1\0", 2), std::string("\0", 1)}) {
    EXPECT_FALSE(parse_error(text).empty());
  }
  EXPECT_EQ(parse_error(std::string("[1,\n2]\n\0", 9)).substr(0, 30),
            "x.json:3: contains a NUL byte;");
}

TEST(Json, LimitsBytesDepthAndValues) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(static_cast<void>(parse(nested(64))));
  EXPECT_NE(parse_error(nested(65)).find("64 levels"), std::string::npos);
  EXPECT_NE(parse_error(std::string(10'000'000, '[')).find("64 levels"), std::string::npos);
  parse_error("[1, 2]", {.max_bytes = 5}, ErrorKind::resource);
  EXPECT_NO_THROW(static_cast<void>(parse("[1, 2]", {.max_bytes = 6})));
  EXPECT_NE(parse_error("[1, 2]", {.max_values = 2}, ErrorKind::resource).find("more than 2"),
            std::string::npos);
  // The default limit on values keeps a hostile text within memory.
  std::string many = "[0";
  for (int i = 0; i < (1 << 21); ++i) many += ",0";
  parse_error(many + "]", {}, ErrorKind::resource);
}

TEST(Json, MessagesCarryNoControlCharacters) {
  const std::string message = parse_error("{\"\\u001b[31m\": 1, \"\\u001b[31m\": 2}");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("\\x1b"), std::string::npos);
  EXPECT_LT(parse_error(std::string(100'000, '1') + "x").size(), 400U);
}

TEST(JsonWriter, WritesWhatTheReaderReads) {
  JsonWriter json;
  json.begin_object().member("text", "q\"\\\n\t\x01z").member("x", 0.1).member("flag", true);
  json.member("big", UINT64_MAX).member("small", std::int64_t{INT64_MIN});
  json.key("list").begin_array().value(1.0).value(-0.0).begin_object().end_object().end_array();
  json.key("none").begin_array().end_array().key("nothing").null().end_object();
  const JsonDocument document = parse(json.text());
  const JsonValue root = document.root();
  EXPECT_EQ(root.at("text").string(), "q\"\\\n\t\x01z");
  EXPECT_EQ(root.at("x").number(), 0.1);
  EXPECT_TRUE(root.at("flag").boolean());
  EXPECT_EQ(root.at("big").natural(UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(root.at("small").integer(INT64_MIN, 0), INT64_MIN);
  EXPECT_TRUE(std::signbit(root.at("list").at(1U).number()));
  EXPECT_EQ(root.at("none").size(), 0U);
  EXPECT_EQ(root.at("nothing").kind(), JsonKind::null);
}

TEST(JsonWriter, Layouts) {
  const auto write = [](JsonWriter json) {
    json.begin_object().key("a").begin_array().value(std::uint64_t{1}).value("b").end_array();
    return json.member("c", false).end_object().text();
  };
  EXPECT_EQ(write(JsonWriter(JsonWriter::Layout::compact)), R"({"a":[1,"b"],"c":false})");
  EXPECT_EQ(write(JsonWriter()), "{\n  \"a\": [\n    1,\n    \"b\"\n  ],\n  \"c\": false\n}");
}

TEST(JsonWriter, RefusesWhatHasNoJsonForm) {
  JsonWriter json;
  error_of(ErrorKind::internal, [&] { json.value(std::numeric_limits<double>::quiet_NaN()); });
  error_of(ErrorKind::internal, [&] { json.value(std::numeric_limits<double>::infinity()); });
  error_of(ErrorKind::internal, [&] { json.value("\xff"); });
}

}  // namespace
}  // namespace vlearn
