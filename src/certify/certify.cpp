// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/certify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "vlearn/core/error.h"
#include "vlearn/core/version.h"
#include "vlearn/policy/profile_replay.h"
#include "vlearn/policy/walk.h"

namespace vlearn {
namespace {

double horizon_of(const Frame& frame) { return static_cast<double>(frame.horizon()); }

double width_of(const Frame& frame, Player player) {
  return frame.range(player).high - frame.range(player).low;
}

/// A value in the user's units is off by this where it is off by `rounding` in units of [0, 1].
double user_rounding(const Frame& frame, Player player, double rounding) {
  const RewardRange& range = frame.range(player);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  return width_of(frame, player) * rounding + 8.0 * 0x1p-53 * largest * horizon_of(frame);
}

double to_user(const Frame& frame, Player player, double value) {
  return frame.range(player).from_unit(value, horizon_of(frame));
}

/// The next number, so that a bound stays one whatever was rounded last.
double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }
double down(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }

/// Everything that follows from values and deviations, in units of [0, 1] rewards; `lower` has what
/// witnesses are worth, or nothing.
void fill_players(Certificate& certificate,
                  const Frame& frame,
                  const AssessedStart& assessed,
                  const std::optional<std::vector<double>>& lower) {
  const Assessment& found = assessed.assessment;
  // Of independent mixtures nobody knows the value; of Markov policies everybody does.
  const bool nash =
      certificate.target == Target::nash && certificate.output == CertifiedOutput::nested;
  const std::size_t m = frame.num_players();
  std::optional<double> largest_lower;
  double sum_lower = 0.0;
  for (const Player player : all<Player>(m)) {
    const std::size_t j = player.index();
    PlayerCertificate& one = certificate.players[j];
    one.rounding = user_rounding(frame, player, assessed.rounding);
    one.deviation_upper = to_user(frame, player, found.deviations[j]);
    if (lower) {
      // Where both ends are the same, rounding may have put them in the wrong order.
      one.deviation_lower = std::min(to_user(frame, player, (*lower)[j]), one.deviation_upper);
      one.witness = assessed.witnesses[j];
    }
    if (nash) {
      // The values of the two sum to H: what the other can get bounds what this one has.
      one.value_lower = to_user(frame, player, horizon_of(frame) - found.deviations[1 - j]);
      one.value_upper = one.deviation_upper;
      continue;
    }
    one.value_lower = one.value_upper = to_user(frame, player, found.values[j]);
    one.gap_upper = up(one.deviation_upper - one.value_lower + 2.0 * one.rounding);
    certificate.gap_upper = j == 0 ? one.gap_upper : std::max(certificate.gap_upper, one.gap_upper);
    certificate.sum_upper += one.gap_upper;
    if (!lower) continue;
    one.gap_lower = down(*one.deviation_lower - one.value_upper - 2.0 * one.rounding);
    largest_lower = std::max(largest_lower.value_or(*one.gap_lower), *one.gap_lower);
    sum_lower += *one.gap_lower;
  }
  if (!nash) {
    // Every part has been widened by more than a sum of them is rounded.
    if (!lower) return;
    certificate.gap_lower = largest_lower;
    certificate.sum_lower = sum_lower;
    return;
  }
  // Only both gains together are known; the larger is at least half of them.
  const double width = width_of(frame, Player(0));
  const double rounding = 4.0 * certificate.players[0].rounding;
  certificate.sum_upper =
      up(width * (found.deviations[0] + found.deviations[1] - horizon_of(frame)) + rounding);
  certificate.gap_upper = certificate.sum_upper;
  for (PlayerCertificate& one : certificate.players) one.gap_upper = certificate.sum_upper;
  if (!lower) return;
  certificate.sum_lower = down(width * ((*lower)[0] + (*lower)[1] - horizon_of(frame)) - rounding);
  certificate.gap_lower = *certificate.sum_lower / 2.0;
}

Certificate begin_certificate(const Frame& frame,
                              const CertificateTitle& title,
                              Target target,
                              std::uint64_t weights,
                              std::uint64_t episodes) {
  Certificate certificate;
  certificate.version = build_info().version;
  certificate.game = title.game;
  certificate.game_hash = title.game_hash;
  certificate.target = target;
  certificate.weights = weights;
  certificate.episodes = episodes;
  certificate.policy_hashes = title.policy_hashes;
  certificate.players.resize(frame.num_players());
  for (std::size_t j = 0; j < title.player_names.size(); ++j) {
    certificate.players[j].name = title.player_names[j];
  }
  return certificate;
}

/// A certificate's gap without what only files can tell.
double gap_in_user_units(const Frame& frame, Target target, const AssessedStart& assessed) {
  Certificate certificate;
  certificate.target = target;
  certificate.players.resize(frame.num_players());
  fill_players(certificate, frame, assessed, std::nullopt);
  return certificate.gap_upper;
}

/// Markov policies are nested mixtures whose later steps are all there before the earlier ones
/// begin: visits(h, s) plays those of one state to the certifier, last step first.
template <class Visits>
AssessedStart assess_markov(const AnyGame& game,
                            Target target,
                            std::uint64_t weights,
                            const Visits& visits) {
  const Frame& frame = frame_of(game);
  // The values of a product of Markov policies are known, of nash too.
  const auto certifier =
      make_nested_certifier(game, target == Target::nash ? Target::cce : target, weights);
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    for (const State s : all<State>(frame.num_states(Step(h)))) visits(*certifier, Step(h), s);
  }
  AssessedStart found;
  found.assessment = certifier->last();
  found.rounding = certifier->rounding();
  for (const Player player : all<Player>(frame.num_players())) {
    found.witnesses.push_back(certifier->witness(player, false));
  }
  return found;
}

