// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/hold_search.h"

#include <cmath>
#include <limits>

namespace vlearn {

std::uint64_t next_geometric(std::uint64_t episodes) noexcept {
  // The powers are exact up to 1.25^22 = 135.5, and beyond it no whole numbers; from 2^53 on
  // doubles are whole.
  double power = 1.0;
  while (power < 0x1p53) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(power));
    if (whole > episodes) return whole;
    power *= 1.25;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

bool HoldSearch::see(std::uint64_t episodes, double gap) noexcept {
  if (over_) return false;
  if (candidate_) {
    // Division: a product of episodes could overflow.
    const bool within = episodes / kHold < *candidate_ ||
                        (episodes / kHold == *candidate_ && episodes % kHold == 0);
    const bool last = episodes / kHold >= *candidate_;
    if (within && !(gap <= kSlack * wanted_)) {
      candidate_.reset();
    } else if (last) {
      over_ = true;
      return false;
    }
  }
  if (!candidate_ && episodes <= limit_ && gap <= wanted_) candidate_ = episodes;
  if (!candidate_ && episodes >= limit_) over_ = true;
  return !over_;
}

}  // namespace vlearn
