// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sub-commands share: exit codes, the place where results go, registration.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace vlearn {
class JsonWriter;
}

namespace vlearn::app {

/// docs/reference/exit_codes.md; scripts depend on them.
enum class ExitCode : int {
  good = 0,
  bug = 1,
  usage = 2,
  input = 3,
  gap = 4,
  resource = 5,
  checkpointed = 75,
  hung_up = 129,      ///< with nothing to go on from: SIGHUP
  interrupted = 130,  ///< SIGINT
  terminated = 143,   ///< SIGTERM
};

/// Before anything is written: from now on a reader of stderr that goes away ends no run.
void outlive_readers();

/// Writes to stdout, which carries results only; throws Error when it cannot (disk full). Where
/// nobody reads any more the process ends as any other does, by SIGPIPE. After SIGHUP, which says
/// that the terminal is gone, it may write nothing.
void print(std::string_view text);

/// A remark on stderr: "vlearn: note: ...", made safe to print; not with --quiet.
void note(std::string_view text);

/// A remark that --quiet does not keep back: it goes with an exit code other than 0, or something
/// was lost.
void warn(std::string_view text);

/// A remark for who asked with --verbose: "vlearn: ...", made safe to print.
void explain(std::string_view text);

/// A count from the command line: 1000000 or 1e6. Throws Error (usage) unless it is a whole number
/// from 1 on.
[[nodiscard]] std::uint64_t parse_count(std::string_view option, const std::string& text);

/// A whole number from 0 to 2^64 - 1, in digits. Throws Error (usage) for anything else.
[[nodiscard]] std::uint64_t parse_natural(std::string_view option, const std::string& text);

/// "did you mean 'learn'?", or nothing where no known word is near.
[[nodiscard]] std::string suggestion_among(const std::vector<std::string>& known,
                                           std::string_view word);

/// Accepts these words alone; of another it says what was meant, or what there is.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
template <std::size_t kSize>
[[nodiscard]] CLI::Validator one_of(const std::array<std::string_view, kSize>& names) {
  return one_of(std::vector<std::string>(names.begin(), names.end()));
}

/// The last line of a result that is a run folder: where it is, and what to do next.
[[nodiscard]] std::string run_folder_text(const std::filesystem::path& run);

/// Members of an object that say how the program was built, and with which vector instructions it
/// works.
void write_build(JsonWriter& json);
void write_simd(JsonWriter& json);

/// The place of a word in a list of names; the parser has made sure that it is there.
template <class Enum, std::size_t kSize>
[[nodiscard]] Enum named(const std::array<std::string_view, kSize>& names,
                         const std::string& word) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), word) - names.begin());
}

/// What the chosen sub-command does, once all arguments are known to be good.
using Task = std::function<ExitCode()>;

// One per file beside this one: adds the sub-command to the parser; when it is the chosen one, the
// parser sets `task`.
void add_certify(CLI::App& app, Task& task);
void add_bench(CLI::App& app, Task& task);
void add_compare(CLI::App& app, Task& task);
void add_convergence(CLI::App& experiment, Task& task);  // below `vlearn experiment`
void add_curse(CLI::App& experiment, Task& task);        // likewise
void add_deviate(CLI::App& app, Task& task);
void add_doctor(CLI::App& app, Task& task);
void add_experiment(CLI::App& app, Task& task);
void add_games(CLI::App& app, Task& task);
void add_game(CLI::App& app, Task& task);
void add_game_show(CLI::App& command, Task& task);  // below `vlearn game`
void add_learn(CLI::App& app, Task& task);
void add_play(CLI::App& app, Task& task);
void add_policy(CLI::App& app, Task& task);
void add_plan(CLI::App& app, Task& task);
void add_report(CLI::App& app, Task& task);
void add_self_test(CLI::App& app, Task& task);
void add_solve(CLI::App& app, Task& task);
void add_verify(CLI::App& app, Task& task);

}  // namespace vlearn::app
