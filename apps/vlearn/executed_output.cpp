// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "executed_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "command.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn::app {
namespace {

std::string name_of(CertifiedOutput output) {
  return std::string(kCertifiedOutputNames[static_cast<std::size_t>(output)]);
}

/// The run's certificate, of the wanted output if there is one. Nothing where there is none. Throws
/// Error (input) where executions do not follow it: what would be played is not what was certified.
std::optional<Certificate> followed_certificate(const StoredRun& run,
                                                const Frame& frame,
                                                const std::string& wanted) {
  const std::filesystem::path path = certificate_path(run.path);
  if (!std::filesystem::exists(path)) return std::nullopt;
  Certificate certificate = read_certificate(path);
  if (!wanted.empty() && name_of(certificate.output) != wanted) return std::nullopt;
  if (certificate.output != CertifiedOutput::table) check_history(run);
  std::string differs = what_differs(certificate, run, frame);
  // Who plays alone goes by the index seed: one for all players, or for nash one for each.
  const Target target = run.config.learner.target;
  const std::size_t seeds = target == Target::nash ? frame.num_players() : 1;
  for (std::size_t j = 0; j < seeds && differs.empty(); ++j) {
    const std::filesystem::path seed = index_seed_path(run.path, target, Player(j));
    const std::string agreed = read_start(seed);
    if (agreed.empty() || agreed == start_in_seed(certificate)) continue;
    differs = fmt::format("{} says start {}", seed.string(), printable(agreed, 100));
  }
  if (differs.empty()) return certificate;
  throw Error(
      ErrorKind::input, path.string(), fmt::format("is not of what this run executes: {}", differs),
      "certify the run again: vlearn certify RUN; or say what to execute: --output and --start");
}

/// Fills in what was not said: as the certificate has it, else as the run returns it.
void fill_in(OutputWords& words, const StoredRun& run, const Frame& frame) {
  const bool asks_for_start =
      words.output != "table" && (words.start.empty() || words.start == "best");
  const std::optional<Certificate> certificate =
      asks_for_start ? followed_certificate(run, frame, words.output) : std::nullopt;
  if (words.output.empty()) {
    const CertifiedOutput returned = returned_output(run);
    if (certificate) {
      words.output = name_of(certificate->output);
    } else if (words.start == "uniform" && returned != CertifiedOutput::table) {
      words.output = name_of(CertifiedOutput::nested);
    } else {
      words.output = name_of(returned);
    }
  }
  if (!certificate || !has_start(*certificate)) return;
  if (words.start == "best" && certificate->start != CertifiedStart::best) return;
  words.start = certificate->start == CertifiedStart::uniform
                    ? "uniform"
                    : std::to_string(certificate->start_episode);
}

}  // namespace

void check_words(const OutputWords& words, Target target) {
  if (words.output == "table" && !words.start.empty()) {
    throw Error(ErrorKind::usage, "--start", "has no place with a table", "leave it out");
  }
  const bool markov = words.output == "markov" || words.output == "marginals";
  if (markov && words.start == "uniform") {
    throw Error(ErrorKind::usage, "--start uniform", "is for the nested output",
                "use best, last or the number of an episode");
  }
  if (words.output.empty()) return;
  check_executable(target, named<CertifiedOutput>(kCertifiedOutputNames, words.output));
}

StartRule start_of(const std::string& word, const std::string& output) {
  if (word == "uniform") return {StartRule::Kind::uniform, 0};
  if (word == "last" || word.empty()) return {StartRule::Kind::last, 0};
  if (word == "best") {
    throw Error(ErrorKind::usage, "--start best", "no certificate names a best episode here",
                "run vlearn certify RUN --output " + output +
                    " --start best first, or use last or the number of an episode");
  }
  const std::vector<std::string_view> known = {"last", "uniform", "best"};
  if (const std::string meant = suggestion(word, known); !meant.empty()) {
    throw Error(ErrorKind::usage, "--start", "is '" + printable(word, 100) + "'", meant);
  }
  return {StartRule::Kind::at, parse_count("--start", word)};
}

OutputKind output_of(const std::string& word) {
  return word == "nested" ? OutputKind::nested : OutputKind::markov;
}

ExecutedOutput executed_output(const StoredRun& run, const LoadedGame& game, OutputWords words) {
  fill_in(words, run, frame_of(game.game));
  check_words(words, run.config.learner.target);
  ExecutedOutput executed;
  executed.output = words.output;
  executed.is_table = words.output == "table";
  executed.start = "none";
  if (executed.is_table) return executed;
  executed.rule = start_of(words.start, words.output);
  executed.kind = output_of(words.output);
  executed.start = words.start.empty() ? "last" : words.start;
  return executed;
}

}  // namespace vlearn::app
