// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A centralised learner at work: it plays a game that it knows nothing of but its frame, counts
// what it sees, and plans (nash_vi.h, multi_vi.h, plug_in.h).
//
//   for k = 1, ..., K:
//     where it is time to (options.h: Replan), plan from all that was seen     [not plug-in]
//     play an episode: at every step one joint action, drawn from the plan     [plug-in: uniformly]
//     count
//
// Joint actions are drawn from a stream of their own (Purpose::joint), the game draws from the same
// streams as for every other learner. Same game, options and seed: the same play and plans.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vlearn/baseline/joint_plan.h"
#include "vlearn/baseline/memory.h"
#include "vlearn/baseline/options.h"
#include "vlearn/baseline/played_model.h"
#include "vlearn/game/game_ref.h"

namespace vlearn {

/// Counts have 32 bits.
inline constexpr std::uint64_t kMaxBaselineEpisodes = 0xffff'ffff;
/// Throws Error (usage) for more.
void check_episodes(std::uint64_t episodes);

/// What a learner returns when it is asked.
struct BaselinePolicy {
  std::vector<MarkovTable> tables;  ///< of each player
  /// Of the plan behind it; nothing for plug-in. joint_plan.h says what it proves, and when.
  std::optional<double> optimism_gap;
};

class BaselineLearner {
 public:
  /// The game must outlive it. `stop` is asked before every episode and often while it plans.
  /// Throws what check_options() and check_memory() throw, before anything is allocated.
  BaselineLearner(GameRef game,
                  const BaselineOptions& options,
                  std::uint64_t seed,
                  std::function<bool()> stop = {});

  /// Until so many episodes have been played in all. False where it was stopped before: everything
  /// is as after the last whole episode, and it can go on. Throws as check_episodes() does.
  [[nodiscard]] bool play_until(std::uint64_t episodes);
  /// The output of now. Where it is stopped while it plans, what it plays; nothing where there is
  /// no such plan: of plug-in, and before the first episode.
  [[nodiscard]] std::optional<BaselinePolicy> policy(const std::string& game_hash = {});

  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }
  /// Plans so far, those of policy() included.
  [[nodiscard]] std::uint64_t plans() const noexcept { return plans_; }
  [[nodiscard]] const PlayedModel& model() const noexcept { return model_; }
  /// What is played; nothing where there is no plan yet.
  [[nodiscard]] const JointPlan* played() const noexcept {
    return has_played_plan_ ? &played_ : nullptr;
  }
  /// Of baseline_memory().
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  /// Into spare_. False where it was stopped.
  [[nodiscard]] bool plan();
  [[nodiscard]] bool replan();
  void play_episode();

  GameRef game_;
  BaselineOptions options_;
  std::uint64_t seed_;
  std::function<bool()> stop_;
  std::uint64_t bytes_;
  PlayedModel model_;
  PlanMemory memory_;
  JointPlan played_;
  JointPlan spare_;  // the next one is made here
  JointPlan least_;  // of those that were played
  double played_gap_ = 0.0;
  double least_gap_ = 0.0;
  bool has_played_plan_ = false;
  bool stale_ = true;  // it is time to plan
  std::uint64_t episodes_ = 0;
  std::uint64_t plans_ = 0;
  std::vector<Action> joint_;
  std::vector<double> rewards_;
};

}  // namespace vlearn
