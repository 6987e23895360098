// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn learn: all players learn a game by playing it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "certificate_text.h"
#include "command.h"
#include "game_text.h"
#include "interrupt.h"
#include "learn_baseline.h"
#include "progress.h"
#include "terminal.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/parallel.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/joint_play.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

std::string how_to_go_on(const std::filesystem::path& run, const RunTitle& title) {
  return fmt::format("go on with: vlearn learn {}--resume {}", title.game == "-" ? "GAME " : "",
                     run.string());
}

/// As given; what is empty comes from the preset or the game.
struct Options {
  std::string game;
  std::string target;
  std::string preset;
  std::string rule;
  std::string bonus;
  std::optional<double> bonus_constant;
  std::string loss_scale;
  std::string value_weights;
  std::string action_draws;
  std::string control_variate;
  std::string output;
  std::string output_weights;
  bool monotone = false;
  bool pessimistic = false;
  double delta = 0.01;
  std::string episodes;
  std::string horizon_episodes;
  std::optional<double> max_time;
  std::string seed = "1";
  std::uint64_t seeds = 1;
  std::uint64_t threads = 0;
  std::string out;
  std::string resume;
  double checkpoint_seconds = 60.0;
  std::string checkpoint_episodes;
  std::string history = "full";
  std::string certify = "auto";
  std::optional<double> until_gap;
  bool force = false;
  bool as_json = false;
};

/// The preset's choices, and what was said in their place.
LearnerOptions resolve_learner(const Options& options, Preset preset, Target target) {
  LearnerOptions learner = preset_options(preset, target);
  if (!options.rule.empty()) learner.rule = named<RuleName>(kRuleNames, options.rule);
  if (!options.bonus.empty()) {
    learner.bonus = named<Bonus>(kBonusNames, options.bonus);
    learner.bonus_constant = usual_constant(learner.bonus);
  }
  if (options.bonus_constant) learner.bonus_constant = *options.bonus_constant;
  if (!options.loss_scale.empty()) {
    learner.loss_scale = named<LossScale>(kLossScaleNames, options.loss_scale);
  }
  if (!options.value_weights.empty()) {
    learner.value_weights = named<ValueWeights>(kValueWeightsNames, options.value_weights);
  }
  if (!options.action_draws.empty()) {
    learner.action_draws = named<ActionDraws>(kActionDrawsNames, options.action_draws);
  }
  if (needs_control_variate(learner.rule)) learner.control_variate = true;
  if (!options.control_variate.empty()) learner.control_variate = options.control_variate == "on";
  return learner;
}

LearnConfig resolve(const Options& options, const AnyGame& game, Preset preset) {
  const Frame& frame = frame_of(game);
  const Target target =
      options.target.empty() ? natural_target(frame) : *target_named(options.target);
  LearnConfig config;
  LearnerOptions& learner = config.learner;
  learner = resolve_learner(options, preset, target);
  if (options.monotone && !(options.output.empty() && options.output_weights.empty())) {
    throw Error(ErrorKind::usage, "--monotone", "returns a table of its own",
                "leave out --output and --output-weights");
  }
  if (!options.monotone) {
    // Whoever puts the choices of a theorem together gets the policy that it is about.
    const bool proven = !guarantee_of(learner, 0).starts_with("none");
    config.output = !options.output.empty()
                        ? named<CertifiedOutput>(kCertifiedOutputNames, options.output)
                    : proven ? CertifiedOutput::nested
                             : natural_output(game, preset, target);
    learner.output_weights = natural_weights(preset, config.output, frame.horizon());
    learner.output_taper = natural_taper(preset, config.output);
  }
  check_output(target, config.output);
  if (!options.output_weights.empty()) {
    learner.output_weights = parse_count("--output-weights", options.output_weights);
    if (*learner.output_weights >= kMaxSteps) {
      throw Error(ErrorKind::usage, "--output-weights", "is too large",
                  fmt::format("want at most {}", kMaxSteps - 1));
    }
  }
  learner.monotone = options.monotone;
  learner.pessimistic = learner.pessimistic || options.pessimistic;
  learner.delta = options.delta;
  config.seed = parse_natural("--seed", options.seed);
  if (options.seeds - 1 > UINT64_MAX - config.seed) {
    throw Error(ErrorKind::usage, "--seeds", "seeds would go beyond 2^64 - 1", "lower --seed");
  }
  config.history = options.history == "full";
  config.until_gap = options.until_gap;
  if (config.until_gap && !(std::isfinite(*config.until_gap) && *config.until_gap > 0.0)) {
    throw Error(ErrorKind::usage, "--until-gap", "is not a number above 0");
  }
  if (config.until_gap && options.certify == "off") {
    throw Error(ErrorKind::usage, "--until-gap", "needs a certificate", "leave out --certify off");
  }
  config.max_seconds = options.max_time;
  if (config.max_seconds && !(std::isfinite(*config.max_seconds) && *config.max_seconds > 0.0)) {
    throw Error(ErrorKind::usage, "--max-time", "is not a number of seconds above 0");
  }
  if (!options.episodes.empty()) config.episodes = parse_count("--episodes", options.episodes);
  if (!config.episodes && !config.max_seconds && !config.until_gap) {
    throw Error(ErrorKind::usage, "learn", "nobody said when to stop",
                "add --until-gap GAP, --episodes N or --max-time SECONDS");
  }
  if (config.episodes) learner.horizon_episodes = *config.episodes;
  if (!options.horizon_episodes.empty()) {
    learner.horizon_episodes = parse_count("--horizon-episodes", options.horizon_episodes);
  }
  return config;
}

