// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Who is on a route, in expectation: player i takes it with probability chances[i], all
// independently, and rewards[n] is what a player on it earns with n others. For all players j at
// once, values[j] = E[rewards[N_j]], N_j the number of players other than j on the route:
//
//   F_k(n), the chance that n of the first k players are on it, forwards over k;
//   G_k(n), the expected reward given n others among the first k, backwards over k;
//   values[j] = sum_n F_{j-1}(n) G_j(n).
//
// Probabilities are only multiplied and added, so every digit counts, for any chances.
//
// Of many players nearly all counts are as good as impossible. So F_k is kept on a window, from
// which entries below 2^-64 / m^2 are dropped at both ends. At most 2 m entries are ever dropped,
// which leaves a mass below 2^-63 / m outside; and as a count without player j is at most one
// smaller, G_k is kept on the window and one place below it: a path leaves it with probability
// below 2^-63 at all m steps together. What G_k holds outside is some average of rewards or 0, so
// the value is off by less than 2^-61 of the largest reward. By Hoeffding's inequality a window
// of k players is O(sqrt(k log m)) wide: work and memory are O(m^1.5 sqrt(log m)), not O(m^2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vlearn {

/// Where F_k is kept.
struct CountWindow {
  static constexpr std::size_t kBlock = 8;

  std::size_t begin;  ///< of its entries among all
  std::size_t low;    ///< the smallest count
  std::size_t size;

  [[nodiscard]] std::size_t num_blocks() const noexcept { return (size + kBlock - 1) / kBlock; }
};

/// The memory of the recursion.
class HeadCounts {
 public:
  explicit HeadCounts(std::size_t num_players);

  /// The number of players.
  [[nodiscard]] std::size_t size() const noexcept { return windows_.size(); }

  /// The values, one for each player, until the next call; the same bits for every instruction set.
  std::span<const double> expected_rewards(std::span<const double> chances,
                                           std::span<const double> rewards) noexcept;

 private:
  double tiny_;
  std::vector<CountWindow> windows_;
  std::vector<double> given_;
  std::vector<double> laws_;
  std::vector<double> values_;
};

}  // namespace vlearn
