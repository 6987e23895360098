// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Centralised learners: one controller sees all actions and rewards, chooses for everybody, and
// estimates the model from what it saw. They are what V-learning is to be compared with: fewer
// episodes in small games, tables of all joint actions in every game.
//
//   nash-vi        Optimistic Nash-VI, two players, zero-sum          (nash_vi.h)
//   multi-cce-vi   Multi-CCE-VI, any number of players                (multi_vi.h)
//   multi-ce-vi    Multi-CE-VI, any number of players                 (multi_vi.h)
//   plug-in        uniform exploration, then plan in what was seen    (plug_in.h)
//
// The first three are of Liu, Yu, Bai, Jin: "A Sharp Analysis of Model-based Reinforcement Learning
// with Self-Play", ICML 2021. Their bonuses are stated there up to a constant c "large enough".
//
//   iota = log(4 S (S + 2m) J H K / delta),   J the most joint actions of a state
//
// is log(S J H K / delta) of the source and the factors of the union bound written out. With it
// c = theory_constant() is large enough: docs/theory/baseline_constants.md has the argument.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "vlearn/core/target.h"
#include "vlearn/game/frame.h"

namespace vlearn {

enum class BaselineName : std::uint8_t { nash_vi, multi_cce_vi, multi_ce_vi, plug_in };
inline constexpr std::array<std::string_view, 4> kBaselineNames = {"nash-vi", "multi-cce-vi",
                                                                   "multi-ce-vi", "plug-in"};
[[nodiscard]] constexpr std::string_view name_of(BaselineName name) noexcept {
  return kBaselineNames[static_cast<std::size_t>(name)];
}

/// Of nash-vi; the others have one bonus or none.
enum class BaselineBonus : std::uint8_t {
  hoeffding,  ///< c (sqrt(H^2 iota / t) + H^2 S iota / t)
  bernstein,  ///< c (sqrt(variance iota / t) + H^2 S iota / t)
};
inline constexpr std::array<std::string_view, 2> kBaselineBonusNames = {"hoeffding", "bernstein"};

/// When an optimistic learner plans anew, always before an episode begins.
enum class Replan : std::uint8_t {
  /// When the count of some (step, state, joint action) has become 1, 2, 4, 8, ... since the last
  /// plan began. A plan is then at most 1 + H S J log2(2 K) times made instead of K times. What it
  /// says
  /// of values is as true as ever, because bounds hold at all counts at once and a plan is made of
  /// the counts that it found; and at every visit t is at most twice the t that the bonus was
  /// computed from, so that the sums of bonuses in the source's regret bound grow by the factor
  /// sqrt(2) (of the 1/t terms 2) and nothing else.
  doubling,
  episode,  ///< before every episode, as in the source
};
inline constexpr std::array<std::string_view, 2> kReplanNames = {"doubling", "episode"};

/// Which plan is returned.
enum class BaselineOutput : std::uint8_t {
  /// Planned from all that was seen, when somebody asks; play is the same whoever asks and when.
  newest,
  /// Of those that were played the one with the least optimism gap, as in the source.
  least,
};
inline constexpr std::array<std::string_view, 2> kBaselineOutputNames = {"newest", "least"};

struct BaselineOptions {
  BaselineName algorithm = BaselineName::nash_vi;
  /// nash-vi: nash; multi-cce-vi: cce, or optimal of one player; multi-ce-vi: ce; plug-in: any that
  /// the game has.
  Target target = Target::nash;
  BaselineBonus bonus = BaselineBonus::bernstein;
  /// c of the bonus. usual_constant() is what was measured to be useful and proves nothing.
  double constant = 0.0;
  /// The probability with which bounds may fail, at c = theory_constant().
  double delta = 0.01;
  std::uint64_t horizon_episodes = 1'000'000'000;  ///< K inside iota
  Replan replan = Replan::doubling;
  BaselineOutput output = BaselineOutput::newest;
  /// Bytes of all tables at most (memory.h).
  std::uint64_t max_memory = std::uint64_t{4} << 30U;
};

/// c that is large enough for the bounds to hold with probability 1 - delta: 6 for nash-vi, 1 for
/// multi-cce-vi and multi-ce-vi, 0 for plug-in, which has no bounds.
[[nodiscard]] double theory_constant(BaselineName algorithm) noexcept;
/// c that learns fast: 0.0001 for nash-vi, 0.01 for the other two. docs/algorithms.md has figures.
[[nodiscard]] double usual_constant(BaselineName algorithm) noexcept;

/// The target that an algorithm finds in this game where nobody asks for another.
[[nodiscard]] Target natural_target(BaselineName algorithm, const Frame& frame) noexcept;

/// With natural_target() and usual_constant().
[[nodiscard]] BaselineOptions usual_options(BaselineName algorithm, const Frame& frame) noexcept;

/// Throws Error (usage) that names the field where a choice is no enumerator of its type.
void check_choices(const BaselineOptions& options);

/// Throws Error (usage), with what to use instead, for an algorithm that does not fit the game or
/// the target, and for numbers out of range.
void check_options(const Frame& frame, const BaselineOptions& options);

/// iota above. The options have been checked.
[[nodiscard]] double iota_of(const Frame& frame, const BaselineOptions& options);

}  // namespace vlearn
