// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// V-learning (the paper's Algorithm 1) by all players of a game of tables, written to be read
// beside the box: doubles in flat arrays, one loop after the other, no allocation while it plays.
// The engine's tables equal these bit for bit, and `vlearn bench learn` measures itself against
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/agent/spread_draws.h"
#include "vlearn/core/exp.h"
#include "vlearn/core/log.h"
#include "vlearn/core/random.h"
#include "vlearn/game/tabular.h"

namespace vlearn::test {

/// A dense game as flat arrays: where it starts, rewards in [0, 1], rows of next states.
struct PlainTables {
  std::size_t m = 0;
  std::size_t horizon = 0;
  std::vector<std::size_t> states;        // of each step
  std::vector<std::size_t> first_cell;    // of each step
  std::vector<std::size_t> actions;       // [cell][player]
  std::vector<std::size_t> first_reward;  // of each cell
  std::vector<std::size_t> first_row;     // of each cell
  std::vector<double> rewards;            // [cell][player][joint]
  std::vector<double> rows;               // [cell][joint][next state]
  std::vector<double> initial;

  explicit PlainTables(const DenseGame& game)
      : m(game.frame().num_players()), horizon(game.frame().horizon()) {
    const Frame& frame = game.frame();
    initial.assign(frame.initial().begin(), frame.initial().end());
    std::size_t cells = 0;
    for (std::size_t h = 0; h < horizon; ++h) {
      states.push_back(frame.num_states(Step(h)));
      first_cell.push_back(cells);
      cells += states.back();
    }
    first_cell.push_back(cells);
    for (std::size_t h = 0; h < horizon; ++h) {
      for (std::size_t s = 0; s < states[h]; ++s) {
        const std::size_t cell = frame.cell(Step(h), State(s));
        std::size_t joints = 1;
        for (std::size_t j = 0; j < m; ++j) {
          actions.push_back(frame.num_actions(Player(j), Step(h), State(s)));
          joints *= actions.back();
        }
        first_reward.push_back(rewards.size());
        first_row.push_back(rows.size());
        for (std::size_t j = 0; j < m; ++j) {
          for (std::size_t a = 0; a < joints; ++a) {
            rewards.push_back(game.reward(Player(j), cell, a));
          }
        }
        if (h + 1 == horizon) continue;
        for (std::size_t a = 0; a < joints; ++a) {
          std::vector<double> row(frame.num_states(Step(h + 1)), 0.0);
          game.rows().for_each(cell, a, [&](State next, double p) { row[next.index()] = p; });
          rows.insert(rows.end(), row.begin(), row.end());
        }
      }
    }
  }
};

/// The first i with u < p[0] + ... + p[i]; the last one possible where rounding leaves none.
inline std::size_t plain_sample(const double* p, std::size_t n, double u) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += p[i];
    if (u < sum) return i;
  }
  while (n > 1 && !(p[n - 1] > 0.0)) --n;
  return n - 1;
}

/// An action of what is played: the policy, with the floor under every action.
inline std::size_t plain_draw(const double* policy, std::size_t n, double floor, double u) {
  if (floor == 0.0) return plain_sample(policy, n, u);
  double sum = 0.0;
  for (std::size_t b = 0; b + 1 < n; ++b) {
    sum += (1.0 - static_cast<double>(n) * floor) * policy[b] + floor;
    if (u < sum) return b;
  }
  return n - 1;
}

/// FTRL of all cells of one player (the paper's Algorithm 5), on G_t = (1/w_t) sum_i w_i lhat_i.
/// The increment is rounded to float as everywhere; the sum of the weights is that of simplex.h;
/// the least of G is kept at 0.
class PlainFtrl {
 public:
  PlainFtrl(double horizon, const std::vector<std::size_t>& actions) : horizon_(horizon) {
    for (const std::size_t n : actions) {
      first_.push_back(theta_.size());
      theta_.insert(theta_.end(), n, 1.0 / static_cast<double>(n));
      log_actions_.push_back(log(static_cast<double>(n)));
    }
    first_.push_back(theta_.size());
    losses_.assign(theta_.size(), 0.0);
  }

