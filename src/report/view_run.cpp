// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "assess_cells.h"
#include "cells.h"
#include "check_curve.h"
#include "command_line.h"
#include "run_files.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/text.h"
#include "vlearn/report/run_view.h"
#include "vlearn/run/baseline_folder.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/stored_game.h"
#include "vlearn/run/stored_policies.h"
#include "vlearn/verify/verify.h"

namespace vlearn {
namespace {

/// Visits of more cells than this are left out.
constexpr std::size_t kMostVisits = 20'000;

/// How the game of a run is named: as it was, or as somebody says it is now.
const std::string& word_of(const StoredRun& run, const ViewOptions& options) {
  return options.game.empty() ? run.title.game : options.game;
}

LoadedGame load_game_for(const StoredRun& run, const ViewOptions& options) {
  const std::string& where = word_of(run, options);
  if (where == "-") {
    throw Error(ErrorKind::usage, run.path.string(), "has a game that came from standard input",
                "put it into a file and name that with --game");
  }
  std::optional<LoadedGame> game;
  try {
    game.emplace(options.game.empty() ? load_named_game(run) : load_game(where));
  } catch (const Error& error) {
    if (!options.game.empty()) throw;
    throw Error(error.kind(), error.place(), error.problem(),
                fmt::format("{}{}where the game of {} has moved, name it with --game", error.fix(),
                            error.fix().empty() ? "" : "; ", run.path.string()));
  }
  if (to_hex(law_hash_of(game->game)) != run.title.game_hash) {
    throw Error(ErrorKind::input, run.path.string(),
                fmt::format("is a run of another game than '{}' is now", printable(where, 100)),
                "name the game as it was with --game");
  }
  return std::move(*game);
}

GameView view_game(const LoadedGame& loaded, const std::string& word) {
  const Frame& frame = frame_of(loaded.game);
  GameView view;
  view.word = word;
  view.title = loaded.about.title;
  view.source = loaded.about.source;
  view.note = loaded.about.note;
  view.model = std::string(model_of(loaded.game));
  view.hash = to_hex(law_hash_of(loaded.game));
  view.horizon = frame.horizon();
  view.zero_sum = frame.zero_sum();
  for (const Player player : all<Player>(frame.num_players())) {
    view.players.push_back(loaded.about.names.player(player));
    view.reward_ranges.emplace_back(frame.range(player).low, frame.range(player).high);
  }
  for (const Step h : all<Step>(frame.horizon())) view.states.push_back(frame.num_states(h));
  view.fewest_actions = frame.max_actions();
  view.most_actions = frame.max_actions();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
      view.fewest_actions = std::min<std::size_t>(view.fewest_actions, begins[j + 1] - begins[j]);
    }
  }
  if (frame.start_known()) {
    const std::span<const double> initial = frame.initial();
    view.first_state =
        static_cast<std::size_t>(std::ranges::max_element(initial) - initial.begin());
  }
  view.board = board_of(word);
  // A board is drawn state by state.
  if (view.board && view.board->positions.size() != frame.max_states()) view.board.reset();
  for (const KnownSolution& known : loaded.about.known) {
    if (known.values.empty()) continue;
    view.known.emplace_back(fmt::format("{}: {}", name_of(known.target), known.source),
                            known.values);
  }
  return view;
}

/// What tells that a certificate is not of this run; empty where nothing does. Throws Error where a
/// policy file cannot be read.
std::string stranger_in(const Certificate& certificate,
                        const StoredRun& run,
                        const std::optional<ResultFile>& result,
                        const Frame& frame) {
  if (certificate.output != CertifiedOutput::table && result &&
      certificate.episodes != result->episodes) {
    return fmt::format("episodes is {}, and {} were played", certificate.episodes,
                       result->episodes);
  }
  if (certificate.stream_hash && !result) return "stream_hash is of policies that were not kept";
  return what_differs(certificate, run, frame);
}

