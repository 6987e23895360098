// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "text_table.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/experiment/hold_search.h"
#include "vlearn/run/gap_curve.h"

namespace vlearn {
namespace {

std::string sentence(const Comparison& comparison, const CompareVerdict::Other& other) {
  const CompareSettings& settings = comparison.settings;
  const std::size_t best_place = judge(comparison).best;
  const std::string_view best = name_of(settings.presets[best_place]);
  const std::string_view its = name_of(settings.presets[other.place]);
  const double gap = comparison.curves[best_place].at(comparison.looks.size() - 1).median;
  if (gap == other.gap) {
    return fmt::format("{} and {} certified the same gap, {:.3g}.\n", best, its, gap);
  }
  const double fewer = static_cast<double>(settings.episodes) / static_cast<double>(other.episodes);
  return fmt::format(
      "{} certified the smaller gap, {:.3g} against {:.3g} of {} after {} episodes; from {} "
      "episode{} on "
      "it was as good, {} times fewer.\n",
      best, gap, other.gap, its, settings.episodes, other.episodes, other.episodes == 1 ? "" : "s",
      fewer < 1000.0 ? fmt::format("{:.3g}", fewer) : fmt::format("{:.0f}", fewer));
}

}  // namespace

std::vector<std::uint64_t> shown_looks_of(std::uint64_t episodes) {
  std::vector<std::uint64_t> looks;
  for (std::uint64_t ten = 10; ten < episodes; ten *= 10) {
    looks.push_back(ten);
    if (3 * ten < episodes) looks.push_back(3 * ten);
    if (ten > episodes / 10) break;  // before it overflows
  }
  looks.push_back(episodes);
  return looks;
}

std::vector<std::uint64_t> looks_of(std::uint64_t episodes) {
  std::vector<std::uint64_t> looks = shown_looks_of(episodes);
  for (std::uint64_t look = next_geometric(0); look < episodes; look = next_geometric(look)) {
    looks.push_back(look);
  }
  std::sort(looks.begin(), looks.end());
  looks.erase(std::unique(looks.begin(), looks.end()), looks.end());
  return looks;
}

Quartiles PresetCurve::at(std::size_t look) const {
  std::vector<double> of_seeds;
  of_seeds.reserve(gaps.size());
  for (const std::vector<double>& run : gaps) of_seeds.push_back(run[look]);
  return quartiles_of(of_seeds);
}

std::optional<Comparison> compare_presets(const AnyGame& game,
                                          const CompareSettings& settings,
                                          const CompareHooks& hooks) {
  Comparison comparison{settings, looks_of(settings.episodes), {}};
  for (const Preset preset : settings.presets) {
    comparison.curves.push_back({preset, std::vector<std::vector<double>>(settings.seeds)});
  }
  const std::size_t runs = settings.presets.size() * settings.seeds;
  std::mutex mutex;
  std::size_t ended = 0;
  parallel_for(runs, hooks.parallel, [&](std::size_t i) {
    if (hooks.cancel.requested()) return;
    PresetCurve& curve = comparison.curves[i / settings.seeds];
    const std::size_t seed = i % settings.seeds;
    std::vector<double>& gaps = curve.gaps[seed];
    follow_gap(
        game, preset_config(game, curve.preset, settings.target, settings.episodes, seed + 1),
        [&](std::uint64_t) { return comparison.looks[gaps.size()]; },
        [&](const GapPoint& point) {
          gaps.push_back(point.gap);
          return gaps.size() < comparison.looks.size();
        },
        hooks.cancel);
    if (gaps.size() < comparison.looks.size() || !hooks.progress) return;
    const std::scoped_lock lock(mutex);
    hooks.progress(++ended, runs);
  });
  if (hooks.cancel.requested()) return std::nullopt;
  return comparison;
}

CompareVerdict judge(const Comparison& comparison) {
  const std::size_t last = comparison.looks.size() - 1;
  CompareVerdict verdict;
  const auto end_of = [&](std::size_t place) { return comparison.curves[place].at(last).median; };
  for (std::size_t place = 1; place < comparison.curves.size(); ++place) {
    if (end_of(place) < end_of(verdict.best)) verdict.best = place;
  }
  for (std::size_t place = 0; place < comparison.curves.size(); ++place) {
    if (place == verdict.best) continue;
    // From the last look backwards: where learning begins, a gap may be small for a while.
    std::size_t look = last;
    while (look > 0 && comparison.curves[verdict.best].at(look - 1).median <= end_of(place)) --look;
    verdict.others.push_back({place, end_of(place), comparison.looks[look]});
  }
  return verdict;
}

std::string to_text(const Comparison& comparison) {
  std::vector<std::vector<std::string>> table = {{"episodes"}};
  for (const PresetCurve& curve : comparison.curves) {
    table.front().emplace_back(name_of(curve.preset));
    table.front().emplace_back("quartiles");
  }
  const std::vector<std::uint64_t> shown = shown_looks_of(comparison.settings.episodes);
  for (std::size_t look = 0; look < comparison.looks.size(); ++look) {
    if (!std::binary_search(shown.begin(), shown.end(), comparison.looks[look])) continue;
    std::vector<std::string>& row = table.emplace_back();
    row.push_back(std::to_string(comparison.looks[look]));
    for (const PresetCurve& curve : comparison.curves) {
      const Quartiles gap = curve.at(look);
      row.push_back(fmt::format("{:.3g}", gap.median));
      row.push_back(fmt::format("{:.3g} to {:.3g}", gap.lower, gap.upper));
    }
  }
  std::string text =
      fmt::format("certified gap, median of {} seed{}\n\n", comparison.settings.seeds,
                  comparison.settings.seeds == 1 ? "" : "s");
  text += markdown_table(table) + "\n";
  for (const CompareVerdict::Other& other : judge(comparison).others) {
    text += sentence(comparison, other);
  }
  return text;
}

std::string to_json(const Comparison& comparison, const std::string& game) {
  const CompareSettings& settings = comparison.settings;
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.compare/1");
  json.member("version", build_info().version).member("game", game);
  json.member("target", vlearn::name_of(settings.target)).member("seeds", settings.seeds);
  json.member("episodes", settings.episodes).key("presets").begin_array();
  for (const PresetCurve& curve : comparison.curves) {
    json.begin_object().member("preset", name_of(curve.preset)).key("points").begin_array();
    for (std::size_t look = 0; look < comparison.looks.size(); ++look) {
      const Quartiles gap = curve.at(look);
      json.on_one_line().begin_object().member("episodes", comparison.looks[look]);
      json.member("median", gap.median).member("lower_quartile", gap.lower);
      json.member("upper_quartile", gap.upper).key("gaps").begin_array();
      for (const std::vector<double>& run : curve.gaps) json.value(run[look]);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  const CompareVerdict verdict = judge(comparison);
  json.end_array().member("best", name_of(settings.presets[verdict.best]));
  json.key("others").begin_array();
  for (const CompareVerdict::Other& other : verdict.others) {
    json.on_one_line().begin_object().member("preset", name_of(settings.presets[other.place]));
    json.member("gap", other.gap).member("reached_after", other.episodes).end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

}  // namespace vlearn
