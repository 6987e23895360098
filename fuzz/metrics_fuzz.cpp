// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// metrics.jsonl: rows are in order and their numbers finite, and pages can be made of them: every
// number of a picture is one. The first byte says which rows are expected; the rest is the file.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "page_parts.h"
#include "run_files.h"
#include "vlearn/core/error.h"

namespace {

using namespace vlearn;

MetricsShape shape_of(std::uint8_t byte) {
  constexpr std::array<std::size_t, 4> players = {1, 2, 3, kPlayersInRows + 1};
  return {.kind = static_cast<RunView::Kind>(byte % 3),
          .num_players = players[byte / 3 % 4],
          .ended = byte / 12 % 2 == 0,
          .exact = byte / 24 % 2 == 0,
          .proven_bounds = byte / 48 % 2 == 0};
}

bool is_number(const std::optional<double>& number) { return !number || std::isfinite(*number); }

void check(const Metrics& metrics, const MetricsShape& shape) {
  std::uint64_t last = 0;
  for (const CurvePoint& point : metrics.curve) {
    fuzz::promise(point.episode >= last, "episodes do not fall");
    last = point.episode;
    fuzz::promise(is_number(point.gap_upper) && is_number(point.gap_lower) &&
                      is_number(point.data_bound) &&
                      std::ranges::all_of(point.values, [](double v) { return std::isfinite(v); }),
                  "numbers are finite");
    const bool valued = shape.kind == RunView::Kind::learned;
    fuzz::promise(point.values.size() == (valued ? metrics.series.size() : 0),
                  "every series has a value");
  }
  fuzz::promise(!metrics.cut || !shape.ended, "what has ended is not cut");
}

/// Nothing in it comes from a file but the numbers.
void expect_numbers(const std::string& page) {
  fuzz::promise(page.find("nan") == std::string::npos && page.find("inf") == std::string::npos,
                "every number of a page is one");
}

void draw(Metrics metrics, const MetricsShape& shape) {
  std::vector<RunView> runs(2);
  for (RunView& run : runs) {
    run.kind = shape.kind;
    run.series = metrics.series;
    run.curve = metrics.curve;
  }
  runs[1].seed = 1;
  Html html;
  add_gap_curve(html, runs[0]);
  add_values(html, runs[0]);
  const std::vector<NamedGroup> groups = name_groups(runs);
  add_groups(html, runs, groups);
  expect_numbers(html.str());
  expect_numbers(page_data(runs[0]));
  expect_numbers(page_data(runs, groups));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const MetricsShape shape = shape_of(data[0]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Metrics metrics;
  try {
    metrics = parse_metrics(text, "input", shape);
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("input"), "an error names the file");
    return 0;
  }
  check(metrics, shape);
  draw(std::move(metrics), shape);
  return 0;
}