/// Of a run that has not ended, one that does not fit is older than what was played since: it is
/// left out. Else throws Error (input) unless it is of this run.
std::optional<Certificate> certificate_at(const std::filesystem::path& path,
                                          const StoredRun& run,
                                          const std::optional<ResultFile>& result,
                                          const Frame& frame,
                                          RunView& view) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  std::string stranger;
  try {
    Certificate certificate = read_certificate(path);
    stranger = stranger_in(certificate, run, result, frame);
    if (stranger.empty()) return certificate;
  } catch (const Error& error) {
    if (result) throw;
    stranger = error.what();
  }
  if (result) {
    throw Error(ErrorKind::input, path.string(), fmt::format("is not of this run: {}", stranger),
                "certify it again: vlearn certify RUN");
  }
  view.remarks.push_back(fmt::format("{} is left out: it is not of what was played so far ({})",
                                     path.filename().string(), stranger));
  return std::nullopt;
}

Verification verify_run(const StoredRun& run,
                        const LoadedGame& game,
                        const std::optional<Certificate>& certificate,
                        const ViewOptions& options) {
  Verification verification;
  if (!certificate) {
    verification.message = "there is no certificate";
  } else if (certificate->method) {
    verification.message = fmt::format("a certificate by the method {} cannot be derived again",
                                       name_of(certificate->method->name));
  } else if (certificate->stream_hash) {
    verification.message = fmt::format(
        "the run kept no policies; play it again to verify it: vlearn verify --replay {} {} {}",
        shell_word(word_of(run, options)), shell_word(run.path.string()),
        shell_word(certificate_path(run.path).string()));
  } else if (!options.verify) {
    verification.message = "nobody asked for it";
  } else {
    const auto paths =
        policy_paths(run.path, frame_of(game.game).num_players(), certificate->output);
    const Verdict verdict =
        verify(game.game, paths, *certificate,
               {.parallel = options.parallel, .certificate = certificate_path(run.path).string()});
    verification.outcome =
        verdict.accepted ? Verification::Outcome::accepted : Verification::Outcome::refuted;
    verification.message = verdict.refuted;
    verification.rationals = verdict.rationals;
  }
  return verification;
}

/// Whether the optimism gap of a baseline bounds anything.
bool is_proven(const ConfigFile& config, std::uint64_t episodes) {
  const JsonValue root = config.document.root();
  const auto* const name =
      std::find(kBaselineNames.begin(), kBaselineNames.end(), config.run.algorithm);
  const std::optional<JsonValue> constant = root.find("constant");
  const std::optional<JsonValue> horizon = root.find("horizon_episodes");
  if (name == kBaselineNames.end() || !constant || !horizon) return false;
  BaselineConfig baseline;
  baseline.baseline.algorithm = static_cast<BaselineName>(name - kBaselineNames.begin());
  baseline.baseline.constant = constant->number();
  baseline.baseline.horizon_episodes = horizon->natural(UINT64_MAX);
  return is_proven(baseline, episodes);
}

std::string name_of(CertifiedOutput output) {
  return std::string(kCertifiedOutputNames.at(static_cast<std::size_t>(output)));
}

/// A certificate of executions that start at a point of the curve says more of it.
void join_certificate(RunView& view, CertifiedOutput of_curve) {
  if (!view.certificate) return;
  const Certificate& certificate = *view.certificate;
  if (certificate.output != of_curve) {
    if (view.curve_output.empty()) return;
    view.remarks.push_back(
        fmt::format("the curve is of the output {}, and the certificate of the output {}",
                    view.curve_output, name_of(certificate.output)));
    return;
  }
  if (certificate.output != CertifiedOutput::nested || certificate.start_episode == 0) return;
  for (CurvePoint& point : view.curve) {
    if (point.episode + 1 == certificate.start_episode) point.gap_lower = certificate.gap_lower;
  }
}

void fill_curve(RunView& view, const ConfigFile& config, const std::optional<ResultFile>& result) {
  const CertifiedOutput output = returned_output(config.run);
  const bool proven =
      view.kind == RunView::Kind::baseline && is_proven(config, result ? result->episodes : 0);
  Metrics metrics = read_metrics(config.run.path, {.kind = view.kind,
                                                   .num_players = view.game.players.size(),
                                                   .ended = result.has_value(),
                                                   .exact = output != CertifiedOutput::nested,
                                                   .proven_bounds = proven});
  view.curve = std::move(metrics.curve);
  if (std::ranges::any_of(view.curve,
                          [](const CurvePoint& point) { return point.gap_upper.has_value(); })) {
    view.curve_output = name_of(output);
  }
  if (metrics.cut) {
    view.remarks.emplace_back("the last line of metrics.jsonl was cut, and is left out");
  }
  // The names of the game where every player has a row.
  view.series =
      metrics.series.size() == view.game.players.size() ? view.game.players : metrics.series;
  if (view.kind == RunView::Kind::baseline && !proven) {
    view.remarks.emplace_back(
        "the optimism gap is no bound with these constants, and is not shown as one");
  }
  join_certificate(view, output);
}

