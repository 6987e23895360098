// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The black box of V-learning: an adversarial bandit with weighted regret. A rule is a small value
// that knows step sizes; its state lies in memory that somebody else owns, so that a checkpoint
// writes an array and a history replays one.
//
//   policy(cell)                            what is returned: a distribution over B actions
//   steps(B, t)                             step sizes of visit t, alike for all cells and players
//   measure(cell, action, loss, steps)      what a visit, its loss in [0, 1], will add to the state
//   apply(cell, action, increment, steps)   adds it, and computes the next policy
//   apply_together(visits)                  apply() for a few visits of different cells and, where
//                                           the rule uses scratch, players: a few policies take
//                                           some rules little longer than one
//
// What is played is the policy with a floor under every action, VisitSteps::floor, where a rule has
// one: draw_action().
//
// Visits count from 1. An increment is rounded to float32 before it is used, and that is exactly
// what is handed out: who applies the increments of a log to a fresh cell gets the same state, bit
// for bit. Once constructed, a rule neither throws nor allocates.
//
// All rules work on the weights of the paper, alpha_t = (H + 1)/(H + t), through one recursion:
// G_t(b) = (1/w_t) sum_i w_i lhat_i(b) obeys G_t = (t-1)/(H+t-1) G_{t-1} + lhat_t; w_t itself is
// never formed (it overflows).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vlearn/core/id.h"
#include "vlearn/core/random.h"

namespace vlearn {

/// A count below 2^63 as a number: one instruction, where an unsigned conversion takes several.
[[nodiscard]] inline double to_double(std::uint64_t count) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(count));
}

/// The bandit of one (step, state): how many actions it has, and its memory.
struct BanditCell {
  std::size_t num_actions = 0;
  double* state = nullptr;    ///< memory_size(B) numbers
  double* scratch = nullptr;  ///< scratch_size(B) numbers, of no meaning between calls
};

/// What a visit adds to the state.
struct Increment {
  float score = 0.0F;  ///< to the cumulative loss of the action that was played
  float mean = 0.0F;   ///< to its mean loss; rules without control variates leave it 0
  friend bool operator==(const Increment&, const Increment&) = default;
};

/// A visit as a log keeps it.
struct LoggedVisit {
  Action action;
  Increment increment;
  friend bool operator==(const LoggedVisit&, const LoggedVisit&) = default;
};

/// The step sizes of one visit.
struct VisitSteps {
  double decay = 0.0;  ///< w_{t-1} / w_t
  double gamma = 0.0;  ///< implicit exploration: what is added to the chance of the action
  double rate = 0.0;   ///< eta of the policy that follows
  double floor = 0.0;  ///< the chance that every action is played with at least
};

/// A visit of a cell: what it adds, and its step sizes.
struct VisitedCell {
  BanditCell cell;
  Action action;
  Increment increment;
  const VisitSteps* steps = nullptr;
};
/// How many of them a rule takes together, where it has apply_together().
inline constexpr std::size_t kMostTogether = 4;

/// The chance that an action is played with, where every action has the floor.
[[nodiscard]] inline double played_chance(std::span<const double> policy,
                                          std::size_t action,
                                          double floor) noexcept {
  return (1.0 - to_double(policy.size()) * floor) * policy[action] + floor;
}

/// An action of what is played: u uniform in [0, 1), a floor of at most 1/B.
[[nodiscard]] inline Action draw_action(std::span<const double> policy,
                                        double floor,
                                        double u) noexcept {
  if (floor == 0.0) return Action(sample(policy, u));
  // As in sample(): of few actions, count the sums that u reaches. They never fall, and there is no
  // branch to guess wrong.
  const bool few = policy.size() <= 16;
  double sum = 0.0;
  std::size_t action = 0;
  for (std::size_t b = 0; b + 1 < policy.size(); ++b) {
    sum += played_chance(policy, b, floor);
    if (!few && u < sum) break;
    action += static_cast<std::size_t>(u >= sum);
  }
  return Action(action);
}

template <class R>
concept BanditRule = requires(const R& rule,
                              std::size_t num_actions,
                              const BanditCell& cell,
                              Action action,
                              double loss,
                              const Increment& increment,
                              std::uint64_t visit,
                              std::span<const LoggedVisit> log,
                              const VisitSteps& steps,
                              double iota) {
  { R::kName } -> std::convertible_to<std::string_view>;
  { rule.memory_size(num_actions) } noexcept -> std::same_as<std::size_t>;
  { rule.scratch_size(num_actions) } noexcept -> std::same_as<std::size_t>;
  /// Uniform policy, no visits.
  { rule.reset(cell) } noexcept -> std::same_as<void>;
  { rule.policy(cell) } noexcept -> std::same_as<std::span<const double>>;
  { rule.steps(num_actions, visit) } noexcept -> std::same_as<VisitSteps>;
  { rule.measure(cell, action, loss, steps) } noexcept -> std::same_as<Increment>;
  { rule.apply(cell, action, increment, steps) } noexcept -> std::same_as<void>;
  /// apply() for the visits of a log that come after visit number `visit`, one or more: with the
  /// policy after the last of them, whatever happens to those in between.
  { rule.replay(cell, visit, log) } noexcept -> std::same_as<void>;
  /// How many of the first numbers of a state a snapshot need not keep, because the next visit of a
  /// log computes them anew.
  { rule.forgettable(num_actions) } noexcept -> std::same_as<std::size_t>;
  /// How many visits lie between two snapshots.
  { rule.snapshot_interval(num_actions) } noexcept -> std::same_as<std::uint64_t>;
  /// Whether a state is one that updates may leave: policies are distributions, and nothing will
  /// overflow. For states that come from outside.
  { rule.sound(cell) } noexcept -> std::same_as<bool>;
  /// A bound on the weighted regret after t visits that fails with probability at most e^-iota
  /// times the constant that the rule's file states; nothing where no bound is known.
  { rule.xi(num_actions, visit, iota) } noexcept -> std::same_as<std::optional<double>>;
};

}  // namespace vlearn
