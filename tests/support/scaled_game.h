// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games of all models whose rewards lie anywhere that doubles reach: from 10^-300 to 10^300 apart,
// and up to 10^300 away from 0. Rows of every third sum to 1 + 9e-13, of another third to
// 1 - 9e-13.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/random.h"
#include "vlearn/game/any_game.h"

namespace vlearn::test {

/// Which model, and who plays it.
enum class ScaledKind : std::uint8_t {
  dense,
  sparse,
  zero_sum,
  alone,
  congestion,
  polymatrix,
  callback,
};

class ScaledGames {
 public:
  /// `most_joint`: joint actions of a (step, state).
  ScaledGames(std::uint64_t seed, ScaledKind kind, std::uint64_t most_joint)
      : draws_({.seed = seed, .purpose = Purpose::test}),
        kind_(kind),
        defect_(std::vector<double>{0.0, 9e-13, -9e-13}[draws_.below(3)]) {
    choose_sizes(most_joint);
  }

  /// What every row and law of the first state is off by, but for rounding.
  [[nodiscard]] double defect() const { return defect_; }
  [[nodiscard]] AnyGame make() {
    switch (kind_) {
      case ScaledKind::congestion: return congestion();
      case ScaledKind::polymatrix: return polymatrix();
      case ScaledKind::callback: return callback();
      case ScaledKind::sparse: return sparse();
      default: break;
    }
    const Frame frame = table_frame();
    std::vector<double> rewards = table_rewards(frame);
    std::vector<double> rows;
    for_each_row(frame, [&](const std::vector<double>& row) {
      rows.insert(rows.end(), row.begin(), row.end());
    });
    return DenseGame(frame, std::move(rewards), std::move(rows));
  }

 private:
  static constexpr double kFarthest = 300.0;

  double uniform(double low, double high) { return low + (high - low) * draws_.uniform(); }

  /// Where payoffs of a range stay distinct, as doubles.
  RewardRange range() {
    if (draws_.below(6) == 0) return {0.0, 1.0};
    double width = std::pow(10.0, uniform(-kFarthest, kFarthest));
    double low = draws_.below(3) == 0 ? 0.0 : std::pow(10.0, uniform(-kFarthest, kFarthest));
    if (draws_.below(2) == 0) low = -low;
    width = std::max(width, std::ldexp(std::abs(low), -static_cast<int>(1 + draws_.below(48))));
    return {low, low + width};
  }
  double reward(const RewardRange& range) {
    // Ends are met often: there rounding would show.
    const std::uint64_t chance = draws_.below(4);
    if (chance < 2) return chance == 0 ? range.low : range.high;
    return std::clamp(range.low + (range.high - range.low) * draws_.uniform(), range.low,
                      range.high);
  }
  std::vector<double> row(std::size_t size) {
    std::vector<double> row(size);
    for (double& p : row) p = draws_.below(3) == 0 ? 0.0 : draws_.uniform();
    row[draws_.below(size)] += 1e-3;
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& p : row) p /= sum;
    *std::max_element(row.begin(), row.end()) += defect_;
    return row;
  }

