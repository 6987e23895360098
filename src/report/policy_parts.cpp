// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Who could gain where, and what everybody does: short tables, which the script makes explorable.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "figures.h"
#include "page_parts.h"

namespace vlearn {
namespace {

constexpr std::size_t kMostBars = 12;
constexpr std::size_t kMostWitnesses = 10;
constexpr std::size_t kMostPlaces = 20;
constexpr std::size_t kMostColumns = 4;

void add_bars(Html& html, const RunView& run, const Certificate& certificate) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < certificate.players.size(); ++i) {
    bars.push_back(
        {player_name(run, i), certificate.players[i].gap_upper, certificate.players[i].gap_lower});
  }
  const std::size_t all = bars.size();
  if (all > kMostBars) {
    std::stable_sort(bars.begin(), bars.end(),
                     [](const Bar& a, const Bar& b) { return a.upper > b.upper; });
    bars.resize(kMostBars);
  }
  const bool known_below =
      std::any_of(bars.begin(), bars.end(), [](const Bar& bar) { return bar.lower.has_value(); });
  html.open("div", {{"class", "scroll figure"},
                    {"tabindex", "0"},
                    {"role", "group"},
                    {"aria-label", "Gap of each player"}});
  html.raw(bar_chart({"gap-bars", "What each player could gain by deviating",
                      "A bar for each player: the wide one from above, the narrow one from below."},
                     bars));
  html.close();
  std::string note =
      known_below
          ? "Wide bars: at most so much. Narrow bars: at least so much, which the witness earns."
          : "At most so much.";
  if (run.target == Target::nash && certificate.output == CertifiedOutput::nested)
    note += " Of nash both gaps are known only together.";
  if (all > kMostBars) note += fmt::format(" The {} largest of {} players.", kMostBars, count(all));
  html.element("p", note, {{"class", "note"}});
}

struct WitnessRow {
  std::size_t player = 0;
  const CellView* cell = nullptr;
  const PlayerCell* at = nullptr;
  double order = 0.0;
};

/// What is left where two numbers that agree are subtracted is no gain.
double gain_of(const PlayerCell& at) {
  const double gain = *at.deviation - *at.value;
  const bool rounding = std::abs(gain) <= 1e-13 * (std::abs(*at.deviation) + std::abs(*at.value));
  return rounding ? 0.0 : gain;
}

std::vector<WitnessRow> witness_rows(const RunView& run) {
  std::vector<WitnessRow> rows;
  for (const CellView& cell : run.cells) {
    for (std::size_t i = 0; i < std::min(cell.players.size(), run.shown_players.size()); ++i) {
      const PlayerCell& at = cell.players[i];
      if (at.witness.empty() && !at.deviation) continue;
      const double gain = at.deviation && at.value ? gain_of(at) : 0.0;
      rows.push_back({run.shown_players[i].index(), &cell, &at, at.share ? *at.share : gain});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WitnessRow& a, const WitnessRow& b) { return a.order > b.order; });
  return rows;
}

/// As it is, and in percent of the player's gap.
std::string share_text(const RunView& run, std::size_t player, const std::optional<double>& share) {
  if (!share) return "–";
  const double gap = player_gap(run, player);
  if (!(gap > 0.0) || std::abs(*share) < 1e-9 * gap) return figure(gap > 0.0 ? 0.0 : *share, 3);
  return fmt::format("{} ({})", figure(*share, 3), percent(*share / gap));
}

std::string recommended(const PlayerCell& at) {
  if (at.averaged.empty() || at.actions.size() != at.averaged.size()) return "–";
  const std::size_t a = likeliest(at.averaged);
  return fmt::format("{} ({})", at.actions[a], percent(at.averaged[a]));
}

void add_witnesses(Html& html, const RunView& run) {
  const std::vector<WitnessRow> rows = witness_rows(run);
  if (rows.empty()) return;
  html.element("h3", "State by state");
  html.open("div", {{"id", "witness"}});
  {
    TableWriter table(html,
                      rows.size() > kMostWitnesses ? "Where most could be gained: the ten largest"
                                                   : "Where something could be gained",
                      {{"player"},
                       {"step", true},
                       {"state"},
                       {"recommended most"},
                       {"the witness plays"},
                       {"gain from here on", true},
                       {"share of the gap", true},
                       {"reached", true}});
    for (std::size_t i = 0; i < std::min(rows.size(), kMostWitnesses); ++i) {
      const WitnessRow& row = rows[i];
      const PlayerCell& at = *row.at;
      table.row().head(player_name(run, row.player));
      table.cell(std::to_string(row.cell->h.number())).name(row.cell->name);
      table.name(recommended(at)).name(witness_text(at, run.target));
      table.cell(at.deviation && at.value ? figure(gain_of(at), 3) : "–");
      table.cell(share_text(run, row.player, at.share))
          .cell(row.cell->reach ? percent(*row.cell->reach) : "–");
    }
  }
  html.close();
}

}  // namespace

void add_deviations(Html& html, const RunView& run) {
  const Certificate* certificate = certificate_of(run);
  if (certificate == nullptr || certificate->players.empty()) return;
  open_section(html, "deviations", "Who could gain by deviating");
  add_bars(html, run, *certificate);
  add_witnesses(html, run);
  html.close();
}

void add_policies(Html& html, const RunView& run) {
  if (run.cells.empty() || run.shown_players.empty()) return;
  open_section(html, "policies", "What everybody does");
  html.raw("<div id=\"explorer\"></div>\n");
  std::vector<const CellView*> places;
  places.reserve(run.cells.size());
  for (const CellView& cell : run.cells) places.push_back(&cell);
  std::stable_sort(places.begin(), places.end(), [](const CellView* a, const CellView* b) {
    return a->visits != b->visits ? a->visits > b->visits
                                  : a->reach.value_or(0.0) > b->reach.value_or(0.0);
  });
  places.resize(std::min(places.size(), kMostPlaces));
  std::stable_sort(places.begin(), places.end(), [](const CellView* a, const CellView* b) {
    return a->h != b->h ? a->h < b->h : a->s < b->s;
  });
  const std::size_t players = std::min(run.shown_players.size(), kMostColumns);
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < players; ++i)
    titles.push_back(player_name(run, run.shown_players[i].index()));
  std::vector<Column> columns = {{"step", true}, {"state"}, {"visits", true}};
  for (const std::string& title : titles) columns.push_back({title});
  html.open("details", {{"id", "policy-table"}, {"open", ""}});
  html.element("summary", "As a table");
  {
    TableWriter table(html,
                      fmt::format("Averaged policies of the {} most visited places", places.size()),
                      columns);
    for (const CellView* cell : places) {
      table.row().cell(std::to_string(cell->h.number())).head(cell->name).cell(count(cell->visits));
      for (std::size_t i = 0; i < players; ++i) {
        table.name(i < cell->players.size() ? policy_text(cell->players[i], 3) : "");
      }
    }
  }
  html.close();
  if (run.shown_players.size() > players) {
    html.element("p", "The first four players; above all that are shown can be chosen.",
                 {{"class", "note js"}});
  }
  html.close();
}

}  // namespace vlearn
