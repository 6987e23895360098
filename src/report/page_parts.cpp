// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "figures.h"

namespace vlearn {

void open_section(Html& html, std::string_view id, std::string_view title) {
  const std::string heading = std::string(id) + "-h";
  html.open("section", {{"id", id}, {"aria-labelledby", heading}});
  html.element("h2", title, {{"id", heading}}).raw("\n");
}

const Certificate* certificate_of(const RunView& run) {
  if (run.certificate) return &*run.certificate;
  return run.sampled ? &*run.sampled : nullptr;
}

bool is_exact(const Certificate& certificate) {
  const std::vector<PlayerCertificate>& players = certificate.players;
  return !certificate.method &&
         std::all_of(players.begin(), players.end(), [](const PlayerCertificate& player) {
           return player.value_lower == player.value_upper &&
                  player.deviation_lower == player.deviation_upper;
         });
}

std::string verified_word(const Verification& verification) {
  switch (verification.outcome) {
    case Verification::Outcome::accepted: return "verified";
    case Verification::Outcome::refuted: return "refuted";
    case Verification::Outcome::mismatch: return "mismatch";
    case Verification::Outcome::not_done: break;
  }
  return "not verified";
}

std::vector<std::size_t> kept_points(std::span<const CurvePoint> curve) {
  std::vector<std::uint64_t> episodes;
  episodes.reserve(curve.size());
  for (const CurvePoint& point : curve) episodes.push_back(point.episode);
  return kept_places(episodes);
}

std::optional<double> guide_of(std::span<const CurvePoint> curve) {
  std::vector<double> heights;
  for (const CurvePoint& point : curve) {
    if (point.episode > 0 && point.gap_upper && *point.gap_upper > 0.0) {
      heights.push_back(*point.gap_upper * std::sqrt(static_cast<double>(point.episode)));
    }
  }
  if (heights.size() < 2) return std::nullopt;
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  return *middle;
}

bool exact_curve(std::span<const CurvePoint> curve) {
  return std::all_of(curve.begin(), curve.end(), [](const CurvePoint& point) {
    return !point.gap_upper || point.gap_lower == point.gap_upper;
  });
}

std::vector<std::string> cell_names(const RunView& run) {
  std::vector<std::size_t> first;
  std::vector<std::string> names;
  for (const std::size_t states : run.game.states) {
    first.push_back(names.size());
    for (std::size_t s = 0; s < states; ++s) names.push_back(fmt::format("state {}", s + 1));
  }
  for (const CellView& cell : run.cells) {
    const bool known =
        cell.h.index() < first.size() && cell.s.index() < run.game.states[cell.h.index()];
    if (known && !cell.name.empty()) names[first[cell.h.index()] + cell.s.index()] = cell.name;
  }
  return names;
}

std::string player_name(const RunView& run, std::size_t player) {
  const bool named = player < run.game.players.size() && !run.game.players[player].empty();
  return named ? run.game.players[player] : std::to_string(player + 1);
}

double player_gap(const RunView& run, std::size_t player) {
  const Certificate* certificate = certificate_of(run);
  const bool known = certificate != nullptr && player < certificate->players.size();
  return known ? certificate->players[player].gap_upper : 0.0;
}

std::size_t likeliest(const std::vector<double>& chances) {
  return static_cast<std::size_t>(std::max_element(chances.begin(), chances.end()) -
                                  chances.begin());
}

std::string policy_text(const PlayerCell& cell, std::size_t most) {
  std::vector<std::size_t> order(std::min(cell.averaged.size(), cell.actions.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cell.averaged[a] > cell.averaged[b];
  });
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == most) return text + ", …";
    if (cell.averaged[order[i]] < 0.0005) break;
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", cell.actions[order[i]],
                        percent(cell.averaged[order[i]]));
  }
  return text;
}

std::string witness_text(const PlayerCell& cell, Target target) {
  const auto action = [&](std::uint32_t a) {
    return a < cell.actions.size() ? cell.actions[a] : std::to_string(a + 1);
  };
  if (cell.witness.empty()) return "–";
  if (target != Target::ce) return action(cell.witness.front());
  std::string text;
  for (std::size_t a = 0; a < cell.witness.size(); ++a) {
    const double chance = a < cell.averaged.size() ? cell.averaged[a] : 0.0;
    if (cell.witness[a] == a || chance < 0.0005) continue;
    text += fmt::format("{}{} → {}", text.empty() ? "" : ", ",
                        action(static_cast<std::uint32_t>(a)), action(cell.witness[a]));
  }
  return text.empty() ? "follows" : text;
}

void add_fact(Html& html, std::string_view label, const std::string& text, bool is_hash) {
  if (text.empty()) return;
  html.raw(is_hash ? "<div class=\"wide\">" : "<div>")
      .element("dt", label)
      .raw(is_hash ? "<dd class=\"hash\">" : "<dd>")
      .name(text)
      .raw("</dd></div>\n");
}

void add_chart(Html& html, std::string_view which, const LineChart& chart) {
  const std::string picture = line_chart(chart);
  html.open("div", {{"class", "chart"}, {"data-chart", which}});
  if (picture.empty()) {
    html.element("p", "Nothing was recorded that could be drawn.", {{"class", "note"}}).close();
    return;
  }
  html.open("div", {{"class", "scroll figure static"},
                    {"tabindex", "0"},
                    {"role", "group"},
                    {"aria-label", chart.name.title}});
  html.raw(picture).close().close();
}

std::string gap_label(const RunView& run) {
  const bool exact = exact_curve(run.curve);
  if (!run.curve_derived) return exact ? "gap, the run's record" : "gap at most, the run's record";
  return exact ? "certified gap (exact), derived again" : "certified gap at most, derived again";
}

std::string bound_label(const RunView& run) {
  for (const auto& [key, value] : run.config) {
    if (key == "delta") return "bound by play alone, failing with probability " + value;
  }
  return "bound by play alone";
}

const char* x_label(std::span<const RunView> runs) {
  const auto planned =
      static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const RunView& run) {
        return run.kind == RunView::Kind::planned;
      }));
  if (planned == 0) return "episodes";
  return planned == runs.size() ? "iterations" : "episodes or iterations";
}

void add_command(Html& html, const std::string& command, std::string_view label) {
  html.open("div", {{"class", "command"}})
      .open("pre", {{"tabindex", "0"}, {"aria-label", label}})
      .element("code", command)
      .close()
      .close();
}

}  // namespace vlearn
