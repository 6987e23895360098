// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a known game answers to who verifies: for each own action b
//
//   q[b] = E over the others' independent policies of r(b, .) + sum_s' P(s' | b, .) next(s')
//
// in units of [0, 1] rewards. Tables are summed here, joint action by joint action, from the
// numbers that the game was given; of other models the `backup` is asked, and its stated error
// added.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "numbers.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

/// Where everybody plays what.
template <class Num>
struct PlayedStage {
  Step h;
  State s;
  PlayerRows<const Num> policies;
};

/// Kept by the caller between calls; one per thread.
template <class Num>
struct LawMemory {
  std::vector<Num> values;
  std::vector<double> policies;
  std::vector<double> next;
  std::vector<double> q;
  Workspace workspace;
};

template <class Num>
class Law {
 public:
  Law() = default;
  virtual ~Law() = default;
  Law(const Law&) = delete;
  Law& operator=(const Law&) = delete;
  Law(Law&&) = delete;
  Law& operator=(Law&&) = delete;

  /// Of one player. next: of each state of the next step; empty after the last.
  virtual void backup(const PlayedStage<Num>& stage,
                      Player player,
                      std::span<const Num> next,
                      std::span<Num> q,
                      LawMemory<Num>& memory) const = 0;
  /// Of all players, next[player]: models share work between them.
  virtual void backup_all(const PlayedStage<Num>& stage,
                          std::span<const std::span<const Num>> next,
                          const PlayerRows<Num>& q,
                          LawMemory<Num>& memory) const {
    for (const Player player : all<Player>(next.size())) {
      backup(stage, player, next[player.index()], q[player], memory);
    }
  }
  [[nodiscard]] virtual bool shares_work() const { return false; }
};

/// Where |sum - 1| of a row of probabilities lies, whose sum is below 2. Numbers are cut to whole
/// multiples of 2^-60, and what is left of each to multiples of 2^-90: whole numbers add up without
/// error, and n cuts take less than n 2^-90.
class RowDefect {
 public:
  void add(double probability) {
    const double scaled = probability * 0x1p60;
    const double whole = std::floor(scaled);
    coarse_ += static_cast<std::int64_t>(whole);
    fine_ += static_cast<std::int64_t>(std::floor((scaled - whole) * 0x1p30));
    ++terms_;
  }
  [[nodiscard]] Interval value() const {
    const std::int64_t carry = fine_ >> 30U;
    const auto ones = static_cast<double>(coarse_ + carry - (std::int64_t{1} << 60U)) * 0x1p-60;
    const auto rest = static_cast<double>(fine_ - (carry << 30U)) * 0x1p-90;
    const double size = std::abs(ones + rest);
    const double cut = static_cast<double>(terms_) * 0x1p-90;
    return {std::max(0.0, size * (1.0 - 0x1p-50) - cut), size * (1.0 + 0x1p-50) + cut};
  }

 private:
  std::int64_t coarse_ = 0;
  std::int64_t fine_ = 0;
  std::uint64_t terms_ = 0;
};

/// How far a game's law is from one whose rows sum to one: of tables and of the first state from
/// the numbers themselves, of other models as they say.
[[nodiscard]] inline Interval law_defect_of(const AnyGame& game) {
  const Frame& frame = frame_of(game);
  RowDefect initial;
  for (const double chance : frame.initial()) initial.add(chance);
  const Interval rows = std::visit(
      []<class Game>(const Game& model) {
        if constexpr (requires { model.rows(); }) {
          Interval largest;
          const std::vector<std::uint32_t> width = model.frame().next_states();
          const JointIndex joints(model.frame());
          for (std::size_t cell = 0; cell < width.size(); ++cell) {
            for (std::size_t joint = 0; width[cell] > 0 && joint < joints.count(cell); ++joint) {
              RowDefect row;
              model.rows().for_each(cell, joint, [&](State, double chance) { row.add(chance); });
              largest = larger(largest, row.value());
            }
          }
          return largest;
        } else {
          return Interval::of(model.law_defect());
        }
      },
      game);
  return larger(initial.value(), rows);
}

/// Of tables.
template <class Num, class Game>
class TableLaw final : public Law<Num> {
 public:
  explicit TableLaw(const Game& game) : game_(game), joints_(game.frame()) {
    const Frame& frame = game.frame();
    const std::size_t m = frame.num_players();
    rewards_.resize(m * joints_.size());
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (const Player player : all<Player>(m)) {
        const bool rest = frame.zero_sum() && player.index() == 1;  // of what the first gets
        for (std::size_t joint = 0; joint < joints_.count(cell); ++joint) {
          const Player given = rest ? Player(0) : player;
          const Num reward =
              Numbers<Num>::unit(game.user_reward(given, cell, joint), frame.range(given));
          rewards_[place(player, cell) + joint] = rest ? Numbers<Num>::one_minus(reward) : reward;
        }
      }
    }
  }

  void backup(const PlayedStage<Num>& stage,
              Player player,
              std::span<const Num> next,
              std::span<Num> q,
              LawMemory<Num>& memory) const override {
    const std::size_t cell = game_.frame().cell(stage.h, stage.s);
    std::size_t size = joints_.count(cell);
    std::vector<Num>& values = memory.values;
    if (values.size() < size) values.resize(size);
    for (std::size_t joint = 0; joint < size; ++joint) {
      Num value = rewards_[place(player, cell) + joint];
      if (!next.empty()) {
        game_.rows().for_each(cell, joint, [&](State after, double chance) {
          value += Numbers<Num>::of(chance) * next[after.index()];
        });
      }
      values[joint] = value;
    }
    // The last player's action varies fastest. First those after the player are averaged out, then
    // those before it.
    for (std::size_t i = stage.policies.num_players(); i-- > player.index() + 1;) {
      const std::span<const Num> policy = stage.policies[Player(i)];
      size /= policy.size();
      for (std::size_t x = 0; x < size; ++x) {
        Num sum = policy[0] * values[x * policy.size()];
        for (std::size_t a = 1; a < policy.size(); ++a) {
          sum += policy[a] * values[x * policy.size() + a];
        }
        values[x] = sum;
      }
    }
    for (std::size_t i = 0; i < player.index(); ++i) {
      const std::span<const Num> policy = stage.policies[Player(i)];
      size /= policy.size();
      for (std::size_t x = 0; x < size; ++x) {
        Num sum = policy[0] * values[x];
        for (std::size_t a = 1; a < policy.size(); ++a) sum += policy[a] * values[a * size + x];
        values[x] = sum;
      }
    }
    std::copy_n(values.begin(), q.size(), q.begin());
  }

 private:
  [[nodiscard]] std::size_t place(Player player, std::size_t cell) const {
    return joints_.first(cell) * game_.frame().num_players() + player.index() * joints_.count(cell);
  }

  const Game& game_;
  JointIndex joints_;
  std::vector<Num> rewards_;  // [cell][player][joint]
};