  [[nodiscard]] const double* policy(std::size_t cell) const { return &theta_[first_[cell]]; }

  void update(std::size_t cell, std::size_t a, double loss, std::uint64_t visit) {
    const std::size_t n = first_[cell + 1] - first_[cell];
    double* const theta = &theta_[first_[cell]];
    double* const g = &losses_[first_[cell]];
    const auto t = static_cast<double>(visit);
    const double eta = std::sqrt(horizon_ * log_actions_[cell] / (static_cast<double>(n) * t));
    const double gamma = eta;
    const auto estimate = static_cast<float>(loss / std::max(theta[a] + gamma, 0x1p-40));
    const double decay = (t - 1.0) / (horizon_ + t - 1.0);
    for (std::size_t b = 0; b < n; ++b) g[b] *= decay;
    g[a] += static_cast<double>(estimate);
    std::array<double, 8> sums{};
    double least = g[0];
    for (std::size_t b = 0; b < n; ++b) {
      theta[b] = exp(std::clamp(g[b] * -eta, -708.0, 708.0));
      sums[b % 8] += theta[b];
      least = std::min(least, g[b]);
    }
    const double sum =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    const double factor = 1.0 / sum;
    for (std::size_t b = 0; b < n; ++b) {
      theta[b] *= factor;
      g[b] -= least;
    }
  }

 private:
  double horizon_;
  std::vector<std::size_t> first_;
  std::vector<double> theta_;
  std::vector<double> losses_;
  std::vector<double> log_actions_;
};

/// Bandits is PlainFtrl or another class like it: one player's bandits of all cells.
template <class Bandits = PlainFtrl>
class PlainVLearning {
 public:
  /// make(player, actions of each cell) gives a player's bandits.
  template <class Make>
  PlainVLearning(const DenseGame& game,
                 const LearnerOptions& options,
                 std::uint64_t seed,
                 const Make& make)
      : game_(game), options_(options), seed_(seed), horizon_(static_cast<double>(game_.horizon)) {
    const std::size_t cells = game_.first_cell.back();
    const auto most_states =
        static_cast<double>(*std::max_element(game_.states.begin(), game_.states.end()));
    const auto most_actions =
        static_cast<double>(*std::max_element(game_.actions.begin(), game_.actions.end()));
    const double log_cells = log(static_cast<double>(game_.m)) + log(horizon_) + log(most_states) +
                             log(static_cast<double>(options.horizon_episodes)) -
                             log(options.delta);
    iota_ = log_cells + log(most_actions);
    log_events_ = log_cells + log(4.0);
    // Line 1
    visits_.assign(cells, 0);
    roots_.assign(cells, 0.0);
    squares_.assign(cells, 0.0);
    for (std::size_t j = 0; j < game_.m; ++j) {
      std::vector<std::size_t> actions;
      for (std::size_t i = 0; i < cells; ++i) actions.push_back(game_.actions[i * game_.m + j]);
      bandits_.push_back(make(j, actions));
      for (std::size_t h = 0; h < game_.horizon; ++h) {
        value.insert(value.end(), game_.states[h], horizon_ - static_cast<double>(h));
      }
      value.push_back(0.0);
    }
    average.assign(value.size(), 0.0);  // alpha_1 = 1 erases it
    low.assign(value.size(), 0.0);
    low_average = low;
    first_draw_.assign(game_.m * cells, 0.0);
    joint_.resize(game_.m);
    earned.assign(game_.m, 0.0);
  }

