// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line. Every sub-command has a file of its own; this one parses, runs the chosen one,
// and turns what went wrong into a message on stderr and an exit code.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

namespace {

constexpr const char* kAbout =
    "vlearn: equilibria of Markov games, learned from play and certified\n"
    "\n"
    "Examples:\n"
    "  vlearn self-test        check that this build computes what it should\n"
    "  vlearn bench core       time the kernels beside their std:: counterparts\n";

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

/// "see 'vlearn bench --help'", for the sub-command that was chosen.
std::string see_help(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "" : chosen.front()->get_name() + " ";
  return "see 'vlearn " + name + "--help'";
}

/// The error for words that the parser could not place: the first of them, and what was meant.
Error unknown_word(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& level = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? std::string() : extras.front();
  const std::vector<std::string> known = known_words(level);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  std::string fix = suggestion(word, candidates);
  if (fix.empty()) fix = see_help(app);
  return {ErrorKind::usage, printable(word, 100), "is not known here", fix};
}

ExitCode parse_and_run(int argc, char** argv) {
  CLI::App app{kAbout, "vlearn"};
  app.set_help_flag("-h,--help", "Show this text");
  bool version = false;
  bool as_json = false;
  app.add_flag("--version", version, "Show version, compiler and vector instructions");
  app.add_flag("--json", as_json, "With --version: one JSON object");
  Action action;
  add_bench(app, action);
  add_self_test(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    print(chosen.empty() ? app.help() : chosen.front()->help());
    return ExitCode::good;
  } catch (const CLI::ExtrasError&) {
    throw unknown_word(app);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, "", error.what(), see_help(app));
  }
  if (version) return print_version(as_json);
  if (as_json) {
    throw Error(ErrorKind::usage, "--json", action ? "stands before the command" : "stands alone",
                action ? "write it behind: vlearn COMMAND --json" : "it goes with --version");
  }
  if (action) return action();
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

int main(int argc, char** argv) { return static_cast<int>(vlearn::app::guarded(argc, argv)); }
