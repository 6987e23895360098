// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Expectations of the columns of a table [joint][column] over the joint actions of a cell, with
// every player's own action held in turn and with none, in one sweep. From the last player i to
// the first, x the joint actions of those before i:
//
//   own_i[b]        = sum_x before_i(x) table_i[x, b]      before_i: product of their probabilities
//   table_{i-1}[x]  = sum_b pi_i(b) table_i[x, b]          what is left has i summed out
//
// J joint actions of A actions a player are 2 J A/(A - 1) multiply-adds per column for all of it,
// however many players. Each sum is taken in the order of its index and lanes are columns, so the
// bits depend on no vector width. Nothing is divided: probabilities may be 0. Sums over x are taken
// in blocks of 128, and what is lost when these are added up is kept (core/compensated.h): so they
// are as good as sums of 128 numbers, however many there are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "vlearn/core/compensated.h"
#include "vlearn/core/id.h"
#include "vlearn/game/concepts.h"
#include "vlearn/game/frame.h"

namespace vlearn {

class JointSums {
 public:
  static constexpr std::size_t kBlock = 128;

  /// `extra`: numbers of the workspace that the caller wants for itself.
  JointSums(const Profile& profile, std::size_t extra, Workspace& workspace);

  [[nodiscard]] std::span<double> extra() const noexcept { return extra_; }

  [[nodiscard]] std::size_t num_joints() const noexcept {
    return last_before_.size() * profile_[Player(profile_.num_players() - 1)].size();
  }

  /// In blocks of at most four columns, calls own(player, column, count, sums) for the players from
  /// last to first, sums[b * count + c] that of the block's column + c; then all(column, count,
  /// sums).
  template <class Own, class All>
  void of_columns(const double* table,
                  std::size_t width,
                  const Own& own,
                  const All& all) const noexcept {
    in_blocks(width, [&]<std::size_t W>(std::size_t column) {
      const double* const left =
          sweep<W>(table + column, width, 0, profile_.num_players(),
                   [&](Player player, const double* sums) { own(player, column, W, sums); });
      all(column, W, left);
    });
  }

  /// A column for each player: adds to q[j][b] the sum of column j over the others of player j.
  void add_own(const double* table, const ActionValues& q) const noexcept {
    const std::size_t width = profile_.num_players();
    in_blocks(width, [&]<std::size_t W>(std::size_t column) {
      sweep<W>(table + column, width, column, column + W, [&](Player player, const double* sums) {
        sums += player.index() - column;
        for (double& value : q[player]) {
          value += *sums;
          sums += W;
        }
      });
    });
  }

  /// Calls visit(joint, probability) for all joint actions.
  template <class Visit>
  void for_each_joint(const Visit& visit) const {
    const std::span<const double> policy = profile_[Player(profile_.num_players() - 1)];
    std::size_t joint = 0;
    for (const double before : last_before_) {
      for (const double p : policy) visit(joint++, before * p);
    }
  }

 private:
  template <class Block>
  static void in_blocks(std::size_t width, const Block& block) noexcept {
    std::size_t column = 0;
    for (; column + 4 <= width; column += 4) block.template operator()<4>(column);
    if (width - column == 3) block.template operator()<3>(column);
    if (width - column == 2) block.template operator()<2>(column);
    if (width - column == 1) block.template operator()<1>(column);
  }

  /// Columns of one row, side by side.
  template <std::size_t W>
  struct Lanes {
    std::array<double, W> values;

    static Lanes of(const double* from) noexcept {
      Lanes lanes;
      for (std::size_t c = 0; c < W; ++c) lanes.values[c] = from[c];
      return lanes;
    }
    void add(double factor, const Lanes& other) noexcept {
      for (std::size_t c = 0; c < W; ++c) values[c] += factor * other.values[c];
    }
    void add_compensated(const Lanes& other, Lanes& lost) noexcept {
      for (std::size_t c = 0; c < W; ++c) {
        vlearn::add_compensated(values[c], lost.values[c], other.values[c]);
      }
    }
    void store(double* to) const noexcept {
      for (std::size_t c = 0; c < W; ++c) to[c] = values[c];
    }
  };

