// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/experiment/curse.h"
#include "vlearn/experiment/quartiles.h"

namespace vlearn {
namespace {

/// All seeds of a family, method and number of players.
struct Point {
  std::uint64_t players = 0;
  std::vector<CurseRun> runs = {};
  // Medians of those that reached the gap:
  std::size_t reached = 0;
  double episodes = 0.0;
  double learn_seconds = 0.0;
  double seconds = 0.0;
  double bytes = 0.0;
  double uniform_gap = 0.0;  // of all
};

Point point_of(const CurseSettings& settings,
               const CurseLog& log,
               CurseFamily family,
               CurseMethod method,
               std::uint64_t players) {
  Point point{.players = players};
  std::vector<std::vector<double>> columns(4);
  std::vector<double> uniform;
  for (std::uint64_t seed = 1; seed <= settings.seeds; ++seed) {
    const CurseRun* const run = log.find(family, method, players, seed);
    if (run == nullptr) continue;
    point.runs.push_back(*run);
    uniform.push_back(run->uniform_gap);
    if (run->end != CurseEnd::reached) continue;
    ++point.reached;
    columns[0].push_back(static_cast<double>(run->episodes));
    columns[1].push_back(run->learn_seconds);
    columns[2].push_back(run->seconds);
    columns[3].push_back(static_cast<double>(run->bytes));
  }
  if (!uniform.empty()) point.uniform_gap = quartiles_of(uniform).median;
  if (point.reached > 0) {
    point.episodes = quartiles_of(columns[0]).median;
    point.learn_seconds = quartiles_of(columns[1]).median;
    point.seconds = quartiles_of(columns[2]).median;
    point.bytes = quartiles_of(columns[3]).median;
  }
  return point;
}

/// The points of a method, up to where it stops.
std::vector<Point> points_of(const CurseSettings& settings,
                             const CurseLog& log,
                             CurseFamily family,
                             CurseMethod method) {
  std::vector<Point> points;
  for (std::uint64_t m = settings.first_players; m <= settings.last_players; ++m) {
    Point point = point_of(settings, log, family, method, m);
    if (point.runs.empty()) break;
    points.push_back(std::move(point));
  }
  return points;
}

std::string in_bytes(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1000.0;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string why_stopped(const Point& point) {
  const bool memory = std::all_of(point.runs.begin(), point.runs.end(),
                                  [](const CurseRun& run) { return run.end == CurseEnd::memory; });
  if (!memory) return "too long";
  const CurseRun& run = point.runs.front();
  return "too large: " + in_bytes(static_cast<double>(std::max(run.bytes, run.game_bytes)));
}

std::string cell_of(const Point& point) {
  if (point.reached == 0) return why_stopped(point);
  std::string text = fmt::format("{:.0f}, {:.2g} s ({:.2g}), {}", point.episodes, point.seconds,
                                 point.learn_seconds, in_bytes(point.bytes));
  if (point.reached < point.runs.size()) {
    text += fmt::format(", {} of {}", point.reached, point.runs.size());
  }
  return text;
}

template <class Of>
void for_each_method(const Of& of) {
  for (std::size_t method = 0; method < kCurseMethodNames.size(); ++method) {
    of(static_cast<CurseMethod>(method), kCurseMethodNames[method]);
  }
}

}  // namespace

std::string curse_markdown(const CurseSettings& settings, const CurseLog& log) {
  std::string text;
  for (std::size_t family = 0; family < kCurseFamilyNames.size(); ++family) {
    std::vector<std::vector<std::string>> table = {
        {std::string(kCurseFamilyNames[family]), "uniform play"}};
    std::vector<std::vector<Point>> columns;
    for_each_method([&](CurseMethod method, std::string_view name) {
      table.front().emplace_back(name);
      columns.push_back(points_of(settings, log, static_cast<CurseFamily>(family), method));
    });
    for (std::uint64_t m = settings.first_players; m <= settings.last_players; ++m) {
      const std::size_t i = m - settings.first_players;
      const auto longest =
          std::max_element(columns.begin(), columns.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
      if (i >= longest->size()) break;
      const double uniform = (*longest)[i].uniform_gap;
      std::vector<std::string> row = {
          fmt::format("{} players", m),
          fmt::format("{:.2g}{}", uniform, uniform <= wanted_gap(settings) ? ": enough" : "")};
      for (const std::vector<Point>& points : columns) {
        row.push_back(i < points.size() ? cell_of(points[i]) : "");
      }
      table.push_back(std::move(row));
    }
    text += (text.empty() ? "" : "\n") + markdown_table(table);
  }
  text += fmt::format(
      "\nEpisodes until a gap of {:g} H is certified, seconds of the processor (those of learning "
      "alone in brackets), and bytes of the method's tables; medians of {} seed{}. Uniform play: "
      "its gap. Runs end after "
      "{:g} s, or where tables and game need more than {}.\n",
      settings.gap_share, settings.seeds, settings.seeds == 1 ? "" : "s", settings.max_seconds,
      in_bytes(static_cast<double>(settings.max_bytes)));
  return text;
}

std::string curse_json(const CurseSettings& settings, const CurseLog& log) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.curse/1");
  write_settings(json, settings);
  json.key("methods").begin_array();
  for (std::size_t family = 0; family < kCurseFamilyNames.size(); ++family) {
    for_each_method([&](CurseMethod method, std::string_view name) {
      const std::vector<Point> points =
          points_of(settings, log, static_cast<CurseFamily>(family), method);
      if (points.empty()) return;
      json.begin_object().member("family", kCurseFamilyNames[family]).member("method", name);
      if (points.back().reached == 0) {
        json.member("stops_at", points.back().players);
        json.member("why", why_stopped(points.back()));
      }
      json.key("points").begin_array();
      for (const Point& point : points) {
        json.on_one_line().begin_object().member("players", point.players);
        json.member("uniform_gap", point.uniform_gap);
        json.member("reached", std::uint64_t{point.reached});
        if (point.reached > 0) {
          json.member("episodes", point.episodes).member("seconds", point.seconds);
          json.member("learn_seconds", point.learn_seconds).member("bytes", point.bytes);
        }
        json.end_object();
      }
      json.end_array().end_object();
    });
  }
  return json.end_array().end_object().text() + "\n";
}

std::string curse_csv(const CurseLog& log) {
  std::string text =
      "family,method,players,seed,end,episodes,gap,learn_seconds,seconds,bytes,game_bytes,"
      "uniform_gap\n";
  for (const CurseRun& run : log.runs()) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n",
                    kCurseFamilyNames[static_cast<std::size_t>(run.family)],
                    kCurseMethodNames[static_cast<std::size_t>(run.method)], run.players, run.seed,
                    kCurseEndNames[static_cast<std::size_t>(run.end)], run.episodes, run.gap,
                    run.learn_seconds, run.seconds, run.bytes, run.game_bytes, run.uniform_gap);
  }
  return text;
}

