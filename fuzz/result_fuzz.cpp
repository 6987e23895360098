// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// result.json: what is read is of the run whose config is given. The first byte chooses the kind of
// run; the rest is the file.
#include <array>
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "run_files.h"
#include "vlearn/core/error.h"

namespace {

using namespace vlearn;

/// Of the runs in the corpus: rps, learned, planned, and learned by nash-vi.
constexpr std::string_view kGame =
    "e63fc14af7335ffadc51d2d3d4aad7f0968c97029d66cc3a1716d9480ee12dce";
constexpr std::array<std::string_view, 3> kConfigs = {
    "cf77674f611e650fc7a492d15fd637a0c7116e820972a61b7e8ca40d17cc6603",
    "",  // planned results do not name their config
    "aab16b5751967c587554fe1e02398d5085e9bb2a865bd91b5b904b805788a2d5"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t kind = data[0] % kConfigs.size();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ConfigFile config{.run = {},
                    .kind = static_cast<RunView::Kind>(kind),
                    .hash = std::string(kConfigs[kind]),
                    .document = JsonDocument::parse("{}", "config.json")};
  config.run.title.game_hash = kGame;
  try {
    const ResultFile result = parse_result(text, "input", config);
    fuzz::promise(text.find(kGame) != std::string_view::npos, "it names the game of the run");
    fuzz::promise(text.find(kConfigs[kind]) != std::string_view::npos, "and its config");
    fuzz::promise(result.guarantee.empty() || config.kind == RunView::Kind::learned,
                  "only learned runs say what was known beforehand");
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("input"), "an error names the file");
  }
  return 0;
}
