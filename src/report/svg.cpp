// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "figures.h"
#include "html.h"
#include "svg_frame.h"
#include "vlearn/core/log.h"
#include "vlearn/core/text.h"

namespace vlearn {

std::string shortened(const std::string& name, std::size_t characters) {
  std::string shown = visible(name);
  std::size_t length = 0;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(shown[at]) & 0xC0U) != 0x80U;
    if (begins && length++ == characters) return shown.substr(0, at) + "…";
  }
  return shown;
}

void open_picture(Html& html, const PictureName& name, double width, double height) {
  html.open("svg", {{"role", "img"},
                    {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, height)},
                    {"width", fmt::format("{:.0f}", width)},
                    {"height", fmt::format("{:.0f}", height)},
                    {"id", name.id},
                    {width > 600.0 ? "class" : "", "wide"},
                    {"aria-labelledby", fmt::format("{0}-t {0}-d", name.id)}});
  html.element("title", name.title, {{"id", name.id + "-t"}});
  html.element("desc", name.description, {{"id", name.id + "-d"}});
}

void picture_text(Html& html, double x, double y, std::string_view text, std::string_view style) {
  html.element(
      "text", text,
      {{"x", fmt::format("{:.1f}", x)}, {"y", fmt::format("{:.1f}", y)}, {"class", style}});
}

std::string bar_chart(const PictureName& name, const std::vector<Bar>& bars) {
  constexpr double width = 760.0;
  constexpr double room = 90.0;  // for numbers
  constexpr double row = 30.0;
  double largest = 0.0;
  std::size_t longest = 1;
  for (const Bar& bar : bars) {
    largest = std::max(largest, bar.upper);
    longest = std::max(longest, shortened(bar.label, 18).size());
  }
  // Numbers stand beside the names, where a narrow screen shows them too.
  const double numbers = 16.0 + 7.2 * static_cast<double>(std::min<std::size_t>(longest, 19));
  const double left = numbers + room;
  const double scale = largest > 0.0 ? (width - left - 4.0) / largest : 0.0;
  const auto number = [](double value) { return fmt::format("{:.1f}", value); };
  Html html;
  open_picture(html, name, width, row * static_cast<double>(bars.size()) + 8.0);
  double y = 4.0;
  for (const Bar& bar : bars) {
    html.raw("<g>").element(
        "title",
        fmt::format("{}: at most {}{}", bar.label, figure(bar.upper, 4, Rounding::up),
                    bar.lower ? ", at least " + figure(*bar.lower, 4, Rounding::down) : ""));
    picture_text(html, numbers - 10.0, y + 19.0, shortened(bar.label, 18), "label end");
    picture_text(html, left - 12.0, y + 19.0, figure(bar.upper, 4, Rounding::up), "label end");
    html.single("rect", {{"x", number(left)},
                         {"y", number(y + 5.0)},
                         {"width", number(std::max(bar.upper * scale, 1.0))},
                         {"height", "18"},
                         {"class", "bar upper"}});
    if (bar.lower) {
      html.single("rect", {{"x", number(left)},
                           {"y", number(y + 9.0)},
                           {"width", number(std::max(*bar.lower, 0.0) * scale)},
                           {"height", "10"},
                           {"class", "bar lower"}});
    }
    html.raw("</g>");
    y += row;
  }
  html.close();
  return html.str();
}

namespace {

struct Place {
  double x = 0.0;
  double y = 0.0;
};

/// Where the states of all steps are drawn.
struct GraphLayout {
  double width = 0.0;
  double height = 0.0;
  double dx = 0.0;
  double dy = 0.0;
  std::vector<Place> places;
};

GraphLayout layout_of(const std::vector<std::size_t>& states) {
  GraphLayout layout;
  const std::size_t tallest = *std::max_element(states.begin(), states.end());
  const auto steps = static_cast<double>(states.size());
  layout.dx = std::clamp(960.0 / steps, 64.0, 240.0);
  layout.dy = std::clamp(420.0 / static_cast<double>(tallest), 26.0, 74.0);
  layout.width = layout.dx * steps;
  layout.height = layout.dy * static_cast<double>(tallest) + 34.0;
  for (std::size_t h = 0; h < states.size(); ++h) {
    const double first =
        34.0 + layout.dy * static_cast<double>(tallest - states[h]) / 2.0 + layout.dy * 0.45;
    for (std::size_t s = 0; s < states[h]; ++s) {
      layout.places.push_back(
          {layout.dx * (static_cast<double>(h) + 0.5), first + layout.dy * static_cast<double>(s)});
    }
  }
  return layout;
}

double radius_of(double weight, double largest, double dy) {
  const double share = largest > 0.0 ? std::sqrt(std::max(weight, 0.0) / largest) : 0.0;
  return 3.5 + share * std::min(13.0, dy * 0.3);
}

void draw_edges(Html& html,
                const GraphLayout& layout,
                const StateGraph& graph,
                const std::vector<std::string>& names) {
  const bool titled = graph.edges.size() <= 400;
  html.open("g", {{"class", "edges"}});
  for (const GraphEdge& edge : graph.edges) {
    if (edge.from >= layout.places.size() || edge.to >= layout.places.size()) continue;
    const Place a = layout.places[edge.from];
    const Place b = layout.places[edge.to];
    const double bend = (b.x - a.x) * 0.45;
    const double chance = std::clamp(edge.chance, 0.0, 1.0);
    html.open("path", {{"d", fmt::format("M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}",
                                         a.x, a.y, a.x + bend, a.y, b.x - bend, b.y, b.x, b.y)},
                       {"stroke-width", fmt::format("{:.1f}", 0.6 + 4.4 * chance)},
                       {"stroke-opacity", fmt::format("{:.2f}", 0.22 + 0.5 * chance)}});
    if (titled) {
      html.element("title", fmt::format("{} → {}: {}", names[edge.from], names[edge.to],
                                        percent(edge.chance)));
    }
    html.close();
  }
  html.close();
}

}  // namespace

