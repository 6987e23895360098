// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/experiment/convergence.h"

namespace vlearn {
namespace {

std::string_view name_of(BarVerdict verdict) {
  return kBarVerdictNames[static_cast<std::size_t>(verdict)];
}

/// All seeds of a game and target.
struct Row {
  const CyclicGame* game = nullptr;
  Target target = Target::cce;
  std::vector<const ConvergenceRun*> runs = {};
  std::vector<double> worst = {};          // over the runs
  std::vector<std::uint64_t> rises = {};   // seeds that break this bar,
  std::vector<std::uint64_t> levels = {};  // and this one
  std::vector<std::uint64_t> lasts = {};   // seeds whose last policies break one of them
  bool judged = false;                     // at least one bar of one run
  bool open = false;                       // likewise

  [[nodiscard]] BarVerdict verdict() const {
    if (!rises.empty() || !levels.empty()) return BarVerdict::broken;
    return open ? BarVerdict::open : BarVerdict::holds;
  }
  [[nodiscard]] std::string bars() const {
    std::string text;
    if (!rises.empty()) text = fmt::format("rise: {}", fmt::join(rises, ", "));
    if (!levels.empty()) {
      text += fmt::format("{}level: {}", text.empty() ? "" : "; ", fmt::join(levels, ", "));
    }
    if (!text.empty()) return text;
    if (!judged) return "open";
    return open ? "hold so far" : "hold";
  }
};

Row row_of(const ConvergenceSettings& settings,
           const ConvergenceLog& log,
           std::size_t game,
           Target target) {
  Row row{.game = &settings.games[game], .target = target};
  for (std::uint64_t i = 0; i < settings.seeds; ++i) {
    const ConvergenceRun* const run = log.find(game, target, settings.first_seed + i);
    if (run == nullptr) continue;
    row.runs.push_back(run);
    if (row.worst.empty()) row.worst = run->worst;
    for (std::size_t k = 0; k < row.worst.size(); ++k) {
      row.worst[k] = std::max(row.worst[k], run->worst[k]);
    }
    const ConvergenceVerdict verdict = judge_convergence(run->worst);
    if (verdict.rise == BarVerdict::broken) row.rises.push_back(run->seed);
    if (verdict.level == BarVerdict::broken) row.levels.push_back(run->seed);
    const ConvergenceVerdict last = judge_convergence(run->last);
    if (last.rise == BarVerdict::broken || last.level == BarVerdict::broken) {
      row.lasts.push_back(run->seed);
    }
    for (const BarVerdict bar : {verdict.rise, verdict.level}) {
      (bar == BarVerdict::open ? row.open : row.judged) = true;
    }
  }
  return row;
}

std::vector<Row> rows_of(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  std::vector<Row> rows;
  for (std::size_t game = 0; game < settings.games.size(); ++game) {
    for (const Target target : settings.targets) {
      Row row = row_of(settings, log, game, target);
      if (!row.runs.empty()) rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// "10^4", "10^4.5".
std::string end_name(std::size_t half_decade) {
  return fmt::format("10^{}{}", 3 + (half_decade + 1) / 2, half_decade % 2 == 0 ? ".5" : "");
}

std::string share_text(double share) {
  return share <= kLeastShare ? "<= 0.0001" : fmt::format("{:.4f}", share);
}

void write_gaps(JsonWriter& json, const char* key, std::span<const double> gaps) {
  json.key(key).on_one_line().begin_array();
  for (const double gap : gaps) json.value(gap);
  json.end_array();
}

}  // namespace

BarVerdict overall_verdict(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  bool open = false;
  for (const Row& row : rows_of(settings, log)) {
    if (row.verdict() == BarVerdict::broken) return BarVerdict::broken;
    open = open || row.verdict() == BarVerdict::open;
  }
  return open ? BarVerdict::open : BarVerdict::holds;
}

std::string convergence_markdown(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  std::vector<std::vector<std::string>> table = {{"game", "target"}};
  const std::size_t columns = half_decades(settings.episodes).size();
  for (std::size_t k = 0; k < columns; ++k) table[0].push_back(end_name(k));
  table[0].emplace_back("bars");
  table[0].emplace_back("last policy");
  std::size_t broken = 0;
  std::size_t last_broken = 0;
  const std::vector<Row> rows = rows_of(settings, log);
  for (const Row& row : rows) {
    std::vector<std::string>& cells = table.emplace_back();
    cells = {row.game->name, std::string(vlearn::name_of(row.target))};
    for (const double worst : row.worst) cells.push_back(share_text(worst));
    cells.push_back(row.bars());
    cells.push_back(row.lasts.empty() ? "-" : fmt::format("{}", fmt::join(row.lasts, ", ")));
    if (row.verdict() == BarVerdict::broken) ++broken;
    if (!row.lasts.empty()) ++last_broken;
  }
  std::string text = markdown_table(table);
  text += fmt::format(
      "\nPreset `{}`: the worst certified gap of each half decade of episodes, under its end, in "
      "units of H times the range of rewards; the worst of {} seed{} from {} on.\nBars: from 10^5 "
      "on a half decade is at most {} times the one before (rise), and from 10^7 on at most {} "
      "(level), in every run; less than {} counts as that. The seeds that break them are named; in "
      "the last column those that would break one if they returned their last policy.\n",
      name_of(settings.preset), settings.seeds, settings.seeds == 1 ? "" : "s", settings.first_seed,
      kMostRise, kMostLevel, kLeastShare);
  if (broken > 0) {
    text += fmt::format("Broken in {} of {} rows", broken, rows.size());
  } else if (overall_verdict(settings, log) == BarVerdict::open) {
    text += "Not broken, but the runs are too short to tell";
  } else {
    text += "They hold";
  }
  return text + fmt::format(". If runs returned their last policy: broken in {} of {} rows.\n",
                            last_broken, rows.size());
}

std::string convergence_json(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.convergence/1");
  json.member("version", build_info().version).member("preset", name_of(settings.preset));
  json.member("first_seed", settings.first_seed).member("seeds", settings.seeds);
  json.member("bars", name_of(overall_verdict(settings, log)));
  json.key("half_decades").on_one_line().begin_array();
  for (const std::uint64_t end : half_decades(settings.episodes)) json.value(end);
  json.end_array().key("games").begin_array();
  for (const Row& row : rows_of(settings, log)) {
    json.begin_object().member("name", row.game->name).member("about", row.game->about);
    json.member("target", vlearn::name_of(row.target)).member("bars", name_of(row.verdict()));
    write_gaps(json, "worst", row.worst);
    json.key("runs").begin_array();
    for (const ConvergenceRun* const run : row.runs) {
      const ConvergenceVerdict verdict = judge_convergence(run->worst);
      json.on_one_line().begin_object().member("seed", run->seed);
      json.member("rise", name_of(verdict.rise)).member("level", name_of(verdict.level));
      write_gaps(json, "worst", run->worst);
      write_gaps(json, "last", run->last);
      json.end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

std::string convergence_csv(const ConvergenceSettings& settings, const ConvergenceLog& log) {
  std::string text = "game,target,seed,half_decade_end,worst_gap,worst_gap_of_last_policies\n";
  const std::vector<std::uint64_t> ends = half_decades(settings.episodes);
  for (const Row& row : rows_of(settings, log)) {
    for (const ConvergenceRun* const run : row.runs) {
      for (std::size_t k = 0; k < ends.size(); ++k) {
        text += fmt::format("{},{},{},{},{},{}\n", row.game->name, vlearn::name_of(row.target),
                            run->seed, ends[k], run->worst[k], run->last[k]);
      }
    }
  }
  return text;
}

}  // namespace vlearn
