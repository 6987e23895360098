// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/container.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/core/hash.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

class ContainerTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "x.safetensors"; }

  /// A file with several types, an empty array and a single number.
  void write_sample() const {
    const std::vector<double> values = {1.5, -2.5, 3.5, 4.5, 5.5, 6.5};
    const std::vector<std::uint8_t> bytes = {1, 2, 3};
    const std::vector<std::int32_t> one = {-7};
    const std::vector<float> none;
    ContainerWriter("vlearn.test/1")
        .metadata("seed", "7")
        .add("bytes", {3}, bytes)
        .add("values", {2, 3}, values)
        .add("one", {}, one)
        .add("none", {0, 4}, none)
        .write(path());
  }

  [[nodiscard]] std::string bytes() const {
    return std::string(FileBytes::read(path(), 1U << 20U).text());
  }

  /// A file from a header and data, with the right length in front.
  void write_raw(const std::string& header, const std::string& data) const {
    const std::uint64_t length = header.size();
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8);
    write_file(path(), file + header + data);
  }

  [[nodiscard]] std::string open_error() const {
    return error_of(ErrorKind::input, [&] { static_cast<void>(Container::open(path())); });
  }

  TemporaryFolder folder_;
};

TEST_F(ContainerTest, RoundTrip) {
  write_sample();
  for (const bool mapped : {false, true}) {
    const Container container = Container::open(path(), {.mapped = mapped});
    EXPECT_TRUE(container.header().committed());
    EXPECT_EQ(container.header().metadata("format"), "vlearn.test/1");
    EXPECT_EQ(container.header().metadata("seed"), "7");
    EXPECT_EQ(container.header().metadata("missing"), std::nullopt);
    EXPECT_EQ(container.header().arrays().size(), 4U);
    EXPECT_EQ(container.header().at("values", ElementType::f64).shape,
              (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(container.view<double>("values")[4], 5.5);
    EXPECT_EQ(container.view<std::uint8_t>("bytes").size(), 3U);
    EXPECT_EQ(container.view<std::int32_t>("one")[0], -7);
    EXPECT_TRUE(container.view<float>("none").empty());
    EXPECT_EQ(container.header().find("commit"), nullptr);
  }
}

TEST_F(ContainerTest, CommitIsTheHashOfAllBeforeIt) {
  write_sample();
  const std::string file = bytes();
  const Sha256Digest digest = sha256(std::as_bytes(std::span(file)).first(file.size() - 32));
  EXPECT_EQ(std::memcmp(digest.data(), file.data() + file.size() - 32, 32), 0);
}

TEST_F(ContainerTest, SameContentsSameBytes) {
  write_sample();
  const std::string first = bytes();
  write_sample();
  EXPECT_EQ(bytes(), first);
}

TEST_F(ContainerTest, EveryFlippedBitIsFound) {
  write_sample();
  const std::string file = bytes();
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_file(path(), damaged);
    EXPECT_THROW(static_cast<void>(Container::open(path())), Error) << "bit " << bit;
  }
}

TEST_F(ContainerTest, EveryTruncationIsFound) {
  write_sample();
  const std::string file = bytes();
  for (std::size_t size = 0; size < file.size(); ++size) {
    write_file(path(), std::string_view(file).substr(0, size));
    EXPECT_THROW(static_cast<void>(Container::open(path())), Error) << "size " << size;
  }
  write_file(path(), file + "x");
  EXPECT_NE(open_error().find("1 bytes after"), std::string::npos);
}

TEST_F(ContainerTest, ReadsFilesOfOthersAndSaysSo) {
  write_raw(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}  )", std::string(8, '\0'));
  const Container container = Container::open(path());
  EXPECT_FALSE(container.header().committed());
  EXPECT_EQ(container.view<double>("x")[0], 0.0);
  write_raw(R"({"__metadata__":{"commit":"98f5cb0"}})", "");  // of a repository, say
  EXPECT_FALSE(Container::open(path()).header().committed());
  write_raw("{}      ", "");
  EXPECT_TRUE(Container::open(path()).header().arrays().empty());
}

TEST_F(ContainerTest, RefusesLengthsThatLie) {
  for (const std::uint64_t length : {std::uint64_t{1} << 20U, (std::uint64_t{1} << 20U) + 1,
                                     std::uint64_t{100}, UINT64_MAX, UINT64_MAX - 7}) {
    std::string file(16, ' ');
    std::memcpy(file.data(), &length, 8);
    write_file(path(), file);
    EXPECT_NE(open_error().find("header of " + std::to_string(length)), std::string::npos);
  }
}