std::string state_graph(const PictureName& name,
                        const std::vector<std::size_t>& states,
                        const StateGraph& graph,
                        const std::vector<double>& weights,
                        const std::vector<std::string>& names) {
  const std::size_t cells = std::accumulate(states.begin(), states.end(), std::size_t{0});
  if (cells == 0 || names.size() != cells || weights.size() != cells) return {};
  const GraphLayout layout = layout_of(states);
  const double largest = *std::max_element(weights.begin(), weights.end());
  const bool labelled = layout.dy >= 40.0;
  Html html;
  open_picture(html, name, layout.width, layout.height);
  for (std::size_t h = 0; h < states.size(); ++h) {
    picture_text(html, layout.dx * (static_cast<double>(h) + 0.5), 16.0,
                 fmt::format("step {}", h + 1), "label muted middle");
  }
  draw_edges(html, layout, graph, names);
  std::size_t cell = 0;
  for (std::size_t h = 0; h < states.size(); ++h) {
    for (std::size_t s = 0; s < states[h]; ++s, ++cell) {
      const Place place = layout.places[cell];
      const double radius = radius_of(weights[cell], largest, layout.dy);
      html.open("g", {{"class", weights[cell] > 0.0 ? "node" : "node never"},
                      {"data-h", std::to_string(h)},
                      {"data-s", std::to_string(s)}});
      html.element("title",
                   fmt::format("step {}, {}: reached with {}{}", h + 1, names[cell],
                               percent(weights[cell]), graph.uniform ? " by uniform play" : ""));
      html.single("circle", {{"cx", fmt::format("{:.1f}", place.x)},
                             {"cy", fmt::format("{:.1f}", place.y)},
                             {"r", fmt::format("{:.1f}", radius)}});
      if (labelled) {
        picture_text(html, place.x, place.y + radius + 13.0,
                     shortened(names[cell], static_cast<std::size_t>(layout.dx / 9.0)),
                     "label middle");
      }
      html.close();
    }
  }
  html.close();
  return html.str();
}

std::string board_picture(const PictureName& name,
                          const Board& board,
                          const BoardPosition& position) {
  constexpr int side = 48;
  Html html;
  open_picture(html, name, board.columns * side + 2, board.rows * side + 2);
  const auto number = [](double value) { return fmt::format("{:.0f}", value); };
  for (int r = 0; r < board.rows; ++r) {
    for (int c = 0; c < board.columns; ++c) {
      html.single("rect", {{"x", number(1 + c * side)},
                           {"y", number(1 + r * side)},
                           {"width", number(side)},
                           {"height", number(side)},
                           {"class", (r + c) % 2 == 0 ? "square" : "square odd"}});
    }
  }
  for (const BoardMark& mark : board.marks) {
    picture_text(html, 1 + mark.square.column * side + 6, 1 + mark.square.row * side + 15,
                 shortened(mark.label, 3), "label muted");
  }
  for (std::size_t i = 0; i < position.players.size(); ++i) {
    const Square& square = position.players[i];
    // Pieces on one square stand beside each other.
    const auto sharing = std::count(position.players.begin(), position.players.end(), square);
    const auto before =
        std::count(position.players.begin(),
                   position.players.begin() + static_cast<std::ptrdiff_t>(i), square);
    const double shift =
        sharing > 1 ? (static_cast<double>(before) - 0.5 * static_cast<double>(sharing - 1)) * 16.0
                    : 0.0;
    const double x = 1 + square.column * side + side / 2.0 + shift;
    const double y = 1 + square.row * side + side / 2.0 + 2.0;
    html.single("circle", {{"cx", number(x)},
                           {"cy", number(y)},
                           {"r", sharing > 1 ? "11" : "14"},
                           {"class", fmt::format("piece p{}", i % 8)}});
    picture_text(html, x, y + 4.5, std::to_string(i + 1), "label middle inside");
    if (position.ball && position.ball->index() == i) {
      html.single("circle",
                  {{"cx", number(x + 12)}, {"cy", number(y - 12)}, {"r", "5"}, {"class", "ball"}});
    }
  }
  if (position.players.empty()) {
    picture_text(html, board.columns * side / 2.0, board.rows * side / 2.0, "the game is over",
                 "label middle");
  }
  html.close();
  return html.str();
}

