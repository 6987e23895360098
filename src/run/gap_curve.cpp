// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/gap_curve.h"

#include <variant>

#include "vlearn/certify/certify.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

/// Of the nested output executions that start now, of Markov outputs what a run would return.
GapPoint point_of(const Frame& frame, Target target, const RunCertifier& certifier) {
  const auto gap_of = [&](const AssessedStart& start) {
    const CertifiedGap gap = gap_in_user_units(frame, target, certifier.output(), start);
    return target == Target::nash ? gap.sum : gap.largest;
  };
  AssessedStart now = certifier.at(CertifiedStart::last);
  const double last_gap = gap_of(now);
  if (certifier.output() != CertifiedOutput::nested) now = certifier.best_now();
  GapPoint point{certifier.episodes(), gap_of(now), last_gap, {}};
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
  // A run looks at its rows, and a Markov output starts from one of these looks.
  const bool looks = config.output != CertifiedOutput::nested;
  std::uint64_t row = next_row_episode(0);
  for (;;) {
    const std::uint64_t until = next(trainer->episodes());
    for (; looks && row < until; row = next_row_episode(row)) {
      trainer->play_until(row, cancel);
      if (cancel.requested()) return;
      static_cast<void>(certifier.record());
    }
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