TEST_F(ContainerTest, RefusesHeadersThatBreakTheRules) {
  const std::string eight(8, '\0');
  const auto refused = [&](const std::string& header, const std::string& words) {
    write_raw(header, eight);
    const std::string message = open_error();
    EXPECT_NE(message.find(words), std::string::npos) << header << "\n" << message;
  };
  refused("[]", "must be an object");
  refused("{", "header");
  refused("nonsense", "column 2");
  refused(R"({"x":3})", "want an object");
  refused(R"({"x":{"dtype":"F64","shape":[1]}})", "lacks the key 'data_offsets'");
  refused(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8],"y":1}})", "not a key");
  refused(R"({"x":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})", "F16");
  refused(R"({"x":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", "need 16 bytes");
  refused(R"({"x":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}})", "want an integer from 0");
  refused(R"({"x":{"dtype":"F64","shape":[1.0],"data_offsets":[0,8]}})", "want an integer");
  refused(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})", "from 0 to 8");
  refused(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}})", "need 8 bytes");
  refused(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0]}})", "[begin, end]");
  refused(R"({"x":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
          "overflow");
  refused(R"({"x":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,8]}})",
          "overflow");
  refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "4 bytes after");
  refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", "gap");
  refused(R"({"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},
              "y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
          "overlaps");
  refused(R"({"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},
              "x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
          "twice");
  refused(R"({"":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", "1 to 255 bytes");
  refused(R"({"__metadata__":{"a":1},"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
          "want a string");
  refused(R"({"__metadata__":[],"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
          "object of strings");
  refused("{\"" + std::string(256, 'n') + R"(":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
          "1 to 255 bytes");
  std::string dimensions = "1";
  for (int i = 0; i < 64; ++i) dimensions += ",1";
  refused("{\"x\":{\"dtype\":\"F64\",\"shape\":[" + dimensions + "],\"data_offsets\":[0,8]}}",
          "at most 64 sizes");
  refused(R"({"commit":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
          "must be the last array");
  refused(
      R"({"__metadata__":{"commit":"sha256"},"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
      "announced but missing");
}

TEST_F(ContainerTest, RefusesTooManyArrays) {
  std::string header = "{";
  for (int i = 0; i <= 4096; ++i) {
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  write_raw(header + "}", "");
  EXPECT_NE(open_error().find("4096"), std::string::npos);
}

TEST_F(ContainerTest, HoldsAsManyArraysAsAllowed) {
  ContainerWriter writer("f");
  const std::vector<double> none;
  for (int i = 0; i < 4095; ++i) writer.add(std::to_string(i), {0}, none);
  error_of(ErrorKind::usage, [&] { writer.add("more", {0}, none); });
  writer.write(path());
  EXPECT_EQ(Container::open(path()).header().arrays().size(), 4095U);
}

TEST_F(ContainerTest, ViewsCheckNameTypeAndAlignment) {
  write_sample();
  const Container container = Container::open(path());
  const auto message = [&](const Container& from, const char* name) {
    return error_of(ErrorKind::input, [&] { static_cast<void>(from.view<double>(name)); });
  };
  EXPECT_NE(message(container, "value").find("did you mean 'values'?"), std::string::npos);
  EXPECT_NE(message(container, "bytes").find("has type U8, want F64"), std::string::npos);
  write_raw(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}} )", std::string(8, '\0'));
  EXPECT_NE(message(Container::open(path()), "x").find("multiple"), std::string::npos);
}

TEST_F(ContainerTest, BooleansReadAsBytes) {
  write_raw(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", std::string("\1\0", 2));
  const Container container = Container::open(path());
  EXPECT_EQ(container.view<std::uint8_t>("x")[0], 1);
}

TEST_F(ContainerTest, WriterRefusesWhatReadersWouldRefuse) {
  const std::vector<double> two = {1.0, 2.0};
  const auto refused = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
    error_of(ErrorKind::usage, [&] { ContainerWriter("f").add(name, shape, two); });
  };
  refused("x", {3});
  refused("x", {});
  refused("", {2});
  refused("commit", {2});
  refused("__metadata__", {2});
  refused("\xff", {2});
  refused(std::string(256, 'n'), {2});
  refused("x", {UINT64_MAX, UINT64_MAX});
  refused("x", std::vector<std::uint64_t>(65, 1));
  error_of(ErrorKind::usage, [&] { ContainerWriter("f").add("x", {2}, two).add("x", {2}, two); });
  error_of(ErrorKind::usage, [&] { ContainerWriter("f").metadata("format", "again"); });
  error_of(ErrorKind::usage, [&] { ContainerWriter("f").metadata("\xff", "value"); });
  error_of(ErrorKind::usage, [&] { ContainerWriter("f").metadata("key", "\xff"); });
  error_of(ErrorKind::usage, [&] { ContainerWriter("\xff"); });
  EXPECT_EQ(error_of(ErrorKind::usage,
                     [] { ContainerWriter("f").metadata("\x1b", "").metadata("\x1b", ""); }),
            "metadata '\\x1b': stands twice");
}

// 64 GiB that are not there: refused for the header, before memory for the rest is asked for.
TEST_F(ContainerTest, LooksAtTheHeaderBeforeItReadsTheRest) {
  write_raw(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "");
  std::filesystem::resize_file(path(), std::uintmax_t{1} << 36U);
  EXPECT_NE(open_error().find("bytes after its last array"), std::string::npos);
}

TEST_F(ContainerTest, LimitsTheFileSize) {
  write_sample();
  error_of(ErrorKind::resource,
           [&] { static_cast<void>(Container::open(path(), {.max_bytes = 100})); });
}

}  // namespace
}  // namespace vlearn
