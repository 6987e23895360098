// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/data_certificate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "vlearn/certify/user_units.h"
#include "vlearn/core/error.h"

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

/// A value of at most H, in the user's units.
double value_of(const Frame& frame, Player player, double x) {
  return to_user(frame, player, std::clamp(x, 0.0, horizon_of(frame)));
}

/// Of values and differences, in the user's units: means over the law of the first state, which
/// sums to one but for a little.
double rounding_of(const Frame& frame, Player player) {
  double off = 8.0 * 0x1p-53;
  if (frame.start_known()) {
    double sum = 0.0;
    for (const double chance : frame.initial()) sum += chance;
    off += static_cast<double>(frame.initial().size() + 2) * 0x1p-52 + std::abs(1.0 - sum);
  }
  return user_rounding(frame, player, horizon_of(frame) * off);
}

/// Each player's gain is its own: the best that it can have, less what it has.
void fill_alone(Certificate& certificate,
                const Frame& frame,
                const std::vector<OwnBounds>& bounds,
                double radius) {
  const double horizon = horizon_of(frame);
  // Who answers recommendations, or plays alone, can do as well as who follows. Who commits to
  // ignore them may not: what a coarse correlated policy is worth has no bound in V.
  const bool can_follow = certificate.target != Target::cce;
  for (const Player player : all<Player>(frame.num_players())) {
    const OwnBounds& own = bounds[player.index()];
    PlayerCertificate& one = certificate.players[player.index()];
    one.rounding = rounding_of(frame, player);
    one.deviation_upper = value_of(frame, player, own.upper + radius);
    one.value_lower = value_of(frame, player, *own.lower - radius);
    one.value_upper = can_follow ? one.deviation_upper : value_of(frame, player, horizon);
    one.gap_upper = up(difference_above(width_of(frame, player), own_gap(own, radius, horizon)) +
                       2.0 * one.rounding);
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
  const double horizon = horizon_of(frame);
  const double gap = duality_gap(bounds[0], bounds[1], radius, horizon);
  certificate.gap_upper =
      up(difference_above(width_of(frame, Player(0)), gap) + 4.0 * rounding_of(frame, Player(0)));
  certificate.sum_upper = certificate.gap_upper;
  for (const Player player : all<Player>(2)) {
    PlayerCertificate& one = certificate.players[player.index()];
    one.rounding = rounding_of(frame, player);
    one.deviation_upper = value_of(frame, player, bounds[player.index()].upper + radius);
    one.value_lower = value_of(frame, player, horizon - bounds[1 - player.index()].upper - radius);
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
  std::vector<OwnBounds> bounds;
  for (const Player player : all<Player>(frame.num_players())) {
    const std::optional<OwnBounds> own = bounds_of(trainer, player, start);
    if (!own || (options.target != Target::nash && !own->lower)) return std::nullopt;
    bounds.push_back(*own);
  }
  Certificate certificate =
      begin_certificate(frame, title, options.target, frame.horizon(), trainer.episodes());
  certificate.output = CertifiedOutput::nested;
  certificate.start = start;
  if (start == CertifiedStart::last) certificate.start_episode = trainer.episodes() + 1;
  certificate.method = {MethodName::data, data_confidence(frame, options)};
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