void fill_visits(RunView& view, std::vector<std::uint64_t> visits) {
  if (visits.size() > kMostVisits) {
    view.remarks.push_back(
        fmt::format("visits are left out: there are {} (step, state) pairs", visits.size()));
    return;
  }
  view.visits = std::move(visits);
}

/// The policies of a run and what is seen in them.
class PolicyViewer {
 public:
  PolicyViewer(RunView& view,
               const StoredRun& run,
               const LoadedGame& game,
               CertifiedOutput output,
               const ParallelOptions& options)
      : view_(view), run_(run), game_(game), output_(output), options_(options) {}

  void fill() {
    const Frame& frame = frame_of(game_.game);
    const std::size_t shown = std::min(frame.num_players(), kShownPlayers);
    for (const Player player : all<Player>(shown)) view_.shown_players.push_back(player);
    std::vector<std::uint64_t> visits = open();
    AssessedCells assessed;
    if (policy_) {
      if (output_ == CertifiedOutput::nested) {
        view_.remarks.emplace_back(
            "the output is nested: an execution draws from the visits before the one that led to "
            "it, so policies beyond the first step are averages over all that may be drawn");
      }
      assessed = assess_if_quick();
      fill_cells(view_, {game_, *policy_, assessed, view_.certificate, visits}, options_);
      if (frame.num_players() > shown) {
        view_.remarks.push_back(fmt::format("policies of the first {} of {} players are shown",
                                            shown, frame.num_players()));
      }
    }
    view_.game.graph = graph_of(game_.game, assessed.chances);
    if (view_.game.graph && assessed.chances.empty()) {
      view_.remarks.emplace_back("ways between states are those of uniform play");
    }
    fill_visits(view_, std::move(visits));
  }

 private:
  /// The policies, where there are any, and how often each cell was visited.
  std::vector<std::uint64_t> open() {
    const Frame& frame = frame_of(game_.game);
    const Target target = run_.config.learner.target;
    std::vector<std::uint64_t> visits;
    try {
      if (run_.config.history) {
        // Many players take long to open: all are needed only for what all of them are worth.
        std::vector<PolicyFile> files;
        files.push_back(open_policy(run_, frame, Player(0)));
        for (std::size_t cell = 0; cell < files.front().header().seat.num_cells(); ++cell) {
          visits.push_back(files.front().visits_before(cell, files.front().episodes()));
        }
        if (output_ != CertifiedOutput::table) open_histories(std::move(files));
      } else if (!run_.planned) {
        visits = read_visits(run_.path, frame);
      }
      if (output_ == CertifiedOutput::table && !view_.stopped.empty()) {
        policy_.emplace(frame, target,
                        open_tables(run_.path, run_.title.game_hash, frame.num_players()));
      }
    } catch (const Error& error) {
      // What is still being written may be cut anywhere.
      if (!view_.stopped.empty()) throw;
      policy_.reset();
      view_.remarks.push_back(fmt::format("policies are left out: {}", error.what()));
      return visits;
    }
    if (!policy_) {
      view_.remarks.emplace_back(output_ == CertifiedOutput::table
                                     ? "policies are left out: tables are written at the end"
                                     : "policies are left out: with --history none none are kept");
    }
    return visits;
  }

  void open_histories(std::vector<PolicyFile> files) {
    const Frame& frame = frame_of(game_.game);
    const Target target = run_.config.learner.target;
    const std::uint64_t episodes = drawn_episodes(files.front().episodes());
    policy_.emplace(frame, target, output_, std::move(files), episodes);
    // That of the first player knows how much there is to do.
    quick_ = !drawn_start() && assess_work(game_.game, *policy_) <= kMostWork;
    if (quick_) {
      policy_.emplace(frame, target, output_, open_policies(run_, frame), episodes);
      return;
    }
    std::vector<PolicyFile> shown;
    shown.reserve(view_.shown_players.size());
    for (const Player player : view_.shown_players) {
      shown.push_back(open_policy(run_, frame, player));
    }
    policy_.emplace(frame, target, output_, std::move(shown), episodes);
  }