std::string curse_svg(const CurseSettings& settings, const CurseLog& log) {
  constexpr double width = 330.0;
  constexpr double height = 260.0;
  constexpr double left = 60.0;
  constexpr double between = 40.0;
  constexpr double top = 60.0;
  constexpr double low = -4.0;  // decades of seconds
  const double high = std::ceil(std::log10(settings.max_seconds) + 0.2);
  const double bottom = top + height;
  const double span =
      std::max(1.0, static_cast<double>(settings.last_players - settings.first_players));
  const auto y = [&](double seconds) {
    const double decade = std::clamp(std::log10(std::max(seconds, 1e-9)), low, high);
    return bottom - height * (decade - low) / (high - low);
  };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 {0:.0f}\" width=\"780\" "
      "height=\"{0:.0f}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
      "<title>Processor seconds to a certified gap of {1:g} H, by the number of players</title>\n"
      "<style>\n"
      ".back {{ fill: #ffffff }} text {{ fill: #222222 }} .grid {{ stroke: #d5d5d5 }}\n"
      ".limit {{ stroke: #222222; stroke-dasharray: 4 3 }} .idle {{ fill: #8a8a8a; opacity: 0.15 "
      "}}\n"
      ".line {{ fill: none; stroke-width: 2 }}\n"
      ".m0 {{ stroke: #8a8a8a }} .m1 {{ stroke: #1f4e8c }} .m2 {{ stroke: #b3541e }}\n"
      ".m3 {{ stroke: #7a3b8f }} .m4 {{ stroke: #2e7d4f }}\n"
      "@media (prefers-color-scheme: dark) {{\n"
      ".back {{ fill: #16181c }} text {{ fill: #e4e4e4 }} .grid {{ stroke: #3c4048 }}\n"
      ".limit {{ stroke: #e4e4e4 }} .m1 {{ stroke: #a9cbf5 }} .m2 {{ stroke: #f0a070 }}\n"
      ".m3 {{ stroke: #d0a0e0 }} .m4 {{ stroke: #80d0a0 }}\n"
      "}}\n"
      "</style>\n"
      "<rect class=\"back\" width=\"780\" height=\"{0:.0f}\"/>\n",
      bottom + 80.0, settings.gap_share);
  for (std::size_t family = 0; family < kCurseFamilyNames.size(); ++family) {
    const double begin = left + static_cast<double>(family) * (width + between);
    const auto x = [&](double players) {
      return begin + 10.0 +
             (width - 20.0) * (players - static_cast<double>(settings.first_players)) / span;
    };
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} games: seconds, by players</text>\n",
                        begin, top - 14.0, kCurseFamilyNames[family]);
    for (int decade = static_cast<int>(low); decade <= static_cast<int>(high); ++decade) {
      const double at = y(std::pow(10.0, decade));
      text += fmt::format(
          "<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", begin,
          begin + width, at, at);
      if (family > 0) continue;
      text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
                          begin - 6.0, at + 4.0, std::pow(10.0, decade));
    }
    const double limit = y(settings.max_seconds);
    text += fmt::format(
        "<line class=\"limit\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", begin,
        begin + width, limit, limit);
    for (std::uint64_t m = settings.first_players; m <= settings.last_players; ++m) {
      text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                          x(static_cast<double>(m)), bottom + 18.0, m);
    }
    // From where on uniform play is enough.
    for (const Point& point :
         points_of(settings, log, static_cast<CurseFamily>(family), CurseMethod::fast)) {
      if (point.uniform_gap > wanted_gap(settings)) continue;
      const double from = x(static_cast<double>(point.players) - 0.5);
      text += fmt::format(
          "<rect class=\"idle\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n"
          "<text x=\"{:.1f}\" y=\"{:.0f}\">uniform play is enough</text>\n",
          from, top, begin + width - from, height, from + 6.0, top + 16.0);
      break;
    }
    for_each_method([&](CurseMethod method, std::string_view name) {
      const std::vector<Point> points =
          points_of(settings, log, static_cast<CurseFamily>(family), method);
      std::string path;
      for (const Point& point : points) {
        if (point.reached == 0) continue;
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L",
                            x(static_cast<double>(point.players)), y(point.seconds));
      }
      const auto colour = static_cast<std::size_t>(method);
      if (!path.empty()) {
        text += fmt::format("<path class=\"line m{}\" d=\"{}\"><title>{}</title></path>\n", colour,
                            path, name);
      }
      if (points.empty() || points.back().reached > 0) return;
      // Where it stops: by time, or by memory before it began.
      const double at = x(static_cast<double>(points.back().players));
      text += fmt::format(
          "<path class=\"line m{}\" d=\"M{:.1f} {:.1f} l8 8 m0 -8 l-8 8\"><title>{}: {} with {} "
          "players</title></path>\n",
          colour, at - 4.0, limit - 4.0, name, why_stopped(points.back()), points.back().players);
    });
  }
  double at = left;
  for_each_method([&](CurseMethod method, std::string_view name) {
    text += fmt::format(
        "<path class=\"line m{}\" d=\"M{:.0f} {:.0f} h22\"/>\n<text x=\"{:.0f}\" "
        "y=\"{:.0f}\">{}</text>\n",
        static_cast<std::size_t>(method), at, bottom + 46.0, at + 28.0, bottom + 50.0, name);
    at += 144.0;
  });
  text += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\">dashed: the limit of {:g} s; a cross: no seed got there, in "
      "time or memory</text>\n",
      left, bottom + 70.0, settings.max_seconds);
  return text + "</svg>\n";
}

}  // namespace vlearn
