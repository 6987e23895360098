// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn doctor: what a bug report should say about the machine and the build, and whether both
// together compute what they should.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "command.h"
#include "library_versions.h"  // made when the build is configured
#include "machine.h"
#include "progress_text.h"
#include "self_test.h"
#include "terminal.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/run/signature.h"

namespace vlearn::app {
namespace {

enum class Verdict : std::uint8_t { ok, note, problem };
constexpr std::array<std::string_view, 3> kVerdictNames = {"ok", "note", "problem"};
std::string_view name_of(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string about;
  std::string text;
};

std::string bytes_text(std::uint64_t bytes) { return short_bytes(static_cast<double>(bytes)); }

constexpr std::uint64_t kLittleRoom = std::uint64_t{1} << 30U;

Finding look_at_build() {
  const BuildInfo info = build_info();
  Finding found{Verdict::ok, "build",
                fmt::format("vlearn {} ({}), {}, {}", info.version, info.commit, info.compiler,
                            info.build_type)};
  if (info.assertions || info.sanitizers != "none") {
    found.verdict = Verdict::note;
    found.text += fmt::format("; slower than it could be: assertions {}, sanitizers {}",
                              info.assertions ? "on" : "off", info.sanitizers);
  }
  return found;
}

Finding look_at_libraries() {
  std::string text;
  for (const auto& [name, version] : kLibraryVersions) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version);
  }
  return {Verdict::ok, "libraries", text};
}

Finding look_at_cpu(const Machine& machine) {
  return {Verdict::ok, "processor",
          fmt::format("{}; {}", machine.cpu_model.empty() ? "of unknown model" : machine.cpu_model,
                      fmt::join(machine.cpu_features, " "))};
}

Finding look_at_simd() {
  const std::vector<std::string> targets = simd_targets();
  Finding found{Verdict::ok, "SIMD",
                fmt::format("{} in use, of {}", simd_target(), fmt::join(targets, " "))};
  if (simd_target() != targets.front()) {
    found.verdict = Verdict::note;
    found.text += "; VLEARN_SIMD keeps it from the best";
  }
  return found;
}

Finding look_at_threads(const Machine& machine) {
  const std::size_t cores = available_cores();
  Finding found{Verdict::ok, "threads", fmt::format("{} to use", cores)};
  if (machine.cores > cores) found.text += fmt::format(" of {}", machine.cores);
  if (machine.cpu_quota && *machine.cpu_quota < static_cast<double>(cores)) {
    found.verdict = Verdict::note;
    found.text += fmt::format("; a control group allows the time of {:.3g}: use --threads {:.0f}",
                              *machine.cpu_quota, std::max(std::ceil(*machine.cpu_quota), 1.0));
  }
  return found;
}

Finding look_at_memory(const Machine& machine) {
  if (!machine.memory || !machine.available) {
    return {Verdict::note, "memory", "nobody says how much there is"};
  }
  std::uint64_t room = *machine.available;
  std::string text =
      fmt::format("{} free of {}", bytes_text(*machine.available), bytes_text(*machine.memory));
  if (machine.memory_limit && *machine.memory_limit < *machine.memory) {
    const std::uint64_t used = std::min(machine.memory_used.value_or(0), *machine.memory_limit);
    room = std::min(room, *machine.memory_limit - used);
    text += fmt::format("; a control group allows {}, {} of it in use",
                        bytes_text(*machine.memory_limit), bytes_text(used));
  }
  return {room < kLittleRoom ? Verdict::note : Verdict::ok, "memory", text};
}

Finding look_at_disk() {
  std::error_code failure;
  const std::filesystem::space_info space = std::filesystem::space(".", failure);
  if (failure) return {Verdict::note, "disk", "nobody says how much room this folder has"};
  Finding found{space.available < kLittleRoom ? Verdict::note : Verdict::ok, "disk",
                fmt::format("{} free in this folder", bytes_text(space.available))};
  if (access(".", W_OK) != 0) {
    found.verdict = Verdict::note;
    found.text += ", which cannot be written to: give --out";
  }
  return found;
}

