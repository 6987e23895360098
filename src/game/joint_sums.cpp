// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "joint_sums.h"

namespace vlearn {

JointSums::JointSums(const Profile& profile, std::size_t extra, Workspace& workspace)
    : profile_(profile) {
  const std::size_t m = profile.num_players();
  std::size_t most_actions = 0;
  std::size_t prefixes = 1;  // joint actions of all players but the last
  std::size_t products = 1;
  for (std::size_t i = 0; i < m; ++i) {
    most_actions = std::max(most_actions, profile[Player(i)].size());
    if (i + 1 < m) products += prefixes *= profile[Player(i)].size();
  }
  const std::span<double> memory =
      workspace.take(products + 4 * most_actions + 8 * prefixes + extra);
  double* before = memory.data();
  double* end = before;
  *end++ = 1.0;
  for (std::size_t i = 0; i + 1 < m; ++i) {
    for (const double* const last = end; before < last; ++before) {
      for (const double p : profile[Player(i)]) *end++ = *before * p;
    }
  }
  last_before_ = {before, prefixes};
  own_ = memory.data() + products;
  rest_ = own_ + 4 * most_actions;
  extra_ = memory.last(extra);
}

}  // namespace vlearn