  void play_episode(std::uint64_t k) {
    const std::size_t m = game_.m;
    const std::size_t cells = game_.first_cell.back();
    // Line 3
    std::size_t s = plain_sample(game_.initial.data(), game_.initial.size(),
                                 uniform(Purpose::initial_state, 0, k, 0));
    // Line 4
    for (std::size_t h = 0; h < game_.horizon; ++h) {
      const std::size_t cell = game_.first_cell[h] + s;
      const bool last = h + 1 == game_.horizon;
      // Line 5: actions, then rewards and the next state
      std::size_t offset = 0;
      std::size_t joints = 1;
      for (std::size_t j = 0; j < m; ++j) {
        const std::size_t n = game_.actions[cell * m + j];
        double u = uniform(Purpose::action, j, k, h);
        if (options_.action_draws == ActionDraws::spread && m <= 8) u = spread(j, cell, u);
        double floor = 0.0;
        if constexpr (requires(const Bandits& its) { its.floor(cell, visits_[cell]); }) {
          floor = bandits_[j].floor(cell, visits_[cell] + 1);
        }
        joint_[j] = plain_draw(bandits_[j].policy(cell), n, floor, u);
        offset = offset * n + joint_[j];
        joints *= n;
      }
      const double* const rewards = &game_.rewards[game_.first_reward[cell]];
      std::size_t next = 0;
      if (!last) {
        const std::size_t width = game_.states[h + 1];
        next = plain_sample(&game_.rows[game_.first_row[cell] + offset * width], width,
                            uniform(Purpose::transition, 0, k, h));
      }
      // Line 6
      const std::uint64_t t = ++visits_[cell];
      const double most = horizon_ - static_cast<double>(h);
      const double memory = options_.value_weights == ValueWeights::paper ? horizon_ : most;
      double forgets = memory;
      if (options_.value_weights == ValueWeights::step) {
        forgets /= std::sqrt(1.0 + static_cast<double>(t) / 1000.0);
      }
      const double alpha = (forgets + 1.0) / (forgets + static_cast<double>(t));
      const bool estimates = options_.bonus == Bonus::estimates;
      if (options_.bonus == Bonus::rigorous || estimates) {
        roots_[cell] = (1.0 - alpha) * roots_[cell] + alpha / std::sqrt(static_cast<double>(t));
        squares_[cell] = (1.0 - alpha) * (1.0 - alpha) * squares_[cell] + alpha * alpha;
      }
      const double scale = options_.loss_scale == LossScale::paper ? horizon_ : most;
      for (std::size_t j = 0; j < m; ++j) {
        const double n = static_cast<double>(game_.actions[cell * m + j]);
        const double reward = rewards[j * joints + offset];
        const std::size_t own = j * (cells + 1) + cell;
        const std::size_t after = j * (cells + 1) + (last ? cells : game_.first_cell[h + 1] + next);
        const double target = reward + value[after];
        // Line 7
        const double beta =
            options_.bonus == Bonus::visits
                ? options_.bonus_constant * most * (memory + 1.0) * n / static_cast<double>(t)
                : bonus(scale, n, static_cast<double>(t));
        average[own] = (1.0 - alpha) * average[own] + alpha * (target + beta);
        // Line 8
        double bound = average[own];
        if (options_.bonus == Bonus::rigorous) bound += rigorous(scale, alpha, n, t, cell);
        const double before = value[own];
        if (!estimates) value[own] = std::min(most, bound);
        if (options_.monotone) value[own] = std::min(value[own], before);
        if (options_.pessimistic) {
          double down = 0.0;
          if (options_.bonus == Bonus::rigorous) {
            down = most * std::sqrt(0.5 * rigorous_iota(n) * squares_[cell]);
          }
          if (estimates) down = most * std::sqrt(0.5 * log_events_ * squares_[cell]);
          low_average[own] =
              (1.0 - alpha) * low_average[own] + alpha * (reward + low[after] - beta);
          low[own] = std::max(0.0, low_average[own] - down);
        }
        // Line 9
        bandits_[j].update(cell, joint_[j], (scale - target) / scale, t);
        if (estimates) value[own] = std::clamp(read_off(j, cell, scale, alpha, t), 0.0, most);
        earned[j] += reward;
      }
      s = next;
    }
  }