/// Whether numbers are rounded to nearest and subnormal ones are kept, in the calling thread.
bool numbers_are_sound() {
  const volatile double tiny = DBL_MIN;
  const volatile double half = tiny / 2.0;
  const volatile double one = 1.0;
  const bool rounded = one + DBL_EPSILON / 2.0 == 1.0 && one + DBL_EPSILON * 0.75 > 1.0;
  return std::fegetround() == FE_TONEAREST && rounded && half > 0.0 && half * 2.0 == tiny;
}

Finding look_at_numbers() {
  bool elsewhere = false;
  std::thread([&] { elsewhere = numbers_are_sound(); }).join();
  const bool sound = numbers_are_sound() && elsewhere && FLT_EVAL_METHOD == 0;
  return {sound ? Verdict::ok : Verdict::problem, "numbers",
          sound ? "rounded to nearest, subnormal ones kept, in every thread"
                : "not rounded to nearest, or subnormal ones lost: results would differ"};
}

Finding look_at_locale() {
  std::string words;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, printable(value, 60));
  }
  return {Verdict::ok, "locale",
          fmt::format("{}, {}", words.empty() ? "none" : words,
                      terminal_state().unicode ? "UTF-8" : "plain letters in bars")};
}

Finding look_at_terminal() {
  const TerminalState state = terminal_state();
  const auto stream = [](const char* name, bool terminal, bool color) {
    return fmt::format("{} {}{}", name, terminal ? "a terminal" : "no terminal",
                       color ? " with colour" : "");
  };
  std::string text = stream("stdout", state.stdout_is_terminal, state.stdout_color) + ", " +
                     stream("stderr", state.stderr_is_terminal, state.stderr_color);
  if (state.stderr_is_terminal) text += fmt::format(", {} columns", state.columns);
  return {Verdict::ok, "terminal", text};
}

/// Whatever happens meanwhile, the instruction set is what it was.
class SameSimd {
 public:
  SameSimd() : chosen_(simd_target()) {}
  ~SameSimd() { use_simd_target(chosen_); }
  SameSimd(const SameSimd&) = delete;
  SameSimd& operator=(const SameSimd&) = delete;
  SameSimd(SameSimd&&) = delete;
  SameSimd& operator=(SameSimd&&) = delete;

 private:
  std::string chosen_;
};

/// Everything that learning computes, with each instruction set, by one thread and by all.
Finding compare_signatures() {
  std::string wrong;
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    for (const std::size_t threads :
         {std::size_t{1}, std::max<std::size_t>(available_cores(), 2)}) {
      const std::string signature = fmt::format("{:016x}", learning_signature(threads));
      if (signature == kSignature) continue;
      wrong += fmt::format("{}{} with {} and {} threads", wrong.empty() ? "" : ", ", signature,
                           target, threads);
    }
  }
  if (wrong.empty()) {
    return {Verdict::ok, "signature",
            fmt::format("{}: the same with every instruction set, by one thread and by all",
                        kSignature)};
  }
  return {Verdict::problem, "signature", fmt::format("want {}, got {}", kSignature, wrong)};
}

Finding run_check(const SelfCheck& one) {
  if (one.check()) return {Verdict::ok, "self-test", one.name};
  return {Verdict::problem, "self-test", "not true: " + one.name};
}

/// One look. What keeps it from looking, as a system that gives no thread, no memory or no folder
/// for scratch files, is no fault of the program's: a note, and the others go on.
Finding look(const char* about, const std::string& name, const std::function<Finding()>& find) {
  const SameSimd same;
  const auto cannot_tell = [&](Verdict verdict, const char* why) -> Finding {
    return {verdict, about,
            fmt::format("cannot tell: {}{}{}", name, name.empty() ? "" : ": ", why)};
  };
  try {
    return find();
  } catch (const Error& failure) {
    const bool ours = failure.kind() != ErrorKind::resource && failure.kind() != ErrorKind::usage;
    return cannot_tell(ours ? Verdict::problem : Verdict::note, failure.what());
  } catch (const std::system_error& failure) {  // threads and files
    return cannot_tell(Verdict::note, failure.what());
  } catch (const std::bad_alloc&) {
    return cannot_tell(Verdict::note, "out of memory");
  } catch (const std::exception& failure) {
    return cannot_tell(Verdict::problem, failure.what());
  }
}

