// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/learner.h"

#include <utility>

#include "vlearn/baseline/multi_vi.h"
#include "vlearn/baseline/nash_vi.h"
#include "vlearn/baseline/plug_in.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/joint_profile.h"

namespace vlearn {
namespace {

/// The bytes, of options that fit the game.
std::uint64_t checked_bytes(const Frame& frame, const BaselineOptions& options) {
  check_options(frame, options);
  check_memory(frame, options);
  return *baseline_memory(frame, options).bytes;
}

std::size_t num_values(const Frame& frame, const BaselineOptions& options) {
  return options.algorithm == BaselineName::nash_vi ? 1 : frame.num_players();
}

}  // namespace

void check_episodes(std::uint64_t episodes) {
  if (episodes <= kMaxBaselineEpisodes) return;
  throw Error(ErrorKind::usage, "episodes", "are more than a baseline counts",
              "ask for less than 2^32");
}

BaselineLearner::BaselineLearner(GameRef game,
                                 const BaselineOptions& options,
                                 std::uint64_t seed,
                                 std::function<bool()> stop)
    : game_(game),
      options_(options),
      seed_(seed),
      stop_(std::move(stop)),
      bytes_(checked_bytes(game.frame(), options)),
      model_(game.frame()),
      memory_(stop_),
      played_(model_.num_cells(), num_values(game.frame(), options)),
      spare_(played_),
      least_(played_),
      joint_(game.frame().num_players()),
      rewards_(game.frame().num_players()) {}

bool BaselineLearner::plan() {
  try {
    switch (options_.algorithm) {
      case BaselineName::nash_vi: plan_nash_vi(model_, options_, memory_, spare_); break;
      case BaselineName::multi_cce_vi:
      case BaselineName::multi_ce_vi: plan_multi_vi(model_, options_, memory_, spare_); break;
      case BaselineName::plug_in: plan_plug_in(model_, options_, memory_, spare_); break;
    }
  } catch (const Cancelled&) {
    return false;
  }
  ++plans_;
  return true;
}

bool BaselineLearner::replan() {
  if (!plan()) return false;
  std::swap(played_, spare_);
  played_gap_ = optimism_gap(game_.frame(), played_);
  if (options_.output == BaselineOutput::least && (!has_played_plan_ || played_gap_ < least_gap_)) {
    least_ = played_;
    least_gap_ = played_gap_;
  }
  has_played_plan_ = true;
  stale_ = false;
  return true;
}

void BaselineLearner::play_episode() {
  const Frame& frame = game_.frame();
  const Episode episode(episodes_);
  const bool uniform = options_.algorithm == BaselineName::plug_in;
  State s = game_.start(Nature(seed_, episode, Step(0U)));
  for (const Step h : all<Step>(frame.horizon())) {
    const std::size_t cell = model_.cell(h, s);
    Draws draws({.seed = seed_, .purpose = Purpose::joint, .episode = episode, .step = h});
    const std::size_t chosen =
        uniform ? draws.below(model_.num_joint(cell))
                : played_.joints(cell)[sample(played_.chances(cell), draws.uniform())];
    for_each_part(chosen, frame.action_begins(h, s),
                  [&](std::size_t j, std::size_t own) { joint_[j] = Action(own); });
    const State next = game_.sample(h, s, joint_, Nature(seed_, episode, h), rewards_);
    const bool doubled = model_.add(h, s, chosen, rewards_, next);
    stale_ = stale_ || doubled || options_.replan == Replan::episode;
    s = next;
  }
  ++episodes_;
}

bool BaselineLearner::play_until(std::uint64_t episodes) {
  check_episodes(episodes);
  const bool plans = options_.algorithm != BaselineName::plug_in;
  while (episodes_ < episodes) {
    if (stop_ && stop_()) return false;
    if (plans && stale_ && !replan()) return false;
    play_episode();
  }
  return true;
}

std::optional<BaselinePolicy> BaselineLearner::policy(const std::string& game_hash) {
  const Frame& frame = game_.frame();
  const auto made_of = [&](const JointPlan& plan, std::optional<double> gap) {
    return BaselinePolicy{tables_of(frame, plan, options_.target, game_hash), gap};
  };
  if (options_.algorithm == BaselineName::plug_in) {
    if (!plan()) return std::nullopt;
    return made_of(spare_, std::nullopt);
  }
  if (options_.output == BaselineOutput::least && has_played_plan_) {
    return made_of(least_, least_gap_);
  }
  if (plan()) return made_of(spare_, optimism_gap(frame, spare_));
  if (!has_played_plan_) return std::nullopt;
  return made_of(played_, played_gap_);
}

}  // namespace vlearn
