// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// results.jsonl of experiments: what is read makes reports, and written in order it reads back as
// itself.
//
// The first byte chooses the experiment, and whether its right first line is put before the rest:
// hardly a change would come up with it.
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "scratch_folder.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/experiment/convergence.h"
#include "vlearn/experiment/curse.h"
#include "vlearn/experiment/efficiency_log.h"
#include "vlearn/experiment/efficiency_report.h"

namespace {

using namespace vlearn;

const EfficiencySettings& efficiency_settings() {
  static const EfficiencySettings made = [] {
    EfficiencySettings settings;
    settings.games =
        select_games(Target::cce, std::vector<std::string>{"rps", "lock", "horizon-20"});
    settings.seeds = 2;
    settings.reference_episodes = 1000;
    return settings;
  }();
  return made;
}

constexpr CurseSettings kCurseSettings = {.last_players = 3, .seeds = 2};

const ConvergenceSettings& convergence_settings() {
  static const ConvergenceSettings made = [] {
    ConvergenceSettings settings;
    settings.games = select_cyclic_games(std::vector<std::string>{"shapley", "bad-rps"});
    settings.seeds = 2;
    settings.episodes = 10'000'000;
    return settings;
  }();
  return made;
}

std::string text_of(const std::filesystem::path& file) {
  return std::string(FileBytes::read(file, std::uint64_t{1} << 26U).text());
}

void report(const EfficiencyLog& log) {
  const EfficiencySettings& settings = efficiency_settings();
  for (std::size_t game = 0; game < settings.games.size(); ++game) {
    for (std::uint64_t i = 0; i < settings.seeds; ++i) {
      for (const Part part : parts_of(settings.games[game].measure)) {
        if (!log.find(game, settings.first_seed + i, part)) return;  // not all is done
      }
    }
  }
  const EfficiencySummary summary = summarize(
      settings,
      [&](std::size_t game, std::uint64_t seed, Part part) { return log.find(game, seed, part); });
  static_cast<void>(to_markdown(summary));
  static_cast<void>(to_json(summary));
  static_cast<void>(to_csv(summary));
  static_cast<void>(to_svg(summary));
}

void report(const CurseLog& log) {
  static_cast<void>(curse_markdown(kCurseSettings, log));
  static_cast<void>(curse_json(kCurseSettings, log));
  static_cast<void>(curse_csv(log));
  static_cast<void>(curse_svg(kCurseSettings, log));
}

void report(const ConvergenceLog& log) {
  const ConvergenceSettings& settings = convergence_settings();
  static_cast<void>(convergence_markdown(settings, log));
  static_cast<void>(convergence_json(settings, log));
  static_cast<void>(convergence_csv(settings, log));
}

template <class Log, class Settings>
void check(const Settings& settings, const std::string& text) {
  const std::filesystem::path& folder = fuzz::scratch_folder();
  const std::filesystem::path file = folder / "results.jsonl";
  write_file(file, text);
  std::string once;
  try {
    Log log(folder, settings);
    report(log);
    log.put_in_order();
    once = text_of(file);
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource ||
                      error.kind() == ErrorKind::usage,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with(file.string()), "an error names the file");
    fuzz::promise(text_of(file) == text, "a file that is refused stays as it was");
    return;
  }
  Log again(folder, settings);
  fuzz::promise(text_of(file) == once, "a whole file stays as it is");
  again.put_in_order();
  fuzz::promise(text_of(file) == once, "what is in order stays in order");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool with_header = data[0] / 2 % 2 == 0;
  if (data[0] / 4 % 2 != 0) {
    static const std::string header = header_line(convergence_settings()) + "\n";
    check<ConvergenceLog>(convergence_settings(), (with_header ? header : "") + rest);
  } else if (data[0] % 2 == 0) {
    static const std::string header = header_line(efficiency_settings()) + "\n";
    check<EfficiencyLog>(efficiency_settings(), (with_header ? header : "") + rest);
  } else {
    static const std::string header = header_line(kCurseSettings) + "\n";
    check<CurseLog>(kCurseSettings, (with_header ? header : "") + rest);
  }
  return 0;
}
