// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/gap_curve.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "vlearn/certify/certify.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

/// Follows the gap of a run as a run with a Markov output does: it returns the best look of the
/// last three quarters. Nested outputs are looked at alike.
class GapCurve {
 public:
  GapCurve(const Frame& frame, const LearnConfig& config, RunCertifier& certifier)
      : frame_(frame), target_(config.learner.target), certifier_(certifier) {}

  /// A look that later points may be of.
  void look() {
    if (!is_nested()) return static_cast<void>(certifier_.record());
    const double gap = gap_of(certifier_.at(CertifiedStart::last));
    while (!looks_.empty() && looks_.back().gap >= gap) looks_.pop_back();
    looks_.push_back({certifier_.episodes(), gap});
  }
  [[nodiscard]] GapPoint point() {
    AssessedStart now = certifier_.at(CertifiedStart::last);
    GapPoint point{certifier_.episodes(), 0.0, gap_of(now), {}};
    if (is_nested()) {
      const auto is_old = [&](const Look& look) {
        return kLookLife * look.episodes < point.episodes;
      };
      while (!looks_.empty() && is_old(looks_.front())) looks_.pop_front();
      point.gap = looks_.empty() ? point.last_gap : std::min(looks_.front().gap, point.last_gap);
    } else {
      now = certifier_.best_now(std::move(now));
      point.gap = gap_of(now);
    }
    if (target_ == Target::nash && is_nested()) return point;
    for (const Player player : all<Player>(frame_.num_players())) {
      point.values.push_back(frame_.range(player).from_unit(now.assessment.values[player.index()],
                                                            static_cast<double>(frame_.horizon())));
    }
    return point;
  }

 private:
  struct Look {
    std::uint64_t episodes;
    double gap;
  };

  [[nodiscard]] bool is_nested() const { return certifier_.output() == CertifiedOutput::nested; }
  [[nodiscard]] double gap_of(const AssessedStart& start) const {
    const CertifiedGap gap = gap_in_user_units(frame_, target_, certifier_.output(), start);
    return target_ == Target::nash ? gap.sum : gap.largest;
  }

  const Frame& frame_;
  Target target_;
  RunCertifier& certifier_;
  std::deque<Look> looks_;  // of the nested output: those that are or may become the best
};

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
  GapCurve curve(frame, config, certifier);
  std::uint64_t row = next_row_episode(0);
  for (;;) {
    const std::uint64_t until = next(trainer->episodes());
    for (; row < until; row = next_row_episode(row)) {
      trainer->play_until(row, cancel);
      if (cancel.requested()) return;
      curve.look();
    }
    trainer->play_until(until, cancel);
    if (cancel.requested()) return;
    if (!see(curve.point())) return;
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
