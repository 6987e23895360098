// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "check_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "assess_cells.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/profile_replay.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn {
namespace {

/// How far gaps may be from each other by rounding alone. A recorded gap has been widened by up to
/// four times what the certificate states, as has that of the certificate.
double most_rounding(const Frame& frame, const std::optional<Certificate>& certificate) {
  constexpr double of_range = 1e-9;
  double width = 0.0;
  double stated = 0.0;
  if (certificate) {
    for (const PlayerCertificate& one : certificate->players)
      stated = std::max(stated, one.rounding);
  }
  for (const Player player : all<Player>(frame.num_players())) {
    width = std::max(width, frame.range(player).high - frame.range(player).low);
  }
  return of_range * static_cast<double>(frame.horizon()) * width + 8.0 * stated;
}

class CurveCheck {
 public:
  CurveCheck(RunView& view, const StoredRun& run, const LoadedGame& game)
      : view_(view),
        run_(run),
        game_(game),
        rounding_(most_rounding(frame_of(game.game), view.certificate)) {
    for (const CurvePoint& point : view.curve) {
      if (point.gap_upper) points_.push_back(&point);
    }
  }

  [[nodiscard]] bool empty() const noexcept { return points_.empty(); }

  /// What is wrong; empty where nothing is.
  [[nodiscard]] std::string compare_with_config() const {
    const bool learned = view_.kind == RunView::Kind::learned;
    if (!learned || (run_.config.certify && !run_.config.learner.monotone)) return {};
    return "metrics.jsonl: has a certified_gap, which this run did not look for";
  }

  [[nodiscard]] std::string compare_with_certificate() const {
    const Certificate& certificate = *view_.certificate;
    const double gap = certificate.gap_upper;
    const auto smallest = *std::ranges::min_element(
        points_, {}, [](const CurvePoint* point) { return *point->gap_upper; });
    switch (view_.kind) {
      case RunView::Kind::planned: return compare(*smallest, "the certificate has", gap);
      case RunView::Kind::baseline: return compare_last(gap);
      case RunView::Kind::learned: break;
    }
    const bool nested = certificate.output == CertifiedOutput::nested;
    if (nested && certificate.start == CertifiedStart::uniform) return {};
    for (const CurvePoint* point : points_) {
      const std::uint64_t start = nested ? certificate.start_episode - 1 : certificate.episodes;
      if (point->episode != start) continue;
      // A Markov output that draws from all visits may not be the best.
      if (!has_start(certificate) && *point->gap_upper <= gap) continue;
      if (std::string wrong = compare(*point, "the certificate has", gap); !wrong.empty()) {
        return wrong;
      }
    }
    // The best start is that of the smallest gap.
    if (!nested || certificate.start != CertifiedStart::best) return {};
    return *smallest->gap_upper < gap - rounding_ ? compare(*smallest, "the best start has", gap)
                                                  : std::string();
  }

  /// From the history of visits, in the order of play.
  [[nodiscard]] std::string compare_with_policies(const ParallelOptions& options) {
    const Frame& frame = frame_of(game_.game);
    const CertifiedOutput output = returned_output(run_);
    const PolicyFile first = open_policy(run_, frame, Player(0));
    const std::uint64_t played = first.episodes();
    // Of a run that has not ended, the history may end before the last rows.
    if (view_.stopped.empty()) {
      std::erase_if(points_, [&](const CurvePoint* point) { return point->episode > played; });
      if (points_.empty()) return {};
    }
    if (points_.front()->episode == 0 || points_.back()->episode > played) {
      const std::uint64_t episode = points_.front()->episode == 0 ? 0 : points_.back()->episode;
      return fmt::format(
          "metrics.jsonl, episode {}: has a certified_gap, and episodes 1 to {} "
          "were played",
          episode, played);
    }
    if (output == CertifiedOutput::markov && !MarkovCertifier::can_list(game_.game)) {
      return "metrics.jsonl: has a certified_gap, but the joint actions of this game are too many "
             "to list";
    }
    if (curve_work(game_.game, output, points_.back()->episode, points_.size()) > kMostWork) {
      view_.remarks.emplace_back(
          "the curve is not derived again from the policies: that takes too long");
      return {};
    }
    const std::vector<PolicyFile> files = open_policies(run_, frame);
    RunCertifier certifier(game_.game, run_.config.learner.target, first.header().markov_weights(),
                           output);
    certifier.use(Crew::for_players(frame.num_players(), options.threads));
    std::string wrong;
    std::size_t next = 0;
    replay_profiles(files, points_.back()->episode, options,
                    [&](Step h, State s, std::span<const double> policies) {
                      certifier.visit(h, s, Profile(frame.action_begins(h, s), policies));
                      const std::uint64_t now = certifier.episodes();
                      if (!frame.is_last(h) || points_[next]->episode != now) return;
                      const double gap = certifier.record(true).value();
                      for (; next < points_.size() && points_[next]->episode == now; ++next) {
                        if (wrong.empty())
                          wrong = compare(*points_[next], "the policies give", gap);
                      }
                    });
    view_.curve_derived = wrong.empty();
    return wrong;
  }

 private:
  [[nodiscard]] std::string compare(const CurvePoint& point, const char* where, double gap) const {
    // Written so that what is not a number differs.
    if (std::abs(*point.gap_upper - gap) <= rounding_) return {};
    return fmt::format("metrics.jsonl, {} {}: certified_gap is {}, and {} {}",
                       view_.kind == RunView::Kind::planned ? "iteration" : "episode",
                       point.episode, *point.gap_upper, where, gap);
  }

  /// Who was stopped may keep the plan of the look before.
  [[nodiscard]] std::string compare_last(double gap) const {
    std::string wrong = compare(*points_.back(), "the certificate has", gap);
    const bool cut = view_.stopped == "time" || view_.stopped == "interrupt";
    if (!wrong.empty() && cut && points_.size() > 1 &&
        compare(*points_[points_.size() - 2], "", gap).empty()) {
      return {};
    }
    return wrong;
  }

  RunView& view_;
  const StoredRun& run_;
  const LoadedGame& game_;
  double rounding_;
  std::vector<const CurvePoint*> points_;  // those that have a gap
};

}  // namespace

void check_curve(RunView& view,
                 const StoredRun& run,
                 const LoadedGame& game,
                 bool derive,
                 const ParallelOptions& options) {
  CurveCheck check(view, run, game);
  if (check.empty()) return;
  std::string wrong = check.compare_with_config();
  const bool same_output = view.certificate && !view.certificate->method &&
                           view.certificate->output == returned_output(run);
  if (wrong.empty() && same_output) wrong = check.compare_with_certificate();
  if (wrong.empty() && derive && view.kind == RunView::Kind::learned) {
    if (run.config.history) {
      try {
        wrong = check.compare_with_policies(options);
      } catch (const Error& error) {
        // What is still being written may be cut anywhere.
        if (!view.stopped.empty()) throw;
        view.remarks.push_back(fmt::format("the curve is not derived again: {}", error.what()));
      }
    } else {
      view.remarks.emplace_back(
          "the curve is not derived again: with --history none no policies are kept");
    }
  }
  if (wrong.empty() || view.verification.outcome == Verification::Outcome::refuted) return;
  view.verification = {Verification::Outcome::mismatch, wrong, false};
}

}  // namespace vlearn
