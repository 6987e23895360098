// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "vlearn/core/checked.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMaxConfig = std::uint64_t{1} << 20U;
constexpr std::array<std::string_view, 3> kSummaryRows = {"min", "mean", "max"};

/// A number as files have it.
std::string text_of(const JsonValue& value) {
  JsonWriter json(JsonWriter::Layout::compact);
  switch (value.kind()) {
    case JsonKind::string: return std::string(value.string());
    case JsonKind::boolean: return value.boolean() ? "true" : "false";
    case JsonKind::number: return json.value(value.number()).text();
    case JsonKind::integer:
      return value.number() < 0.0 ? std::to_string(value.integer(INT64_MIN, INT64_MAX))
                                  : std::to_string(value.natural(UINT64_MAX));
    case JsonKind::null: return "null";
    case JsonKind::array:
    case JsonKind::object: break;
  }
  throw value.error("is not a text, a number or a truth value");
}

/// Bytes of metrics.jsonl or timing.jsonl, at most: ten thousand rows of all players, and 64 MiB of
/// a few.
std::uint64_t most_bytes(std::size_t num_players) {
  constexpr std::uint64_t least = std::uint64_t{1} << 26U;
  constexpr std::uint64_t rows = 10'000;
  constexpr std::uint64_t of_player = 256;
  return std::max(least, rows * of_player * (std::min(num_players, kPlayersInRows) + 1));
}

/// Whole lines as one array with a line for each row: so every message has the line of the file.
JsonDocument parse_lines(std::string_view lines, const std::filesystem::path& file) {
  std::string rows = "[";
  rows.reserve(lines.size() + lines.size() / 16 + 2);
  for (const char c : lines.substr(0, lines.size() - 1)) {
    if (c == '\n') rows += ',';
    rows += c;
  }
  rows += ']';
  // A value has its key beside it.
  constexpr std::uint64_t least_values = std::uint64_t{1} << 21U;
  const std::uint64_t values = std::max(least_values, rows.size() / 8);
  return JsonDocument::parse(
      rows, file.string(),
      {.max_bytes = rows.size(),
       .max_values = static_cast<std::uint32_t>(std::min<std::uint64_t>(values, UINT32_MAX / 2))});
}

/// The items of parse_lines(), each one object on its line.
template <class See>
void for_each_row(const JsonDocument& document, const See& see) {
  std::uint32_t line = 1;
  for (const JsonValue row : document.root().items()) {
    if (row.line() != line++ || !row.is_object()) throw row.error("is not one object on its line");
    see(row);
  }
}

/// Bytes of tables.safetensors of a game, at most: visits, three arrays of values and two of
/// policies, beside the header and the commit.
std::uint64_t most_table_bytes(const Frame& frame) {
  const std::array<std::uint64_t, 3> cells = {sizeof(double), frame.horizon(), frame.max_states()};
  const auto of_cells = checked_product(cells);
  const auto of_policies = checked_multiply(2, frame.max_actions());
  const auto of_players = of_policies ? checked_add(*of_policies, 3) : std::nullopt;
  const auto of_all =
      of_players ? checked_multiply(*of_players, frame.num_players()) : std::nullopt;
  const auto arrays = of_cells && of_all && *of_all < UINT64_MAX
                          ? checked_multiply(*of_cells, *of_all + 1)
                          : std::nullopt;
  const auto file =
      arrays ? checked_add(*arrays, kMaxHeaderBytes + sizeof(std::uint64_t) + sizeof(Sha256Digest))
             : std::nullopt;
  return file.value_or(UINT64_MAX);
}

/// The values of all players in a row, and the largest of their bounds.
void read_players(const JsonValue& row, Metrics& metrics, CurvePoint& point) {
  const JsonValue players = row.at("players");
  if (!players.is_array() || players.size() != metrics.series.size()) {
    throw players.error(fmt::format("is not a list of {}", metrics.series.size()));
  }
  std::size_t place = 0;
  for (const JsonValue player : players.items()) {
    const std::string& wanted = metrics.series[place++];
    if (player.at("player").string() != wanted) {
      throw player.at("player").error("is out of place", fmt::format("want \"{}\"", wanted));
    }
    point.values.push_back(player.at("value").number());
    if (const std::optional<double> bound = number_in(player, "gap_bound")) {
      point.data_bound = std::max(point.data_bound.value_or(*bound), *bound);
    }
  }
}

CurvePoint read_row(const JsonValue& row, const MetricsShape& shape, Metrics& metrics) {
  CurvePoint point;
  const char* const counter = shape.kind == RunView::Kind::planned ? "iterations" : "episode";
  point.episode = row.at(counter).natural(kMaxEpisodes);
  if (!metrics.curve.empty() && point.episode < metrics.curve.back().episode) {
    throw row.at(counter).error("is less than in the row before");
  }
  point.gap_upper = number_in(row, "certified_gap");
  if (shape.exact) point.gap_lower = point.gap_upper;
  if (shape.kind == RunView::Kind::learned) read_players(row, metrics, point);
  if (shape.kind == RunView::Kind::baseline && shape.proven_bounds) {
    point.data_bound = number_in(row, "optimism_gap");
  }
  return point;
}

}  // namespace

std::optional<double> number_in(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> found = object.find(key);
  if (!found) return std::nullopt;
  return found->number();
}