/// One seed's run, from its folder to its result.
struct Run {
  LearnConfig config;
  std::filesystem::path out;
  RunFolder::Existing existing;
  std::optional<LearnResult> result = std::nullopt;  // nothing: stopped before it began
  std::optional<Certificate> certificate = std::nullopt;
};

void write_run(JsonWriter& json, const RunTitle& title, const LoadedGame& game, const Run& run) {
  const std::string config = config_to_json(title, run.config);
  json.begin_object();
  write_result(json, title, game.about.names, run.config,
               to_hex(sha256(std::as_bytes(std::span(config)))), *run.result, run.certificate);
}

/// The certificate of a run whose policy files are whole.
Certificate certify_run(const Run& run,
                        const RunTitle& title,
                        const LoadedGame& game,
                        RunCertifier& certifier,
                        const ParallelOptions& parallel) {
  const LearnConfig& config = run.config;
  const StoredRun stored{run.out, title, config, {}};
  const bool nested = config.output == CertifiedOutput::nested;
  static_cast<void>(certifier.record(true));  // of the last episode, whatever its number
  // The files have all that a Markov output is made of: looks say which visits it draws from.
  if (!nested && config.history && certifier.episodes() > 0) {
    const std::uint64_t best = certifier.at(CertifiedStart::best).start_episode;
    return certify_stored(stored, game,
                          {.output = config.output, .best_episode = best, .parallel = parallel});
  }
  std::vector<PolicyFile> files;
  if (config.history) files = open_policies(stored, frame_of(game.game));
  const CertificateTitle about =
      certificate_title(title, game, policy_paths(run.out, files.size(), config.output));
  const Target target = config.learner.target;
  const OutputWeights weights = output_weights(run.config.learner, frame_of(game.game));
  const AssessedStart found = certifier.at(CertifiedStart::best);
  Certificate certificate = nested ? certify_nested(game.game, about, target, weights.c(),
                                                    certifier.episodes(), found, files, parallel)
                                   : certify_played(game.game, about, target, config.output,
                                                    weights, certifier.episodes(), found);
  certificate.stream_hash = certifier.stream_hash();
  return certificate;
}

/// Of a run that had ended. Throws Error (input) where it is not this run's.
Certificate stored_certificate(const Run& run, const RunTitle& title, const Frame& frame) {
  const std::filesystem::path path = certificate_path(run.out);
  Certificate certificate = read_certificate(path);
  const std::string differs = what_differs(certificate, {run.out, title, run.config, {}}, frame);
  if (differs.empty()) return certificate;
  throw Error(ErrorKind::input, path.string(), fmt::format("is not of this run: {}", differs),
              "certify it again: vlearn certify RUN");
}