/// Each player's rows one after the other, filled by fill(player, row).
template <class Fill>
Profile fill_profile(
    const Frame& frame, Step h, State s, std::vector<double>& numbers, const Fill& fill) {
  numbers.resize(frame.max_profile_size());
  const PlayerRows<double> rows(frame.action_begins(h, s), numbers);
  for (const Player player : all<Player>(frame.num_players())) fill(player, rows[player]);
  return rows;
}

}  // namespace

namespace {

/// Joint actions of a cell, on average over cells.
double mean_joint_actions(const Frame& frame) {
  double sum = 0.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    sum += static_cast<double>(frame.num_joint_actions(cell).value_or(UINT64_MAX));
  }
  return sum / static_cast<double>(frame.num_cells());
}

/// Multiplications of backup_all().
struct BackupWork {
  double operator()(const DenseGame& game) const {
    return tabular(game.frame(), static_cast<double>(game.frame().max_states()));
  }
  double operator()(const SparseGame& game) const {
    const auto& tables = game.rows().tables();
    return tabular(game.frame(), static_cast<double>(tables.successors.size()) /
                                     static_cast<double>(tables.begins.size()));
  }
  double operator()(const CongestionGame& game) const {
    const auto players = static_cast<double>(game.frame().num_players());
    const auto routes = static_cast<double>(game.frame().max_actions());
    return (1.5 * players + static_cast<double>(game.frame().max_states())) * players * routes;
  }
  double operator()(const PolymatrixGame& game) const {
    const auto profile = static_cast<double>(game.frame().max_profile_size());
    return profile * (profile + static_cast<double>(game.frame().max_states()));
  }
  double operator()(const CallbackGame& game) const {
    return 10.0 * tabular(game.frame(), static_cast<double>(game.frame().max_states()));
  }
  static double tabular(const Frame& frame, double successors) {
    return mean_joint_actions(frame) * static_cast<double>(frame.num_players()) *
           (successors + 3.0);
  }
};

}  // namespace

double relative_cost(const AnyGame& game) {
  const Frame& frame = frame_of(game);
  // One agent-step of learning takes as long as some 100 multiplications and 10 for each action.
  const double learning = static_cast<double>(frame.num_players()) *
                          (100.0 + 10.0 * static_cast<double>(frame.max_actions()));
  // A backup for the value, one for deviations, and in the second pass one for the witness.
  return 3.0 * std::visit(BackupWork(), game) / learning;
}

RunCertifier::RunCertifier(const AnyGame& game, Target target, std::uint64_t weights, Stream stream)
    : frame_(frame_of(game)),
      target_(target),
      stream_(stream),
      nested_(make_nested_certifier(game, target, weights)) {}

void RunCertifier::add_to_hash(Step h, State s, const Profile& profile) {
  const auto add = [&](std::span<const std::byte> bytes) {
    episode_.insert(episode_.end(), bytes.begin(), bytes.end());
  };
  const std::array<std::uint64_t, 2> place = {h.number(), s.number()};
  add(std::as_bytes(std::span(place)));
  for (const Player player : all<Player>(frame_.num_players())) {
    add(std::as_bytes(profile[player]));
  }
  if (!frame_.is_last(h)) return;
  Sha256 hash;
  hash.update(digest_);
  hash.update(episode_);
  digest_ = hash.finish();
  episode_.clear();
}

