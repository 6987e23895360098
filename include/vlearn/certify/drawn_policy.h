// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A Markov policy of all players together that can be drawn from, at any (step, state), as often as
// wanted. It need not be written down: of a mixture of millions of visits by many players nobody
// could list the chances of joint actions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vlearn/core/id.h"
#include "vlearn/core/parallel.h"
#include "vlearn/policy/history.h"

namespace vlearn {

class DrawnPolicy {
 public:
  virtual ~DrawnPolicy() = default;
  DrawnPolicy(const DrawnPolicy&) = delete;
  DrawnPolicy& operator=(const DrawnPolicy&) = delete;
  DrawnPolicy(DrawnPolicy&&) = delete;
  DrawnPolicy& operator=(DrawnPolicy&&) = delete;

  /// joint[i m + j]: the action of player j of m in draw numbers[i], which is a function of the
  /// seed, the number, the step and the state. Draws of different numbers are independent. May be
  /// called by several threads.
  virtual void draw(Step h,
                    State s,
                    std::uint64_t seed,
                    std::span<const std::uint64_t> numbers,
                    std::span<Action> joint) const = 0;

 protected:
  DrawnPolicy() = default;
};

/// The Markov mixture: one visit of the (step, state) is drawn for all players, with the files'
/// output weights, and each plays what it played there; uniform where there was none. Draws are
/// sorted by visit, so that the log is walked through once for all of them and no policy is kept.
/// The files must live on. Throws Error (input) for files that are not of one run.
[[nodiscard]] std::unique_ptr<DrawnPolicy> make_drawn_mixture(std::span<const PolicyFile> files);

/// Each player draws a visit of its own: the product of the averages, which are kept.
[[nodiscard]] std::unique_ptr<DrawnPolicy> make_drawn_marginals(std::span<const PolicyFile> files,
                                                                const ParallelOptions& options);

}  // namespace vlearn
