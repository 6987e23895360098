// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemma 11: values are weighted sums of what came, plus the bonus.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/theory_run.h"

namespace vlearn::test {
namespace {

/// Of every visit of a cell, with the values of the beginning of its episode.
struct VisitTargets {
  std::vector<double> high;  // r + V_{h+1}^{k^i}(s')
  std::vector<double> low;   // the same from below, where values from below are kept
};
using Record = std::vector<std::vector<VisitTargets>>;  // [player][cell]

/// sum_i alpha_t^i (x_i + beta_i), term by term.
double weighted_sum(std::uint64_t horizon,
                    const std::vector<double>& x,
                    const std::function<double(std::uint64_t)>& beta) {
  const AlphaWeights alpha(horizon);
  double sum = 0.0;
  for (std::uint64_t i = 1; i <= x.size(); ++i) {
    sum += alpha.weight(x.size(), i) * (x[i - 1] + beta(i));
  }
  return sum;
}

/// Plays, and calls compare(play, record) at some times.
template <class Rule, class Compare>
void play_and_compare(const DenseGame& game,
                      const Rule& rule,
                      const LearnerOptions& options,
                      const std::vector<std::uint64_t>& times,
                      const Compare& compare) {
  const Frame& frame = game.frame();
  SelfPlay<Rule> play(GameRef(game), rule, options, 11);
  const std::size_t cells = play.seat().num_cells();
  Record record(frame.num_players(), std::vector<VisitTargets>(cells));
  for (std::uint64_t k = 0; k < times.back(); ++k) {
    std::vector<std::vector<double>> before;  // of each player
    std::vector<std::vector<double>> low_before;
    for (const Player player : all<Player>(frame.num_players())) {
      const std::span<const double> values = play.table(player).values();
      const std::span<const double> low_values = play.table(player).low_values();
      before.emplace_back(values.begin(), values.end());
      low_before.emplace_back(low_values.begin(), low_values.end());
    }
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const std::size_t next =
          frame.is_last(visit.h) ? cells : play.seat().cell(visit.h.next(), visit.next);
      for (std::size_t j = 0; j < frame.num_players(); ++j) {
        VisitTargets& targets = record[j][visit.cell];
        targets.high.push_back(visit.rewards[j] + before[j][next]);
        if (options.pessimistic) targets.low.push_back(visit.rewards[j] + low_before[j][next]);
      }
    });
    if (std::find(times.begin(), times.end(), k + 1) != times.end()) compare(play, record);
  }
}

/// log(factor m H S K / delta): with A or 4 B^p as the factor an iota.
double log_of_events(const Frame& frame, const LearnerOptions& options, double factor) {
  return std::log(factor * static_cast<double>(frame.num_players() * frame.horizon()) *
                  static_cast<double>(frame.max_states()) *
                  static_cast<double>(options.horizon_episodes) / options.delta);
}

TEST(ValueRepresentation, OfBonusesThatAreGiven) {
  const std::vector<std::uint64_t> times = {1, 2, 3, 10, 100, 3000};
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    const auto horizon = static_cast<double>(frame.horizon());
    const auto actions = static_cast<double>(frame.num_actions(Player(0), Step(0), State(0)));
    std::uint64_t below_clip = 0;
    for (const Preset preset : {Preset::paper, Preset::practical}) {
      for (const Target target : {Target::cce, Target::ce}) {
        LearnerOptions options = preset_options(preset, target);
        options.horizon_episodes = times.back();
        if (preset == Preset::paper) options.bonus_constant = 0.02;  // or values stay at the clip
        const double iota = log_of_events(frame, options, actions);
        const auto compare = [&](const auto& play, const Record& record) {
          for_each_cell(frame, [&](Step h, State, std::size_t cell) {
            for (std::size_t j = 0; j < record.size(); ++j) {
              const std::vector<double>& x = record[j][cell].high;
              if (x.empty()) continue;
              const double size = preset == Preset::paper ? horizon : most(frame, h);
              const double spread = target == Target::ce ? actions : std::sqrt(actions);
              const auto beta = [&](std::uint64_t i) {
                return options.bonus_constant * size * spread *
                       std::sqrt(horizon * iota / static_cast<double>(i));
              };
              const double expected = weighted_sum(frame.horizon(), x, beta);
              const auto& table = play.table(Player(j));
              EXPECT_NEAR(table.averages()[cell], expected, 1e-11 * expected);
              EXPECT_EQ(table.value(cell), std::min(most(frame, h), table.averages()[cell]));
              if (table.value(cell) < most(frame, h)) ++below_clip;
            }
          });
        };
        if (target == Target::ce) {
          play_and_compare(game, FtrlSwap<>(frame.horizon()), options, times, compare);
        } else {
          play_and_compare(game, Ftrl<>(frame.horizon()), options, times, compare);
        }
      }
    }
    EXPECT_GT(below_clip, 0);
  }
}