void learn_one(Run& run,
               const RunTitle& title,
               const LoadedGame& game,
               LearnHooks hooks,
               const std::function<void()>& begin_certificate,
               const ParallelOptions& parallel) {
  using Clock = std::chrono::steady_clock;
  const Frame& frame = frame_of(game.game);
  const std::unique_ptr<Trainer> trainer =
      make_trainer(ref_of(game.game), run.config.learner, run.config.seed);
  std::optional<RunCertifier> certifier;
  if (run.config.certify) {
    check_certifiable(game.game, run.config.output);
    certifier.emplace(
        game.game, run.config.learner.target, output_weights(run.config.learner, frame),
        run.config.output,
        run.config.history ? RunCertifier::Stream::not_hashed : RunCertifier::Stream::hashed);
    trainer->watch(
        [&](Step h, State s, const Profile& profile) { certifier->visit(h, s, profile); });
    hooks.certifier = &*certifier;
  }
  const auto crew = Crew::for_players(frame.num_players(), parallel.threads);
  trainer->use(crew);
  if (certifier) certifier->use(crew);
  const RunState state{*trainer, certifier ? &*certifier : nullptr};
  RunFolder folder(run.out, config_to_json(title, run.config),
                   run.config.history ? frame.num_players() : 0, run.existing);
  folder.open(state, title, run.config,
              [](const std::string& message) { warn("not used: " + message); });
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  hooks.row = [&, seen = hooks.row](const MetricsRow& row) {
    folder.add(row, elapsed());
    if (seen) seen(row);
  };
  hooks.checkpoint = [&] { folder.save_checkpoint(state); };
  if (hooks.progress) hooks.progress(trainer->episodes());
  try {
    run.result = learn(*trainer, frame, run.config, hooks);
    const double learned = elapsed();
    folder.finish_history(state);
    // Who interrupts a run does not want to wait.
    bool ended = true;
    if (certifier && run.result->stopped != Stopped::interrupt) {
      begin_certificate();
      try {
        run.certificate = folder.complete() ? stored_certificate(run, title, frame)
                                            : certify_run(run, title, game, *certifier, parallel);
      } catch (const Cancelled&) {
        // Without a result the run has not ended: who goes on with it finds nothing more to play,
        // and makes the certificate.
        run.result->stopped = Stopped::interrupt;
        ended = false;
      }
    }
    const double certified = elapsed();
    if (ended) {
      JsonWriter json;
      write_run(json, title, game, run);
      folder.finish(json.end_object().text() + "\n", *trainer, frame, run.config, run.certificate,
                    run.result->stopped);
    }
    explain(
        fmt::format("seed {}: {:.3g} s of learning, {:.3g} s for the certificate, {:.3g} s "
                    "for the files",
                    run.config.seed, learned, certified - learned, elapsed() - certified));
  } catch (const Error&) {
    // A folder that is gone cannot be gone on with, and a run that has ended need not.
    if (!std::filesystem::exists(run.out / "config.json")) {
      warn(
          fmt::format("{} is gone: learn it again, without --resume", printable(run.out.string())));
    } else if (!folder.complete()) {
      warn(how_to_go_on(run.out, title));
    }
    throw;
  }
  if (run.result->stopped == Stopped::interrupt) warn(how_to_go_on(run.out, title));
}

std::string text_of(const RunTitle& title, const LoadedGame& game, const Run& run) {
  const std::vector<PlayerMetrics>& players = run.result->last.players;
  const auto cell = [](const std::optional<double>& number) {
    return number ? fmt::format("{:>14.6g}", *number) : fmt::format("{:>14}", "-");
  };
  const bool more = players.front().lower || players.front().gap_bound;
  std::string text =
      fmt::format("{}: {}, seed {}, {} episodes, {} agent-steps{}\n", printable(title.game, 200),
                  name_of(run.config.learner.target), run.config.seed, run.result->last.episode,
                  run.result->agent_steps,
                  run.result->stopped == Stopped::episodes || run.result->stopped == Stopped::gap
                      ? ""
                      : fmt::format(" (stopped by {})", name_of(run.result->stopped)));
  std::string heading =
      fmt::format("{:<20}{:>14}{:>14}{:>14}", "player", "value", "mean return", "upper");
  if (more) heading += fmt::format("{:>14}{:>14}", "lower", "gap bound");
  text += paint(Style::heading, heading) + "\n";
  for (std::size_t j = 0; j < std::min(players.size(), kShownPlayers); ++j) {
    text += fmt::format("{:<20}{:>14.6g}{:>14.6g}{:>14.6g}",
                        printable(game.about.names.player(Player(j)), 18), players[j].value,
                        players[j].mean_return.value_or(0.0), players[j].upper);
    if (more) text += cell(players[j].lower) + cell(players[j].gap_bound);
    text += '\n';
  }
  if (players.size() > kShownPlayers) {
    text += fmt::format("... and {} more (--json has all)\n", players.size() - kShownPlayers);
  }
  if (run.result->data_certificate) text += gap_text(*run.result->data_certificate);
  if (run.certificate) {
    text += gap_text(*run.certificate, run.config.until_gap);
  } else {
    text += fmt::format("guarantee: {}\n", guarantee_of(run.config, run.result->last.episode));
  }
  return text + run_folder_text(run.out);
}

