// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/version.h"

namespace vlearn {
namespace {

TEST(Nearest, FindsTypos) {
  const std::vector<std::string_view> words = {"learn", "solve", "certify", "verify", "play"};
  EXPECT_EQ(nearest("lern", words), "learn");
  EXPECT_EQ(nearest("slove", words), "solve");
  EXPECT_EQ(nearest("certfy", words), "certify");
  EXPECT_EQ(nearest("xyz", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'a'), words), std::nullopt);
  EXPECT_EQ(suggestion("plya", words), "did you mean 'play'?");
  EXPECT_EQ(suggestion("zzzz", words), "");
  const std::vector<std::string_view> hostile = {"play\x1b"};  // names come from files too
  EXPECT_EQ(suggestion("play", hostile), "did you mean 'play\\x1b'?");
}

TEST(Printable, ShowsNoControlCharacters) {
  EXPECT_EQ(printable("plain text, \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\xB2"),
            "plain text, \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\xB2");
  EXPECT_EQ(printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(printable("\xff\x7f"), "\\xff\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI as one character
  EXPECT_EQ(printable(std::string(100, 'a'), 20), std::string(20, 'a') + "...");
  EXPECT_EQ(printable(std::string(20, 'a'), 20), std::string(20, 'a'));
}

TEST(Printable, ShowsNoMarksOfDirection) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\xe2\\x80\\xaeb");  // right-to-left override
  EXPECT_EQ(printable("\xD8\x9C\xE2\x81\xA6\xEF\xBB\xBF"),
            "\\xd8\\x9c\\xe2\\x81\\xa6\\xef\\xbb\\xbf");
  EXPECT_EQ(printable("\xD7\xA9\xD7\x9C"), "\xD7\xA9\xD7\x9C");  // letters of such a script stay
}

TEST(Visible, NamesWhatSteersAReader) {
  EXPECT_EQ(visible(""), "");
  EXPECT_EQ(visible("plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\xB2"),
            "plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\xB2");
  EXPECT_EQ(visible("\x1b[31m"), "[U+001B][31m");
  EXPECT_EQ(visible(std::string_view("\0\x7f\xc2\x9b", 4)), "[U+0000][U+007F][U+009B]");
  EXPECT_EQ(visible("\xff\xe2\x80"), "[0xFF][0xE2][0x80]");
  for (const std::uint32_t code : {0x202AU, 0x202EU, 0x2066U, 0x2069U, 0x200EU, 0x200FU, 0x200BU,
                                   0x200DU, 0xFEFFU, 0x2028U, 0x2029U}) {
    const std::string mark = {static_cast<char>(0xE0U | (code >> 12U)),
                              static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
                              static_cast<char>(0x80U | (code & 0x3FU))};
    EXPECT_EQ(visible("a" + mark + "b"), fmt::format("a[U+{:04X}]b", code));
  }
  EXPECT_EQ(visible("\xD8\x9C"), "[U+061C]");
}

TEST(Utf8, KnowsWellFormedSequences) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(
      "a\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
  for (const char* bad : {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\x80", "\xED\xA0\x80", "\xE1\x80",
                          "\xF0\x8F\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC2\x41"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Utf8, IsWhatResultsHave) {
  EXPECT_EQ(as_utf8("r\xC3\xA4um/\t1"), "r\xC3\xA4um/\t1");
  EXPECT_EQ(as_utf8("bad\xFF/run"), "bad\\xff/run");
  const std::string longer(5000, 'x');
  EXPECT_EQ(as_utf8(longer + "\xFF"), longer + "\\xff");  // uncut
}

TEST(Error, SaysWhereWhatAndHow) {
  const Error error(ErrorKind::input, "game.json:3", "row sums to 0.99", "want 1");
  EXPECT_STREQ(error.what(), "game.json:3: row sums to 0.99; want 1");
  EXPECT_EQ(error.place(), "game.json:3");
  EXPECT_EQ(error.problem(), "row sums to 0.99");
  EXPECT_EQ(error.fix(), "want 1");
  EXPECT_STREQ(Error(ErrorKind::usage, "", "no command").what(), "no command");
}

TEST(Hash, PublishedKnownAnswers) {
  // FIPS 180-2, appendices B.1 and B.2, and the empty message.
  const auto hex = [](std::string_view text) {
    return to_hex(sha256(std::as_bytes(std::span(text))));
  };
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // XXH3 of nothing, seed 0 (xxHash's own test vector).
  EXPECT_EQ(xxh3({}), 0x2D06800538D394C2U);
}

TEST(Hash, PiecesGiveTheSameAsTheWhole) {
  const std::string text = "in three pieces of different size";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  Sha256 hash;
  hash.update(bytes.first(1));
  hash.update(bytes.subspan(1, 20));
  hash.update(bytes.subspan(21));
  EXPECT_EQ(hash.finish(), sha256(bytes));
}

TEST(BuildInfo, IsFilledIn) {
  const BuildInfo info = build_info();
  EXPECT_FALSE(info.version.empty());
  EXPECT_FALSE(info.commit.empty());
  EXPECT_FALSE(info.compiler.empty());
  EXPECT_FALSE(info.build_type.empty());
}

}  // namespace
}  // namespace vlearn
