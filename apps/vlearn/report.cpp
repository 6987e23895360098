// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn report: runs as a page for a browser.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/json.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/report/page.h"
#include "vlearn/report/run_view.h"

namespace vlearn::app {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string out;
  std::string verify = "on";
  std::string game;
  std::size_t threads = 0;
  bool force = false;
  bool as_json = false;
};

/// Whether a file begins as our pages do: it may be written anew.
bool is_report(const std::filesystem::path& path) {
  constexpr std::size_t head_bytes = 2048;
  std::string head(head_bytes, '\0');
  InputFile file(path, UINT64_MAX);
  head.resize(std::min<std::uint64_t>(head_bytes, file.size()));
  file.read(std::as_writable_bytes(std::span(head)));
  return head.starts_with("<!doctype html>") &&
         head.find("<meta name=\"generator\" content=\"vlearn ") != std::string::npos;
}

std::filesystem::path place_of(const Options& options) {
  std::filesystem::path path = options.out;
  if (path.empty()) {
    path = options.runs.size() == 1 ? std::filesystem::path(options.runs.front()) / "report.html"
                                    : std::filesystem::path("report.html");
  }
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    throw Error(ErrorKind::usage, path.string(), "is a folder", "name a file with -o");
  }
  if (options.force || !std::filesystem::exists(path, failure) || is_report(path)) return path;
  throw Error(ErrorKind::usage, path.string(), "is there, and is not a report of ours",
              "choose another place with -o, or replace it with --force");
}

std::vector<RunView> view_all(const Options& options) {
  const CancelToken cancel = stop_on_signals();
  const Progress progress({.work = options.verify == "on" ? "verifying and looking" : "looking"});
  const bool alone = options.runs.size() == 1;
  std::vector<RunView> views(options.runs.size());
  // Several runs share the threads, and are compared without their policies.
  parallel_for(views.size(), {.threads = options.threads, .cancel = cancel}, [&](std::size_t i) {
    views[i] = view_run(options.runs[i],
                        {.parallel = {.threads = alone ? options.threads : 1, .cancel = cancel},
                         .verify = options.verify == "on",
                         .policies = alone,
                         .game = options.game});
  });
  return views;
}

/// What was found, and "report: runs/rps-1/report.html (183 kB)".
std::string as_text(const std::filesystem::path& path,
                    std::uint64_t bytes,
                    const std::vector<RunView>& views) {
  std::string text;
  for (const RunView& view : views) {
    if (views.size() > 1) text += printable(view.path) + ": ";
    text += printable(headline_of(view)) + "\n";
  }
  return text + fmt::format("report: {} ({} kB)\n", printable(path.string()), (bytes + 999) / 1000);
}

std::string as_json(const std::filesystem::path& path,
                    std::uint64_t bytes,
                    const std::vector<RunView>& views) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.report/1").member("version", build_info().version);
  json.member("file", printable(path.string())).member("bytes", bytes);
  json.key("runs").begin_array();
  for (const RunView& view : views) {
    json.begin_object().member("path", printable(view.path)).key("gap");
    const auto& certificate = view.certificate ? view.certificate : view.sampled;
    certificate ? json.value(certificate->gap_upper) : json.null();
    json.key("sum_of_gaps");
    certificate ? json.value(certificate->sum_upper) : json.null();
    json.key("verified");
    switch (view.verification.outcome) {
      case Verification::Outcome::not_done: json.null(); break;
      case Verification::Outcome::accepted: json.value(true); break;
      case Verification::Outcome::refuted:
      case Verification::Outcome::mismatch: json.value(false); break;
    }
    json.member("command", as_utf8(view.command)).end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

ExitCode report(const Options& options) {
  const std::filesystem::path path = place_of(options);
  check_distinct(std::vector<std::filesystem::path>(options.runs.begin(), options.runs.end()));
  const std::vector<RunView> views = view_all(options);
  const std::string page = report_page(views);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(page)));
  file.commit();
  print(options.as_json ? as_json(path, page.size(), views) : as_text(path, page.size(), views));
  ExitCode code = ExitCode::good;
  for (const RunView& view : views) {
    const Verification::Outcome outcome = view.verification.outcome;
    const bool refuted = outcome == Verification::Outcome::refuted;
    if (!refuted && outcome != Verification::Outcome::mismatch) continue;
    warn(fmt::format("{}: {}: {}", view.path,
                     refuted ? "the certificate is refuted" : "the recorded gaps do not fit",
                     view.verification.message));
    code = ExitCode::gap;
  }
  return code;
}

}  // namespace

void add_report(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Runs as one page for a browser");
  command->footer(
      "Examples:\n"
      "  vlearn report runs/soccer-1               everything about a run: "
      "runs/soccer-1/report.html\n"
      "  vlearn report runs/* -o comparison.html   several runs side by side\n\n"
      "The page needs nothing but itself. Certificates and the curves of gaps are derived again on "
      "the way: exit code\n4 where one is refuted, which the page says too.");
  command
      ->add_option("runs", options->runs,
                   "RUN: folders as vlearn learn and vlearn solve leave them")
      ->required();
  command->add_option("-o,--out", options->out,
                      "Where the page goes; default RUN/report.html, of several runs report.html");
  command
      ->add_option("--verify", options->verify,
                   "on (default) or off: derive certificates again, and curves from the policies")
      ->check(one_of({"on", "off"}));
  command->add_option("--game", options->game, "GAME, where it is not any more where the run says");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(std::size_t{0}, kMaxThreads));
  command->add_flag("--force", options->force, "Replace a file that is not a report of ours");
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return report(*options); }; });
}

}  // namespace vlearn::app
