// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Between profiles and the joint actions of a (step, state), where these are few enough to be
// listed. The last player's action varies fastest, as in the tables of a game.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace vlearn {

/// see(player, own action) for everybody's part of a joint action, the last player first. `begins`
/// as Frame::action_begins() gives them.
template <class See>
void for_each_part(std::size_t joint, std::span<const std::uint32_t> begins, const See& see) {
  for (std::size_t j = begins.size() - 1; j-- > 0;) {
    const std::size_t n = begins[j + 1] - begins[j];
    see(j, joint % n);
    joint /= n;
  }
}

/// The profile in which everybody plays its part of a joint action for sure.
inline void put_pure(std::size_t joint,
                     std::span<const std::uint32_t> begins,
                     std::span<double> profile) noexcept {
  std::fill(profile.begin(), profile.end(), 0.0);
  for_each_part(joint, begins,
                [&](std::size_t j, std::size_t own) { profile[begins[j] + own] = 1.0; });
}

/// The chance of every joint action of players who play a profile independently of each other.
class JointChances {
 public:
  /// Valid until the next call.
  std::span<const double> of(std::span<const std::uint32_t> begins,
                             std::span<const double> profile) {
    chances_.assign(1, 1.0);
    for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
      grown_.clear();
      for (const double chance : chances_) {
        for (std::size_t b = begins[j]; b < begins[j + 1]; ++b) {
          grown_.push_back(chance * profile[b]);
        }
      }
      std::swap(chances_, grown_);
    }
    return chances_;
  }

 private:
  std::vector<double> chances_;
  std::vector<double> grown_;
};

}  // namespace vlearn
