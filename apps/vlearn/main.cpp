// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line. Every sub-command has a file of its own; this one parses, runs the chosen one,
// and turns what went wrong into a message on stderr and an exit code.
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "command.h"
#include "vlearn/core/error.h"
#include "vlearn/core/float_environment.h"
#include "vlearn/core/json.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"

namespace vlearn::app {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::resource, "standard output",
                std::string("cannot be written: ") + std::strerror(errno));
  }
}

void note(std::string_view text) {
  const std::string line = "vlearn: note: " + printable(text) + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
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

namespace {

/// Help that leads with the examples, which each command keeps in its footer.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n" + app->get_footer() + "\n\n";
  }
  std::string make_footer(const CLI::App* /*app*/) const override { return ""; }
};

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

ExitCode print_version(bool as_json) {
  const BuildInfo info = build_info();
  const std::vector<std::string> targets = simd_targets();
  if (as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.version/1");
    json.member("version", info.version).member("commit", info.commit);
    json.member("compiler", info.compiler).member("build", info.build_type);
    json.member("assertions", info.assertions).member("sanitizers", info.sanitizers);
    json.member("simd", simd_target()).key("simd_available").begin_array();
    for (const std::string& target : targets) json.value(target);
    json.end_array().end_object();
    print(json.text() + "\n");
  } else {
    print(
        fmt::format("vlearn {} ({})\n"
                    "compiler    {}\n"
                    "build       {}, assertions {}, sanitizers {}\n"
                    "SIMD        {} in use; this machine has {}\n",
                    info.version, info.commit, info.compiler, info.build_type,
                    info.assertions ? "on" : "off", info.sanitizers, simd_target(), join(targets)));
  }
  return ExitCode::good;
}

/// Options and sub-commands that would be known at this level of the parser.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands({})) words.push_back(command->get_name());
  return words;
}

/// The innermost sub-command that was chosen, or the whole command.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> next = app.get_subcommands();
  return next.empty() ? app : chosen(*next.front());
}

/// "vlearn game", for `vlearn game show`: what stands before a sub-command.
std::string path_before(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  if (parent == nullptr) return "";
  const std::string before = path_before(*parent);
  return before.empty() ? parent->get_name() : before + " " + parent->get_name();
}

/// "see 'vlearn game show --help'", for the sub-command that was chosen.
std::string see_help(const CLI::App& app) {
  const std::string before = path_before(chosen(app));
  return "see '" + before + (before.empty() ? "" : " ") + chosen(app).get_name() + " --help'";
}

/// The error for words that the parser could not place: the first of them, and what was meant.
Error unknown_word(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? std::string() : extras.front();
  const std::vector<std::string> known = known_words(chosen(app));
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  std::string fix = suggestion(word, candidates);
  if (fix.empty()) fix = see_help(app);
  return {ErrorKind::usage, printable(word, 100), "is not known here", fix};
}

ExitCode parse_and_run(int argc, char** argv) {
  CLI::App app{"vlearn: equilibria of Markov games, learned from play and certified", "vlearn"};
  app.formatter(std::make_shared<HelpFormatter>());  // sub-commands inherit it
  app.footer(
      "Examples:\n"
      "  vlearn learn rps --episodes 1e6   learn an equilibrium by playing\n"
      "  vlearn games                  the games that come with it\n"
      "  vlearn game show soccer       what a game is, and the exact value of uniform play\n"
      "  vlearn self-test              check that this build computes what it should");
  app.set_help_flag("-h,--help", "Show this text");
  bool version = false;
  bool as_json = false;
  app.add_flag("--version", version, "Show version, compiler and vector instructions");
  app.add_flag("--json", as_json, "With --version: one JSON object");
  // Without a limit the words behind a command could be taken for further commands: `bench learn`.
  app.require_subcommand(0, 1);
  Task task;
  add_bench(app, task);
  add_compare(app, task);
  add_experiment(app, task);
  add_games(app, task);
  add_game(app, task);
  add_learn(app, task);
  add_certify(app, task);
  add_deviate(app, task);
  add_plan(app, task);
  add_play(app, task);
  add_policy(app, task);
  add_report(app, task);
  add_self_test(app, task);
  add_solve(app, task);
  add_verify(app, task);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(chosen(app).help(path_before(chosen(app))));
    return ExitCode::good;
  } catch (const CLI::ParseError& error) {
    if (!app.remaining(true).empty()) throw unknown_word(app);
    throw Error(ErrorKind::usage, "", error.what(), see_help(app));
  }
  if (version) return print_version(as_json);
  if (as_json) {
    throw Error(ErrorKind::usage, "--json", task ? "stands before the command" : "stands alone",
                task ? "write it behind: vlearn COMMAND --json" : "it goes with --version");
  }
  if (task) return task();
  throw Error(ErrorKind::usage, "", "no command given", see_help(app));
}

ExitCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return ExitCode::usage;
    case ErrorKind::input: return ExitCode::input;
    case ErrorKind::resource: return ExitCode::resource;
    case ErrorKind::internal: return ExitCode::bug;
  }
  return ExitCode::bug;
}

ExitCode complain(ExitCode code, const char* what) {
  std::string text = "vlearn: " + printable(what) + "\n";
  if (code == ExitCode::bug) {
    text += "vlearn: this is a bug; please report it with the command you ran\n";
  }
  // Where stderr is closed or full the exit code must do.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  return code;
}

ExitCode guarded(int argc, char** argv) {
  try {
    const DefaultFloatEnvironment environment;
    if (const char* target = std::getenv("VLEARN_SIMD")) use_simd_target(target);
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    return complain(code_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::resource, "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(ExitCode::resource, error.what());
  } catch (const std::exception& error) {
    return complain(ExitCode::bug, error.what());
  } catch (...) {
    return complain(ExitCode::bug, "an exception of unknown type");
  }
}

}  // namespace
}  // namespace vlearn::app

int main(int argc, char** argv) {
  // A file that may not grow is an error like a full disk, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(vlearn::app::guarded(argc, argv));
}
