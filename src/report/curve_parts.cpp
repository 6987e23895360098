// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How the gap and the values went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "figures.h"
#include "page_parts.h"

namespace vlearn {
namespace {

constexpr std::size_t kMostSeries = 12;

}  // namespace

void add_gap_curve(Html& html, const RunView& run) {
  open_section(html, "gap", "Gap");
  LineChart chart;
  const bool exact = exact_curve(run.curve);
  const bool of_other =
      run.certificate && !run.curve_output.empty() && run.curve_output != run.output;
  chart.name = {"gap-chart", "The largest gap of a player",
                "Both axes are logarithmic; the dashed guide falls with the square root."};
  chart.x_label = x_label({&run, 1});
  chart.y_label = "gap";
  chart.log_y = true;
  ChartLine upper{gap_label(run), "line c0", {}};
  ChartLine lower{"at least", "line c1 dashed", {}};
  ChartLine bound{bound_label(run), "line c2 dotted", {}};
  for (const std::size_t i : kept_points(run.curve)) {
    const CurvePoint& point = run.curve[i];
    const auto x = static_cast<double>(point.episode);
    if (point.gap_upper) upper.points.emplace_back(x, *point.gap_upper);
    if (point.gap_lower && !exact) lower.points.emplace_back(x, *point.gap_lower);
    if (point.data_bound) bound.points.emplace_back(x, *point.data_bound);
  }
  if (const std::optional<double> c = guide_of(run.curve); c && !upper.points.empty()) {
    ChartLine guide{"∝ 1/√" + std::string(chart.x_label), "line guide", {}};
    for (const double x : {std::max(upper.points.front().first, 1.0), upper.points.back().first}) {
      guide.points.emplace_back(x, *c / std::sqrt(x));
    }
    chart.lines.push_back(std::move(guide));
  }
  for (ChartLine* line : {&bound, &lower, &upper}) {
    if (!line->points.empty()) chart.lines.push_back(std::move(*line));
  }
  add_chart(html, "gap", chart);
  if (!run.curve_output.empty()) {
    html.element("p",
                 run.curve_derived
                     ? "The gaps were derived again from the policies of the run."
                     : "The gaps are what the run recorded in metrics.jsonl while it went on. "
                       "They were not derived again: trust the certificate, not the curve.",
                 {{"class", "note"}});
  }
  if (of_other) {
    html.element("p",
                 fmt::format("The curve is of the output {}, the certificate of the output {}.",
                             run.curve_output, run.output),
                 {{"class", "note"}});
  }
  const auto nothing = std::count_if(
      run.curve.begin(), run.curve.end(),
      [](const CurvePoint& point) { return point.gap_upper && *point.gap_upper <= 0.0; });
  if (nothing > 0) {
    html.element(
        "p",
        fmt::format("{} of {} looks found a gap of 0 or less, nobody could gain anything: "
                    "a logarithmic axis has no place for these.",
                    count(static_cast<std::uint64_t>(nothing)),
                    count(static_cast<std::uint64_t>(std::count_if(
                        run.curve.begin(), run.curve.end(),
                        [](const CurvePoint& point) { return point.gap_upper.has_value(); })))),
        {{"class", "note"}});
  }
  html.close();
}

void add_values(Html& html, const RunView& run) {
  open_section(html, "values", "Values");
  LineChart chart;
  chart.name = {"value-chart", "What learners think their policies are worth",
                "The horizontal axis is logarithmic."};
  chart.x_label = x_label({&run, 1});
  chart.y_label = "estimate";
  const std::vector<std::size_t> kept = kept_points(run.curve);
  for (std::size_t j = 0; j < std::min(run.series.size(), kMostSeries); ++j) {
    ChartLine line{run.series[j], fmt::format("line c{}", j % 8), {}};
    if (j >= 8) line.style += " dashed";
    for (const std::size_t i : kept) {
      const CurvePoint& point = run.curve[i];
      if (j < point.values.size()) {
        line.points.emplace_back(static_cast<double>(point.episode), point.values[j]);
      }
    }
    chart.lines.push_back(std::move(line));
  }
  if (!chart.lines.empty()) {
    add_chart(html, "value", chart);
    html.element(
        "p",
        "Estimates of the learners, from play. Where there is a certificate, its values count.",
        {{"class", "note"}});
  }
  if (const Certificate* certificate = certificate_of(run)) {
    TableWriter table(html, "What the certificate says the policy is worth",
                      {{"player"}, {"value", true}, {"kind"}});
    const std::size_t shown = std::min<std::size_t>(certificate->players.size(), 20);
    for (std::size_t i = 0; i < shown; ++i) {
      const PlayerCertificate& player = certificate->players[i];
      const bool exact = player.value_lower == player.value_upper;
      table.row().head(player_name(run, i));
      table.cell(bounds(player.value_lower, player.value_upper));
      table.cell(exact ? "exact" : "interval");
    }
  }
  html.close();
}

void add_visits(Html& html, const RunView& run) {
  if (run.visits.empty()) return;
  const std::string picture = visits_map({"visits-map", "Visits by step and state",
                                          "Colours are logarithmic: dark is few, bright is many."},
                                         run.game.states, run.visits, cell_names(run));
  if (picture.empty()) return;
  open_section(html, "visits", "Visits");
  html.open("div", {{"class", "scroll figure"},
                    {"tabindex", "0"},
                    {"role", "group"},
                    {"aria-label", "Map of visits"}});
  html.raw(picture).close();
  const auto never =
      static_cast<std::uint64_t>(std::count(run.visits.begin(), run.visits.end(), 0U));
  const std::uint64_t most = *std::max_element(run.visits.begin(), run.visits.end());
  html.open("div", {{"class", "scale"}}).text("1 visit ");
  html.raw("<svg width=\"144\" height=\"12\" aria-hidden=\"true\">");
  for (int q = 0; q < 12; ++q) {
    html.raw(fmt::format("<rect class=\"q{}\" x=\"{}\" width=\"12\" height=\"12\"/>", q, q * 12));
  }
  html.raw("</svg>").text(" " + count(most) + " (logarithmic)").close();
  html.element("p",
               never == 0 ? std::string("Every state of every step was visited.")
                          : fmt::format("{} of {} were never visited: empty boxes.", count(never),
                                        plural(run.visits.size(), "cell")),
               {{"class", "note"}});
  html.close();
}

}  // namespace vlearn
