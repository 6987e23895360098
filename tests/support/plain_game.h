// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games written to be read: the law of a joint action as a plain function, and what follows from it
// by enumeration. Every model is compared with this.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "vlearn/game/concepts.h"

namespace vlearn::test {

/// Mean rewards in [0, 1] and a probability for every next state, in more digits than the models
/// have.
struct PlainOutcome {
  std::vector<long double> rewards;
  std::vector<long double> next;
};

using PlainLaw = std::function<PlainOutcome(Step, State, const std::vector<Action>&)>;

/// Calls visit(joint) for every joint action at (h, s).
template <class Visit>
void for_each_joint(const Frame& frame, Step h, State s, const Visit& visit) {
  std::vector<Action> joint(frame.num_players());
  for (;;) {
    visit(joint);
    std::size_t i = joint.size();
    while (i > 0 && joint[i - 1].index() + 1 == frame.num_actions(Player(i - 1), h, s)) {
      joint[--i] = Action();
    }
    if (i == 0) return;
    joint[i - 1] = joint[i - 1].next();
  }
}

/// The definition of backup, one joint action at a time, in long double.
inline std::vector<long double> plain_backup(const Frame& frame,
                                             const PlainLaw& law,
                                             Step h,
                                             State s,
                                             const Profile& profile,
                                             Player player,
                                             std::span<const double> next) {
  std::vector<long double> q(frame.num_actions(player, h, s), 0.0L);
  for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
    long double weight = 1.0L;
    for (std::size_t i = 0; i < joint.size(); ++i) {
      if (i != player.index())
        weight *= static_cast<long double>(profile[Player(i)][joint[i].index()]);
    }
    const PlainOutcome outcome = law(h, s, joint);
    long double value = outcome.rewards[player.index()];
    for (std::size_t state = 0; state < next.size(); ++state) {
      value += outcome.next[state] * static_cast<long double>(next[state]);
    }
    q[joint[player.index()].index()] += weight * value;
  });
  return q;
}

}  // namespace vlearn::test
