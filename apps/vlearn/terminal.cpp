// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "command.h"
#include "vlearn/core/text.h"

namespace vlearn::app {
namespace {

/// What holds for the whole process. Set by the main thread before there are others.
struct Settings {
  bool quiet = false;
  bool verbose = false;
  bool stdout_color = false;
  bool stderr_color = false;
  ProgressKind progress = ProgressKind::none;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_dumb() { return variable("TERM") == "dumb"; }

bool wants_color(const std::string& when, int stream) {
  if (when != "auto") return when == "always";
  return isatty(stream) != 0 && variable("NO_COLOR").empty() && !is_dumb();
}

ProgressKind wanted_progress(const TerminalOptions& options) {
  if (options.progress == "never") return ProgressKind::none;
  if (options.progress == "always") return ProgressKind::bar;
  if (options.quiet) return ProgressKind::none;
  return isatty(STDERR_FILENO) != 0 && !is_dumb() ? ProgressKind::bar : ProgressKind::lines;
}

Settings settings_of(const TerminalOptions& options) {
  return {.quiet = options.quiet,
          .verbose = options.verbose && !options.quiet,
          .stdout_color = wants_color(options.color, STDOUT_FILENO),
          .stderr_color = wants_color(options.color, STDERR_FILENO),
          .progress = wanted_progress(options)};
}

Settings& settings() {
  static Settings current = settings_of({});
  return current;
}

std::mutex writing;  // of stderr, bar and lines
std::atomic<bool> bar_shown = false;
std::atomic<bool> bars_ended = false;
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers use them");

constexpr std::string_view kClearLine = "\r\033[K";

/// Where stderr is closed or full the exit code must do.
void write_error(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

/// With `writing` held.
void write_line(std::string_view line) {
  std::string text;
  if (bar_shown.exchange(false)) text += kClearLine;
  text += line;
  text += '\n';
  write_error(text);
}

std::string in_style(Style style, std::string_view text, bool color) {
  if (!color) return std::string(text);
  constexpr std::array<std::string_view, 5> codes = {"1;31", "36", "2", "1", "1;32"};
  std::string painted = "\033[";
  painted += codes[static_cast<std::size_t>(style)];
  painted += 'm';
  painted += text;
  return painted + "\033[0m";
}

/// Of stderr; 80 where nobody knows.
std::size_t columns_of_stderr() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = variable(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

void add_terminal_options(CLI::App& app, TerminalOptions& options) {
  const bool whole = app.get_parent() == nullptr;
  const auto add = [&](const char* name, const char* description, const auto& add_it) {
    if (app.get_option_no_throw(name) != nullptr) return;
    add_it()->description(whole ? description : "")->group(kEverywhere);
  };
  add("--quiet", "No remarks and no progress; errors stay",
      [&] { return app.add_flag("--quiet", options.quiet); });
  add("--verbose", "More remarks: what was chosen, and where time went",
      [&] { return app.add_flag("-v,--verbose", options.verbose); });
  add("--color",
      "auto (default: on a terminal, unless NO_COLOR is set or TERM is dumb), always or never",
      [&] {
        return app.add_option("--color", options.color)->check(one_of({"auto", "always", "never"}));
      });
  add("--progress",
      "auto (default: a bar on a terminal unless TERM is dumb, else a line every ten seconds at "
      "most), always (a bar) or never",
      [&] {
        return app.add_option("--progress", options.progress)
            ->check(one_of({"auto", "always", "never"}));
      });
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_terminal_options(*command, options);
  }
}

void use_terminal(const TerminalOptions& options) { settings() = settings_of(options); }

void use_color_among(int argc, char** argv) {
  constexpr std::string_view option = "--color";
  TerminalOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == option && i + 1 < argc) options.color = argv[i + 1];
    if (word.starts_with("--color=")) options.color = word.substr(option.size() + 1);
  }
  if (options.color == "always" || options.color == "never") use_terminal(options);
}

TerminalState terminal_state() {
  return {.stdout_is_terminal = isatty(STDOUT_FILENO) != 0,
          .stderr_is_terminal = isatty(STDERR_FILENO) != 0,
          .stdout_color = settings().stdout_color,
          .stderr_color = settings().stderr_color,
          .unicode = is_utf8_locale(),
          .columns = columns_of_stderr()};
}

std::string paint(Style style, std::string_view text) {
  return in_style(style, text, settings().stdout_color);
}

std::string paint_error(Style style, std::string_view text) {
  return in_style(style, text, settings().stderr_color);
}

void say(std::string_view line) {
  const std::scoped_lock lock(writing);
  write_line(line);
}

void say_if_it_can(std::string_view line) {
  const std::unique_lock lock(writing, std::try_to_lock);
  if (!lock || !stderr_takes_text()) return;
  write_line(line);
}

void say_in_need(std::string_view text) noexcept {
  const auto write_out = [](std::string_view part) {
    static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size()));
  };
  if (bar_shown.exchange(false)) write_out(kClearLine);
  write_out(text);
}

void note(std::string_view text) {
  if (!settings().quiet) warn(text);
}

void warn(std::string_view text) {
  say(paint_error(Style::note, "vlearn: note:") + " " + printable(text));
}

void explain(std::string_view text) {
  if (settings().verbose) say(paint_error(Style::faint, "vlearn: " + printable(text)));
}

bool is_quiet() noexcept { return settings().quiet; }
bool is_verbose() noexcept { return settings().verbose; }

ProgressKind progress_kind() noexcept { return settings().progress; }

void show_bar(std::string_view line) {
  const std::unique_lock lock(writing, std::try_to_lock);
  if (!lock || bars_ended || !stderr_takes_text()) return;
  bar_shown = true;
  write_error(std::string(kClearLine) + std::string(line));
  // A signal that came meanwhile has ended the bars before this one was there.
  if (bars_ended && bar_shown.exchange(false)) write_error(std::string(kClearLine));
}

void clear_bar() {
  const std::scoped_lock lock(writing);
  if (bar_shown.exchange(false)) write_error(std::string(kClearLine));
}

bool stderr_takes_text() noexcept {
  pollfd stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&stream, 1, 0) == 1 && (stream.revents & POLLOUT) != 0;
}

bool bar_is_shown() noexcept { return bar_shown; }
void end_bars() noexcept { bars_ended = true; }

}  // namespace vlearn::app
