// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn certify: how good is what a run has learned.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "certificate_text.h"
#include "command.h"
#include "executed_output.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "terminal.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/text.h"
#include "vlearn/run/certify_run.h"

namespace vlearn::app {

namespace {

std::string gap_words(const Certificate& certificate) {
  const std::string_view target = name_of(certificate.target);
  const bool sampled = is_sampled(certificate);
  std::string text = fmt::format("{} {} gap", sampled ? "sampled" : "certified", target);
  if (certificate.method && !sampled) {
    text = fmt::format("from {} alone, with probability {}: {} gap",
                       name_of(certificate.method->name), certificate.method->confidence, target);
  }
  text += certificate.gap_lower ? fmt::format(" between {:.6g} and {:.6g}", *certificate.gap_lower,
                                              certificate.gap_upper)
                                : fmt::format(" at most {:.6g}", certificate.gap_upper);
  text += fmt::format(", output {}",
                      kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)]);
  if (sampled) text += fmt::format(", with confidence {}", certificate.method->confidence);
  if (!has_start(certificate)) return text;
  return text + fmt::format(", start {}{}",
                            kCertifiedStartNames[static_cast<std::size_t>(certificate.start)],
                            certificate.start == CertifiedStart::uniform
                                ? ""
                                : fmt::format(" (episode {})", certificate.start_episode));
}

}  // namespace

std::string gap_text(const Certificate& certificate, std::optional<double> wanted) {
  const std::string words = gap_words(certificate);
  return (wanted && certificate.gap_upper <= *wanted ? paint(Style::good, words) : words) + "\n";
}

std::string certificate_text(const Certificate& certificate, std::optional<double> wanted) {
  std::string text = paint(Style::heading,
                           fmt::format("{:<20}{:>24}{:>28}", "player", "value", "best deviation")) +
                     "\n";
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
  return text + gap_text(certificate, wanted);
}