/// Of any model, by its backup.
template <class Game>
class ModelLaw final : public Law<Interval> {
 public:
  explicit ModelLaw(const Game& game) : game_(game) {}

  void backup(const PlayedStage<Interval>& stage,
              Player player,
              std::span<const Interval> next,
              std::span<Interval> q,
              LawMemory<Interval>& memory) const override {
    const double spread = take_policies(stage, memory);
    memory.next.resize(next.size());
    const Middles middles = take_next(next, memory.next);
    memory.q.resize(q.size());
    game_.backup(stage_of(stage, memory), player, memory.next, memory.q, memory.workspace);
    give(memory.q, error(middles, spread), q);
  }
  void backup_all(const PlayedStage<Interval>& stage,
                  std::span<const std::span<const Interval>> next,
                  const PlayerRows<Interval>& q,
                  LawMemory<Interval>& memory) const override {
    const std::span<const std::uint32_t> begins = game_.frame().action_begins(stage.h, stage.s);
    const double spread = take_policies(stage, memory);
    const std::size_t states = next.front().size();
    memory.next.resize(next.size() * states);
    std::vector<Middles> middles;
    for (std::size_t j = 0; j < next.size(); ++j) {
      middles.push_back(take_next(next[j], std::span(memory.next).subspan(j * states, states)));
    }
    memory.q.resize(begins.back());
    const ActionValues values(begins, memory.q);
    game_.backup_all(stage_of(stage, memory), NextValues(memory.next, states), values,
                     memory.workspace);
    for (const Player player : all<Player>(next.size())) {
      give(values[player], error(middles[player.index()], spread), q[player]);
    }
  }
  [[nodiscard]] bool shares_work() const override { return true; }

 private:
  /// Of intervals: the largest middle, and how far an end is from its middle.
  struct Middles {
    double largest = 0.0;
    double off = 0.0;
  };

  [[nodiscard]] Stage stage_of(const PlayedStage<Interval>& stage,
                               const LawMemory<Interval>& memory) const {
    return {stage.h, stage.s,
            Profile(game_.frame().action_begins(stage.h, stage.s), memory.policies)};
  }
  static Middles take_next(std::span<const Interval> next, std::span<double> middles) {
    Middles found;
    for (std::size_t s = 0; s < next.size(); ++s) {
      middles[s] = next[s].middle();
      found.largest = std::max(found.largest, middles[s]);
      found.off = std::max(found.off, next[s].radius());
    }
    return found;
  }
  /// How wide the policies are, and how far their middles are from summing to one.
  double take_policies(const PlayedStage<Interval>& stage, LawMemory<Interval>& memory) const {
    const std::span<const std::uint32_t> begins = game_.frame().action_begins(stage.h, stage.s);
    memory.policies.resize(begins.back());
    double spread = 0.0;
    for (const Player player : all<Player>(stage.policies.num_players())) {
      const std::span<const Interval> policy = stage.policies[player];
      double sum = 0.0;
      for (std::size_t a = 0; a < policy.size(); ++a) {
        memory.policies[begins[player.index()] + a] = policy[a].middle();
        sum += policy[a].middle();
        spread += policy[a].radius();
      }
      spread += std::abs(sum - 1.0) + 0x1p-52 * static_cast<double>(policy.size());
    }
    return spread;
  }
  [[nodiscard]] double error(const Middles& next, double spread) const {
    return (game_.backup_error(next.largest) + next.off + 2.0 * spread * (1.0 + next.largest)) *
           (1.0 + 0x1p-40);
  }
  static void give(std::span<const double> values, double error, std::span<Interval> q) {
    for (std::size_t b = 0; b < q.size(); ++b) {
      q[b] = {std::max(0.0, detail::below(values[b]) - error), detail::above(values[b]) + error};
    }
  }

  const Game& game_;
};

template <class Num>
[[nodiscard]] std::unique_ptr<Law<Num>> law_of(const AnyGame& game) {
  return std::visit(
      []<class Game>(const Game& model) -> std::unique_ptr<Law<Num>> {
        if constexpr (std::is_same_v<Game, DenseGame> || std::is_same_v<Game, SparseGame>) {
          return std::make_unique<TableLaw<Num, Game>>(model);
        } else if constexpr (std::is_same_v<Num, Interval>) {
          return std::make_unique<ModelLaw<Game>>(model);
        } else {
          return nullptr;
        }
      },
      game);
}

}  // namespace vlearn
