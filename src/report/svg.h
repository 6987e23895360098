// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a page, as SVG that needs no script. Colours are classes, so that one picture
// serves light and dark: c0, c1, ... are lines, q0, ..., q11 the levels of a heat map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/game/board.h"
#include "vlearn/report/run_view.h"

namespace vlearn {

/// What a picture is called, for those who do not see it too.
struct PictureName {
  std::string id = {};  ///< unique in its page
  std::string title = {};
  std::string description = {};
};

struct ChartLine {
  std::string label = {};
  std::string style = {};  ///< classes
  std::vector<std::pair<double, double>> points = {};
};

/// Between two lines at the same places.
struct ChartBand {
  std::string style = {};
  std::vector<double> x = {};
  std::vector<double> low = {};
  std::vector<double> high = {};
};

struct LineChart {
  PictureName name = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_y = false;  ///< x always is
  std::vector<ChartBand> bands = {};
  std::vector<ChartLine> lines = {};  ///< points that a log axis cannot show are left out
};

/// With a list of its lines below. Empty where there is nothing to be drawn.
[[nodiscard]] std::string line_chart(const LineChart& chart);

struct Bar {
  std::string label = {};
  double upper = 0.0;
  std::optional<double> lower = std::nullopt;
};

[[nodiscard]] std::string bar_chart(const PictureName& name, const std::vector<Bar>& bars);

/// Columns are steps; the area of a state is its weight, the width of an edge its chance.
[[nodiscard]] std::string state_graph(const PictureName& name,
                                      const std::vector<std::size_t>& states,
                                      const StateGraph& graph,
                                      const std::vector<double>& weights,
                                      const std::vector<std::string>& names);

[[nodiscard]] std::string board_picture(const PictureName& name,
                                        const Board& board,
                                        const BoardPosition& position);

/// Visits, by step and state, on a logarithmic scale; many states share a column.
[[nodiscard]] std::string visits_map(const PictureName& name,
                                     const std::vector<std::size_t>& states,
                                     const std::vector<std::uint64_t>& visits,
                                     const std::vector<std::string>& names);

/// The first characters of a name, made visible.
[[nodiscard]] std::string shortened(const std::string& name, std::size_t characters);

}  // namespace vlearn
