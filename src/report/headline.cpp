// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One sentence that says what was found, and how sure it is.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "figures.h"
#include "page_parts.h"
#include "vlearn/report/page.h"

namespace vlearn {
namespace {

struct Sentence {
  std::string tone;  ///< good, fair or bad
  std::string text;
  std::string note;
};

/// The gap in percent of what an episode can pay at most between its best and its worst.
std::string share_of_episode(const RunView& run, const Certificate& certificate) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < certificate.players.size(); ++i) {
    if (certificate.players[i].gap_upper > certificate.players[worst].gap_upper) worst = i;
  }
  if (worst >= run.game.reward_ranges.size()) return {};
  const auto& [low, high] = run.game.reward_ranges[worst];
  const double width = (high - low) * static_cast<double>(run.game.horizon);
  if (!(width > 0.0) || certificate.gap_upper <= 0.0) return {};
  return fmt::format(" ({}\u00A0% of what an episode can pay)",
                     figure(100.0 * certificate.gap_upper / width, 3, Rounding::up));
}

std::string what_is_bounded(const RunView& run, const Certificate& certificate) {
  const std::string most = figure(certificate.gap_upper, 3, Rounding::up);
  const std::string share = share_of_episode(run, certificate);
  if (certificate.gap_upper <= 0.0) {
    return run.target == Target::optimal ? "No other policy earns more than this one"
                                         : "No player can gain anything by deviating";
  }
  switch (run.target) {
    case Target::optimal:
      return fmt::format("No policy earns more than {} above this one{}", most, share);
    case Target::nash:
      return fmt::format(
          "No player can gain more than {} by deviating{}, both together no more than {}", most,
          share, figure(certificate.sum_upper, 3, Rounding::up));
    case Target::ce:
      return fmt::format(
          "No player can gain more than {} by answering recommendations with other actions{}", most,
          share);
    case Target::cce: break;
  }
  return fmt::format("No player can gain more than {} by deviating{}", most, share);
}

/// How the bound is known.
std::string how_certified(const Certificate& certificate) {
  if (certificate.method) {
    return fmt::format("{} with {} confidence",
                       certificate.method->name == MethodName::sampled
                           ? "certified by sampling"
                           : "bounded by what players saw while they learned,",
                       confidence_text(certificate.method->confidence));
  }
  const std::optional<double> lower = certificate.gap_lower;
  if (is_exact(certificate)) return "certified exactly";
  if (!lower || *lower <= 0.0) return "certified from above";
  return fmt::format("certified from both sides: some deviation gains at least {}",
                     figure(*lower, 3, Rounding::down));
}

Sentence sentence_of(const RunView& run) {
  const Certificate* certificate = certificate_of(run);
  if (run.verification.outcome == Verification::Outcome::refuted) {
    return {"bad", "Refuted: independent code does not confirm the certificate of this run.",
            run.verification.message};
  }
  if (run.verification.outcome == Verification::Outcome::mismatch) {
    return {"bad", "Mismatch: the gap that this run recorded is not that of what it learned.",
            run.verification.message};
  }
  if (certificate == nullptr) {
    const bool ended = !run.stopped.empty();
    return {"fair",
            ended ? "Not certified: what players could gain by deviating is not proven."
                  : "This run has not ended, and has no certificate yet.",
            ended ? run.verification.message : std::string()};
  }
  std::string text = what_is_bounded(run, *certificate) + ", " + how_certified(*certificate);
  if (run.verification.outcome == Verification::Outcome::accepted) {
    text += run.verification.rationals ? " and verified in exact fractions by independent code."
                                       : " and verified by independent code.";
    return {"good", text, {}};
  }
  return {"fair", text + ". Not verified.", run.verification.message};
}

void add_tile(Html& html,
              std::string_view label,
              const std::string& value,
              std::string_view note = {}) {
  html.open("div", {{"class", "tile"}}).element("dt", label).open("dd").text(value);
  if (!note.empty()) html.element("small", note);
  html.close().close();
}

std::string states_figure(const RunView& run) {
  const auto& states = run.game.states;
  if (states.empty()) return "?";
  const auto [least, most] = std::minmax_element(states.begin(), states.end());
  return *least == *most ? count(*most) : count(*least) + "–" + count(*most);
}

std::string kind_of_gap(const RunView& run, const Certificate& certificate) {
  if (run.verification.outcome == Verification::Outcome::refuted) return "refuted";
  const std::optional<double> lower = certificate.gap_lower;
  if (is_exact(certificate)) return "exact";
  if (!lower || *lower <= 0.0) return "at most";
  return "at least " + figure(*lower, 3, Rounding::down);
}

void add_tiles(Html& html, const RunView& run) {
  html.open("dl", {{"class", "tiles"}});
  if (const Certificate* certificate = certificate_of(run)) {
    add_tile(html, "gap", figure(certificate->gap_upper, 4, Rounding::up),
             kind_of_gap(run, *certificate));
    if (run.target == Target::nash) {
      add_tile(html, "duality gap", figure(certificate->sum_upper, 4, Rounding::up), "both gaps");
    }
  }
  add_tile(html, run.kind == RunView::Kind::planned ? "iterations" : "episodes",
           count(run.episodes), run.stopped.empty() ? "not ended" : "");
  add_tile(html, "players", count(run.game.players.size()));
  add_tile(html, "states", states_figure(run), "of a step");
  add_tile(html, "horizon", count(run.game.horizon), run.game.horizon == 1 ? "step" : "steps");
  add_tile(html, "seed", std::to_string(run.seed));
  html.close();
}

}  // namespace

std::string headline_of(const RunView& run) { return sentence_of(run).text; }

void add_headline(Html& html, const RunView& run) {
  const Sentence sentence = sentence_of(run);
  html.open("section", {{"id", "headline"}, {"aria-label", "What was found"}});
  html.open("p", {{"class", "verdict " + sentence.tone}}).text(sentence.text).close();
  if (!sentence.note.empty()) html.element("p", sentence.note, {{"class", "note"}});
  add_tiles(html, run);
  html.close();
}

}  // namespace vlearn