  /// One player of a sweep over W columns.
  struct Turn {
    const double* table;  ///< [x, b], rows `stride` apart
    std::size_t stride;
    std::span<const double> policy;
    std::span<const double> before;
    double* own;   ///< [b]
    double* rest;  ///< [x]
  };

  /// Both sums, or only what is left, for actions [b, b + B): the two share what is loaded, and
  /// are chains enough to keep the adders busy.
  template <std::size_t W, std::size_t B, bool kOwn>
  static void add_actions(const Turn& turn, std::size_t b) noexcept {
    const std::size_t stride = turn.stride;
    const std::size_t step = turn.policy.size() * stride;
    std::array<double, B> policy;
    for (std::size_t a = 0; a < B; ++a) policy[a] = turn.policy[b + a];
    std::array<Lanes<W>, B> own{};
    std::array<Lanes<W>, B> lost{};  // NOLINT(misc-const-correctness): with kOwn it changes
    const double* row = turn.table + b * stride;
    double* rest = turn.rest;
    for (std::size_t first = 0; first < turn.before.size(); first += kBlock) {
      std::array<Lanes<W>, B> block{};  // NOLINT(misc-const-correctness): as above
      const std::size_t size = std::min(kBlock, turn.before.size() - first);
      for (const double before : turn.before.subspan(first, size)) {
        Lanes<W> sum{};
        if (b > 0) sum = Lanes<W>::of(rest);
        for (std::size_t a = 0; a < B; ++a) {
          const Lanes<W> values = Lanes<W>::of(row + a * stride);
          sum.add(policy[a], values);
          if constexpr (kOwn) block[a].add(before, values);
        }
        sum.store(rest);
        rest += W;
        row += step;
      }
      if constexpr (kOwn) {
        if (first == 0) {
          own = block;
        } else {
          for (std::size_t a = 0; a < B; ++a) own[a].add_compensated(block[a], lost[a]);
        }
      }
    }
    for (std::size_t a = 0; kOwn && a < B; ++a) own[a].store(turn.own + (b + a) * W);
  }

  /// All actions: two at a time, three at the end of an odd number.
  template <std::size_t W, bool kOwn>
  static void sum_out(const Turn& turn) noexcept {
    const std::size_t size = turn.policy.size();
    std::size_t b = 0;
    for (; b + 2 == size || b + 3 < size; b += 2) add_actions<W, 2, kOwn>(turn, b);
    if (b + 3 == size) add_actions<W, 3, kOwn>(turn, b);
    if (b + 1 == size) add_actions<W, 1, kOwn>(turn, b);
  }

  /// Calls own(player, sums) for the players of [first, end), from the last one on, and returns the
  /// row that is left when `first` is summed out.
  template <std::size_t W, class Own>
  const double* sweep(const double* table,
                      std::size_t width,
                      std::size_t first,
                      std::size_t end,
                      const Own& own) const noexcept {
    Turn turn{table, width, {}, last_before_, own_, rest_};
    double* spare = rest_ + 4 * last_before_.size();
    for (std::size_t i = profile_.num_players(); i-- > first;) {
      turn.policy = profile_[Player(i)];
      if (i < end) {
        sum_out<W, true>(turn);
        own(Player(i), own_);
      } else {
        sum_out<W, false>(turn);
      }
      turn.table = turn.rest;
      turn.stride = W;
      std::swap(turn.rest, spare);
      if (i == first) break;
      // The products of fewer players lie before those of more.
      const std::size_t size = turn.before.size() / profile_[Player(i - 1)].size();
      turn.before = {turn.before.data() - size, size};
    }
    return turn.table;
  }

  Profile profile_;
  std::span<const double> last_before_;  // of the last player
  double* own_;
  double* rest_;  // two tables with the last players summed out
  std::span<double> extra_;
};

}  // namespace vlearn
