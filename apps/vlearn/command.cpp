// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"

namespace vlearn::app {
namespace {

bool pipes_end_the_process = true;

}  // namespace

void outlive_readers() {
  // Who started us may have wanted errors in place of the signal.
  pipes_end_the_process = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN;
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE && pipes_end_the_process) {
      // Whoever read has enough: `vlearn games | head`.
      std::signal(SIGPIPE, SIG_DFL);
      static_cast<void>(std::raise(SIGPIPE));
    }
    if (interrupted() == ExitCode::hung_up) return;
    throw Error(ErrorKind::resource, "standard output",
                std::string("cannot be written: ") + std::strerror(errno));
  }
}

std::uint64_t parse_count(std::string_view option, const std::string& text) {
  double number = 0.0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = failure == std::errc() && end == text.data() + text.size() && number >= 1.0 &&
                     number <= 0x1p53 && std::trunc(number) == number;
  if (!whole) {
    throw Error(ErrorKind::usage, std::string(option), "is '" + printable(text, 100) + "'",
                "want a whole number such as 250000 or 1e6");
  }
  return static_cast<std::uint64_t>(number);
}

std::uint64_t parse_natural(std::string_view option, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorKind::usage, std::string(option), "is '" + printable(text, 100) + "'",
                "want a whole number from 0 to 18446744073709551615");
  }
  return number;
}

std::string suggestion_among(const std::vector<std::string>& known, std::string_view word) {
  return suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string all = fmt::format("{}", fmt::join(words, ", "));
  const std::string shown = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words), all](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    const std::string meant = suggestion_among(words, word);
    return fmt::format("is '{}'; {}want one of {}", printable(word, 100),
                       meant.empty() ? "" : meant + " ", all);
  };
  return {check, shown};
}

std::string run_folder_text(const std::filesystem::path& run) {
  const std::string path = printable(run.string());
  return fmt::format("run folder: {}\nsee it:     vlearn report {}\n", path, path);
}

void write_build(JsonWriter& json) {
  const BuildInfo info = build_info();
  json.member("version", info.version).member("commit", info.commit);
  json.member("compiler", info.compiler).member("build", info.build_type);
  json.member("assertions", info.assertions).member("sanitizers", info.sanitizers);
}

void write_simd(JsonWriter& json) {
  json.member("simd", simd_target()).key("simd_available").on_one_line().begin_array();
  for (const std::string& target : simd_targets()) json.value(target);
  json.end_array();
}

}  // namespace vlearn::app
