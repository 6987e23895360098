// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/observations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "support/expect_error.h"

namespace vlearn::test {
namespace {

/// Two steps with two states and one.
const std::vector<std::size_t> kFirstCell = {0, 2, 3};

std::vector<Observation> read_all(const std::string& text) {
  std::istringstream lines(text);
  Observations observations(lines, "here", kFirstCell);
  std::vector<Observation> all;
  while (const std::optional<Observation> seen = observations.next()) all.push_back(*seen);
  return all;
}

TEST(Observations, ComeLineByLine) {
  const std::vector<Observation> all = read_all(
      "{\"episode\": 9, \"step\": 1, \"state\": 2}\n"
      "{\"episode\": 9, \"step\": 2, \"state\": 1}\n"
      "{\"state\": 1, \"step\": 1, \"episode\": 3}");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].episode, Episode(8));
  EXPECT_EQ(all[0].h, Step(0));
  EXPECT_EQ(all[0].s, State(1));
  EXPECT_TRUE(all[0].begins);
  EXPECT_EQ(all[1].h, Step(1));
  EXPECT_FALSE(all[1].begins);
  EXPECT_EQ(all[2].episode, Episode(2));
  EXPECT_TRUE(all[2].begins);
  EXPECT_TRUE(read_all("").empty());
}

TEST(Observations, ABadLineIsNamed) {
  const std::string good = "{\"episode\": 1, \"step\": 1, \"state\": 1}\n";
  struct Bad {
    const char* line;
    const char* words;
  };
  for (const auto& [line, words] : {
           Bad{"", "end of input"},
           Bad{"nonsense", ""},
           Bad{"[]", "object"},
           Bad{"{\"episode\": 1, \"step\": 2}", "state"},
           Bad{"{\"episode\": 1, \"step\": 1, \"state\": 1}", "step: is 1; steps of an episode"},
           Bad{"{\"episode\": 2, \"step\": 2, \"state\": 1}", "want 1"},
           Bad{"{\"episode\": 1, \"step\": 3, \"state\": 1}", "from 0 to 2"},
           Bad{"{\"episode\": 1, \"step\": 2, \"state\": 2}", "from 0 to 1"},
           Bad{"{\"episode\": 0, \"step\": 1, \"state\": 1}", "counts from 1"},
           Bad{"{\"episode\": 18446744073709551615, \"step\": 1, \"state\": 1}", "episode"},
           Bad{"{\"episode\": 1.0, \"step\": 2, \"state\": 1}", "episode"},
       }) {
    const std::string message =
        error_of(ErrorKind::input, [&] { static_cast<void>(read_all(good + line + "\n" + good)); });
    EXPECT_EQ(message.find("here, line 2"), 0U) << message;
    EXPECT_NE(message.find(words), std::string::npos) << line << ": " << message;
  }
}

/// Bytes without end, counted.
class Endless : public std::streambuf {
 public:
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  int_type underflow() override {
    taken_ += bytes_.size();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + bytes_.size());
    // Who goes on for ever finds an end after all.
    return taken_ > 1'000'000 ? traits_type::eof() : traits_type::to_int_type(bytes_[0]);
  }
  std::string bytes_ = std::string(512, ' ');
  std::size_t taken_ = 0;
};

TEST(Observations, NoMoreIsReadOfALineThanFits) {
  const std::string good = "{\"episode\": 1, \"step\": 1, \"state\": 1}";
  EXPECT_EQ(read_all(good + std::string(4096 - good.size(), ' ')).size(), 1U);
  const std::string message = error_of(ErrorKind::resource, [&] {
    static_cast<void>(read_all(good + std::string(4097 - good.size(), ' ') + "\n"));
  });
  EXPECT_NE(message.find("here, line 1"), std::string::npos) << message;
  EXPECT_NE(message.find("4096"), std::string::npos) << message;
  Endless bytes;
  std::istream lines(&bytes);
  Observations observations(lines, "here", kFirstCell);
  error_of(ErrorKind::resource, [&] { static_cast<void>(observations.next()); });
  EXPECT_LE(bytes.taken(), 8192U);
}

}  // namespace
}  // namespace vlearn::test