namespace {

constexpr std::array<std::string_view, 2> kChoices = {"exact", "sampled"};

struct Options {
  std::string run;
  std::string method = std::string(kChoices[0]);
  std::string samples;
  std::string seed;
  std::optional<double> confidence;
  std::string output;
  std::string start;
  std::string file;
  std::uint64_t threads = 0;
  bool as_json = false;
};

Certificate by_sampling(const Options& options,
                        const StoredRun& run,
                        const LoadedGame& game,
                        const CancelToken& cancel) {
  const CertifiedOutput output = run.config.learner.target == Target::nash
                                     ? CertifiedOutput::marginals
                                     : CertifiedOutput::markov;
  const std::string_view name = kCertifiedOutputNames[static_cast<std::size_t>(output)];
  if (!options.start.empty() || !(options.output.empty() || options.output == name)) {
    throw Error(
        ErrorKind::usage, "--method sampled",
        fmt::format("is for the Markov output of a run, which has no start; of this run {}", name),
        fmt::format("use --output {}, or --method exact", name));
  }
  SampledOptions wanted;
  if (!options.samples.empty()) wanted.samples = parse_count("--samples", options.samples);
  if (!options.seed.empty()) wanted.seed = parse_natural("--seed", options.seed);
  if (options.confidence) wanted.confidence = *options.confidence;
  wanted.parallel = {.threads = options.threads, .cancel = cancel};
  return certify_stored_sampled(run, game, wanted, [](const SampledPlan& plan) {
    constexpr double most = 1e13;  // days of work
    if (plan.game_steps > most) {
      throw Error(ErrorKind::usage, "--samples",
                  fmt::format("would take {:.3g} steps of the game, and {:.0g} is the most",
                              plan.game_steps, most),
                  "ask for fewer");
    }
    note(
        fmt::format("certifying takes {} samples of each (step, state), {:.3g} steps of the game; "
                    "the radius of its upper bound will be {:.3g} at most, and less where rewards "
                    "spread less than they could",
                    plan.samples, plan.game_steps, plan.radius));
  });
}

Certificate exactly(const Options& options,
                    const StoredRun& run,
                    const LoadedGame& game,
                    const CancelToken& cancel) {
  for (const auto& [option, given] : {std::pair("--samples", !options.samples.empty()),
                                      std::pair("--confidence", options.confidence.has_value()),
                                      std::pair("--seed", !options.seed.empty())}) {
    if (given) throw Error(ErrorKind::usage, option, "is for --method sampled", "leave it out");
  }
  CertifyOptions wanted;
  const bool has_table = run.planned || run.config.learner.monotone;
  wanted.output = has_table ? CertifiedOutput::table : run.config.output;
  std::optional<CertifiedStart> start;
  if (!options.start.empty()) start = named<CertifiedStart>(kCertifiedStartNames, options.start);
  if (!has_table && start == CertifiedStart::uniform) wanted.output = CertifiedOutput::nested;
  if (!options.output.empty()) {
    wanted.output = named<CertifiedOutput>(kCertifiedOutputNames, options.output);
  }
  if (start) {
    const std::size_t output = static_cast<std::size_t>(wanted.output);
    check_words({std::string(kCertifiedOutputNames[output]), options.start},
                run.config.learner.target);
    wanted.start = *start;
  }
  wanted.parallel = {.threads = options.threads, .cancel = cancel};
  Certificate certificate = certify_stored(run, game, wanted);
  if (start == CertifiedStart::best && !has_start(certificate)) {
    note("joint actions are too many to list, so looks cannot be compared: all visits count");
  }
  return certificate;
}

ExitCode certify(const Options& options) {
  const StoredRun run = read_run(options.run);
  const LoadedGame game = load_game_of(run);
  const CancelToken cancel = stop_on_signals();
  Progress progress({.work = "certifying"});
  const Certificate certificate = options.method == kChoices[0]
                                      ? exactly(options, run, game, cancel)
                                      : by_sampling(options, run, game, cancel);
  progress.end();
  const std::string text = to_json(certificate);
  const bool sampled = is_sampled(certificate);
  const std::filesystem::path file = !options.file.empty() ? std::filesystem::path(options.file)
                                     : sampled             ? sampled_path(run.path)
                                                           : certificate_path(run.path);
  write_file(file, text);
  if (options.file.empty() && !sampled) {
    write_index_seeds(run.path, run.config, frame_of(game.game).num_players(), certificate);
  }
  if (options.as_json) {
    print(text);
  } else {
    const std::string_view output =
        kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)];
    print(certificate_text(certificate) + fmt::format("written to {}\n", printable(file.string())) +
          (sampled ? fmt::format(
                         "this policy is executed by: vlearn play RUN --output {} --start last\n",
                         output)
                   : std::string()));
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
      "  vlearn certify runs/soccer-1 --start uniform --json\n"
      "  vlearn certify runs/congestion-100-1 --method sampled --confidence 0.999\n");
  command->add_option("run", options->run, "A run folder with its policies")->required();
  command
      ->add_option("--output", options->output,
                   "Which policy: nested (the paper's), markov, for nash in its place marginals, "
                   "or table (of --monotone and of solve); default: what the run returns")
      ->check(one_of(kCertifiedOutputNames));
  command
      ->add_option("--start", options->start,
                   "Where executions start: best (default), last, or uniform as in the paper, "
                   "which only the nested output has")
      ->check(one_of(kCertifiedStartNames));
  command
      ->add_option("--method", options->method,
                   "exact (default), or sampled: bounds that hold with a confidence, of the Markov "
                   "output, for games with too many joint actions")
      ->check(one_of(kChoices));
  command->add_option(
      "--samples", options->samples,
      "Of each (step, state), for --method sampled; default: what 10^7 steps of the "
      "game allow");
  command->add_option("--confidence", options->confidence,
                      "That all sampled bounds hold; default 0.99");
  command->add_option("--seed", options->seed, "Of the samples; default 1");
  command->add_option("-o,--out", options->file, "Default: certificate.json in the run folder");
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->as_json, "The certificate itself");
  command->callback([options, &task] { task = [options] { return certify(*options); }; });
}

}  // namespace vlearn::app
