// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/certify_run.h"

#include <fmt/format.h>

#include "vlearn/core/choice.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/policy/average.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn {
namespace {

/// Policies [player][step][state][action], 0 where there is no such action.
class PolicyArray {
 public:
  PolicyArray(std::vector<double> numbers, const Frame& frame, const std::filesystem::path& run)
      : numbers_(std::move(numbers)),
        frame_(frame),
        states_(frame.max_states()),
        actions_(frame.max_actions()) {
    if (numbers_.size() != frame.num_players() * frame.horizon() * states_ * actions_) {
      throw Error(ErrorKind::input, run.string(),
                  "has policy files of another shape than its game");
    }
  }
  [[nodiscard]] std::span<const double> operator()(Player player, Step h, State s) const {
    const std::size_t row = (player.index() * frame_.horizon() + h.index()) * states_ + s.index();
    return std::span(numbers_).subspan(row * actions_, frame_.num_actions(player, h, s));
  }

 private:
  std::vector<double> numbers_;
  const Frame& frame_;
  std::size_t states_;
  std::size_t actions_;
};

Certificate certify_tables(const StoredRun& run,
                           const LoadedGame& game,
                           const ParallelOptions& options) {
  if (!run.planned && !run.config.learner.monotone) {
    throw Error(ErrorKind::usage, "--output table",
                "only runs that were planned or learned with --monotone have one");
  }
  const std::size_t players = frame_of(game.game).num_players();
  return certify_table(
      game.game,
      certificate_title(run.title, game, policy_paths(run.path, players, CertifiedOutput::table)),
      run.config.learner.target, open_tables(run.path, run.title.game_hash, players), options);
}

/// Throws Error (input) where there are none, or of no episodes.
std::vector<PolicyFile> played_policies(const StoredRun& run, const Frame& frame) {
  check_history(run);
  std::vector<PolicyFile> files = open_policies(run, frame);
  if (files.front().episodes() == 0) {
    throw Error(ErrorKind::input, run.path.string(), "has not played yet");
  }
  return files;
}

/// A certifier that has looked at a run as often as one does while it is learned.
RunCertifier replayed(const AnyGame& game,
                      Target target,
                      const CertifyOptions& options,
                      std::span<const PolicyFile> files) {
  const PolicyHeader& header = files.front().header();
  const bool nested = options.output == CertifiedOutput::nested;
  RunCertifier certifier(game, target, nested ? header.weights : header.markov_weights(),
                         options.output);
  std::uint64_t next = next_row_episode(0);
  const auto is_recorded = [&](std::uint64_t played) {
    if (played != next) return false;
    next = next_row_episode(played);
    return true;
  };
  certify_history(certifier, frame_of(game), files, is_recorded, options.parallel);
  return certifier;
}

/// The episode before which the visits of a Markov output lie; 0: all do.
std::uint64_t markov_start(const AnyGame& game,
                           Target target,
                           const CertifyOptions& options,
                           std::span<const PolicyFile> files) {
  if (options.best_episode > 0 || options.start == CertifiedStart::last) {
    return options.best_episode;
  }
  if (options.start == CertifiedStart::uniform) {
    throw Error(ErrorKind::usage, "start", "is 'uniform', which only the nested output has",
                "use best or last");
  }
  // A game that cannot be listed cannot be looked at.
  const bool looks =
      options.output == CertifiedOutput::marginals || MarkovCertifier::can_list(game);
  if (!looks) return 0;
  return replayed(game, target, options, files).at(CertifiedStart::best).start_episode;
}

}  // namespace

CertificateTitle certificate_title(const RunTitle& run,
                                   const LoadedGame& game,
                                   std::span<const std::filesystem::path> policies) {
  CertificateTitle title{run.game, run.game_hash, {}, {}};
  for (const Player player : all<Player>(frame_of(game.game).num_players())) {
    title.player_names.emplace_back(game.about.names.player(player));
  }
  for (const std::filesystem::path& path : policies) {
    const FileBytes bytes = FileBytes::map(path, kMaxPolicyBytes);
    title.policy_hashes.push_back(to_hex(sha256(bytes.bytes())));
  }
  return title;
}

