// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn self-test: whether this binary, on this machine, computes what it should. Each check is
// against a published or exactly known value.
#include "self_test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "command.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/container.h"
#include "vlearn/core/exp.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simd.h"
#include "vlearn/core/simplex.h"

namespace vlearn::app {
namespace {

/// From Random123's kat_vectors: the digits of pi through Philox4x32-10.
bool philox_known_answer() {
  const PhiloxBlock expected = {0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U};
  return philox4x32_10({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U},
                       {0xa4093822U, 0x299f31d0U}) == expected;
}

/// exp(0) exactly; e and 1/e to the last place (their nearest doubles are given).
bool exp_known_values() {
  const auto close = [](double x, double nearest) {
    return std::abs(x - nearest) <= nearest * 0x1p-52;
  };
  return vlearn::exp(0.0) == 1.0 && close(vlearn::exp(1.0), 0x1.5bf0a8b145769p+1) &&
         close(vlearn::exp(-1.0), 0x1.78b56362cef38p-2) && vlearn::exp(-800.0) == 0.0;
}

std::vector<double> test_values() {
  Draws draws({.seed = 7, .purpose = Purpose::test});
  std::vector<double> values(1003);
  for (double& value : values) value = 40.0 * draws.uniform() - 30.0;
  return values;
}

/// The same bits from one lane and from every vector width of this machine.
bool vector_widths_agree() {
  const std::string chosen = simd_target();
  const std::vector<double> in = test_values();
  std::vector<double> one_by_one;
  one_by_one.reserve(in.size());
  for (const double x : in) one_by_one.push_back(vlearn::exp(x));
  bool same = true;
  std::vector<double> first_softmax;
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    std::vector<double> out(in.size());
    vlearn::exp(in, out);
    same = same && out == one_by_one;
    softmax(in, out);
    if (first_softmax.empty()) first_softmax = out;
    same = same && out == first_softmax;
  }
  use_simd_target(chosen);
  return same;
}

/// 24 000 index draws at c = 1, t = 3, whose weights are 1/6, 2/6, 3/6: chi-square with two degrees
/// of freedom below 27.6, which fails by chance once in 10^6 seeds (and the seed is fixed).
bool index_sampler_law() {
  const AlphaWeights weights(1);
  Draws draws({.seed = 3, .purpose = Purpose::test});
  std::array<double, 3> counts{};
  for (int i = 0; i < 24000; ++i) counts.at(weights.sample(3, draws) - 1) += 1.0;
  double chi_square = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = 4000.0 * static_cast<double>(i + 1);
    chi_square += (counts.at(i) - expected) * (counts.at(i) - expected) / expected;
  }
  return chi_square < 27.6;
}

/// FIPS 180-2, appendix B.1.
bool sha256_known_answer() {
  return to_hex(sha256(std::as_bytes(std::span("abc", 3)))) ==
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
}

bool threads_agree() {
  const std::vector<double> in = test_values();
  std::vector<double> serial(in.size());
  std::vector<double> parallel(in.size());
  const auto fill = [&](std::vector<double>& out, std::size_t threads) {
    parallel_for(in.size(), {.threads = threads, .grain = 7},
                 [&](std::size_t i) { out[i] = vlearn::exp(in[i]); });
  };
  fill(serial, 1);
  fill(parallel, 4);
  return serial == parallel;
}

/// Written, read back, and refused after one flipped bit.
bool container_round_trip() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("vlearn-self-test-" + std::to_string(::getpid()) + ".safetensors");
  const std::vector<double> values = test_values();
  ContainerWriter("vlearn.self-test/1").add("values", {values.size()}, values).write(path);
  std::string bytes(FileBytes::read(path, 1U << 20U).text());
  std::filesystem::remove(path);
  const auto parse = [&] {
    return Container::parse(FileBytes::copy(std::as_bytes(std::span(bytes))), path.string());
  };

  const Container container = parse();
  const std::span<const double> view = container.view<double>("values");
  const bool same = std::equal(view.begin(), view.end(), values.begin(), values.end());
  char& middle = bytes[bytes.size() / 2];
  middle = static_cast<char>(middle ^ 1);
  try {
    static_cast<void>(parse());
    return false;
  } catch (const Error& error) {
    return same && container.header().committed() && error.kind() == ErrorKind::input;
  }
}

}  // namespace

const std::vector<SelfCheck>& self_checks() {
  static const std::vector<SelfCheck> checks = {
      {"Philox4x32-10 gives its published answers", philox_known_answer},
      {"exp gives known values", exp_known_values},
      {"every vector width gives the same bits", vector_widths_agree},
      {"the index sampler follows its law", index_sampler_law},
      {"SHA-256 gives its published answer", sha256_known_answer},
      {"one thread and four give the same result", threads_agree},
      {"a container is read back, and damage is found", container_round_trip},
  };
  return checks;
}

namespace {

ExitCode run(bool as_json) {
  bool all_good = true;
  std::string text;
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.self-test/1").key("checks").begin_array();
  for (const auto& [name, check] : self_checks()) {
    const bool good = check();
    all_good = all_good && good;
    text += fmt::format("{:<6}{}\n", good ? "ok" : "WRONG", name);
    json.begin_object().member("name", name).member("ok", good).end_object();
  }
  json.end_array().member("ok", all_good).end_object();
  print(as_json ? json.text() + "\n" : text);
  if (!all_good) throw Error(ErrorKind::internal, "self-test", "this build computes wrong results");
  return ExitCode::good;
}

}  // namespace

void add_self_test(CLI::App& app, Task& task) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("self-test", "Check that this build computes what it should");
  command->footer(
      "Examples:\n"
      "  vlearn self-test\n"
      "  vlearn self-test --json");
  command->add_flag("--json", *as_json, "One JSON object instead of the list");
  command->callback([as_json, &task] { task = [as_json] { return run(*as_json); }; });
}

}  // namespace vlearn::app
