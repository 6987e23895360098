// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/efficiency_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

EfficiencySettings settings_of(std::uint64_t seeds = 2) {
  EfficiencySettings settings;
  settings.games = select_games(Target::cce, std::vector<std::string>{"rps", "lock", "horizon-20"});
  settings.seeds = seeds;
  settings.reference_episodes = 1000;
  return settings;
}

std::vector<PartResult> some_results() {
  return {
      {.game = 0, .seed = 2, .part = Part::preset, .episodes = 12, .gap = 0.1, .reached = true},
      {.game = 0, .seed = 1, .part = Part::reference, .episodes = 1000, .gap = 0.1, .wanted = 0.3},
      {.game = 2, .seed = 1, .part = Part::share, .episodes = 100, .gap = 0.7, .share = 0.9},
      {.game = 1, .seed = 1, .part = Part::gap, .episodes = 300, .gap = 1.0 / 3.0}};
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(EfficiencyLog, GoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "in" / "results.jsonl";
  {
    EfficiencyLog log(folder / "in", settings_of());
    for (const PartResult& result : some_results()) log.add(result);
  }
  const std::string whole = text_of(file);
  EfficiencyLog log(folder / "in", settings_of());
  EXPECT_EQ(log.size(), 4U);
  for (const PartResult& result : some_results()) {
    EXPECT_EQ(log.find(result.game, result.seed, result.part), result);
  }
  EXPECT_EQ(log.find(0, 1, Part::preset), std::nullopt);
  EXPECT_EQ(text_of(file), whole);
}

TEST(EfficiencyLog, LinesEndInOrder) {
  const TemporaryFolder folder;
  std::vector<PartResult> results = some_results();
  for (const char* name : {"one", "other"}) {
    EfficiencyLog log(folder / name, settings_of());
    for (const PartResult& result : results) log.add(result);
    log.put_in_order();
    std::reverse(results.begin(), results.end());
  }
  const std::string text = text_of(folder / "one" / "results.jsonl");
  EXPECT_EQ(text, text_of(folder / "other" / "results.jsonl"));
  EXPECT_LT(text.find(R"("part":"reference")"), text.find(R"("part":"preset")"));
  EXPECT_EQ(EfficiencyLog(folder / "one", settings_of()).size(), 4U);
}

TEST(EfficiencyLog, HalfALineIsDropped) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  {
    EfficiencyLog log(folder.path(), settings_of());
    for (const PartResult& result : some_results()) log.add(result);
  }
  const std::string whole = text_of(file);
  // Wherever a program is killed: what was whole stays, and what is added makes whole lines again.
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    put(file, whole.substr(0, size));
    {
      EfficiencyLog log(folder.path(), settings_of());
      for (const PartResult& result : some_results()) {
        if (!log.find(result.game, result.seed, result.part)) log.add(result);
      }
    }
    ASSERT_EQ(text_of(file), whole) << size;
  }
}

TEST(EfficiencyLog, OtherSettingsAreRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  { const EfficiencyLog log(folder.path(), settings_of()); }
  const std::string text = text_of(file);
  const auto open = [&](const EfficiencySettings& settings) {
    return error_of(ErrorKind::usage, [&] { const EfficiencyLog log(folder.path(), settings); });
  };
  EXPECT_NE(open(settings_of(3)).find("--out"), std::string::npos);
  EfficiencySettings settings = settings_of();
  settings.reference_episodes = 2000;
  EXPECT_NE(open(settings).find("other settings"), std::string::npos);
  settings = settings_of();
  settings.games.pop_back();
  EXPECT_NE(open(settings).find("results.jsonl:1"), std::string::npos);
  settings = settings_of();
  settings.first_seed = 2;
  EXPECT_NE(open(settings).find("other settings"), std::string::npos);
  EXPECT_EQ(text_of(file), text);
  // A file of somebody else is not taken for half a line of ours.
  put(file, "my diary");
  EXPECT_NE(open(settings_of()).find("other settings"), std::string::npos);
  EXPECT_EQ(text_of(file), "my diary");
}

TEST(EfficiencyLog, HostileLinesAreRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::string header = header_line(settings_of()) + "\n";
  const std::string good =
      R"({"game":"rps","seed":1,"part":"preset","episodes":9,"gap":1,"reached":true})";
  struct Bad {
    const char* line;
    const char* word;
  };
  for (
      const auto& [line, word] : {
          Bad{"", "end of input"},
          Bad{"[]", "object"},
          Bad{R"({"game":"chess","seed":1,"part":"preset","episodes":9,"gap":1,"reached":true})",
              "game"},
          Bad{R"({"game":"rps","seed":0,"part":"preset","episodes":9,"gap":1,"reached":true})",
              "seed"},
          Bad{R"({"game":"rps","seed":3,"part":"preset","episodes":9,"gap":1,"reached":true})",
              "seed"},
          Bad{R"({"game":"rps","seed":2,"part":"slow","episodes":9,"gap":1,"reached":true})",
              "part"},
          Bad{R"({"game":"rps","seed":2,"part":"gap","episodes":9,"gap":1})", "part"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":0,"gap":1,"reached":true})",
              "episodes"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":1e3,"gap":1,"reached":true})",
              "episodes"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":1001,"gap":1,"reached":true})",
              "reached"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":9,"gap":"1","reached":true})",
              "gap"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":9,"gap":1e999,"reached":true})",
              ""},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":9,"gap":1})", "reached"},
          Bad{R"({"game":"rps","seed":2,"part":"preset","episodes":9,"gap":1,"reached":true,"x":1})",
              "x"},
          Bad{R"({"game":"rps","seed":2,"part":"reference","episodes":9,"gap":1,"wanted":0})",
              "wanted"},
          Bad{R"({"game":"rps","seed":1,"part":"preset","episodes":9,"gap":1,"reached":true})",
              "again"},
      }) {
    put(file, header + good + "\n" + line + "\n");
    const std::string message =
        error_of(ErrorKind::input, [&] { const EfficiencyLog log(folder.path(), settings_of()); });
    EXPECT_NE(message.find("results.jsonl:3"), std::string::npos) << message;
    EXPECT_NE(message.find(word), std::string::npos) << line << " " << message;
  }
  // Seeds before the first or after the last.
  EfficiencySettings later = settings_of();
  later.first_seed = 11;
  EXPECT_EQ(parse_result_line(
                later, R"({"game":"horizon-20","seed":12,"part":"gap","episodes":9,"gap":1})", "")
                .seed,
            12U);
  for (const char* seed : {"10", "13"}) {
    const std::string line =
        std::string(R"({"game":"horizon-20","part":"gap","episodes":9,"gap":1,"seed":)") + seed +
        "}";
    const std::string message = error_of(
        ErrorKind::input, [&] { static_cast<void>(parse_result_line(later, line, "it")); });
    EXPECT_NE(message.find("seed"), std::string::npos) << message;
  }
  // A line without end costs no memory.
  put(file, header + "{\"game\":\"" + std::string(100'000, 'x') + "\"}\n");
  error_of(ErrorKind::resource, [&] { const EfficiencyLog log(folder.path(), settings_of()); });
}

}  // namespace
}  // namespace vlearn