std::optional<std::string> RunCertifier::stream_hash() const {
  if (stream_ == Stream::not_hashed) return std::nullopt;
  return to_hex(digest_);
}

double RunCertifier::record() {
  AssessedStart now = at(CertifiedStart::last);
  const double gap = gap_in_user_units(frame_, target_, now);
  if (!best_gap_ || gap < *best_gap_) {
    best_gap_ = gap;
    best_ = std::move(now);
    best_.start = CertifiedStart::best;
  }
  return gap;
}

AssessedStart RunCertifier::at(CertifiedStart start) const {
  if (start == CertifiedStart::best) return best_;
  const bool uniform = start == CertifiedStart::uniform;
  AssessedStart found;
  found.start = start;
  found.start_episode = uniform ? 0 : episodes() + 1;
  found.assessment = uniform ? nested_->uniform() : nested_->last();
  found.rounding = nested_->rounding();
  for (const Player player : all<Player>(frame_.num_players())) {
    found.witnesses.push_back(nested_->witness(player, uniform));
  }
  return found;
}

void RunCertifier::save(ContainerWriter& writer) const {
  nested_->save(writer);
  std::vector<std::uint8_t> digest;
  for (const std::byte byte : digest_) digest.push_back(std::to_integer<std::uint8_t>(byte));
  writer.own("certify.stream", std::move(digest));
  std::vector<double> best;
  std::vector<std::uint32_t> witnesses;
  if (best_gap_) {
    best = {*best_gap_, best_.rounding};
    for (const auto* numbers : {&best_.assessment.values, &best_.assessment.deviations}) {
      best.insert(best.end(), numbers->begin(), numbers->end());
    }
    for (const auto& witness : best_.witnesses) {
      witnesses.insert(witnesses.end(), witness.begin(), witness.end());
    }
  }
  writer.own("certify.best", std::move(best));
  writer.own("certify.best_witnesses", std::move(witnesses));
  writer.own("certify.best_start", std::vector<std::uint64_t>{best_.start_episode});
}

void RunCertifier::load(ContainerArrays& arrays) {
  nested_->load(arrays);
  std::array<std::uint8_t, sizeof(Sha256Digest)> digest{};
  arrays.take_parts<std::uint8_t>("certify.stream", {digest});
  std::transform(digest.begin(), digest.end(), digest_.begin(),
                 [](std::uint8_t byte) { return std::byte{byte}; });
  episode_.clear();
  best_gap_.reset();
  best_ = {};
  const std::size_t m = frame_.num_players();
  const std::vector<double> best = arrays.take<double>("certify.best");
  const auto starts = arrays.take<std::uint64_t>("certify.best_start");
  const auto witnesses = arrays.take<std::uint32_t>("certify.best_witnesses");
  if (best.empty()) return;
  const auto refuse = [&](const char* array) {
    return arrays.header().error(array, "does not fit the run",
                                 "the file is damaged or of another run");
  };
  if (best.size() != 2 + 2 * m) throw refuse("certify.best");
  if (starts.size() != 1 || starts[0] == 0 || starts[0] > episodes() + 1) {
    throw refuse("certify.best_start");
  }
  // As long as they are now, and of actions that are there.
  best_ = at(CertifiedStart::last);
  best_.start = CertifiedStart::best;
  best_.start_episode = starts[0];
  best_gap_ = best[0];
  best_.rounding = best[1];
  std::copy_n(best.begin() + 2, m, best_.assessment.values.begin());
  std::copy_n(best.begin() + 2 + static_cast<std::ptrdiff_t>(m), m,
              best_.assessment.deviations.begin());
  std::span<const std::uint32_t> rest = witnesses;
  for (const Player player : all<Player>(m)) {
    std::vector<std::uint32_t>& own = best_.witnesses[player.index()];
    if (rest.size() < own.size()) throw refuse("certify.best_witnesses");
    std::size_t i = 0;
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) {
        const std::size_t n = frame_.num_actions(player, h, s);
        for (std::size_t b = 0; b < (target_ == Target::ce ? n : 1); ++b, ++i) {
          if (rest[i] >= n) throw refuse("certify.best_witnesses");
        }
      }
    }
    std::copy_n(rest.begin(), own.size(), own.begin());
    rest = rest.subspan(own.size());
  }
  if (!rest.empty()) throw refuse("certify.best_witnesses");
}