namespace {

constexpr int kLevels = 12;

/// 0 for one visit, the last level for the most.
int level_of(std::uint64_t visits, std::uint64_t most) {
  if (visits <= 1 || most <= 1) return visits == most ? kLevels - 1 : 0;
  const double share = log(static_cast<double>(visits)) / log(static_cast<double>(most));
  return std::clamp(static_cast<int>(share * kLevels), 0, kLevels - 1);
}

}  // namespace

std::string visits_map(const PictureName& name,
                       const std::vector<std::size_t>& states,
                       const std::vector<std::uint64_t>& visits,
                       const std::vector<std::string>& names) {
  const std::size_t cells = std::accumulate(states.begin(), states.end(), std::size_t{0});
  if (cells == 0 || visits.size() != cells || names.size() != cells) return {};
  const std::size_t widest = *std::max_element(states.begin(), states.end());
  const std::size_t most_columns = std::clamp<std::size_t>(3000 / states.size(), 8, 160);
  const std::size_t per_column = (widest + most_columns - 1) / most_columns;
  const std::size_t columns = (widest + per_column - 1) / per_column;
  const bool titled = columns * states.size() <= 1500;
  const std::uint64_t most = *std::max_element(visits.begin(), visits.end());
  constexpr double left = 62.0;
  const double cell_width = std::clamp(820.0 / static_cast<double>(columns), 5.0, 110.0);
  const double cell_height = std::clamp(260.0 / static_cast<double>(states.size()), 6.0, 30.0);
  // Names of states stand above their columns where all steps agree on them and they fit.
  std::vector<std::string> heads;
  bool shared = per_column == 1 && cell_width >= 40.0;
  for (std::size_t h = 0, at = 0; h < states.size() && shared; at += states[h], ++h) {
    for (std::size_t s = 0; s < states[h]; ++s) {
      if (s == heads.size()) heads.push_back(names[at + s]);
      shared = shared && heads[s] == names[at + s];
    }
  }
  const double top = shared ? 22.0 : 4.0;
  const double width = left + cell_width * static_cast<double>(columns) + 4.0;
  const double height = top + cell_height * static_cast<double>(states.size()) + 22.0;
  Html html;
  open_picture(html, name, std::max(width, 240.0), height);
  for (std::size_t s = 0; shared && s < heads.size(); ++s) {
    picture_text(html, left + cell_width * (static_cast<double>(s) + 0.5), 15.0,
                 shortened(heads[s], static_cast<std::size_t>(cell_width / 7.2)),
                 "label muted middle");
  }
  const std::size_t label_every = cell_height >= 13.0 ? 1 : cell_height >= 8.0 ? 2 : 5;
  std::size_t first = 0;
  for (std::size_t h = 0; h < states.size(); first += states[h], ++h) {
    const double y = top + cell_height * static_cast<double>(h);
    if (h % label_every == 0) {
      picture_text(html, left - 8.0, y + cell_height / 2.0 + 4.0, fmt::format("step {}", h + 1),
                   "label muted end");
    }
    for (std::size_t begin = 0; begin < states[h]; begin += per_column) {
      const std::size_t end = std::min(begin + per_column, states[h]);
      const std::size_t c = begin / per_column;
      const auto from = visits.begin() + static_cast<std::ptrdiff_t>(first + begin);
      const auto to = visits.begin() + static_cast<std::ptrdiff_t>(first + end);
      const auto best = static_cast<std::size_t>(std::max_element(from, to) - visits.begin());
      const std::uint64_t shown = visits[best];
      const std::string style =
          shown == 0 ? "cell never" : fmt::format("cell q{}", level_of(shown, most));
      html.open("rect",
                {{"x", fmt::format("{:.1f}", left + cell_width * static_cast<double>(c) + 0.5)},
                 {"y", fmt::format("{:.1f}", y + 0.5)},
                 {"width", fmt::format("{:.1f}", cell_width - 1.0)},
                 {"height", fmt::format("{:.1f}", cell_height - 1.0)},
                 {"class", style},
                 {"data-h", std::to_string(h)},
                 {"data-s", std::to_string(best - first)}});
      if (titled) {
        html.element("title",
                     fmt::format("step {}, {}: {}{}", h + 1, names[best], plural(shown, "visit"),
                                 per_column > 1 ? " (the most visited here)" : ""));
      }
      html.close();
    }
  }
  picture_text(
      html, left, height - 4.0,
      per_column > 1
          ? fmt::format("{} states of a step share a column, the most visited is shown", per_column)
          : std::string("states"),
      "label muted");
  html.close();
  return html.str();
}

}  // namespace vlearn