std::string what_differs(const Certificate& certificate, const StoredRun& run, const Frame& frame) {
  const Target target = run.config.learner.target;
  const std::size_t players = frame.num_players();
  if (certificate.game_hash != run.title.game_hash) return "game_hash is another";
  if (certificate.target != target) return "target is another";
  if (certificate.players.size() != players) {
    return fmt::format("it has {} players, not {}", certificate.players.size(), players);
  }
  const std::string_view output =
      kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)];
  if (!is_executable(target, certificate.output)) {
    return fmt::format("players of {} cannot execute the output {}", name_of(target), output);
  }
  if (certificate.stream_hash) {
    // Without files there is nothing to compare it with.
    return run.config.history ? "stream_hash stands in place of policy_hashes" : "";
  }
  const auto paths = policy_paths(run.path, players, certificate.output);
  for (std::size_t j = 0; j < paths.size(); ++j) {
    const FileBytes file = FileBytes::map(paths[j], kMaxPolicyBytes);
    if (certificate.policy_hashes.at(j) == to_hex(sha256(file.bytes()))) continue;
    return fmt::format("policy_hashes[{}] is not that of {}", j, paths[j].string());
  }
  if (certificate.output == CertifiedOutput::table) return {};
  const PolicyFile file = open_policy(run, frame, Player(0));
  if (certificate.weights != file.header().weights) {
    return fmt::format("weights is {}, and executions draw with {}", certificate.weights,
                       file.header().weights);
  }
  const bool taper = file.header().taper && certificate.output != CertifiedOutput::nested;
  if (certificate.taper != taper) {
    return fmt::format("taper is {}, and executions draw with {}", certificate.taper, taper);
  }
  if (certificate.episodes != file.episodes()) {
    return fmt::format("episodes is {}, and {} were played", certificate.episodes, file.episodes());
  }
  return {};
}

Certificate certify_stored(const StoredRun& run,
                           const LoadedGame& game,
                           const CertifyOptions& options) {
  check_choices(run.config);
  check_choice("output", options.output, kCertifiedOutputNames);
  check_choice("start", options.start, kCertifiedStartNames);
  const Frame& frame = frame_of(game.game);
  const Target target = run.config.learner.target;
  if (options.output == CertifiedOutput::table) return certify_tables(run, game, options.parallel);
  check_executable(target, options.output);
  const std::vector<PolicyFile> files = played_policies(run, frame);
  const CertificateTitle title =
      certificate_title(run.title, game, policy_paths(run.path, files.size(), options.output));
  const std::uint64_t episodes = files.front().episodes();
  if (options.output == CertifiedOutput::nested) {
    const AssessedStart start = replayed(game.game, target, options, files).at(options.start);
    return certify_nested(game.game, title, target, files.front().header().weights, episodes, start,
                          files, options.parallel);
  }
  const std::uint64_t start = markov_start(game.game, target, options, files);
  if (options.output == CertifiedOutput::markov) {
    return certify_markov(game.game, title, target, files, options.parallel, start);
  }
  const AverageTable table = table_of(files, start == 0 ? episodes : start - 1, options.parallel);
  return certify_marginals(game.game, title, target, files.front().header().markov_weights(),
                           episodes, PolicyArray(table.averaged, frame, run.path), start);
}

Certificate certify_stored_sampled(const StoredRun& run,
                                   const LoadedGame& game,
                                   const SampledOptions& options,
                                   const std::function<void(const SampledPlan&)>& tell) {
  const Frame& frame = frame_of(game.game);
  const std::vector<PolicyFile> files = played_policies(run, frame);
  if (tell) tell(plan_sampled(frame, run.config.learner.target, options));
  const CertificateTitle title = certificate_title(
      run.title, game, policy_paths(run.path, files.size(), CertifiedOutput::markov));
  return certify_sampled(ref_of(game.game), files, options, title);
}

}  // namespace vlearn
