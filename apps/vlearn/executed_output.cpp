// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "executed_output.h"

#include <filesystem>
#include <string_view>
#include <variant>
#include <vector>

#include "command.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn::app {
namespace {

/// The start that is meant where nothing, or best, was said: what the run's certificate says of the
/// nested output of this very history.
std::string resolve_start(const OutputWords& words, const StoredRun& run, const LoadedGame& game) {
  const bool asks = words.start.empty() || words.start == "best";
  const std::filesystem::path path = certificate_path(run.path);
  if (!asks || words.output != "nested" || !std::filesystem::exists(path)) return words.start;
  const Certificate certificate = read_certificate(path);
  const bool best = certificate.start == CertifiedStart::best;
  if (certificate.output != CertifiedOutput::nested || (words.start == "best" && !best)) {
    return words.start;
  }
  const CertificateTitle title = certificate_title(
      run.title, game,
      policy_paths(run.path, frame_of(game.game).num_players(), CertifiedOutput::nested));
  if (certificate.policy_hashes != title.policy_hashes) {
    throw Error(ErrorKind::input, path.string(), "is not of the policies that are here",
                "certify the run again: vlearn certify RUN; or say where to start");
  }
  if (certificate.start == CertifiedStart::uniform) return "uniform";
  return std::to_string(certificate.start_episode);
}

/// What the run's certificate is about, else what the run returns.
std::string default_output(const StoredRun& run) {
  const std::filesystem::path path = certificate_path(run.path);
  const bool has_table = run.planned || run.config.learner.monotone;
  CertifiedOutput output = has_table ? CertifiedOutput::table : run.config.output;
  if (std::filesystem::exists(path)) {
    const CertifiedOutput certified = read_certificate(path).output;
    // The product of averages is what players of nash play, and nobody else.
    const bool executed =
        certified != CertifiedOutput::marginals || run.config.learner.target == Target::nash;
    if (executed) output = certified;
  }
  return std::string(kCertifiedOutputNames[static_cast<std::size_t>(output)]);
}

}  // namespace

void check_words(const OutputWords& words, Target target) {
  if (!words.output.empty() && words.output != "nested" && !words.start.empty()) {
    throw Error(ErrorKind::usage, "--start", "is for the nested output",
                "leave it out: output " + words.output + " has no start");
  }
  // Players of nash draw indices of their own.
  if (words.output == "marginals" && target != Target::nash) {
    throw Error(ErrorKind::usage, "--output marginals",
                "is for nash: others play by shared indices, not by averages",
                "use --output markov");
  }
}

StartRule start_of(const std::string& word) {
  if (word == "uniform") return {StartRule::Kind::uniform, 0};
  if (word == "last" || word.empty()) return {StartRule::Kind::last, 0};
  if (word == "best") {
    throw Error(ErrorKind::usage, "--start best", "no certificate names a best episode here",
                "run vlearn certify RUN --start best first, or use last, uniform or the number of "
                "an episode");
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
  // Only nested executions have a start.
  const bool has_table = run.planned || run.config.learner.monotone;
  if (words.output.empty()) {
    words.output = !words.start.empty() && !has_table ? "nested" : default_output(run);
  }
  check_words(words, run.config.learner.target);
  ExecutedOutput executed;
  executed.output = words.output;
  executed.is_table = words.output == "table";
  executed.start = "none";
  if (executed.is_table) return executed;
  const std::string start = resolve_start(words, run, game);
  executed.rule = start_of(start);
  executed.kind = output_of(words.output);
  if (words.output == "nested") executed.start = start.empty() ? "last" : start;
  return executed;
}

}  // namespace vlearn::app
