// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "learn_plain.h"

#include <memory>
#include <vector>

#include "support/plain_vlearning.h"

namespace vlearn::bench {

std::function<double(std::size_t episodes)> plain_learning(const DenseGame& game,
                                                           const LearnerOptions& options) {
  const auto horizon = static_cast<double>(game.frame().horizon());
  const auto make = [&](std::size_t /*player*/, const std::vector<std::size_t>& actions) {
    return test::PlainFtrl(horizon, actions);
  };
  const auto learning = std::make_shared<test::PlainVLearning<>>(game, options, 1, make);
  return [learning, k = std::uint64_t{0}](std::size_t episodes) mutable {
    for (std::size_t i = 0; i < episodes; ++i) learning->play_episode(k++);
    return learning->earned[0];
  };
}

}  // namespace vlearn::bench
