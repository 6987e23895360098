// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn certify: how good is what a run has learned.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "certificate_text.h"
#include "command.h"
#include "game_text.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/text.h"
#include "vlearn/run/certify_run.h"

namespace vlearn::app {

std::string gap_text(const Certificate& certificate) {
  std::string text = fmt::format("certified {} gap", name_of(certificate.target));
  if (certificate.confidence) {
    text = fmt::format("from {} alone, with probability {}: {} gap", certificate.method,
                       *certificate.confidence, name_of(certificate.target));
  }
  text += certificate.gap_lower ? fmt::format(" between {:.6g} and {:.6g}", *certificate.gap_lower,
                                              certificate.gap_upper)
                                : fmt::format(" at most {:.6g}", certificate.gap_upper);
  text += fmt::format(", output {}",
                      kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)]);
  if (certificate.output != CertifiedOutput::nested) return text + "\n";
  return text + fmt::format(", start {}{}\n",
                            kCertifiedStartNames[static_cast<std::size_t>(certificate.start)],
                            certificate.start == CertifiedStart::uniform
                                ? ""
                                : fmt::format(" (episode {})", certificate.start_episode));
}

std::string certificate_text(const Certificate& certificate) {
  std::string text = fmt::format("{:<20}{:>24}{:>28}\n", "player", "value", "best deviation");
  const auto interval = [](const std::optional<double>& lower, double upper) {
    if (!lower) return fmt::format("<= {:.6g}", upper);
    if (*lower == upper) return fmt::format("{:.6g}", upper);
    return fmt::format("{:.6g} .. {:.6g}", *lower, upper);
  };
  constexpr std::size_t most = 8;
  for (std::size_t j = 0; j < std::min(certificate.players.size(), most); ++j) {
    const PlayerCertificate& player = certificate.players[j];
    text += fmt::format("{:<20}{:>24}{:>28}\n", printable(player.name, 18),
                        interval(player.value_lower, player.value_upper),
                        interval(player.deviation_lower, player.deviation_upper));
  }
  if (certificate.players.size() > most) {
    text += fmt::format("... and {} more (--json has all)\n", certificate.players.size() - most);
  }
  return text + gap_text(certificate);
}

namespace {

struct Options {
  std::string run;
  std::string output;
  std::string start;
  std::string file;
  std::uint64_t threads = 0;
  bool as_json = false;
};

ExitCode certify(const Options& options) {
  const StoredRun run = read_run(options.run);
  const LoadedGame game = load_game_of(run);
  CertifyOptions wanted;
  const bool has_table = run.planned || run.config.learner.monotone;
  wanted.output = has_table ? CertifiedOutput::table : run.config.output;
  if (!has_table && !options.start.empty()) wanted.output = CertifiedOutput::nested;
  if (!options.output.empty()) {
    wanted.output = named<CertifiedOutput>(kCertifiedOutputNames, options.output);
  }
  if (wanted.output != CertifiedOutput::nested && !options.start.empty()) {
    throw Error(ErrorKind::usage, "--start", "is for the nested output", "leave it out");
  }
  if (!options.start.empty()) {
    wanted.start = named<CertifiedStart>(kCertifiedStartNames, options.start);
  }
  wanted.parallel.threads = options.threads;
  const Certificate certificate = certify_stored(run, game, wanted);
  const std::string text = to_json(certificate);
  const std::filesystem::path file =
      options.file.empty() ? certificate_path(run.path) : std::filesystem::path(options.file);
  write_file(file, text);
  if (options.file.empty()) {
    write_index_seeds(run.path, run.config, frame_of(game.game).num_players(), certificate);
  }
  if (options.as_json) {
    print(text);
  } else {
    print(certificate_text(certificate) + fmt::format("written to {}\n", printable(file.string())));
  }
  return ExitCode::good;
}

}  // namespace

void add_certify(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("certify", "Certify how much a player could gain by deviating");
  command->footer(
      "Examples:\n"
      "  vlearn certify runs/soccer-1\n"
      "  vlearn certify runs/soccer-1 --start uniform --json\n");
  const auto words = [](const auto& names) {
    return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
  };
  command->add_option("run", options->run, "A run folder with its policies")->required();
  command
      ->add_option("--output", options->output,
                   "Which policy: nested (the paper's), markov, marginals or table (of "
                   "--monotone and of solve); default: "
                   "what the run returns")
      ->check(words(kCertifiedOutputNames));
  command
      ->add_option(
          "--start", options->start,
          "Where nested executions start: best (default), last, or uniform as in the paper")
      ->check(words(kCertifiedStartNames));
  command->add_option("-o,--out", options->file, "Default: certificate.json in the run folder");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "The certificate itself");
  command->callback([options, &task] { task = [options] { return certify(*options); }; });
}

}  // namespace vlearn::app