  /// Whether executions begin at an episode that is drawn: there is no one value of a state.
  [[nodiscard]] bool drawn_start() const {
    return output_ == CertifiedOutput::nested && view_.certificate &&
           view_.certificate->start == CertifiedStart::uniform;
  }
  /// Episodes whose visits an execution may draw, of all that were played.
  [[nodiscard]] std::uint64_t drawn_episodes(std::uint64_t played) const {
    if (!view_.certificate || !has_start(*view_.certificate) || drawn_start()) return played;
    return view_.certificate->start_episode - 1;
  }

  AssessedCells assess_if_quick() {
    if (output_ == CertifiedOutput::table) {
      quick_ = assess_work(game_.game, *policy_) <= kMostWork;
    }
    if (drawn_start()) {
      view_.remarks.emplace_back(
          "values and deviations of single states are left out: executions begin at an episode "
          "that is drawn, and what a state is worth depends on it");
      return {};
    }
    if (!quick_) {
      view_.remarks.emplace_back(
          "values and deviations of single states are left out: computing them takes too long");
      return {};
    }
    AssessedCells assessed = assess(game_.game, *policy_, options_);
    if (!assessed.remark.empty()) view_.remarks.push_back(assessed.remark);
    return assessed;
  }

  RunView& view_;
  const StoredRun& run_;
  const LoadedGame& game_;
  CertifiedOutput output_;
  ParallelOptions options_;
  std::optional<OutputPolicy> policy_;
  bool quick_ = false;
};

std::string algorithm_of(const ConfigFile& config) {
  switch (config.kind) {
    case RunView::Kind::learned: break;
    case RunView::Kind::planned: return std::string(config.document.root().at("method").string());
    case RunView::Kind::baseline: return config.run.algorithm;
  }
  return "v-learning";
}

}  // namespace

RunView view_run(const std::filesystem::path& path, const ViewOptions& options) {
  const ConfigFile config = read_config(path);
  const StoredRun& run = config.run;
  const LoadedGame game = load_game_for(run, options);
  const Frame& frame = frame_of(game.game);
  const std::optional<ResultFile> result = read_result(path, config);
  RunView view;
  view.kind = config.kind;
  view.path = path.string();
  view.game = view_game(game, word_of(run, options));
  view.target = run.config.learner.target;
  view.preset = run.title.preset;
  view.algorithm = algorithm_of(config);
  view.seed = run.config.seed;
  view.version = run.version;
  view.config_hash = config.hash;
  view.config = members_of(config.document);
  view.group = group_of(view.config);
  view.command = command_of(config, game.game, word_of(run, options));
  view.num_cells = count_cells(frame);
  view.certificate = certificate_at(certificate_path(path), run, result, frame, view);
  view.sampled = certificate_at(sampled_path(path), run, result, frame, view);
  const CertifiedOutput output = view.certificate ? view.certificate->output : returned_output(run);
  view.output = name_of(output);
  fill_curve(view, config, result);
  if (result) {
    view.stopped = result->stopped;
    view.episodes = result->episodes;
    view.guarantee = result->guarantee;
  } else {
    view.remarks.emplace_back("the run has not ended: this is what there is so far");
    if (!view.curve.empty()) view.episodes = view.curve.back().episode;
    if (view.kind == RunView::Kind::learned) {
      view.guarantee = guarantee_of(run.config, view.episodes);
    }
  }
  for (const std::string& remark : game.remarks) {
    view.remarks.push_back(fmt::format("{}: {}", word_of(run, options), remark));
  }
  view.verification = verify_run(run, game, view.certificate, options);
  check_curve(view, run, game, options.verify, options.parallel);
  if (options.policies) PolicyViewer(view, run, game, output, options.parallel).fill();
  return view;
}

void check_distinct(std::span<const std::filesystem::path> runs) {
  std::map<std::filesystem::path, std::filesystem::path> given;
  for (const std::filesystem::path& run : runs) {
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(run, failure);
    if (failure) continue;  // whoever reads it says what is wrong
    const auto [found, is_new] = given.emplace(real, run);
    if (is_new) continue;
    throw Error(ErrorKind::usage, run.string(),
                found->second == run ? "is named twice"
                                     : fmt::format("is the same run as {}", found->second.string()),
                "name each run once");
  }
}

}  // namespace vlearn
