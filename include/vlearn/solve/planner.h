// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Planning: the game is known, so nobody has to play it. Backward induction from the last step to
// the first: at a (step, state) the players are in a one-shot game, whose payoffs are the rewards
// and what the next states are worth. An equilibrium of each of these stages makes a Markov
// equilibrium of the whole, and what a player gains by deviating from it is at most the sum over
// steps of the most that it gains in a stage.
//
// Two ways to solve a stage:
//
//   lp      a linear program over the joint actions (lp/stage_solver.h): exact, and of many
//           equilibria the one that is asked for
//   oftrl   players who learn without noise (stage_oftrl.h), until nobody gains more than a
//           tolerance: for stages whose joint actions nobody could list
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/parallel.h"
#include "vlearn/core/target.h"
#include "vlearn/game/any_game.h"
#include "vlearn/lp/stage_solver.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

enum class PlanMethod : std::uint8_t { lp, oftrl };
inline constexpr std::array<std::string_view, 2> kPlanMethodNames = {"lp", "oftrl"};

struct PlannerOptions {
  Target target = Target::cce;
  PlanMethod method = PlanMethod::lp;
  /// Of lp, for cce and ce: which equilibrium of each stage, in the user's units.
  Selection selection = {};
  /// Of oftrl: what a player may gain in a stage, in the user's units; for nash both together,
  double tolerance = 1e-6;
  /// and when to give up.
  std::uint64_t max_iterations = 10'000'000;
  std::string game_hash = {};
  ParallelOptions parallel = {};  ///< over the states of a step; the result is always the same
  /// Asked now and then, by all threads; when it says true, plan_policy() throws Cancelled.
  std::function<bool()> stop = {};
};

struct PlannedPolicy {
  std::vector<MarkovTable> tables;  ///< of each player
  /// Linear programs, or iterations of learners, over all stages.
  std::uint64_t iterations = 0;
  /// Whether every stage was solved to the tolerance.
  bool complete = true;
};

/// Throws Error: usage for a target that the game does not have (optimal: one player; nash: two
/// players, zero-sum); resource, before anything is allocated, for a game that the method cannot
/// hold, with the bytes that it would take and what to use instead.
[[nodiscard]] PlannedPolicy plan_policy(const AnyGame& game, const PlannerOptions& options);

/// Throws Error (usage) for a target that the game does not have.
void check_target(const Frame& frame, Target target);

/// The largest linear program of a game that has this target, in numbers of its tableau; nothing
/// where they cannot be counted.
[[nodiscard]] std::optional<std::uint64_t> largest_program(const Frame& frame, Target target);

/// Of a game that has this target: lp where the programs are small enough to be solved in no time,
/// else oftrl; and why, for people.
struct MethodChoice {
  PlanMethod method = PlanMethod::lp;
  std::string reason;
};
[[nodiscard]] MethodChoice choose_method(const Frame& frame, Target target);

}  // namespace vlearn
