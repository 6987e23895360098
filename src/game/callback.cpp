// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/callback.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

double expect(const Outcome& outcome, std::span<const double> next) noexcept {
  double sum = 0.0;
  for (const auto& [state, probability] : outcome.successors) {
    sum += probability * next[state.index()];
  }
  return sum;
}

}  // namespace

CallbackGame::CallbackGame(Frame frame, std::string name, LawFunction law)
    : frame_(std::move(frame)), name_(std::move(name)), law_(std::move(law)) {
  if (!law_) throw Error(ErrorKind::usage, "law of '" + printable(name_, 100) + "'", "is missing");
}

void CallbackGame::ask(Step h, State s, std::span<const Action> joint, Outcome& outcome) const {
  outcome.rewards.assign(frame_.num_players(), 0.0);
  outcome.successors.clear();
  law_(h, s, joint, outcome);
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::input,
                fmt::format("law of '{}' [h={}, s={}]", name_, h.number(), s.number()), problem);
  };
  if (outcome.rewards.size() != frame_.num_players()) refuse("must have one reward per player");
  for (const Player player : all<Player>(frame_.zero_sum() ? 1 : frame_.num_players())) {
    double& reward = outcome.rewards[player.index()];
    const RewardRange& range = frame_.range(player);
    if (!(reward >= range.low && reward <= range.high)) {
      refuse(fmt::format("reward {} of player {} is outside [{}, {}]", reward, player.number(),
                         range.low, range.high));
    }
    reward = range.to_unit(reward);
  }
  if (frame_.zero_sum()) outcome.rewards[1] = 1.0 - outcome.rewards[0];
  if (frame_.is_last(h)) return;
  if (outcome.successors.size() > frame_.num_states(h.next())) {
    refuse("names more successors than there are states");
  }
  double sum = 0.0;
  for (const auto& [state, probability] : outcome.successors) {
    if (state.index() >= frame_.num_states(h.next())) refuse("leads to a state that is not there");
    if (!(probability >= 0.0)) refuse("has a probability that is negative or not a number");
    sum += probability;
  }
  if (!(std::abs(sum - 1.0) <= kRowTolerance)) refuse(fmt::format("sums to {:.15g}, want 1", sum));
}

State CallbackGame::sample(Step h,
                           State s,
                           std::span<const Action> joint,
                           const Nature& nature,
                           std::span<double> rewards) const {
  Outcome outcome;
  ask(h, s, joint, outcome);
  std::copy(outcome.rewards.begin(), outcome.rewards.end(), rewards.begin());
  frame_.draw_rewards(nature, rewards);
  if (frame_.is_last(h)) return {};
  // As vlearn::sample, over the list of successors.
  const double u = nature.transition().uniform();
  double sum = 0.0;
  State last{};
  for (const auto& [state, probability] : outcome.successors) {
    sum += probability;
    if (u < sum) return state;
    if (probability > 0.0) last = state;
  }
  return last;
}

template <class Visit>
void CallbackGame::for_each_joint(Step h, State s, const Visit& visit) const {
  const std::size_t m = frame_.num_players();
  std::vector<Action> joint(m);
  Outcome outcome;
  for (;;) {
    ask(h, s, joint, outcome);
    visit(std::span<const Action>(joint), outcome);
    std::size_t i = m;
    while (i > 0 && joint[i - 1].index() + 1 == frame_.num_actions(Player(i - 1), h, s)) {
      joint[--i] = Action();
    }
    if (i == 0) return;
    ++joint[i - 1];
  }
}

void CallbackGame::backup(const Stage& stage,
                          Player player,
                          std::span<const double> next,
                          std::span<double> q,
                          Workspace& workspace) const {
  const std::span<double> lost = workspace.take(q.size());
  std::fill(q.begin(), q.end(), 0.0);
  std::fill(lost.begin(), lost.end(), 0.0);
  for_each_joint(stage.h, stage.s, [&](std::span<const Action> joint, const Outcome& outcome) {
    double weight = 1.0;
    for (std::size_t i = 0; i < joint.size(); ++i) {
      if (i != player.index()) weight *= stage.profile[Player(i)][joint[i].index()];
    }
    double value = outcome.rewards[player.index()];
    if (!frame_.is_last(stage.h)) value += expect(outcome, next);
    const std::size_t action = joint[player.index()].index();
    add_compensated(q[action], lost[action], weight * value);
  });
}

void CallbackGame::backup_all(const Stage& stage,
                              const NextValues& next,
                              const ActionValues& q,
                              Workspace& workspace) const {
  const std::size_t m = frame_.num_players();
  const std::span<const std::uint32_t> begins = frame_.action_begins(stage.h, stage.s);
  const std::span<double> memory = workspace.take(m + 1 + begins.back());
  const std::span<double> after = memory.first(m + 1);
  const ActionValues lost(begins, memory.subspan(m + 1));
  for (const Player player : all<Player>(m)) {
    std::fill(q[player].begin(), q[player].end(), 0.0);
    std::fill(lost[player].begin(), lost[player].end(), 0.0);
  }
  for_each_joint(stage.h, stage.s, [&](std::span<const Action> joint, const Outcome& outcome) {
    // The product of all probabilities but one: those before times those after.
    after[m] = 1.0;
    for (std::size_t i = m; i-- > 0;) {
      after[i] = after[i + 1] * stage.profile[Player(i)][joint[i].index()];
    }
    double before = 1.0;
    for (const Player player : all<Player>(m)) {
      const std::size_t action = joint[player.index()].index();
      double value = outcome.rewards[player.index()];
      if (!frame_.is_last(stage.h)) value += expect(outcome, next[player]);
      add_compensated(q[player][action], lost[player][action],
                      before * after[player.index() + 1] * value);
      before *= stage.profile[player][action];
    }
  });
}

double CallbackGame::backup_error(double largest_next) const noexcept {
  // However many joint actions are added up: what their sum loses is kept.
  const double roundings =
      static_cast<double>(frame_.max_states()) + static_cast<double>(frame_.num_players()) + 8.0;
  return 2.0 * roundings * 0x1p-53 * (1.0 + largest_next);
}

double CallbackGame::law_defect() const {
  double largest = 0.0;
  std::vector<double> row;
  for (const Step h : all<Step>(frame_.horizon() - 1)) {
    for (const State s : all<State>(frame_.num_states(h))) {
      for_each_joint(h, s, [&](std::span<const Action>, const Outcome& outcome) {
        row.clear();
        for (const auto& [state, probability] : outcome.successors) row.push_back(probability);
        largest = std::max(largest, row_defect(row));
      });
    }
  }
  return largest;
}

void CallbackGame::add_law_to(Sha256& hash) const {
  LawHash(hash).add_text("callback").add_text(name_);
}

}  // namespace vlearn
