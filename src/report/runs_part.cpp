// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Several runs: groups side by side, and how each run ended.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "figures.h"
#include "page_parts.h"

namespace vlearn {
namespace {

using Facts = std::vector<std::string>;  // of a group, in the order of importance

Facts facts_of(const RunView& run) {
  return {run.game.word, std::string(name_of(run.target)),
          run.preset.empty() ? run.algorithm : run.preset, run.algorithm, run.output};
}

void append(std::string& label, const std::string& fact) {
  if (fact.empty()) return;
  label += (label.empty() ? "" : ", ") + fact;
}

bool all_differ(const std::vector<NamedGroup>& groups) {
  std::set<std::string> seen;
  for (const NamedGroup& group : groups) seen.insert(group.label);
  return seen.size() == groups.size();
}

/// Labels that have what differs, and no more than is needed to tell groups apart.
void label_groups(std::span<const RunView> runs, std::vector<NamedGroup>& groups) {
  const auto first = [&](const NamedGroup& group) -> const RunView& {
    return runs[group.group.runs.front()];
  };
  if (groups.empty()) return;
  if (groups.size() == 1) {
    groups.front().label = first(groups.front()).game.word;
    return;
  }
  const std::size_t num_facts = facts_of(first(groups.front())).size();
  for (std::size_t i = 0; i < num_facts && !all_differ(groups); ++i) {
    std::set<std::string> values;
    for (const NamedGroup& group : groups) values.insert(facts_of(first(group))[i]);
    if (values.size() < 2) continue;
    for (NamedGroup& group : groups) append(group.label, facts_of(first(group))[i]);
  }
  // What is left stands in the configuration.
  const std::vector<std::pair<std::string, std::string>> config = first(groups.front()).config;
  for (std::size_t i = 0; i < config.size() && !all_differ(groups); ++i) {
    if (config[i].first == "seed") continue;
    const auto value = [&](const NamedGroup& group) {
      for (const auto& [key, text] : first(group).config) {
        if (key == config[i].first) return shortened(text, 24);
      }
      return std::string("–");
    };
    std::set<std::string> values;
    for (const NamedGroup& group : groups) values.insert(value(group));
    if (values.size() < 2) continue;
    for (NamedGroup& group : groups) append(group.label, config[i].first + " " + value(group));
  }
  if (all_differ(groups)) return;
  for (std::size_t i = 0; i < groups.size(); ++i)
    append(groups[i].label, fmt::format("group {}", i + 1));
}

std::size_t num_verified(std::span<const RunView> runs, const NamedGroup& group) {
  return static_cast<std::size_t>(
      std::count_if(group.group.runs.begin(), group.group.runs.end(), [&](std::size_t i) {
        return runs[i].verification.outcome == Verification::Outcome::accepted;
      }));
}

std::string seeds_text(std::span<const RunView> runs, const NamedGroup& group) {
  std::string text;
  for (std::size_t i = 0; i < group.group.runs.size(); ++i) {
    if (i == 8) return text + ", …";
    append(text, std::to_string(runs[group.group.runs[i]].seed));
  }
  return text;
}

std::string episodes_text(std::span<const RunView> runs, const NamedGroup& group) {
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (const std::size_t i : group.group.runs) {
    least = std::min(least, runs[i].episodes);
    most = std::max(most, runs[i].episodes);
  }
  return least == most ? count(most) : count(least) + "–" + count(most);
}

std::string interval_text(const MeanInterval& interval) {
  if (interval.low == interval.high) return figure(interval.mean);
  return fmt::format("{} [{}, {}]", figure(interval.mean), figure(interval.low, 4, Rounding::down),
                     figure(interval.high, 4, Rounding::up));
}

LineChart chart_of(std::span<const RunView> runs, const std::vector<NamedGroup>& groups) {
  LineChart chart;
  chart.name = {
      "group-chart", "Gap against episodes",
      "Both axes are logarithmic. A line and its band for each group, thin lines for single runs."};
  chart.x_label = x_label(runs);
  chart.y_label = "gap";
  chart.log_y = true;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t i : groups[g].group.runs) {
      ChartLine line{{}, fmt::format("line thin c{}", g % 8), {}};
      for (const std::size_t at : kept_points(runs[i].curve)) {
        const CurvePoint& point = runs[i].curve[at];
        if (point.gap_upper)
          line.points.emplace_back(static_cast<double>(point.episode), *point.gap_upper);
      }
      if (groups[g].group.runs.size() == 1) line.label = groups[g].label;
      chart.lines.push_back(std::move(line));
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const RunGroup& group = groups[g].group;
    if (group.runs.size() < 2 || group.episodes.empty()) continue;
    ChartBand band{fmt::format("band c{}", g % 8), {}, {}, {}};
    ChartLine line{groups[g].label, fmt::format("line c{}", g % 8), {}};
    for (std::size_t i = 0; i < group.episodes.size(); ++i) {
      const auto x = static_cast<double>(group.episodes[i]);
      band.x.push_back(x);
      band.low.push_back(group.gaps[i].low);
      band.high.push_back(group.gaps[i].high);
      line.points.emplace_back(x, group.gaps[i].mean);
    }
    chart.bands.push_back(std::move(band));
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace

std::vector<NamedGroup> name_groups(std::span<const RunView> runs) {
  std::vector<NamedGroup> groups;
  for (RunGroup& group : group_runs(runs)) {
    NamedGroup named{std::move(group), {}, std::nullopt};
    std::vector<double> gaps;
    for (const std::size_t i : named.group.runs) {
      if (const Certificate* certificate = certificate_of(runs[i]))
        gaps.push_back(certificate->gap_upper);
    }
    if (!gaps.empty()) named.last = bootstrap_interval(gaps);
    groups.push_back(std::move(named));
  }
  label_groups(runs, groups);
  return groups;
}

void add_runs_headline(Html& html,
                       std::span<const RunView> runs,
                       const std::vector<NamedGroup>& groups) {
  std::size_t verified = 0;
  std::size_t refuted = 0;
  std::size_t mismatched = 0;
  std::size_t certified = 0;
  double worst = 0.0;
  double confidence = 1.0;  // the least
  std::set<std::string> games;
  for (const RunView& run : runs) {
    verified += run.verification.outcome == Verification::Outcome::accepted ? 1 : 0;
    refuted += run.verification.outcome == Verification::Outcome::refuted ? 1 : 0;
    mismatched += run.verification.outcome == Verification::Outcome::mismatch ? 1 : 0;
    const Certificate* certificate = certificate_of(run);
    if (certificate == nullptr) continue;
    worst = std::max(worst, certificate->gap_upper);
    if (certificate->method) confidence = std::min(confidence, certificate->method->confidence);
    games.insert(run.game.hash);
    ++certified;
  }
  std::string text;
  std::string tone = "fair";
  if (refuted > 0) {
    tone = "bad";
    text = fmt::format("Refuted: independent code does not confirm {} of {} certificates.", refuted,
                       certified);
  } else if (mismatched > 0) {
    tone = "bad";
    text = fmt::format(
        "Mismatch: the recorded curves of {} of {} runs are not those of what was "
        "learned.",
        mismatched, runs.size());
  } else if (certified == 0) {
    text = "None of these runs is certified.";
  } else {
    if (certified == runs.size() && verified == runs.size()) tone = "good";
    text = fmt::format("{} of {}", plural(runs.size(), "run"), plural(groups.size(), "kind"));
    // Gaps of different games have different units.
    if (games.size() == 1) {
      text +=
          fmt::format(": no {}gap is larger than {}{}", certified < runs.size() ? "certified " : "",
                      figure(worst, 3, Rounding::up),
                      confidence < 1.0 ? ", with " + confidence_text(confidence) + " confidence"
                                       : std::string());
    }
    text += fmt::format(", {} of {} certificates verified by independent code.",
                        verified == certified ? "all" : count(verified), count(certified));
    if (certified < runs.size())
      text += fmt::format(" {} not certified.", plural(runs.size() - certified, "run"));
  }
  html.open("section", {{"id", "headline"}, {"aria-label", "What was found"}});
  html.open("p", {{"class", "verdict " + tone}}).text(text).close().close();
}

void add_groups(Html& html, std::span<const RunView> runs, const std::vector<NamedGroup>& groups) {
  open_section(html, "gap", "Gap");
  add_chart(html, "groups", chart_of(runs, groups));
  const auto recorded = static_cast<std::uint64_t>(std::ranges::count_if(
      runs, [](const RunView& run) { return !run.curve_output.empty() && !run.curve_derived; }));
  if (recorded > 0) {
    html.element("p",
                 fmt::format("{} drawn as recorded in metrics.jsonl, and not derived again.",
                             recorded == 1 ? "1 curve is" : count(recorded) + " curves are"),
                 {{"class", "note"}});
  }
  html.element("p",
               "Thick lines are interquartile means over seeds, with bands of 95 % by the "
               "bootstrap; thin lines are single runs.",
               {{"class", "note"}});
  const auto preset = [&](const NamedGroup& group) {
    const RunView& first = runs[group.group.runs.front()];
    return first.preset.empty() ? first.algorithm : first.preset;
  };
  const bool labelled = std::any_of(groups.begin(), groups.end(), [&](const NamedGroup& group) {
    return group.label != preset(group) && group.label != runs[group.group.runs.front()].game.word;
  });
  std::vector<Column> columns = {{"game"}, {"target"}, {"preset"}};
  if (labelled) columns.push_back({"group"});
  for (const Column& column : {Column{"seeds"}, Column{x_label(runs), true},
                               Column{"gap, IQM [95 %]", true}, Column{"verified", true}}) {
    columns.push_back(column);
  }
  {
    TableWriter table(html, "Groups of runs that differ by their seed", columns);
    for (const NamedGroup& group : groups) {
      const RunView& first = runs[group.group.runs.front()];
      table.row().head(first.game.word).cell(name_of(first.target));
      table.name(preset(group));
      if (labelled) table.name(group.label);
      table.cell(seeds_text(runs, group)).cell(episodes_text(runs, group));
      table.cell(group.last ? interval_text(*group.last) : "–");
      table.cell(fmt::format("{} of {}", num_verified(runs, group), group.group.runs.size()));
    }
  }
  html.close();
}

void add_each_run(Html& html, std::span<const RunView> runs) {
  open_section(html, "runs", "Each run");
  for (const RunView& run : runs) {
    const Certificate* certificate = certificate_of(run);
    html.open("details").open("summary").name(run.path);
    html.text(fmt::format(" · seed {} · {} · {}", run.seed,
                          certificate != nullptr
                              ? "gap " + figure(certificate->gap_upper, 4, Rounding::up)
                              : std::string("no certificate"),
                          verified_word(run.verification)));
    html.close();
    if (!run.verification.message.empty()) {
      html.open("p", {{"class", "note"}}).name(run.verification.message).close();
    }
    html.open("dl", {{"class", "facts"}});
    add_fact(html, "game", run.game.word);
    add_fact(html, x_label({&run, 1}), count(run.episodes));
    add_fact(html, "stopped", run.stopped.empty() ? "not yet" : run.stopped);
    for (const std::string& remark : run.remarks) add_fact(html, "remark", remark);
    html.close();
    if (!run.command.empty())
      add_command(html, run.command, "The command that makes this run again");
    html.close();
  }
  html.close();
}

}  // namespace vlearn