  void choose_sizes(std::uint64_t most_joint) {
    // Many where many are asked for, else of all sizes.
    const double most = std::log2(static_cast<double>(most_joint) + 0.5);
    const double joint = std::exp2(uniform(most_joint > 10'000 ? 0.8 * most : 0.0, most));
    players_ = kind_ == ScaledKind::alone      ? 1
               : kind_ == ScaledKind::zero_sum ? 2
                                               : 2 + draws_.below(3);
    if (kind_ == ScaledKind::congestion) players_ += draws_.below(5);
    // Few steps and states where joint actions are many.
    const bool small = joint < 1000.0;
    horizon_ = 1 + draws_.below(small ? 5 : joint < 1e5 ? 2 : 1);
    if (small && draws_.below(20) == 0) horizon_ = 60;
    states_ = 1 + draws_.below(small ? 3 : joint < 1e5 ? 2 : 1);
    double left = joint;
    for (std::size_t j = 0; j < players_; ++j) {
      const double even = std::pow(left, 1.0 / static_cast<double>(players_ - j));
      const double own = j + 1 == players_ ? left : std::min(left, even * uniform(0.5, 2.0));
      actions_.push_back(static_cast<std::uint32_t>(std::clamp(own, 1.0, 4000.0)));
      left /= actions_.back();
    }
    const bool few = kind_ == ScaledKind::congestion || kind_ == ScaledKind::polymatrix ||
                     kind_ == ScaledKind::callback;
    for (std::uint32_t& n : actions_) n = few ? 1 + n % 3 : n;
  }

  FrameOptions frame_options() {
    FrameOptions options;
    options.num_players = players_;
    options.horizon = horizon_;
    options.stationary = draws_.below(2) == 0;
    options.num_states = {static_cast<std::uint32_t>(states_)};
    options.num_actions = actions_;
    if (draws_.below(2) == 0) options.initial = row(states_);
    return options;
  }
  Frame table_frame() {
    FrameOptions options = frame_options();
    options.ranges.clear();
    options.zero_sum = kind_ == ScaledKind::zero_sum;
    for (std::size_t j = 0; j < players_; ++j) options.ranges.push_back(range());
    if (options.zero_sum) options.ranges[1] = options.ranges[0].negated();
    return Frame(std::move(options));
  }
  std::vector<double> table_rewards(const Frame& frame) {
    const JointIndex joints(frame);
    std::vector<double> rewards;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (const Player player : all<Player>(frame.zero_sum() ? 1 : players_)) {
        for (std::size_t i = 0; i < joints.count(cell); ++i) {
          rewards.push_back(reward(frame.range(player)));
        }
      }
    }
    return rewards;
  }
  template <class Put>
  void for_each_row(const Frame& frame, const Put& put) {
    const JointIndex joints(frame);
    const std::vector<std::uint32_t> width = frame.next_states();
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (std::size_t i = 0; i < joints.count(cell); ++i) {
        put(width[cell] == 0 ? std::vector<double>() : row(width[cell]));
      }
    }
  }
  AnyGame sparse() {
    const Frame frame = table_frame();
    std::vector<double> rewards = table_rewards(frame);
    SparseRows::Tables tables;
    for_each_row(frame, [&](const std::vector<double>& row) {
      for (std::size_t s = 0; s < row.size(); ++s) {
        if (row[s] == 0.0) continue;
        tables.successors.push_back(static_cast<std::uint32_t>(s));
        tables.probabilities.push_back(row[s]);
      }
      tables.begins.push_back(tables.successors.size());
    });
    return SparseGame(frame, std::move(rewards), std::move(tables));
  }
  AnyGame callback() {
    const Frame frame = table_frame();
    const DenseGame table(frame, table_rewards(frame), [&] {
      std::vector<double> rows;
      for_each_row(frame, [&](const std::vector<double>& row) {
        rows.insert(rows.end(), row.begin(), row.end());
      });
      return rows;
    }());
    return CallbackGame(
        frame, "table", [table](Step h, State s, std::span<const Action> joint, Outcome& outcome) {
          const std::size_t cell = table.frame().cell(h, s);
          const std::size_t place = joint_offset(table.frame().begins_of_cell(cell), joint);
          for (const Player player : all<Player>(joint.size())) {
            outcome.rewards[player.index()] = table.user_reward(player, cell, place);
          }
          if (table.frame().is_last(h)) return;
          table.rows().for_each(cell, place, [&](State next, double chance) {
            outcome.successors.emplace_back(next, chance);
          });
        });
  }

  AnyGame congestion() {
    FrameOptions options = frame_options();
    const std::size_t routes = 1 + draws_.below(3);
    options.num_actions.assign(players_, static_cast<std::uint32_t>(routes));
    options.ranges = {range()};
    const Frame frame(options);
    CongestionOptions law;
    law.num_routes = routes;
    const bool whole = draws_.below(2) == 0;  // the next state does not depend on players
    const std::vector<std::uint32_t> width = frame.next_states();
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (std::size_t i = 0; i < routes * players_; ++i) {
        law.rewards.push_back(reward(frame.range(Player(0))));
      }
      for (const double share : row(routes)) law.base.push_back(whole ? share : 0.5 * share);
      for (std::size_t b = 0; b < routes && width[cell] > 0; ++b) {
        const std::vector<double> next = row(width[cell]);
        law.transitions.insert(law.transitions.end(), next.begin(), next.end());
      }
    }
    return CongestionGame(frame, std::move(law));
  }

  /// What players pay each other is never negative, and the offset is in what an action pays by
  /// itself; so every sum lies in the range.
  AnyGame polymatrix() {
    FrameOptions options = frame_options();
    options.ranges.clear();
    for (std::size_t j = 0; j < players_; ++j) options.ranges.push_back(range());
    const Frame frame(options);
    PolymatrixOptions law;
    const std::vector<std::uint32_t> width = frame.next_states();
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      for (const double weight : row(players_)) law.weights.push_back(weight);
      for (std::size_t i = 0; i < players_; ++i) {
        const RewardRange& own = frame.range(Player(i));
        const double part = (own.high - own.low) / static_cast<double>(players_) * (1.0 - 0x1p-40);
        for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
          for (std::size_t j = 0; j < players_; ++j) {
            for (std::size_t b = begins[j]; b < begins[j + 1]; ++b) {
              law.rewards.push_back(j != i ? part * draws_.uniform() : a == b ? own.low : 0.0);
            }
          }
          if (width[cell] == 0) continue;
          const std::vector<double> next = row(width[cell]);
          law.transitions.insert(law.transitions.end(), next.begin(), next.end());
        }
      }
    }
    return PolymatrixGame(frame, std::move(law));
  }

  Draws draws_;
  ScaledKind kind_;
  double defect_;
  std::size_t players_ = 1;
  std::size_t horizon_ = 1;
  std::size_t states_ = 1;
  std::vector<std::uint32_t> actions_;
};

}  // namespace vlearn::test
