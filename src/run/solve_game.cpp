// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/solve_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "vlearn/core/choice.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

constexpr std::array<std::string_view, 5> kStoppedNames = {"gap", "exact", "limit", "time",
                                                           "interrupt"};
/// Rounds take as many times longer than the one before.
constexpr double kRefine = 8.0;
/// Of the gap that is left to the stages: roundings need the rest.
constexpr double kShare = 0.98;

double largest_width(const Frame& frame) {
  double width = 0.0;
  for (const Player player : all<Player>(frame.num_players())) {
    width = std::max(width, frame.range(player).high - frame.range(player).low);
  }
  return width;
}

}  // namespace

std::string_view name_of(SolveStopped stopped) noexcept {
  return kStoppedNames[static_cast<std::size_t>(stopped)];
}

void check_choices(const SolveConfig& config) {
  check_choice("target", config.target, kTargetNames);
  check_choice("method", config.method, kPlanMethodNames);
  check_choice("selection.rule", config.selection.rule, kSelectionRules);
}

std::string name_of(const Selection& selection) {
  switch (selection.rule) {
    case Selection::Rule::welfare: return "welfare";
    case Selection::Rule::egalitarian: return "egalitarian";
    case Selection::Rule::player: break;
  }
  return fmt::format("player:{}", selection.player.number());
}

std::optional<Selection> selection_named(std::string_view word) {
  if (word == "welfare") return Selection{Selection::Rule::welfare, {}};
  if (word == "egalitarian") return Selection{Selection::Rule::egalitarian, {}};
  constexpr std::string_view prefix = "player:";
  if (!word.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = word.substr(prefix.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size() || number == 0 ||
      number > kMaxPlayers) {
    return std::nullopt;
  }
  return Selection{Selection::Rule::player, Player(number - 1)};
}

double default_gap(const Frame& frame) {
  return 1e-4 * static_cast<double>(frame.horizon()) * largest_width(frame);
}

std::optional<SolveResult> solve_game(const AnyGame& game,
                                      const CertificateTitle& title,
                                      const SolveConfig& config,
                                      const SolveHooks& hooks) {
  const Frame& frame = frame_of(game);
  const auto late = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - hooks.begin;
    return config.max_seconds && elapsed.count() > *config.max_seconds;
  };
  PlannerOptions options;
  options.target = config.target;
  options.method = config.method;
  options.selection = config.selection;
  options.max_iterations = config.max_iterations;
  options.game_hash = title.game_hash;
  options.parallel = hooks.parallel;
  options.stop = [&] { return hooks.cancel.requested() || late(); };
  // Gains of the steps add up.
  const double wanted = kShare * config.until_gap / static_cast<double>(frame.horizon());
  options.tolerance = std::max(wanted, 0.05 * largest_width(frame));
  std::optional<SolveResult> result;
  std::uint64_t iterations = 0;
  while (true) {
    PlannedPolicy planned;
    try {
      planned = plan_policy(game, options);
    } catch (const Cancelled&) {
      if (result) {
        result->stopped = hooks.cancel.requested() ? SolveStopped::interrupt : SolveStopped::time;
      }
      return result;
    }
    Certificate certificate =
        certify_table(game, title, config.target, planned.tables, hooks.parallel);
    iterations += planned.iterations;
    if (!result) result.emplace();
    result->rows.push_back({result->rows.size() + 1, iterations, certificate.gap_upper});
    if (hooks.row) hooks.row(result->rows.back());
    const bool better =
        result->tables.empty() || certificate.gap_upper < result->certificate.gap_upper;
    if (better) {
      result->tables = std::move(planned.tables);
      result->certificate = std::move(certificate);
    }
    const auto end = [&](SolveStopped stopped) {
      result->stopped = stopped;
      return result;
    };
    if (result->certificate.gap_upper <= config.until_gap) return end(SolveStopped::gap);
    if (config.method == PlanMethod::lp) return end(SolveStopped::exact);
    if (!planned.complete || options.tolerance <= wanted) return end(SolveStopped::limit);
    options.tolerance = std::max(wanted, options.tolerance / kRefine);
  }
}

}  // namespace vlearn