bool wants_certificate(const Options& options,
                       const LoadedGame& game,
                       const LearnConfig& config,
                       bool tell) {
  if (options.certify == "off") return false;
  check_certifiable(game.game, config.output);
  if (config.learner.monotone) {
    // Its output is a Markov policy of its own, certified when the run has ended.
    if (options.certify == "auto" && !options.until_gap) return false;
    throw Error(ErrorKind::usage, "--monotone", "is not certified while it learns",
                "use vlearn certify RUN --output table afterwards");
  }
  if (!frame_of(game.game).start_known()) {
    throw Error(ErrorKind::usage, "--certify", "the law of the first state is not known");
  }
  const double cost = relative_cost(game.game, config.output);
  const bool wanted = options.certify == "on" || options.until_gap || cost <= kMostCertifyCost;
  if (tell) {
    note(fmt::format("certifying {} about {:.2g} times the work of learning{}",
                     wanted ? "adds" : "would add", cost,
                     wanted ? "" : ": left out (--certify on to have it all the same)"));
  }
  return wanted;
}

/// The first option that was given of those that say how to learn; nothing where there is none.
std::string_view choice_of(const Options& options) {
  const std::array<std::pair<std::string_view, bool>, 9> choices = {{
      {"--rule", !options.rule.empty()},
      {"--bonus", !options.bonus.empty()},
      {"--bonus-constant", options.bonus_constant.has_value()},
      {"--loss-scale", !options.loss_scale.empty()},
      {"--value-weights", !options.value_weights.empty()},
      {"--action-draws", !options.action_draws.empty()},
      {"--control-variate", !options.control_variate.empty()},
      {"--monotone", options.monotone},
      {"--pessimistic", options.pessimistic},
  }};
  for (const auto& [name, given] : choices) {
    if (given) return name;
  }
  return {};
}

/// The preset that was asked for. Where none was, the fast one, unless its results would have no
/// certificate, which alone can judge them, or a choice was made that it was not measured with.
LearnConfig resolve_preset(const Options& options, const LoadedGame& game, std::string& preset) {
  preset = options.preset;
  const std::string_view choice = choice_of(options);
  if (preset.empty() && choice.empty()) {
    const LearnConfig fast = resolve(options, game.game, Preset::fast);
    if (wants_certificate(options, game, fast, false)) preset = "fast";
  }
  if (preset.empty()) preset = "practical";
  LearnConfig config = resolve(options, game.game, named<Preset>(kPresetNames, preset));
  config.certify = wants_certificate(options, game, config, true);
  if (options.preset.empty() && !choice.empty()) {
    note(fmt::format(
        "with {} the preset is practical: fast, the default, was not measured with it (--preset)",
        choice));
  }
  return config;
}

/// The runs of new seeds.
std::vector<Run> new_runs(const Options& options, const LearnConfig& config) {
  std::vector<Run> runs;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    Run run{config, {}, options.force ? RunFolder::Existing::replace : RunFolder::Existing::refuse};
    run.config.seed = config.seed + i;
    const std::string name = run_name(options.game, run.config.seed);
    run.out = options.out.empty()  ? std::filesystem::path("runs") / name
              : options.seeds == 1 ? std::filesystem::path(options.out)
                                   : std::filesystem::path(options.out) / name;
    runs.push_back(std::move(run));
  }
  // All folders before the first episode: a run that could not be kept is not worth playing.
  for (const Run& run : runs) RunFolder::check(run.out, run.existing);
  return runs;
}

/// As the command line names it, or else the config.
LoadedGame load_to_resume(const std::string& word, const StoredRun& run) {
  try {
    return word.empty() ? load_from_config(run) : load(word);
  } catch (const Error&) {
    warn("where the game has moved, say where it is: vlearn learn GAME --resume RUN");
    throw;
  }
}