/// b_{h,t} / scale for t = 1, ..., n, from docs/theory/rigorous_bonus.md.
std::vector<double> rigorous_bounds(
    double horizon, double actions, double iota, bool swap, std::size_t n) {
  const double experts = swap ? actions : 1.0;
  const double lambda = (std::log(actions) + iota / 2.0) / 1.5;
  std::vector<double> bounds;
  double sum = 0.0;
  for (std::size_t i = 1; i <= n; ++i) {
    const auto t = static_cast<double>(i);
    const double alpha = (horizon + 1.0) / (horizon + t);
    const double gamma = std::sqrt(horizon * lambda * experts / (actions * t));
    sum = (1.0 - alpha) * sum + alpha * gamma;
    bounds.push_back(alpha * experts * std::log(actions) / gamma + 1.5 * actions * sum +
                     0.75 * alpha * experts * iota + alpha * experts * iota / (2.0 * gamma));
  }
  return bounds;
}

TEST(ValueRepresentation, OfBoundsThatAreProved) {
  const std::vector<std::uint64_t> times = {1, 2, 3, 10, 100, 3000, 100'000};
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    const auto horizon = static_cast<double>(frame.horizon());
    const auto actions = static_cast<double>(frame.num_actions(Player(0), Step(0), State(0)));
    std::uint64_t below_clip = 0;
    std::uint64_t above_zero = 0;
    for (const Target target : {Target::cce, Target::ce}) {
      for (const LossScale scale : {LossScale::step, LossScale::paper}) {
        const bool swap = target == Target::ce;
        LearnerOptions options = rigorous_options(target, times.back());
        options.loss_scale = scale;
        const double iota =
            log_of_events(frame, options, 4.0 * (swap ? actions * actions : actions));
        const std::vector<double> bounds =
            rigorous_bounds(horizon, actions, iota, swap, times.back());
        const AlphaWeights alpha(frame.horizon());
        const auto compare = [&](const auto& play, const Record& record) {
          for_each_cell(frame, [&](Step h, State, std::size_t cell) {
            for (std::size_t j = 0; j < record.size(); ++j) {
              const std::vector<double>& x = record[j][cell].high;
              if (x.empty()) continue;
              const double size = scale == LossScale::paper ? horizon : most(frame, h);
              // The increments of which the bound is the average.
              const auto beta = [&](std::uint64_t i) {
                const double before = i == 1 ? 0.0 : bounds[i - 2];
                return size * (bounds[i - 1] - (1.0 - alpha.rate(i)) * before) / alpha.rate(i);
              };
              const double expected = weighted_sum(frame.horizon(), x, beta);
              const auto& table = play.table(Player(j));
              EXPECT_NEAR(table.averages()[cell] + size * bounds[x.size() - 1], expected,
                          1e-11 * expected);
              EXPECT_NEAR(table.value(cell), std::min(most(frame, h), expected), 1e-11 * expected);
              if (table.value(cell) < most(frame, h)) ++below_clip;
              // From below: Hoeffding's bound under the average.
              double squares = 0.0;
              for (std::uint64_t i = 1; i <= x.size(); ++i) {
                squares += std::pow(alpha.weight(x.size(), i), 2);
              }
              const auto nothing = [](std::uint64_t) { return 0.0; };
              const double low = weighted_sum(frame.horizon(), record[j][cell].low, nothing) -
                                 most(frame, h) * std::sqrt(iota * squares / 2.0);
              EXPECT_NEAR(table.low_values()[cell], std::max(0.0, low), 1e-11 * most(frame, h));
              if (low > 0.0) ++above_zero;
            }
          });
        };
        with_rigorous_rule(frame, options, [&](const auto& rule) {
          play_and_compare(game, rule, options, times, compare);
        });
      }
    }
    EXPECT_GT(below_clip, 0);
    EXPECT_GT(above_zero, 0);
  }
}

}  // namespace
}  // namespace vlearn::test
