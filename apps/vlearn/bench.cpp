// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn bench: figures for this machine, each beside a reference measured in the same run.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "command.h"
#include "measure.h"
#include "vlearn/core/json.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/version.h"

namespace vlearn::app {
namespace {

struct Options {
  std::string group;
  bool as_json = false;
};

void print_table(const std::vector<bench::Measurement>& measurements) {
  std::string text = fmt::format("{:<34}{:>11}   {:<24}{:>11}{:>8}\n", "ns per operation", "vlearn",
                                 "reference", "ns", "ratio");
  for (const bench::Measurement& m : measurements) {
    text += fmt::format("{:<34}{:>11.2f}", m.name, m.ns);
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

ExitCode run(const Options& options) {
  const std::vector<bench::Measurement> measurements = [&] {
    if (options.group == "bandit") return bench::bandit();
    if (options.group == "learn") return bench::learn();
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
      "  vlearn bench core\n"
      "  vlearn bench bandit --json");
  command->add_option("group", options->group, "What to time: core, bandit, game or learn")
      ->required()
      ->check(CLI::IsMember({"core", "bandit", "game", "learn"}));
  command->add_flag("--json", options->as_json, "One JSON object instead of the table");
  command->callback([options, &task] { task = [options] { return run(*options); }; });
}

}  // namespace vlearn::app