/// Makes sure that this program and this game can go on with a run.
void check_stored(const StoredRun& stored, const Frame& frame, const std::string& game_hash) {
  const std::string file = (stored.path / "config.json").string();
  if (stored.version != build_info().version) {
    throw Error(ErrorKind::usage, file,
                fmt::format("was begun by version {}, and this is {}",
                            printable(stored.version, 40), build_info().version),
                "go on with the same version, or begin again with --force");
  }
  if (stored.title.game_hash != game_hash) {
    throw Error(ErrorKind::input, file, "is a run of another game than the one that was given",
                "give the game's file as it was: vlearn learn GAME --resume RUN");
  }
  std::optional<std::string> flaw = flaw_of(stored.config.learner);
  if (!flaw) flaw = why_not(frame, stored.config.learner);
  if (flaw) throw Error(ErrorKind::input, file, *flaw, "restore it from a copy");
}

/// For who asked with --verbose.
void explain_choices(const Options& options,
                     const RunTitle& title,
                     const LearnConfig& config,
                     std::size_t runs) {
  const LearnerOptions& learner = config.learner;
  explain(fmt::format(
      "preset {}: rule {}{}, bonus {}, output {}", title.preset.empty() ? "none" : title.preset,
      kRuleNames[static_cast<std::size_t>(learner.rule)],
      learner.control_variate ? " with control variates" : "",
      kBonusNames[static_cast<std::size_t>(learner.bonus)],
      learner.monotone ? "table" : kCertifiedOutputNames[static_cast<std::size_t>(config.output)]));
  explain(fmt::format(
      "{} {}, {} threads at most, history {}, certificate {}", runs, runs == 1 ? "run" : "runs",
      options.threads == 0 ? available_cores() : options.threads, config.history ? "kept" : "none",
      config.certify ? "while it learns" : "none"));
  if (!is_verbose()) return;
  std::istringstream lines(config_to_json(title, config));
  for (std::string line; std::getline(lines, line);) explain("config " + line);
}

ExitCode learn_all(Options options) {
  std::optional<StoredRun> stored;
  if (!options.resume.empty()) {
    stored = read_run(options.resume);
    if (!stored->algorithm.empty()) {
      throw Error(
          ErrorKind::usage, options.resume,
          "was learned by " + printable(stored->algorithm, 40) + ", which keeps no checkpoints",
          "learn it again: vlearn learn GAME --algorithm NAME --force");
    }
    if (stored->planned) {
      throw Error(ErrorKind::usage, options.resume, "was planned, not learned",
                  "plan it again: vlearn solve GAME --force");
    }
    if (options.game.empty() && stored->title.game == "-") {
      throw Error(ErrorKind::usage, options.resume, "has a game that came from standard input",
                  "give it again: vlearn learn GAME --resume RUN");
    }
  } else if (options.game.empty()) {
    throw Error(ErrorKind::usage, "learn", "no game is given",
                "vlearn learn GAME, or vlearn learn --resume RUN");
  }
  const LoadedGame game =
      stored ? load_to_resume(options.game, *stored) : load_for_run(options.game);
  const Frame& frame = frame_of(game.game);
  RunTitle title{options.game, options.preset, to_hex(law_hash_of(game.game))};
  LearnConfig config;
  std::vector<Run> runs;
  if (stored) {
    check_stored(*stored, frame, title.game_hash);
    title = stored->title;
    config = stored->config;
    runs.push_back({config, stored->path, RunFolder::Existing::resume});
  } else {
    config = resolve_preset(options, game, title.preset);
    runs = new_runs(options, config);
  }
  explain_choices(options, title, config, runs.size());
  Progress progress({.num_runs = runs.size(),
                     .per_run = config.episodes.value_or(0),
                     .steps_per_unit = frame.num_players() * frame.horizon(),
                     .max_seconds = config.max_seconds.value_or(0.0),
                     .wanted_gap = config.until_gap});
  const CancelToken cancel = stop_on_signals("writing a checkpoint");
  LearnHooks common{.cancel = cancel};
  if (options.checkpoint_seconds > 0.0) common.checkpoint_seconds = options.checkpoint_seconds;
  if (!options.checkpoint_episodes.empty()) {
    common.checkpoint_episodes = parse_count("--checkpoint-episodes", options.checkpoint_episodes);
  }
  // Several runs share the threads, one run has them for its certificate.
  const ParallelOptions inside{.threads = runs.size() > 1 ? 1 : options.threads, .cancel = cancel};
  parallel_for(runs.size(), {.threads = options.threads}, [&](std::size_t i) {
    if (i > 0 && cancel.requested()) return;
    LearnHooks hooks = common;
    hooks.progress = [&, i](std::uint64_t episodes) { progress.report(i, episodes); };
    hooks.row = [&, i](const MetricsRow& row) {
      if (row.certified_gap) progress.report_gap(i, row.episode, *row.certified_gap);
    };
    learn_one(
        runs[i], title, game, hooks, [&] { progress.phase(i, "certifying"); }, inside);
  });
  progress.end();
  const std::size_t begun =
      runs.size() - std::erase_if(runs, [](const Run& run) { return !run.result; });
  if (begun < options.seeds) {
    warn(fmt::format("{} of {} seeds were not begun", options.seeds - begun, options.seeds));
  }

  JsonWriter json;
  const auto add = [&](const Run& run) {
    write_run(json, title, game, run);
    json.member("out", as_utf8(run.out.string())).end_object();
  };
  if (options.seeds == 1) {
    add(runs.front());
  } else {
    json.begin_object().member("schema", "vlearn.learn-seeds/1").key("runs").begin_array();
    for (const Run& run : runs) add(run);
    json.end_array().end_object();
  }
  if (options.as_json) {
    print(json.text() + "\n");
  } else {
    for (const Run& run : runs) print(text_of(title, game, run) + (runs.size() > 1 ? "\n" : ""));
  }
  const bool interrupted = std::any_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.result->stopped == Stopped::interrupt;
  });
  if (interrupted || begun < options.seeds) return ExitCode::checkpointed;
  const bool missed =
      config.until_gap && std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
        return !run.certificate || run.certificate->gap_upper > *config.until_gap;
      });
  return missed ? ExitCode::gap : ExitCode::good;
}