Certificate certify_nested(const AnyGame& game,
                           const CertificateTitle& title,
                           Target target,
                           std::uint64_t weights,
                           std::uint64_t episodes,
                           const AssessedStart& assessed,
                           std::span<const PolicyFile> files,
                           const ParallelOptions& options) {
  const Frame& frame = frame_of(game);
  Certificate certificate = begin_certificate(frame, title, target, weights, episodes);
  certificate.output = CertifiedOutput::nested;
  certificate.start = assessed.start;
  certificate.start_episode = assessed.start_episode;
  std::optional<std::vector<double>> lower;
  if (!files.empty()) {
    const bool uniform = assessed.start == CertifiedStart::uniform;
    const auto witness = make_nested_witness(game, target, weights, assessed.witnesses);
    replay_profiles(files, uniform ? episodes : assessed.start_episode - 1, options,
                    [&](Step h, State s, std::span<const double> policies) {
                      witness->visit(h, s, Profile(frame.action_begins(h, s), policies));
                    });
    lower = uniform ? witness->uniform() : witness->last();
  }
  fill_players(certificate, frame, assessed, lower);
  return certificate;
}

Certificate certify_markov(const AnyGame& game,
                           const CertificateTitle& title,
                           Target target,
                           std::span<const PolicyFile> files) {
  check_one_run(files, files.front().episodes());
  const Frame& frame = frame_of(game);
  const std::uint64_t weights = files.front().header().weights;
  std::vector<double> numbers;
  std::vector<ReplayMemory> memory(files.size());
  const auto visits = [&](NestedCertifier& certifier, Step h, State s) {
    const std::size_t cell = files.front().header().seat.cell(h, s);
    const std::uint64_t n = files.front().visits_before(cell, files.front().episodes());
    std::vector<PolicyWalk> walks;
    for (std::size_t j = 0; j < files.size(); ++j) walks.emplace_back(files[j], cell, memory[j]);
    // Before the first visit the walks stand at uniform play, which is what is played where there
    // is none.
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(n, 1); ++i) {
      certifier.visit(h, s,
                      fill_profile(frame, h, s, numbers, [&](Player player, std::span<double> row) {
                        const std::span<const double> policy = walks[player.index()].policy();
                        std::copy(policy.begin(), policy.end(), row.begin());
                      }));
      for (PolicyWalk& walk : walks) {
        if (walk.logged()) walk.next();
      }
    }
  };
  AssessedStart found = assess_markov(game, target, weights, visits);
  Certificate certificate =
      begin_certificate(frame, title, target, weights, files.front().episodes());
  certificate.output = CertifiedOutput::markov;
  fill_players(certificate, frame, found, found.assessment.deviations);
  return certificate;
}

Certificate certify_product(const AnyGame& game,
                            const CertificateTitle& title,
                            Target target,
                            CertifiedOutput output,
                            std::uint64_t weights,
                            std::uint64_t episodes,
                            const MarkovPolicy& policy) {
  const Frame& frame = frame_of(game);
  std::vector<double> numbers;
  const auto visits = [&](NestedCertifier& certifier, Step h, State s) {
    certifier.visit(h, s,
                    fill_profile(frame, h, s, numbers, [&](Player player, std::span<double> row) {
                      const std::span<const double> own = policy(player, h, s);
                      std::copy(own.begin(), own.end(), row.begin());
                    }));
  };
  AssessedStart found = assess_markov(game, target, weights, visits);
  Certificate certificate = begin_certificate(frame, title, target, weights, episodes);
  certificate.output = output;
  fill_players(certificate, frame, found, found.assessment.deviations);
  return certificate;
}

void certify_history(RunCertifier& certifier,
                     const Frame& frame,
                     std::span<const PolicyFile> files,
                     const std::function<bool(std::uint64_t episodes)>& is_recorded,
                     const ParallelOptions& options) {
  const std::uint64_t episodes = files.front().episodes();
  replay_profiles(files, episodes, options, [&](Step h, State s, std::span<const double> policies) {
    certifier.visit(h, s, Profile(frame.action_begins(h, s), policies));
    if (!frame.is_last(h)) return;
    const std::uint64_t played = certifier.episodes();
    if (played == episodes || is_recorded(played)) certifier.record();
  });
}

}  // namespace vlearn