std::string to_json(const Machine& machine, const std::vector<Finding>& findings, bool good) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.doctor/1");
  write_build(json);
  json.key("libraries").begin_object();
  for (const auto& [name, version] : kLibraryVersions) json.member(name, version);
  json.end_object();
  json.member("cpu", machine.cpu_model).key("cpu_features").on_one_line().begin_array();
  for (const std::string& feature : machine.cpu_features) json.value(feature);
  json.end_array();
  write_simd(json);
  const auto optional = [&](const char* key, const auto& number) {
    json.key(key);
    number ? json.value(*number) : json.null();
  };
  json.member("cores", machine.cores).member("threads", available_cores());
  optional("cpu_quota", machine.cpu_quota);
  optional("memory_bytes", machine.memory);
  optional("memory_available_bytes", machine.available);
  optional("memory_limit_bytes", machine.memory_limit);
  std::error_code failure;
  const std::filesystem::space_info space = std::filesystem::space(".", failure);
  optional("disk_available_bytes",
           failure ? std::nullopt : std::optional<std::uint64_t>(space.available));
  json.member("signature", kSignature).key("findings").begin_array();
  for (const Finding& one : findings) {
    json.begin_object().member("verdict", name_of(one.verdict)).member("about", one.about);
    json.member("text", one.text).end_object();
  }
  return json.end_array().member("ok", good).end_object().text() + "\n";
}

std::string to_text(const std::vector<Finding>& findings) {
  constexpr std::array<Style, 3> styles = {Style::good, Style::note, Style::error};
  std::string text;
  for (const Finding& one : findings) {
    const std::string word = fmt::format("{:<9}", name_of(one.verdict));
    text += paint(styles[static_cast<std::size_t>(one.verdict)], word) +
            fmt::format("{:<11}{}\n", one.about, printable(one.text));
  }
  return text;
}

ExitCode run(bool as_json) {
  const Machine machine = read_machine();
  const std::vector<std::pair<const char*, std::function<Finding()>>> looks = {
      {"build", look_at_build},
      {"libraries", look_at_libraries},
      {"processor", [&] { return look_at_cpu(machine); }},
      {"SIMD", look_at_simd},
      {"threads", [&] { return look_at_threads(machine); }},
      {"memory", [&] { return look_at_memory(machine); }},
      {"disk", look_at_disk},
      {"numbers", look_at_numbers},
      {"locale", look_at_locale},
      {"terminal", look_at_terminal},
      {"signature", compare_signatures},
  };
  std::vector<Finding> findings;
  findings.reserve(looks.size());
  for (const auto& [about, find] : looks) findings.push_back(look(about, "", find));
  for (const SelfCheck& one : self_checks()) {
    findings.push_back(look("self-test", one.name, [&] { return run_check(one); }));
  }
  const auto problems = std::count_if(findings.begin(), findings.end(), [](const Finding& one) {
    return one.verdict == Verdict::problem;
  });
  print(as_json ? to_json(machine, findings, problems == 0) : to_text(findings));
  if (problems == 0) return ExitCode::good;
  throw Error(ErrorKind::internal, "doctor",
              fmt::format("{} of {} findings are problems", problems, findings.size()));
}

}  // namespace

void add_doctor(CLI::App& app, Task& task) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "doctor", "Look at the machine and the build, and check what they compute");
  command->footer(
      "Examples:\n"
      "  vlearn doctor\n"
      "  vlearn doctor --json > doctor.json     to go with a bug report\n\n"
      "Each line is ok, a note or a problem. Exit code 1 where there is a problem.");
  command->add_flag("--json", *as_json, "One JSON object");
  command->callback([as_json, &task] { task = [as_json] { return run(*as_json); }; });
}

}  // namespace vlearn::app