/// A baseline's arguments with those that V-learning has too.
BaselineArguments with_shared(const Options& options, BaselineArguments arguments) {
  arguments.game = options.game;
  arguments.target = options.target;
  arguments.episodes = options.episodes;
  arguments.horizon_episodes = options.horizon_episodes;
  arguments.until_gap = options.until_gap;
  arguments.max_time = options.max_time;
  arguments.delta = options.delta;
  arguments.seed = options.seed;
  arguments.threads = options.threads;
  arguments.out = options.out;
  arguments.force = options.force;
  arguments.as_json = options.as_json;
  return arguments;
}

}  // namespace

void add_learn(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("learn", "Learn an equilibrium of a game by playing it");
  command->footer(
      "Examples:\n"
      "  vlearn learn rps --target nash --episodes 1e6\n"
      "  vlearn learn random:players=8,states=4,actions=3,horizon=5,seed=1 --target cce "
      "--max-time 60\n"
      "  vlearn learn rps --algorithm nash-vi --until-gap 1e-3\n"
      "  vlearn learn --resume runs/rps-1        (goes on with a run that was stopped or "
      "killed)\n\n"
      "'value' estimates from play what the output policy is worth, 'mean return' is what play "
      "earned. Both are of\nwhat was played; fast plays every action with a small chance that its "
      "output leaves out, and a certificate\nhas the output's own value. 'upper' is V, which the "
      "presets paper, rigorous and proven keep above what a\nplayer can have. The preset fast has "
      "no proof: its certificate says how good the result is.\n\n" +
      what_game_is());
  command->add_option("game", options->game, "GAME, see below");
  command
      ->add_option("--target", options->target,
                   "nash (two players, zero-sum), cce, ce or optimal (one player); default: what "
                   "fits the game")
      ->check(one_of(kTargetNames));
  command->add_option("--episodes", options->episodes, "Episodes to play: 1000000 or 1e6");
  command->add_option("--max-time", options->max_time, "Stop after so many seconds, of all seeds");
  command->add_option("--seed", options->seed, "Of all randomness; the same seed, the same result");
  command->add_option("--seeds", options->seeds, "Independent runs, with seeds counted from --seed")
      ->check(CLI::Range(1, 100000));
  command
      ->add_option("--threads", options->threads,
                   "For --seeds and certificates; 0 (default): one per core")
      ->check(CLI::Range(0, 1024));
  command->add_option(
      "--out", options->out,
      "Run folder; default runs/GAME-SEED, of baselines runs/GAME-ALGORITHM-SEED. Of "
      "several seeds the folder of folders");
  command
      ->add_option(
          "--history", options->history,
          "full (default): keep every visit, so that the output policy can be executed; none")
      ->check(one_of({"full", "none"}));
  command->add_option("--resume", options->resume,
                      "Goes on with the run in this folder; its config says how, and every file "
                      "ends as if it had never stopped");
  command
      ->add_option("--certify", options->certify,
                   "on, off or auto (default): certify while it learns, unless that takes more "
                   "than 25 times as long as learning itself")
      ->check(one_of({"on", "off", "auto"}));
  command->add_option("--until-gap", options->until_gap,
                      "Stop when the certified gap is at most this, in the units of the rewards; "
                      "exit code 4 when it is not reached");
  command
      ->add_option("--checkpoint-seconds", options->checkpoint_seconds,
                   "Seconds between checkpoints; default 60, 0: only when stopped")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--checkpoint-episodes", options->checkpoint_episodes,
                      "A checkpoint at every multiple of so many episodes too");
  command->add_flag("--force", options->force, "Replace a run that is there already");
  command
      ->add_option("--preset", options->preset,
                   "fast (default, where the result is certified), practical, proven (values "
                   "bounded by the rule's estimates), rigorous (smallest proven bonus) or paper "
                   "(to the letter)")
      ->check(one_of(kPresetNames));
  command->add_option("--rule", options->rule, "Bandit rule, in place of the preset's")
      ->check(one_of(kRuleNames));
  command
      ->add_option("--bonus", options->bonus,
                   "paper, rigorous, estimates, practical, visits or none")
      ->check(one_of(kBonusNames));
  command->add_option("--bonus-constant", options->bonus_constant,
                      "c of the bonus; default 11 (paper), 0.3 (practical), 0.1 (visits)");
  command->add_option("--loss-scale", options->loss_scale, "paper (/H) or step (/H_h)")
      ->check(one_of(kLossScaleNames));
  command
      ->add_option("--value-weights", options->value_weights,
                   "c of the values' weights: paper (H) or step (H_h, less after many visits)")
      ->check(one_of(kValueWeightsNames));
  command
      ->add_option("--action-draws", options->action_draws,
                   "independent, or spread evenly over the visits of a state")
      ->check(one_of(kActionDrawsNames));
  command
      ->add_option("--output", options->output,
                   "Which policy is returned and certified: nested (the paper's), markov or, for "
                   "nash in its place, marginals; default: nested with paper, rigorous and "
                   "proven, else marginals for nash, else markov with fast where joint actions can "
                   "be listed")
      ->check(one_of({"nested", "markov", "marginals"}));
  command->add_option("--output-weights", options->output_weights,
                      "c of the output's weights; default: the preset's, else H");
  command->add_option("--control-variate", options->control_variate, "on or off")
      ->check(one_of({"on", "off"}));
  command->add_flag(
      "--monotone", options->monotone,
      "Values never rise, and the output is a Markov policy; zero-sum and one player");
  command->add_flag("--pessimistic", options->pessimistic, "Keep values from below too");
  command->add_option("--delta", options->delta, "The probability with which bounds may fail");
  command->add_option("--horizon-episodes", options->horizon_episodes,
                      "K inside iota; default the episodes asked for, else 1e9");
  command->add_flag("--json", options->as_json, "One JSON object");
  // A resumed run has its config already.
  for (const char* other : {"--target",        "--episodes",
                            "--max-time",      "--seed",
                            "--seeds",         "--out",
                            "--history",       "--certify",
                            "--until-gap",     "--force",
                            "--preset",        "--rule",
                            "--bonus",         "--bonus-constant",
                            "--loss-scale",    "--control-variate",
                            "--value-weights", "--action-draws",
                            "--output",        "--output-weights",
                            "--monotone",      "--pessimistic",
                            "--delta",         "--horizon-episodes"}) {
    command->get_option("--resume")->excludes(command->get_option(other));
  }
  const auto baseline = std::make_shared<BaselineArguments>();
  add_baseline_options(*command, *baseline);
  command->callback([options, baseline, command, &task] {
    task = [options, baseline, command] {
      check_given(*command, *baseline);
      if (baseline->algorithm == kVLearning) return learn_all(*options);
      return learn_by_baseline(with_shared(*options, *baseline));
    };
  });
}

}  // namespace vlearn::app
