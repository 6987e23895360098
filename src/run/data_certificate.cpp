// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/data_certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/core/version.h"

namespace vlearn {
namespace {

/// What a player says of itself, in units of [0, 1] rewards.
using OwnBounds = Trainer::StartMeans;

std::optional<OwnBounds> bounds_of(const Trainer& trainer, Player player, CertifiedStart start) {
  std::optional<OwnBounds> bounds = trainer.start_means(player);
  if (!bounds || start == CertifiedStart::uniform) return bounds;
  // What a further episode would begin with.
  bounds->upper = trainer.at_start(trainer.values(player));
  if (bounds->lower) {
    bounds->lower = std::min(trainer.at_start(trainer.low_values(player)), bounds->upper);
  }
  return bounds;
}

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

/// Turns numbers in units of [0, 1] rewards into the user's.
class Units {
 public:
  Units(const Frame& frame, Player player)
      : range_(frame.range(player)), horizon_(static_cast<double>(frame.horizon())) {
    if (!frame.start_known()) return;
    // The mean over the law of the first state, which sums to one but for a little.
    double sum = 0.0;
    for (const double chance : frame.initial()) sum += chance;
    start_error_ = horizon_ * (static_cast<double>(frame.initial().size() + 2) * 0x1p-52 +
                               std::abs(1.0 - sum));
  }
  [[nodiscard]] double value(double x) const {
    return range_.from_unit(std::clamp(x, 0.0, horizon_), horizon_);
  }
  [[nodiscard]] double difference(double x) const {
    return (range_.high - range_.low) * std::min(x, horizon_);
  }
  /// Of either: some roundings of numbers of this size.
  [[nodiscard]] double rounding() const {
    return 16.0 * 0x1p-53 * horizon_ * std::max(std::abs(range_.low), std::abs(range_.high)) +
           (range_.high - range_.low) * start_error_;
  }

 private:
  RewardRange range_;
  double horizon_;
  double start_error_ = 0.0;  // in units of [0, 1] rewards
};

/// Each player's gain is its own: the best that it can have, less what it has.
void fill_alone(Certificate& certificate,
                const Frame& frame,
                const std::vector<OwnBounds>& bounds,
                double radius) {
  const auto horizon = static_cast<double>(frame.horizon());
  // Who answers recommendations, or plays alone, can do as well as who follows. Who commits to
  // ignore them may not: what a coarse correlated policy is worth has no bound in V.
  const bool can_follow = certificate.target != Target::cce;
  for (const Player player : all<Player>(frame.num_players())) {
    const OwnBounds& own = bounds[player.index()];
    const Units units(frame, player);
    PlayerCertificate& one = certificate.players[player.index()];
    one.rounding = units.rounding();
    one.deviation_upper = units.value(own.upper + radius);
    one.value_lower = units.value(*own.lower - radius);
    one.value_upper = can_follow ? one.deviation_upper : units.value(horizon);
    one.gap_upper = up(units.difference(own.upper - *own.lower + radius) + 2.0 * one.rounding);
    certificate.gap_upper = std::max(certificate.gap_upper, one.gap_upper);
    certificate.sum_upper += one.gap_upper;
  }
}

/// Zero-sum: the values of the two sum to H, so that what the other can have at most bounds what
/// this one has.
void fill_nash(Certificate& certificate,
               const Frame& frame,
               const std::vector<OwnBounds>& bounds,
               double radius) {
  const auto horizon = static_cast<double>(frame.horizon());
  const Units units(frame, Player(0));
  const double gap = bounds[0].upper + bounds[1].upper - horizon + 2.0 * radius;
  certificate.gap_upper = up(units.difference(gap) + 4.0 * units.rounding());
  certificate.sum_upper = certificate.gap_upper;
  for (const Player player : all<Player>(2)) {
    const Units own(frame, player);
    PlayerCertificate& one = certificate.players[player.index()];
    one.rounding = own.rounding();
    one.deviation_upper = own.value(bounds[player.index()].upper + radius);
    one.value_lower = own.value(horizon - bounds[1 - player.index()].upper - radius);
    one.value_upper = std::max(one.deviation_upper, one.value_lower);
    one.gap_upper = certificate.gap_upper;
  }
}

}  // namespace

double data_confidence(const Frame& frame, const LearnerOptions& options) noexcept {
  return 1.0 - (frame.start_known() ? 1.0 : 2.0) * options.delta;
}

std::optional<Certificate> data_certificate(const Trainer& trainer,
                                            const Frame& frame,
                                            const LearnerOptions& options,
                                            CertifiedStart start,
                                            const CertificateTitle& title) {
  if (start == CertifiedStart::best) {
    throw Error(ErrorKind::usage, "start", "is 'best', which no data names", "use uniform or last");
  }
  const bool covered = data_confidence(frame, options) > 0.0 &&
                       (start == CertifiedStart::uniform || frame.start_known());
  if (!covered) return std::nullopt;
  const std::size_t players = frame.num_players();
  std::vector<OwnBounds> bounds;
  for (const Player player : all<Player>(players)) {
    const std::optional<OwnBounds> own = bounds_of(trainer, player, start);
    if (!own || (options.target != Target::nash && !own->lower)) return std::nullopt;
    bounds.push_back(*own);
  }
  Certificate certificate;
  certificate.version = build_info().version;
  certificate.game = title.game;
  certificate.game_hash = title.game_hash;
  certificate.policy_hashes = title.policy_hashes;
  certificate.target = options.target;
  certificate.output = CertifiedOutput::nested;
  certificate.weights = frame.horizon();
  certificate.episodes = trainer.episodes();
  certificate.start = start;
  if (start == CertifiedStart::last) certificate.start_episode = trainer.episodes() + 1;
  certificate.method = {MethodName::data, data_confidence(frame, options)};
  certificate.players.resize(players);
  for (std::size_t j = 0; j < title.player_names.size(); ++j) {
    certificate.players[j].name = title.player_names[j];
  }
  const double radius = start_radius(frame, options, trainer.episodes());
  if (options.target == Target::nash) {
    fill_nash(certificate, frame, bounds, radius);
  } else {
    fill_alone(certificate, frame, bounds, radius);
  }
  return certificate;
}

std::optional<Certificate> data_certificate(const Trainer& trainer,
                                            const Frame& frame,
                                            const LearnerOptions& options,
                                            const CertificateTitle& title) {
  std::optional<Certificate> uniform =
      data_certificate(trainer, frame, options, CertifiedStart::uniform, title);
  std::optional<Certificate> last =
      data_certificate(trainer, frame, options, CertifiedStart::last, title);
  const bool later = last && (!uniform || last->gap_upper < uniform->gap_upper);
  return later ? last : uniform;
}

}  // namespace vlearn
