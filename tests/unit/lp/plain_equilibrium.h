// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a solution of a stage game must fulfil, by plain loops over the definition in long double:
// nothing of the library's own check is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vlearn::test {

inline double range_of(std::span<const double> values) {
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  return *largest - *least;
}

/// max_i (M y)_i - min_j (x' M)_j.
inline double exploitability(std::span<const double> matrix,
                             std::span<const double> x,
                             std::span<const double> y) {
  long double best_row = -1e300L;
  long double best_column = 1e300L;
  for (std::size_t i = 0; i < x.size(); ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      sum += static_cast<long double>(matrix[i * y.size() + j]) * y[j];
    }
    best_row = std::max(best_row, sum);
  }
  for (std::size_t j = 0; j < y.size(); ++j) {
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += static_cast<long double>(matrix[i * y.size() + j]) * x[i];
    }
    best_column = std::min(best_column, sum);
  }
  return static_cast<double>(best_row - best_column);
}

/// A general-sum stage game as a test sees it.
struct PlainStage {
  std::vector<std::uint32_t> num_actions;
  std::vector<double> payoffs;  // [player][joint]

  [[nodiscard]] std::size_t num_joints() const { return payoffs.size() / num_actions.size(); }

  /// The action of every player in a joint action, the last one fastest.
  [[nodiscard]] std::vector<std::size_t> actions_of(std::size_t joint) const {
    std::vector<std::size_t> actions(num_actions.size());
    for (std::size_t i = num_actions.size(); i-- > 0;) {
      actions[i] = joint % num_actions[i];
      joint /= num_actions[i];
    }
    return actions;
  }

  [[nodiscard]] std::size_t joint_of(const std::vector<std::size_t>& actions) const {
    std::size_t joint = 0;
    for (std::size_t i = 0; i < actions.size(); ++i) joint = joint * num_actions[i] + actions[i];
    return joint;
  }

  [[nodiscard]] double payoff(std::size_t player, std::size_t joint) const {
    return payoffs[player * num_joints() + joint];
  }

  [[nodiscard]] std::span<const double> payoffs_of(std::size_t player) const {
    return std::span(payoffs).subspan(player * num_joints(), num_joints());
  }

  [[nodiscard]] double value(std::size_t player, std::span<const double> pi) const {
    long double sum = 0;
    for (std::size_t j = 0; j < pi.size(); ++j) {
      sum += static_cast<long double>(payoff(player, j)) * pi[j];
    }
    return static_cast<double>(sum);
  }

  /// E[1{a_i = from} (u_i(to, a_-i) - u_i(a))].
  [[nodiscard]] long double gain(std::size_t player,
                                 std::size_t from,
                                 std::size_t to,
                                 std::span<const double> pi) const {
    long double sum = 0;
    for (std::size_t j = 0; j < pi.size(); ++j) {
      std::vector<std::size_t> actions = actions_of(j);
      if (actions[player] != from) continue;
      actions[player] = to;
      sum += pi[j] * (static_cast<long double>(payoff(player, joint_of(actions))) -
                      static_cast<long double>(payoff(player, j)));
    }
    return sum;
  }

  /// The largest left-hand side of all conditions of a correlated equilibrium, for one player.
  [[nodiscard]] double worst_ce(std::size_t player, std::span<const double> pi) const {
    long double worst = 0;
    for (std::size_t from = 0; from < num_actions[player]; ++from) {
      for (std::size_t to = 0; to < num_actions[player]; ++to) {
        worst = std::max(worst, gain(player, from, to, pi));
      }
    }
    return static_cast<double>(worst);
  }

  [[nodiscard]] double worst_cce(std::size_t player, std::span<const double> pi) const {
    long double worst = 0;
    for (std::size_t to = 0; to < num_actions[player]; ++to) {
      long double sum = 0;
      for (std::size_t from = 0; from < num_actions[player]; ++from) {
        sum += gain(player, from, to, pi);
      }
      worst = std::max(worst, sum);
    }
    return static_cast<double>(worst);
  }
};

}  // namespace vlearn::test