ConfigFile read_config(const std::filesystem::path& run) {
  if (!std::filesystem::is_directory(run)) {
    throw Error(ErrorKind::input, run.string(),
                std::filesystem::exists(run) ? "is not a folder" : "is not there",
                "want a run folder, as vlearn learn and vlearn solve leave it");
  }
  const std::filesystem::path file = run / "config.json";
  if (!std::filesystem::exists(file)) {
    throw Error(ErrorKind::input, run.string(), "is no run folder: it has no config.json",
                "want one as vlearn learn and vlearn solve leave it");
  }
  return parse_config(FileBytes::read(file, kMaxConfig).text(), run);
}

ConfigFile parse_config(std::string_view text, const std::filesystem::path& run) {
  ConfigFile config{parse_run(text, run), RunView::Kind::learned,
                    to_hex(sha256(std::as_bytes(std::span(text)))),
                    JsonDocument::parse(text, (run / "config.json").string())};
  if (!config.run.algorithm.empty()) {
    config.kind = RunView::Kind::baseline;
  } else if (config.run.planned) {
    config.kind = RunView::Kind::planned;
  }
  return config;
}

std::vector<std::pair<std::string, std::string>> members_of(const JsonDocument& config) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const JsonValue value : config.root().items()) {
    members.emplace_back(value.key(), text_of(value));
  }
  return members;
}

std::string group_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string group;
  for (const auto& [key, value] : members) {
    if (key != "seed") group += fmt::format("{}: {}\n", key, value);
  }
  return group;
}

std::optional<ResultFile> read_result(const std::filesystem::path& run, const ConfigFile& config) {
  const std::filesystem::path file = run / "result.json";
  if (!std::filesystem::exists(file)) return std::nullopt;
  return parse_result(FileBytes::read(file, JsonLimits().max_bytes).text(), file, config);
}

ResultFile parse_result(std::string_view text,
                        const std::filesystem::path& file,
                        const ConfigFile& config) {
  const JsonDocument document = JsonDocument::parse(text, file.string());
  const JsonValue root = document.root();
  constexpr std::array<std::string_view, 3> schemas = {"vlearn.learn/1", "vlearn.solve/1",
                                                       "vlearn.baseline/1"};
  const std::string_view wanted = schemas.at(static_cast<std::size_t>(config.kind));
  if (root.at("schema").string() != wanted) {
    throw root.at("schema").error(fmt::format("is not {}, which goes with config.json", wanted));
  }
  const auto check = [&](const char* key, const std::string& ours) {
    if (root.at(key).string() == ours) return;
    throw root.at(key).error("is not that of config.json", "the file is of another run");
  };
  check("game_hash", config.run.title.game_hash);
  const bool planned = config.kind == RunView::Kind::planned;
  if (!planned) check("config_hash", config.hash);
  ResultFile result{std::string(root.at("stopped").string()),
                    root.at(planned ? "iterations" : "episodes").natural(UINT64_MAX)};
  if (config.kind == RunView::Kind::learned) {
    result.guarantee = std::string(root.at("guarantee").string());
  }
  return result;
}

Metrics read_metrics(const std::filesystem::path& run, const MetricsShape& shape) {
  const std::filesystem::path file = run / "metrics.jsonl";
  if (!shape.ended && !std::filesystem::exists(file)) {
    return parse_metrics("", file, shape);
  }
  return parse_metrics(FileBytes::read(file, most_bytes(shape.num_players)).text(), file, shape);
}

Metrics parse_metrics(std::string_view text,
                      const std::filesystem::path& file,
                      const MetricsShape& shape) {
  Metrics metrics;
  if (shape.kind == RunView::Kind::learned) {
    for (std::size_t j = 1; j <= shape.num_players && shape.num_players <= kPlayersInRows; ++j) {
      metrics.series.push_back(std::to_string(j));
    }
    if (metrics.series.empty()) metrics.series.assign(kSummaryRows.begin(), kSummaryRows.end());
  }
  const std::size_t whole = text.rfind('\n') + 1;  // of nothing: 0
  if (whole < text.size()) {
    if (shape.ended) {
      throw Error(ErrorKind::input,
                  fmt::format("{}:{}", file.string(), std::ranges::count(text, '\n') + 1),
                  "the last line was cut", "restore the file from a copy");
    }
    metrics.cut = true;
    text = text.substr(0, whole);
  }
  if (text.empty()) return metrics;
  for_each_row(parse_lines(text, file), [&](const JsonValue& row) {
    metrics.curve.push_back(read_row(row, shape, metrics));
  });
  return metrics;
}

std::vector<std::uint64_t> read_visits(const std::filesystem::path& run, const Frame& frame) {
  const std::filesystem::path file = run / "tables.safetensors";
  if (!std::filesystem::exists(file)) return {};
  const std::size_t width = frame.max_states();
  ContainerArrays arrays = ContainerArrays::read(
      file,
      [&](const ContainerHeader& header) {
        if (header.metadata("format") != "vlearn.tables/1") {
          throw header.error("format", "is not one that this version reads");
        }
        const std::vector<std::uint64_t> wanted = {frame.horizon(), width};
        if (header.at("visits", ElementType::u64).shape != wanted) {
          throw header.error("visits", "has another shape than the game");
        }
      },
      most_table_bytes(frame));
  const std::vector<std::uint64_t> table = arrays.take<std::uint64_t>("visits");
  std::vector<std::uint64_t> visits;
  for (const Step h : all<Step>(frame.horizon())) {
    const auto* const begin = table.data() + h.index() * width;
    visits.insert(visits.end(), begin, begin + frame.num_states(h));
  }
  return visits;
}

}  // namespace vlearn
