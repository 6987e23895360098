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

/// The profile in which everybody plays its part of a joint action for sure. `begins` as
/// Frame::action_begins() gives them.
inline void put_pure(std::size_t joint,
                     std::span<const std::uint32_t> begins,
                     std::span<double> profile) noexcept {
  std::fill(profile.begin(), profile.end(), 0.0);
  for (std::size_t j = begins.size() - 1; j-- > 0;) {
    const std::size_t n = begins[j + 1] - begins[j];
    profile[begins[j] + joint % n] = 1.0;
    joint /= n;
  }
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
