// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line. Every sub-command has a file of its own; this one parses, runs the chosen one,
// and turns what went wrong into a message on stderr and an exit code.
#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command.h"
#include "cut_file.h"
#include "interrupt.h"
#include "lack_of_memory.h"
#include "progress_text.h"
#include "terminal.h"
#include "vlearn/core/error.h"
#include "vlearn/core/float_environment.h"
#include "vlearn/core/json.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"

namespace vlearn::app {

namespace {

/// "vlearn game", for `vlearn game show`: what stands before a sub-command.
std::string path_before(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  if (parent == nullptr) return "";
  const std::string before = path_before(*parent);
  return before.empty() ? parent->get_name() : before + " " + parent->get_name();
}

/// Help that leads with the examples, which each command keeps in its footer. What all commands
/// have is described once, for the whole, and stands on one line elsewhere.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n" + app->get_footer() + "\n\n";
  }
  std::string make_footer(const CLI::App* /*app*/) const override { return ""; }
  std::string make_group(std::string group,
                         bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    // `vlearn --help` says what they do: below it they are not described.
    const bool described =
        std::any_of(options.begin(), options.end(),
                    [](const CLI::Option* option) { return !option->get_description().empty(); });
    if (group != kEverywhere || described) {
      return CLI::Formatter::make_group(group, is_positional, options);
    }
    return fmt::format(
        "{}:\n"
        "  --quiet, -v or --verbose, --color auto|always|never, --progress auto|always|never\n",
        group);
  }
};

/// With headings in bold, where there is colour.
void print_help(const CLI::App& app) {
  // App::help() would go on to the sub-command that was chosen.
  const std::string before = path_before(app);
  std::istringstream lines(app.get_formatter()->make_help(
      &app, before + (before.empty() ? "" : " ") + app.get_name(), CLI::AppFormatMode::Normal));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool heading = line.ends_with(':') && !line.starts_with(' ');
    text += (heading ? paint(Style::heading, line) : line) + "\n";
  }
  print(text);
}

