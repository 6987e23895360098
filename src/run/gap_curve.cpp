// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/gap_curve.h"

#include <variant>

#include "vlearn/certify/certify.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

GapPoint point_of(const Frame& frame, Target target, const RunCertifier& certifier) {
  const AssessedStart now = certifier.at(CertifiedStart::last);
  const CertifiedGap gap = gap_in_user_units(frame, target, certifier.output(), now);
  GapPoint point{certifier.episodes(), target == Target::nash ? gap.sum : gap.largest, {}};
  if (target != Target::nash || certifier.output() != CertifiedOutput::nested) {
    for (const Player player : all<Player>(frame.num_players())) {
      point.values.push_back(frame.range(player).from_unit(now.assessment.values[player.index()],
                                                           static_cast<double>(frame.horizon())));
    }
  }
  return point;
}

}  // namespace

void follow_gap(const AnyGame& game,
                const LearnConfig& config,
                const std::function<std::uint64_t(std::uint64_t episodes)>& next,
                const std::function<bool(const GapPoint& point)>& see,
                const CancelToken& cancel) {
  const Frame& frame = frame_of(game);
  const auto trainer = make_trainer(ref_of(game), config.learner, config.seed);
  RunCertifier certifier(game, config.learner.target, output_weights(config.learner, frame),
                         config.output);
  trainer->watch([&](Step h, State s, const Profile& profile) { certifier.visit(h, s, profile); });
  for (;;) {
    const std::uint64_t until = next(trainer->episodes());
    trainer->play_until(until, cancel);
    if (cancel.requested()) return;
    if (!see(point_of(frame, config.learner.target, certifier))) return;
  }
}

std::optional<GapPoint> gap_after(const AnyGame& game,
                                  const LearnConfig& config,
                                  std::uint64_t episodes,
                                  const CancelToken& cancel) {
  std::optional<GapPoint> found;
  follow_gap(
      game, config, [&](std::uint64_t) { return episodes; },
      [&](const GapPoint& point) {
        found = point;
        return false;
      },
      cancel);
  return found;
}

}  // namespace vlearn
