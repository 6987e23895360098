// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/experiment/hold_search.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/gap_curve.h"
#include "vlearn/run/solve_game.h"

namespace vlearn {
namespace {

/// c of the reference's bonus, far below that of the theorems: the reference shall be a good one.
constexpr double kReferenceBonusConstant = 0.01;

constexpr std::array<SuiteGame, 18> kSuite = {{
    {"one-shot", "random:players=2,states=1,actions=3,horizon=1,seed=%d,kind=zero-sum"},
    {"rps", "rps"},
    {"general", "random:players=2,states=4,actions=3,horizon=3,seed=%d"},
    {"states-20", "random:players=2,states=20,actions=3,horizon=3,seed=%d"},
    {"players-4", "random:players=4,states=3,actions=2,horizon=4,seed=%d"},
    {"zero-sum", "random:players=2,states=4,actions=3,horizon=6,seed=%d,kind=zero-sum"},
    {"horizon-10", "random:players=2,states=2,actions=2,horizon=10,seed=%d"},
    {"horizon-12", "random:players=2,states=4,actions=3,horizon=12,seed=%d"},
    {"actions-10", "random:players=2,states=2,actions=10,horizon=2,seed=%d"},
    {"actions-10-zero-sum", "random:players=2,states=2,actions=10,horizon=2,seed=%d,kind=zero-sum"},
    {"team", "random:players=3,states=4,actions=3,horizon=3,seed=%d,kind=team"},
    {"soccer", "soccer"},
    {"grid-game-1", "grid-game-1"},
    {"grid-game-2", "grid-game-2"},
    {"congestion-10", "congestion-10"},
    {"horizon-20", "random:players=2,states=4,actions=3,horizon=20,seed=%d", Measure::gap},
    {"lock", "lock:horizon=12,actions=3,players=1,success=0.9,seed=%d", Measure::share},
    {"team-lock", "lock:horizon=10,actions=3,players=2,success=1,seed=%d", Measure::share},
}};

std::uint64_t at_least_one(double episodes) {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(episodes), 1);
}

std::uint64_t episodes_of(const EfficiencySettings& settings, Measure measure) {
  const auto reference = static_cast<double>(settings.reference_episodes);
  switch (measure) {
    case Measure::ratio: break;
    case Measure::gap: return at_least_one(reference * 3.0 / 10.0);
    case Measure::share: return at_least_one(reference / 10.0);
  }
  return settings.reference_episodes;
}

Target target_of(const EfficiencySettings& settings, const Frame& frame) {
  return settings.target == Target::ce ? Target::ce : natural_target(frame);
}

/// What the best play of all players together is worth for the first of them, who share it.
double optimum_of(const AnyGame& game) {
  const Frame& frame = frame_of(game);
  SolveConfig config;
  config.target = natural_target(frame);
  config.until_gap = default_gap(frame);
  SolveHooks solve_hooks;
  solve_hooks.parallel.threads = 1;  // other games have the other threads
  CertificateTitle title;
  title.player_names.resize(frame.num_players());
  // No token: it takes milliseconds, and so it always ends.
  return solve_game(game, title, config, solve_hooks)
      .value()
      .certificate.players.front()
      .value_lower;
}

/// A game with a seed.
class GameTask {
 public:
  GameTask(const EfficiencySettings& settings,
           std::size_t place,
           std::uint64_t seed,
           const EfficiencyHooks& hooks)
      : settings_(settings),
        hooks_(hooks),
        place_(place),
        seed_(seed),
        loaded_(load_game(word_of(settings.games[place], seed))),
        target_(target_of(settings, frame_of(loaded_.game))) {}

