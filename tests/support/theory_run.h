// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games and runs that lemmas are looked at in.
//
// Bounds that hold with probability 1 - delta only are looked at with delta = 0.001 a run. Seeds
// are fixed, so a run that is fine stays fine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/optimistic_rigorous.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/self_play.h"

namespace vlearn::test {

inline constexpr double kDelta = 0.001;
/// What averages of numbers up to 3 may lose by rounding in 10^6 visits, with room to spare.
inline constexpr double kRounding = 1e-10;

inline DenseGame table_game(const std::string& name) {
  return std::get<DenseGame>(make_game(name));
}

/// Rewards 0 or 1 by chance, another number of actions for each player and state, two states to
/// start from.
inline DenseGame noisy_game() {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 2;
  options.num_states = {2};
  options.num_actions = {2, 3, 3, 1};
  options.initial = {0.75, 0.25};
  options.noise = RewardNoise::bernoulli;
  std::vector<double> rewards;
  std::vector<double> probabilities;
  for (const std::size_t joints : {std::size_t{6}, std::size_t{3}}) {
    for (std::size_t i = 0; i < 2 * joints; ++i) {
      rewards.push_back(static_cast<double>((i * 5 + joints) % 8) / 8.0);
    }
    for (std::size_t a = 0; a < joints; ++a) {
      const double stay = static_cast<double>(1 + a) / 8.0;
      probabilities.push_back(stay);
      probabilities.push_back(1.0 - stay);
    }
  }
  return {Frame(options), rewards, probabilities};
}

inline const std::vector<std::string>& lemma_games() {
  static const std::vector<std::string> names = {
      "random:players=2,states=2,actions=3,horizon=2,seed=8",
      "random:players=2,states=2,actions=2,horizon=3,seed=8",
      "random:players=3,states=2,actions=2,horizon=2,seed=9",
      "random:players=1,states=3,actions=2,horizon=1,seed=10"};
  return names;
}

/// H_h.
inline double most(const Frame& frame, Step h) {
  return static_cast<double>(frame.horizon() - h.index());
}

/// Calls visit(h, s, cell) for all of them, cells as Seat numbers them.
template <class Visit>
void for_each_cell(const Frame& frame, const Visit& visit) {
  std::size_t cell = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) visit(h, s, cell++);
  }
}

inline LearnerOptions rigorous_options(Target target, std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::rigorous, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  return options;
}

template <Regret kRegret>
RigorousSteps<kRegret> rigorous_steps(const Frame& frame, const LearnerOptions& options) {
  return {BonusSchedule(options, seat_of(frame, Player(0))).log_events()};
}

/// Calls use(rule) with the rule that proves bounds for the target.
template <class Use>
void with_rigorous_rule(const Frame& frame, const LearnerOptions& options, const Use& use) {
  if (options.target == Target::ce) {
    use(FtrlSwapRigorous<>(frame.horizon(), rigorous_steps<Regret::swap>(frame, options)));
  } else {
    use(FtrlRigorous<>(frame.horizon(), rigorous_steps<Regret::external>(frame, options)));
  }
}

inline LearnerOptions proven_options(Target target, std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::proven, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  return options;
}

/// Calls use(rule) with the rule of the preset proven for the target.
template <class Use>
void with_proven_rule(const Frame& frame, const LearnerOptions& options, const Use& use) {
  const double log_events = BonusSchedule(options, seat_of(frame, Player(0))).log_events();
  if (options.target == Target::ce) {
    use(OptimisticSwapRigorous(frame.horizon(), {log_events}));
  } else {
    use(OptimisticRigorous(frame.horizon(), {log_events}));
  }
}

/// The policies of all players at a cell, one after the other.
template <class Rule>
std::vector<double> profile_of(const SelfPlay<Rule>& play, std::size_t cell) {
  std::vector<double> profile;
  for (const Player player : all<Player>(play.frame().num_players())) {
    const std::span<const double> policy = play.table(player).policy(cell);
    profile.insert(profile.end(), policy.begin(), policy.end());
  }
  return profile;
}

/// V_{h+1}, which nobody has learned from yet while step h is watched.
template <class Rule>
std::span<const double> next_values(const SelfPlay<Rule>& play, Player player, Step h) {
  if (play.frame().is_last(h)) return {};
  const std::span<const std::size_t> first = play.seat().first_cell;
  const std::size_t begin = first[h.index() + 1];
  return play.table(player).values().subspan(begin, first[h.index() + 2] - begin);
}

}  // namespace vlearn::test
