// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A Markov policy of one player as a table, in a file: what monotonic V-learning and planners
// return. docs/reference/markov_format.md has the arrays.
//
// At each (step, state) one of a few parts is drawn, and the player plays its policy of that part.
// Players who correlate draw the same part, by an index seed that they share, and each has its own
// policies; so the whole is a correlated policy, and each executes its share of it alone. A policy
// without correlation has one part everywhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "vlearn/core/id.h"
#include "vlearn/core/target.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

/// The weights of a cell sum to this at most: they are drawn, and averaged, without rounding.
inline constexpr std::uint64_t kMaxPartWeights = std::uint64_t{1} << 50U;

/// A share of a whole as the weight of a part: what is less than 2^-49 of it is left out.
[[nodiscard]] inline std::uint64_t weight_of(double share) noexcept {
  return static_cast<std::uint64_t>(std::llround(share * 0x1p48));
}

struct MarkovTable {
  Player player;
  std::size_t num_players = 0;
  Target target = Target::cce;
  std::string game_hash = {};
  std::vector<std::size_t> first_cell = {0};    ///< of each step; at last the number of all cells
  std::vector<std::uint32_t> num_actions = {};  ///< of each cell
  std::vector<std::size_t> first_part = {0};    ///< of each cell; at last the number of all parts
  std::vector<std::uint64_t> weights = {};      ///< of each part: drawn in proportion to it
  std::vector<double> policies = {};            ///< of each part
  std::vector<std::size_t> first_number = {0};  ///< of each cell among these
  std::string source = {};  ///< the file that it was read from, for messages; no part of the table

  /// Of cells in their order, a part at a time: adds to the cell that is being filled,
  void add_part(std::uint64_t weight, std::span<const double> policy);
  /// and goes on to the next.
  void end_cell();

  [[nodiscard]] std::size_t num_cells() const noexcept { return first_part.size() - 1; }
  [[nodiscard]] std::size_t cell(Step h, State s) const noexcept {
    return first_cell[h.index()] + s.index();
  }
  [[nodiscard]] std::span<const std::uint64_t> weights_of(std::size_t cell) const noexcept {
    return std::span(weights).subspan(first_part[cell], first_part[cell + 1] - first_part[cell]);
  }
  /// Of the i-th part of a cell, from 0 on.
  [[nodiscard]] std::span<const double> policy(std::size_t cell, std::size_t part) const noexcept {
    const std::size_t n = num_actions[cell];
    return std::span(policies).subspan(first_number[cell] + part * n, n);
  }

  friend bool operator==(const MarkovTable& a, const MarkovTable& b) noexcept {
    const auto parts = [](const MarkovTable& table) {
      return std::tie(table.player, table.num_players, table.target, table.game_hash,
                      table.first_cell, table.num_actions, table.first_part, table.weights,
                      table.policies, table.first_number);
    };
    return parts(a) == parts(b);
  }
};

/// With no cells yet: those of a seat are to be added.
[[nodiscard]] MarkovTable empty_markov_table(const Seat& seat,
                                             Player player,
                                             Target target,
                                             std::string game_hash);

/// How far the chances of n actions may be from summing to one: as normalised ones are.
[[nodiscard]] inline double most_off(std::size_t num_actions) noexcept {
  return static_cast<double>(num_actions + 2) * 0x1p-52;
}

/// Throws Error (input) that begins with `source` unless arrays fit together, every cell has a
/// part, weights are 1 at least and sum to 2^50 at most, policies are chances that sum to one
/// within most_off(); for nash, where players share nothing, there is one part.
void check(const MarkovTable& table, const std::string& source);

/// What is no table is refused, as check() does, by both.
void write_markov(const std::filesystem::path& path, const MarkovTable& table);
[[nodiscard]] MarkovTable read_markov(const std::filesystem::path& path);
[[nodiscard]] MarkovTable parse_markov(std::span<const std::byte> bytes, const std::string& source);

/// One player executing its table, which must outlive it.
class MarkovPlayer {
 public:
  MarkovPlayer(const MarkovTable& table, const PolicySeed& index_seed, const PolicySeed& own_seed);

  /// A new episode of play; its number keys all draws.
  void begin(Episode episode) noexcept { episode_ = episode; }
  /// The visit is the part, from 1 on; there is no episode.
  [[nodiscard]] PolicyPlayer::Move act(Step h, State s);

 private:
  const MarkovTable& table_;
  std::vector<std::uint64_t> totals_;  // of the weights of a cell up to each part
  std::uint64_t index_key_;
  std::uint64_t action_key_;
  Episode episode_;
};

}  // namespace vlearn
