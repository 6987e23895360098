// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn bench: figures for this machine, each beside a reference measured in the same run.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "command.h"
#include "measure.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/version.h"
#include "vlearn/run/signature.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string group;
  bool as_json = false;
  bool signature = false;
  std::size_t threads = 0;
};

void print_table(const std::vector<bench::Measurement>& measurements) {
  std::string text = fmt::format("{:<44}{:>11}   {:<24}{:>11}{:>8}\n", "ns per operation", "vlearn",
                                 "reference", "ns", "ratio");
  for (const bench::Measurement& m : measurements) {
    text += fmt::format("{:<44}{:>11.2f}", m.name, m.ns);
    if (!m.reference.empty()) {
      text += fmt::format("   {:<24}{:>11.2f}{:>7.2f}x", m.reference, m.reference_ns,
                          m.reference_ns / m.ns);
    }
    text += '\n';
  }
  print(text);
}

void print_json(const Options& options, const std::vector<bench::Measurement>& measurements) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.bench/1");
  json.member("version", build_info().version).member("commit", build_info().commit);
  json.member("simd", simd_target()).member("group", options.group);
  json.key("measurements").begin_array();
  for (const bench::Measurement& m : measurements) {
    json.begin_object().member("name", m.name).member("ns", m.ns);
    if (!m.reference.empty()) {
      json.member("reference", m.reference).member("reference_ns", m.reference_ns);
    }
    json.end_object();
  }
  json.end_array().end_object();
  print(json.text() + "\n");
}

ExitCode print_signature(const Options& options) {
  const std::string signature = fmt::format("{:016x}", learning_signature(options.threads));
  if (options.as_json) {
    JsonWriter json;
    json.begin_object().member("schema", "vlearn.signature/1");
    json.member("version", build_info().version).member("signature", signature);
    print(json.end_object().text() + "\n");
  } else {
    print(signature + "\n");
  }
  return ExitCode::good;
}

ExitCode run(const Options& options) {
  if (options.signature == !options.group.empty()) {
    throw Error(ErrorKind::usage, "bench", "a group or --signature, one of them, is required",
                "see 'vlearn bench --help'");
  }
  if (options.signature) return print_signature(options);
  const std::vector<bench::Measurement> measurements = [&] {
    if (options.group == "bandit") return bench::bandit();
    if (options.group == "certify") return bench::certify();
    if (options.group == "learn") return bench::learn();
    if (options.group == "lp") return bench::lp();
    if (options.group == "policy") return bench::policy();
    return options.group == "core" ? bench::core() : bench::game();
  }();
  if (options.as_json) {
    print_json(options, measurements);
  } else {
    print_table(measurements);
  }
  return ExitCode::good;
}

}  // namespace

void add_bench(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("bench", "Time the kernels, each beside a reference in the same run");
  command->footer(
      "Examples:\n"
      "  vlearn bench learn\n"
      "  vlearn bench --signature      the same on every machine");
  command
      ->add_option("group", options->group,
                   "What to time: core, bandit, game, lp, learn, policy or certify")
      ->check(one_of({"core", "bandit", "game", "lp", "learn", "policy", "certify"}));
  command->add_flag("--json", options->as_json, "One JSON object instead of the table");
  command->add_flag("--signature", options->signature,
                    "The hash of everything that fixed runs learn, instead of times");
  command->add_option("--threads", options->threads, "For --signature; 0 (default): one per core");
  command->callback([options, &task] { task = [options] { return run(*options); }; });
}

}  // namespace vlearn::app
