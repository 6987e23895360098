// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Timing for `vlearn bench`. Machines are noisy, so a figure stands beside a reference measured in
// the same run: both run in turns, and each gets the best of its turns.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace vlearn::bench {

struct Measurement {
  std::string name;
  double ns = 0.0;        ///< CPU time of this thread per operation
  std::string reference;  ///< empty: none
  double reference_ns = 0.0;
};

/// Does `operations` operations and returns something computed from all of them, so that the
/// compiler cannot leave any out.
using Work = std::function<double(std::size_t operations)>;

[[nodiscard]] Measurement compare(std::string name,
                                  const Work& work,
                                  std::string reference,
                                  const Work& reference_work);

/// Without a reference: for work that has no counterpart elsewhere.
[[nodiscard]] Measurement measure(std::string name, const Work& work);

/// Wall time, for work on several threads: the best of a few turns with so many operations each.
[[nodiscard]] Measurement compare_wall(std::string name,
                                       const Work& work,
                                       std::string reference,
                                       const Work& reference_work,
                                       std::size_t operations);

// One function per group of `vlearn bench`.
[[nodiscard]] std::vector<Measurement> bandit();
[[nodiscard]] std::vector<Measurement> certify();
[[nodiscard]] std::vector<Measurement> core();
[[nodiscard]] std::vector<Measurement> game();
[[nodiscard]] std::vector<Measurement> learn();
[[nodiscard]] std::vector<Measurement> lp();
[[nodiscard]] std::vector<Measurement> policy();

}  // namespace vlearn::bench
