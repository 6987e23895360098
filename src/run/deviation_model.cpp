// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "deviation_model.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vlearn {
namespace {

/// c, by turns: where there are few states the larger finds more, where there are many the smaller
/// (measured; one of them alone is worse in one kind of game by a third).
constexpr std::array<double, 2> kBonuses = {0.3, 0.03};

}  // namespace

double DeviationModel::score(Step h, const Arm& arm, double bonus) const noexcept {
  const auto tries = static_cast<double>(arm.tries);
  const double mean = arm.rewards / tries + arm.tail;
  return std::clamp(mean + bonus * most(h) / std::sqrt(tries), 0.0, most(h));
}

std::uint32_t DeviationModel::explore(Step h, Observation seen, std::uint32_t num_actions) {
  Place& place = steps_[h.index()][seen];
  if (place.arms.empty()) {
    place.arms.resize(num_actions);
    place.value = most(h);
  }
  std::uint32_t chosen = 0;
  double highest = -1.0;
  for (std::uint32_t b = 0; b < num_actions; ++b) {
    if (place.arms[b].tries == 0) return b;
    const double own = score(h, place.arms[b], bonus_);
    if (own <= highest) continue;
    chosen = b;
    highest = own;
  }
  return chosen;
}

void DeviationModel::learn(
    Step h, Observation seen, std::uint32_t action, double reward, Observation next) {
  Arm& arm = steps_[h.index()].at(seen).arms[action];
  ++arm.tries;
  arm.rewards += reward;
  if (h.index() + 1 < steps_.size()) ++arm.next[next];
}

void DeviationModel::sweep(double bonus, double unseen) {
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step h(i);
    for (auto& [observation, place] : steps_[i]) {
      place.value = 0.0;
      double highest = -1.0;
      for (std::uint32_t b = 0; b < place.arms.size(); ++b) {
        Arm& arm = place.arms[b];
        if (arm.tries == 0) {
          place.value = std::max(place.value, unseen * most(h));
          continue;
        }
        arm.tail = 0.0;
        for (const auto& [next, count] : arm.next) {
          arm.tail += static_cast<double>(count) * steps_[i + 1].at(next).value;
        }
        arm.tail /= static_cast<double>(arm.tries);
        const double own = score(h, arm, bonus);
        if (own <= highest) continue;
        highest = own;
        place.best = b;
      }
      place.value = std::max(place.value, highest);
    }
  }
}

void DeviationModel::plan() {
  bonus_ = kBonuses[plans_++ % kBonuses.size()];
  sweep(bonus_, 1.0);
}

void DeviationModel::finish() { sweep(0.0, 0.0); }

std::uint32_t DeviationModel::best(Step h, Observation seen, std::uint32_t otherwise) const {
  const auto place = steps_[h.index()].find(seen);
  return place == steps_[h.index()].end() ? otherwise : place->second.best;
}

}  // namespace vlearn
