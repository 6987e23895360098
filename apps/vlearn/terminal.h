// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How the command speaks: quiet or at length, with or without colour, with or without a bar. The
// one place that knows escape codes, and the options that every sub-command has.
//
// stdout carries results and stays plain unless it is a terminal; remarks, progress and errors go
// to stderr. NO_COLOR and TERM=dumb are honoured; what is said on the command line goes first.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vlearn::app {

/// As given on the command line.
struct TerminalOptions {
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
  std::string progress = "auto";
};

/// The heading in --help under which they stand.
inline constexpr const char* kEverywhere = "Everywhere";

/// Adds the options to a command and everything below it, but for those that it has already. Only
/// those of the whole are described. They may stand before or behind a sub-command: all write to
/// the same place, which must outlive the parser.
void add_terminal_options(CLI::App& app, TerminalOptions& options);

/// From now on. Until then as if no option had been given.
void use_terminal(const TerminalOptions& options);

/// --color as it stands among the arguments, for errors that come before they are understood.
void use_color_among(int argc, char** argv);

/// What was found out, for `vlearn doctor`.
struct TerminalState {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool stdout_color = false;
  bool stderr_color = false;
  bool unicode = false;     ///< the first of LC_ALL, LC_CTYPE and LANG that is not empty says UTF-8
  std::size_t columns = 0;  ///< of stderr
};
[[nodiscard]] TerminalState terminal_state();

enum class Style : std::uint8_t { error, note, faint, heading, good };
/// The text in a style for stdout, or for stderr; as it is where there is no colour.
[[nodiscard]] std::string paint(Style style, std::string_view text);
[[nodiscard]] std::string paint_error(Style style, std::string_view text);

/// A line to stderr, with its newline; a bar makes room for it.
void say(std::string_view line);
/// The same, but left out where it would have to wait: work does not stand still for it.
void say_if_it_can(std::string_view line);
/// Text for stderr, with its newline, from where nothing else works: it takes no memory and no
/// lock.
void say_in_need(std::string_view text) noexcept;

/// A line that has no place in a quiet life; see note() and explain() in command.h.
[[nodiscard]] bool is_quiet() noexcept;
[[nodiscard]] bool is_verbose() noexcept;

// Progress.

enum class ProgressKind : std::uint8_t { none, lines, bar };
[[nodiscard]] ProgressKind progress_kind() noexcept;
/// The last line of the terminal, to be replaced by the next; at most terminal_state().columns
/// wide. Left out where it would have to wait, as for a terminal that Ctrl-S has stopped.
void show_bar(std::string_view line);
void clear_bar();
/// All may be called by a signal handler: whether stderr would take a line now; whether a bar
/// stands there; none from now on.
[[nodiscard]] bool stderr_takes_text() noexcept;
[[nodiscard]] bool bar_is_shown() noexcept;
void end_bars() noexcept;

}  // namespace vlearn::app