ExitCode print_version(bool as_json) {
  if (as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.version/1");
    write_build(json);
    write_simd(json);
    print(json.end_object().text() + "\n");
  } else {
    const BuildInfo info = build_info();
    print(fmt::format(
        "vlearn {} ({})\n"
        "compiler    {}\n"
        "build       {}, assertions {}, sanitizers {}\n"
        "SIMD        {} in use; this machine has {}\n",
        info.version, info.commit, info.compiler, info.build_type, info.assertions ? "on" : "off",
        info.sanitizers, simd_target(), fmt::join(simd_targets(), " ")));
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

/// "see 'vlearn game show --help'", for the sub-command that was chosen.
std::string see_help(const CLI::App& app) {
  const std::string before = path_before(chosen(app));
  return "see '" + before + (before.empty() ? "" : " ") + chosen(app).get_name() + " --help'";
}

/// "it belongs to 'vlearn learn'", for an option that other commands have.
std::string whose(const CLI::App& app, const std::string& option) {
  if (!option.starts_with("--")) return "";
  std::vector<std::string> owners;
  for (const CLI::App* command : app.get_subcommands({})) {
    const CLI::Option* const found = command->get_option_no_throw(option);
    if (found != nullptr) owners.push_back("'vlearn " + command->get_name() + "'");
  }
  if (owners.empty() || owners.size() > 4) return "";
  return fmt::format("it goes behind {}", fmt::join(owners, " or "));
}

/// The error for words that the parser could not place: the first of them, and what was meant.
Error unknown_word(const CLI::App& app) {
  // The level at which they stand: before or behind a sub-command.
  const CLI::App& holder = app.remaining(false).empty() ? chosen(app) : app;
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? std::string() : extras.front();
  const std::string name = word.substr(0, word.find('='));  // of --option=value
  std::string fix = suggestion_among(known_words(holder), name);
  if (fix.empty()) fix = whose(app, name);
  if (fix.empty()) fix = see_help(app);
  return {ErrorKind::usage, printable(word, 100), "is not known here", fix};
}

/// `vlearn help learn`, as `vlearn learn --help`.
void add_help(CLI::App& app, Task& task) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Show the help of a command");
  command->footer(
      "Examples:\n"
      "  vlearn help learn\n"
      "  vlearn help game show");
  command->add_option("command", *words, "Its name, and that of a command below it");
  command->callback([words, &app, &task] {
    task = [words, &app] {
      const CLI::App* found = &app;
      for (const std::string& word : *words) {
        const std::vector<const CLI::App*> next = found->get_subcommands(
            [&](const CLI::App* below) { return below->get_name() == word; });
        if (next.empty()) {
          const std::string meant = suggestion_among(known_words(*found), word);
          throw Error(ErrorKind::usage, printable(word, 100), "is no command",
                      meant.empty() ? "see 'vlearn --help'" : meant);
        }
        found = next.front();
      }
      print_help(*found);
      return ExitCode::good;
    };
  });
}

/// The commands as `vlearn --help` has them: by what one wants.
struct Command {
  void (*add)(CLI::App& app, Task& task);
  const char* group;
  /// What to say if there is not enough memory: how to ask for less.
  std::string_view less_memory = kLessMemory;
};
constexpr std::array<Command, 17> kCommands = {{
    {add_learn, "Learn and plan",
     "use --history none, --certify off, with --seeds also --threads 1, or a smaller game"},
    {add_solve, "Learn and plan", "use --threads 1, or a smaller game"},
    {add_plan, "Learn and plan"},
    {add_compare, "Learn and plan"},
    {add_play, "Look"},
    {add_policy, "Look"},
    {add_report, "Look", "use --threads 1 and --verify off, or allow it more (ulimit -v)"},
    {add_certify, "Trust"},
    {add_verify, "Trust"},
    {add_deviate, "Trust"},
    {add_self_test, "Trust"},
    {add_doctor, "Trust"},
    {add_games, "Games"},
    {add_game, "Games"},
    {add_experiment, "Tools"},
    {add_bench, "Tools"},
    {add_help, "Tools"},
}};

/// With what it took, for who asked with --verbose.
ExitCode run_task(const Task& task) {
  if (!is_verbose()) return task();
  const BuildInfo info = build_info();
  explain(fmt::format("version {} ({}), SIMD {}, {} cores to use", info.version, info.commit,
                      simd_target(), available_cores()));
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = task();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  explain(fmt::format("took {:.3g} s, {:.3g} s of processors, {} of memory at most",
                      seconds.count(), seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
                      short_bytes(1024.0 * static_cast<double>(used.ru_maxrss))));
  return code;
}

ExitCode parse_and_run(int argc, char** argv) {
  CLI::App app{"vlearn: equilibria of Markov games, learned from play and certified", "vlearn"};
  app.formatter(std::make_shared<HelpFormatter>());  // sub-commands inherit it
  app.footer(
      "Examples:\n"
      "  vlearn learn soccer --until-gap 0.05   learn an equilibrium until it is proven this good\n"
      "  vlearn games                           the games that come with it\n\n"
      "Each command has its own: vlearn COMMAND --help.");
  app.set_help_flag("-h,--help", "Show this text");
  bool version = false;
  bool as_json = false;
  app.add_flag("--version", version, "Show version, compiler and vector instructions");
  app.add_flag("--json", as_json, "With --version: one JSON object");
  // Without a limit the words behind a command could be taken for further commands: `bench learn`.
  app.require_subcommand(0, 1);
  Task task;
  std::array<const CLI::App*, kCommands.size()> added{};
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    kCommands[i].add(app, task);
    CLI::App* const last = app.get_subcommands([](const CLI::App*) { return true; }).back();
    added[i] = last->group(kCommands[i].group);
  }
  TerminalOptions terminal;
  add_terminal_options(app, terminal);
  use_color_among(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_help(chosen(app));
    return ExitCode::good;
  } catch (const CLI::ValidationError& error) {
    throw Error(ErrorKind::usage, "", error.what());
  } catch (const CLI::ParseError& error) {
    if (!app.remaining(true).empty()) throw unknown_word(app);
    throw Error(ErrorKind::usage, "", error.what(), see_help(app));
  }
  use_terminal(terminal);
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    if (added[i]->parsed()) advise_in_need(kCommands[i].less_memory);
  }
  if (version) return print_version(as_json);
  if (as_json) {
    throw Error(ErrorKind::usage, "--json", task ? "stands before the command" : "stands alone",
                task ? "write it behind: vlearn COMMAND --json" : "it goes with --version");
  }
  if (task) return run_task(task);
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
  const std::string name = paint_error(Style::error, "vlearn:");
  say(name + " " + printable(what));
  if (code == ExitCode::bug) {
    say(name + " this is a bug; please report it with the command you ran");
  }
  return code;
}

/// What goes wrong becomes a message and an exit code. Throws nothing but std::bad_alloc.
ExitCode run(int argc, char** argv) {
  try {
    const DefaultFloatEnvironment environment;
    if (const char* target = std::getenv("VLEARN_SIMD")) use_simd_target(target);
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    return complain(code_of(error.kind()), error.what());
  } catch (const Cancelled&) {
    return interrupted();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    return complain(ExitCode::resource, error.what());
  } catch (const std::exception& error) {
    return complain(ExitCode::bug, error.what());
  } catch (...) {
    return complain(ExitCode::bug, "an exception of unknown type");
  }
}

ExitCode guarded(int argc, char** argv) noexcept {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    return ExitCode::resource;
  }
}

/// Many seeds at once have many files open: the process takes what it may have.
void allow_open_files() noexcept {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace
}  // namespace vlearn::app

int main(int argc, char** argv) {
  vlearn::app::allow_open_files();
  vlearn::app::explain_cut_files();
  // A file that may not grow is an error like a full disk, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  vlearn::app::outlive_readers();
  return static_cast<int>(vlearn::app::guarded(argc, argv));
}
