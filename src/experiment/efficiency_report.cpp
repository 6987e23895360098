// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/efficiency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"

namespace vlearn {
namespace {

constexpr std::array<std::string_view, 3> kMeasureNames = {"ratio", "gap", "share"};

std::string_view name_of(Measure measure) {
  return kMeasureNames[static_cast<std::size_t>(measure)];
}

/// Three digits are more than the seeds leave certain.
std::string number(double value) {
  if (value >= 1000.0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}
std::string range(const Quartiles& quartiles) {
  return fmt::format("{} to {}", number(quartiles.lower), number(quartiles.upper));
}

/// "<=" where seeds that never arrived have a say. Their ratio, 1, is the least there is.
std::string median_ratio(const EfficiencyRow& row) {
  const std::uint64_t missed = row.values.size() - row.reached;
  const bool at_most = (row.values.size() - 1) / 2 < missed;
  return (at_most ? "<= " : "") + number(row.value.median);
}

bool is_ratio(const EfficiencyRow& row) { return row.game.measure == Measure::ratio; }

std::string ratio_table(const EfficiencySummary& summary) {
  std::vector<std::vector<std::string>> table = {
      {"game", "target", "reference gap",
       fmt::format("episodes of {}", vlearn::name_of(summary.settings.preset)), "ratio",
       "quartiles", "reached"}};
  for (const EfficiencyRow& row : summary.rows) {
    if (!is_ratio(row)) continue;
    table.push_back({std::string(row.game.name), std::string(vlearn::name_of(row.target)),
                     number(row.wanted.median), fmt::format("{:.0f}", row.episodes.median),
                     median_ratio(row), range(row.value),
                     fmt::format("{} of {}", row.reached, row.values.size())});
  }
  return table.size() > 1 ? markdown_table(table) : "";
}

std::string other_table(const EfficiencySummary& summary) {
  std::vector<std::vector<std::string>> table = {
      {"also", "target", "after episodes", "measured", "median", "quartiles"}};
  for (const EfficiencyRow& row : summary.rows) {
    if (is_ratio(row)) continue;
    const bool gap = row.game.measure == Measure::gap;
    table.push_back({std::string(row.game.name), std::string(vlearn::name_of(row.target)),
                     fmt::format("{}", row.parts.front().episodes),
                     gap ? "certified gap" : "share of the optimum", number(row.value.median),
                     range(row.value)});
  }
  return table.size() > 1 ? markdown_table(table) : "";
}

void write_quartiles(JsonWriter& json, std::string_view key, const Quartiles& quartiles) {
  json.key(key).on_one_line().begin_object().member("median", quartiles.median);
  json.member("lower_quartile", quartiles.lower).member("upper_quartile", quartiles.upper);
  json.end_object();
}

void write_seed(JsonWriter& json, const EfficiencyRow& row, std::size_t seed) {
  const std::size_t parts = parts_of(row.game.measure).size();
  const PartResult& first = row.parts[seed * parts];
  const PartResult& last = row.parts[seed * parts + parts - 1];
  json.on_one_line().begin_object().member("seed", last.seed);
  if (is_ratio(row)) {
    json.member("reference_gap", first.gap).member("wanted_gap", first.wanted);
    json.member("reached", last.reached);
  }
  json.member("episodes", last.episodes).member("gap", last.gap);
  if (!is_ratio(row) && row.game.measure == Measure::gap) {
    json.end_object();
    return;
  }
  json.member(name_of(row.game.measure), row.values[seed]).end_object();
}

}  // namespace

std::string to_markdown(const EfficiencySummary& summary) {
  const EfficiencySettings& settings = summary.settings;
  std::string text = ratio_table(summary);
  if (summary.over_games) {
    text += fmt::format(
        "\nRatio: {} episodes of `{}`{}, over those after which `{}` certifies the same gap and "
        "holds it; medians of {} seed{} from {} on.\n"
        "Over games: median {}, lower quartile {}, least {}.\n",
        settings.reference_episodes, vlearn::name_of(settings.reference),
        settings.reference == Preset::paper ? ", bonus constant 0.01" : "",
        vlearn::name_of(settings.preset), settings.seeds, settings.seeds == 1 ? "" : "s",
        settings.first_seed, number(summary.over_games->median), number(summary.over_games->lower),
        number(summary.least));
  }
  const std::string others = other_table(summary);
  if (!others.empty()) text += (text.empty() ? "" : "\n") + others;
  return text;
}

std::string to_json(const EfficiencySummary& summary) {
  const EfficiencySettings& settings = summary.settings;
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.efficiency/1");
  json.member("version", build_info().version).member("target", vlearn::name_of(settings.target));
  json.member("preset", vlearn::name_of(settings.preset));
  json.member("reference", vlearn::name_of(settings.reference));
  json.member("first_seed", settings.first_seed).member("seeds", settings.seeds);
  json.member("reference_episodes", settings.reference_episodes);
  if (summary.over_games) {
    json.key("over_games").on_one_line().begin_object();
    json.member("median", summary.over_games->median);
    json.member("lower_quartile", summary.over_games->lower);
    json.member("least", summary.least).end_object();
  }
  json.key("games").begin_array();
  for (const EfficiencyRow& row : summary.rows) {
    json.begin_object().member("name", row.game.name).member("game", row.game.pattern);
    json.member("target", vlearn::name_of(row.target));
    json.member("measure", name_of(row.game.measure));
    write_quartiles(json, name_of(row.game.measure), row.value);
    if (is_ratio(row)) {
      write_quartiles(json, "wanted_gap", row.wanted);
      write_quartiles(json, "episodes", row.episodes);
      json.member("reached", row.reached);
    }
    json.key("runs").begin_array();
    for (std::size_t seed = 0; seed < row.values.size(); ++seed) write_seed(json, row, seed);
    json.end_array().end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

std::string to_csv(const EfficiencySummary& summary) {
  std::string text =
      "name,game,target,seed,measure,value,episodes,gap,reference_gap,wanted_gap,reached\n";
  for (const EfficiencyRow& row : summary.rows) {
    const std::size_t parts = parts_of(row.game.measure).size();
    for (std::size_t seed = 0; seed < row.values.size(); ++seed) {
      const PartResult& first = row.parts[seed * parts];
      const PartResult& last = row.parts[seed * parts + parts - 1];
      // Names of games have commas.
      text += fmt::format("{},\"{}\",{},{},{},{},{},{},", row.game.name, row.game.pattern,
                          vlearn::name_of(row.target), last.seed, name_of(row.game.measure),
                          row.values[seed], last.episodes, last.gap);
      text +=
          is_ratio(row) ? fmt::format("{},{},{}\n", first.gap, first.wanted, last.reached) : ",,\n";
    }
  }
  return text;
}

std::string to_svg(const EfficiencySummary& summary) {
  std::vector<const EfficiencyRow*> rows;
  double largest = 1.0;
  for (const EfficiencyRow& row : summary.rows) {
    if (!is_ratio(row)) continue;
    rows.push_back(&row);
    largest = std::max(largest, row.value.upper);
  }
  constexpr double left = 170.0;
  constexpr double right = 700.0;
  constexpr double top = 50.0;
  constexpr double height = 24.0;
  const int decades = std::max(1, static_cast<int>(std::ceil(std::log10(largest) - 1e-9)));
  const double bottom = top + height * static_cast<double>(rows.size());
  const auto x = [&](double ratio) {
    return left + (right - left) * std::log10(std::max(ratio, 1.0)) / decades;
  };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 740 {0:.0f}\" width=\"740\" "
      "height=\"{0:.0f}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n"
      "<title>How many times fewer episodes preset {2} needs than preset {3}</title>\n"
      "<style>\n"
      ".back {{ fill: #ffffff }} text {{ fill: #222222 }} .grid {{ stroke: #d5d5d5 }}\n"
      ".one {{ stroke: #222222 }} .bar {{ stroke: #5b8fd0 }} .dot {{ fill: #1f4e8c }}\n"
      "@media (prefers-color-scheme: dark) {{\n"
      ".back {{ fill: #16181c }} text {{ fill: #e4e4e4 }} .grid {{ stroke: #3c4048 }}\n"
      ".one {{ stroke: #e4e4e4 }} .bar {{ stroke: #4f7fbd }} .dot {{ fill: #a9cbf5 }}\n"
      "}}\n"
      "</style>\n"
      "<rect class=\"back\" width=\"740\" height=\"{0:.0f}\"/>\n"
      "<text x=\"{1:.0f}\" y=\"24\">episodes of {3} / episodes of {2}, to the same certified "
      "gap</text>\n",
      bottom + 40.0, left, vlearn::name_of(summary.settings.preset),
      vlearn::name_of(summary.settings.reference));
  for (int decade = 0; decade <= decades; ++decade) {
    const double at = x(std::pow(10.0, decade));
    text += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:.0f}</text>\n",
        decade == 0 ? "one" : "grid", at, at, top - 8.0, bottom, at, bottom + 20.0,
        std::pow(10.0, decade));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EfficiencyRow& row = *rows[i];
    const double y = top + height * (static_cast<double>(i) + 0.5);
    text += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n"
        "<line class=\"bar\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke-width=\"7\" stroke-linecap=\"round\"/>\n"
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}: {}, quartiles "
        "{}</title></circle>\n",
        left - 12.0, y + 4.5, row.game.name, x(row.value.lower), x(row.value.upper), y, y,
        x(row.value.median), y, row.game.name, number(row.value.median), range(row.value));
  }
  return text + "</svg>\n";
}

}  // namespace vlearn