  [[nodiscard]] const Bandits& bandits(std::size_t player) const { return bandits_[player]; }
  [[nodiscard]] std::uint64_t visits(std::size_t cell) const { return visits_[cell]; }

  // [player][cell], and a 0 behind each player's
  std::vector<double> value;
  std::vector<double> average;
  std::vector<double> low;
  std::vector<double> low_average;
  std::vector<double> earned;

 private:
  [[nodiscard]] double uniform(Purpose purpose,
                               std::size_t player,
                               std::uint64_t k,
                               std::size_t h) const {
    return Draws({.seed = seed_,
                  .purpose = purpose,
                  .player = Player(player),
                  .episode = Episode(k),
                  .step = Step(h)})
        .uniform();
  }

  /// One draw of the cell for 512 of its visits, each a step further; `u` is the draw of this one.
  double spread(std::size_t player, std::size_t cell, double u) {
    double& first = first_draw_[player * game_.first_cell.back() + cell];
    const std::uint64_t before = visits_[cell] % 512;
    if (before == 0) first = u;
    const double place =
        first + static_cast<double>(before) * spread_stride(Player(player), game_.m);
    return place - std::floor(place);
  }

  [[nodiscard]] double bonus(double scale, double n, double t) const {
    const double c = options_.bonus_constant;
    const bool swap = has_swap_regret(options_.rule);
    switch (options_.bonus) {
      case Bonus::paper: {
        const double cube = horizon_ * horizon_ * horizon_;
        return swap ? c * n * std::sqrt(cube * iota_ / t) : c * std::sqrt(cube * n * iota_ / t);
      }
      case Bonus::practical:
        return swap ? c * scale * n * std::sqrt(horizon_ * iota_ / t)
                    : c * scale * std::sqrt(horizon_ * n * iota_ / t);
      default: return 0.0;
    }
  }
  [[nodiscard]] double rigorous_iota(double n) const {
    return log_events_ + (has_swap_regret(options_.rule) ? 2.0 : 1.0) * log(n);
  }
  [[nodiscard]] double rigorous(
      double scale, double alpha, double n, std::uint64_t visit, std::size_t cell) const {
    const bool swap = has_swap_regret(options_.rule);
    const double iota = rigorous_iota(n);
    const double lambda = (log(n) + 0.5 * iota) / 1.5;
    const auto gamma = [&](double t) {
      return std::sqrt(horizon_ * lambda / ((swap ? 1.0 : n) * t));
    };
    const double g = gamma(static_cast<double>(visit));
    const double experts = swap ? n : 1.0;
    return scale * (alpha * experts * log(n) / g + 1.5 * n * (gamma(1.0) * roots_[cell]) +
                    0.75 * alpha * (experts * iota) + alpha * (experts * iota) / (2.0 * g));
  }

  /// H_h (1 - alpha_t sum_r min_b G_r(b) + alpha_t 1.0625 Lambda/nu_t), not yet cut.
  [[nodiscard]] double read_off(
      std::size_t j, std::size_t cell, double scale, double alpha, std::uint64_t t) const {
    if constexpr (requires(const Bandits& its) { its.least_estimate(cell); }) {
      const Bandits& its = bandits_[j];
      return scale * (1.0 - alpha * its.least_estimate(cell)) +
             scale * (alpha * (1.0625 * its.lambda(cell)) / its.nu(cell, static_cast<double>(t)));
    }
    return 0.0;
  }

  PlainTables game_;
  LearnerOptions options_;
  std::uint64_t seed_;
  double horizon_;
  double iota_ = 0.0;
  double log_events_ = 0.0;
  std::vector<Bandits> bandits_;
  std::vector<std::uint64_t> visits_;
  std::vector<double> roots_;       // sum_i alpha_t^i / sqrt(i)
  std::vector<double> squares_;     // sum_i (alpha_t^i)^2
  std::vector<double> first_draw_;  // [player][cell], of spread draws
  std::vector<std::size_t> joint_;
};

}  // namespace vlearn::test