  /// Nothing when the token fired.
  [[nodiscard]] std::optional<PartResult> run(Part part, const std::optional<PartResult>& before) {
    const PartResult result{.game = place_, .seed = seed_, .part = part};
    switch (part) {
      case Part::reference: return reference(result);
      case Part::preset: return search(result, before->wanted);
      case Part::gap: return at_the_end(result, Measure::gap);
      case Part::share: return at_the_end(result, Measure::share);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] LearnConfig config_of(std::uint64_t episodes) const {
    return preset_config(loaded_.game, settings_.preset, target_, episodes, seed_);
  }

  [[nodiscard]] std::optional<PartResult> reference(PartResult result) const {
    const std::uint64_t episodes = settings_.reference_episodes;
    const LearnConfig config =
        reference_config(loaded_.game, settings_.reference, target_, episodes, seed_);
    const std::optional<GapPoint> point = gap_after(loaded_.game, config, episodes, hooks_.cancel);
    if (!point) return std::nullopt;
    result.episodes = point->episodes;
    result.gap = point->gap;
    result.wanted = std::max(point->gap, default_gap(frame_of(loaded_.game)));
    return result;
  }

  [[nodiscard]] std::optional<PartResult> search(PartResult result, double wanted) const {
    HoldSearch held(wanted, settings_.reference_episodes);
    std::vector<GapPoint> points;
    follow_gap(
        loaded_.game, config_of(settings_.reference_episodes), next_geometric,
        [&](const GapPoint& point) {
          points.push_back(point);
          return held.see(point.episodes, point.gap);
        },
        hooks_.cancel);
    if (!held.over()) return std::nullopt;
    result.reached = held.found().has_value();
    result.episodes = held.found().value_or(points.back().episodes);
    const auto its = std::find_if(points.begin(), points.end(), [&](const GapPoint& point) {
      return point.episodes == result.episodes;
    });
    result.gap = its->gap;
    return result;
  }

  [[nodiscard]] std::optional<PartResult> at_the_end(PartResult result, Measure measure) const {
    const std::uint64_t episodes = episodes_of(settings_, measure);
    const std::optional<GapPoint> point =
        gap_after(loaded_.game, config_of(episodes), episodes, hooks_.cancel);
    if (!point) return std::nullopt;
    result.episodes = point->episodes;
    result.gap = point->gap;
    if (measure == Measure::share) {
      result.share = point->values.at(0) / optimum_of(loaded_.game);
    }
    return result;
  }

  const EfficiencySettings& settings_;
  const EfficiencyHooks& hooks_;
  std::size_t place_;
  std::uint64_t seed_;
  LoadedGame loaded_;
  Target target_;
};

}  // namespace

std::span<const SuiteGame> efficiency_suite() noexcept { return kSuite; }

std::string word_of(const SuiteGame& game, std::uint64_t seed) {
  std::string word(game.pattern);
  const std::size_t place = word.find("%d");
  if (place != std::string::npos) word.replace(place, 2, std::to_string(seed));
  return word;
}

std::vector<SuiteGame> select_games(Target target, std::span<const std::string> names) {
  std::vector<std::string_view> known;
  known.reserve(std::size(kSuite));
  for (const SuiteGame& game : kSuite) known.push_back(game.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string fix = suggestion(name, known);
    if (fix.empty()) fix = fmt::format("want some of {}", fmt::join(known, ", "));
    throw Error(ErrorKind::usage, "--games", "'" + printable(name, 100) + "' is not in the suite",
                fix);
  }
  std::vector<SuiteGame> chosen;
  for (const SuiteGame& game : kSuite) {
    const bool named = std::find(names.begin(), names.end(), game.name) != names.end();
    if (!names.empty() && !named) continue;
    const bool suits =
        target != Target::ce || (game.measure == Measure::ratio &&
                                 frame_of(load_game(word_of(game, 1)).game).num_players() == 2);
    if (suits) chosen.push_back(game);
    if (named && !suits) {
      throw Error(ErrorKind::usage, "--games",
                  fmt::format("'{}' is not measured with target ce", game.name),
                  "only the games of two players are");
    }
  }
  return chosen;
}

LearnConfig reference_config(
    const AnyGame& game, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed) {
  LearnConfig config = preset_config(game, preset, target, episodes, seed);
  if (preset == Preset::paper) config.learner.bonus_constant = kReferenceBonusConstant;
  return config;
}

std::span<const Part> parts_of(Measure measure) noexcept {
  static constexpr std::array<Part, 2> ratio = {Part::reference, Part::preset};
  static constexpr std::array<Part, 1> gap = {Part::gap};
  static constexpr std::array<Part, 1> share = {Part::share};
  switch (measure) {
    case Measure::ratio: break;
    case Measure::gap: return gap;
    case Measure::share: return share;
  }
  return ratio;
}

bool measure_efficiency(const EfficiencySettings& settings, const EfficiencyHooks& hooks) {
  std::mutex mutex;
  parallel_for(settings.games.size() * settings.seeds, hooks.parallel, [&](std::size_t i) {
    if (hooks.cancel.requested()) return;
    const std::size_t place = i / settings.seeds;
    const std::uint64_t seed = settings.first_seed + i % settings.seeds;
    const std::span<const Part> parts = parts_of(settings.games[place].measure);
    std::optional<GameTask> task;  // not before there is something to do
    std::optional<PartResult> before;
    for (const Part part : parts) {
      std::optional<PartResult> result;
      {
        const std::scoped_lock lock(mutex);
        result = hooks.find(place, seed, part);
      }
      if (!result) {
        if (!task) task.emplace(settings, place, seed, hooks);
        result = task->run(part, before);
        if (!result) return;
        const std::scoped_lock lock(mutex);
        hooks.done(*result);
      }
      before = result;
    }
  });
  return !hooks.cancel.requested();
}

EfficiencySummary summarize(
    const EfficiencySettings& settings,
    const std::function<std::optional<PartResult>(std::size_t game, std::uint64_t seed, Part part)>&
        find) {
  EfficiencySummary summary{settings, {}, std::nullopt, 0.0};
  std::vector<double> medians;
  for (std::size_t place = 0; place < settings.games.size(); ++place) {
    const SuiteGame& game = settings.games[place];
    EfficiencyRow row{.game = game};
    row.target = target_of(settings, frame_of(load_game(word_of(game, 1)).game));
    std::vector<double> wanted;
    std::vector<double> episodes;
    for (std::uint64_t i = 0; i < settings.seeds; ++i) {
      for (const Part part : parts_of(game.measure)) {
        row.parts.push_back(find(place, settings.first_seed + i, part).value());
      }
      const PartResult& last = row.parts.back();
      if (game.measure == Measure::ratio) {
        // One that has not arrived within the episodes of the reference counts as if just then.
        const auto of_reference = static_cast<double>(settings.reference_episodes);
        wanted.push_back(row.parts[row.parts.size() - 2].wanted);
        episodes.push_back(last.reached ? static_cast<double>(last.episodes) : of_reference);
        row.values.push_back(of_reference / episodes.back());
        row.reached += last.reached ? 1 : 0;
      } else {
        row.values.push_back(game.measure == Measure::gap ? last.gap : last.share);
      }
    }
    row.value = quartiles_of(row.values);
    if (game.measure == Measure::ratio) {
      row.wanted = quartiles_of(wanted);
      row.episodes = quartiles_of(episodes);
      medians.push_back(row.value.median);
    }
    summary.rows.push_back(std::move(row));
  }
  if (!medians.empty()) {
    summary.over_games = quartiles_of(medians);
    summary.least = *std::min_element(medians.begin(), medians.end());
  }
  return summary;
}

}  // namespace vlearn
