// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/drawn_policy.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/random.h"
#include "vlearn/policy/average.h"
#include "vlearn/policy/profile_replay.h"
#include "vlearn/policy/walk.h"

namespace vlearn {
namespace {

/// What a player draws with.
double uniform_of(std::uint64_t seed, std::size_t player, std::uint64_t number, Step h) {
  return Draws({.seed = seed,
                .purpose = Purpose::action,
                .player = Player(player),
                .episode = Episode(number),
                .step = h})
      .uniform();
}

std::span<const PolicyFile> of_one_run(std::span<const PolicyFile> files) {
  check_one_run(files, files.empty() ? 0 : files.front().episodes());
  return files;
}

class Mixture final : public DrawnPolicy {
 public:
  explicit Mixture(std::span<const PolicyFile> files)
      : files_(of_one_run(files)), weights_(files.front().header().markov_weights()) {}

  void draw(Step h,
            State s,
            std::uint64_t seed,
            std::span<const std::uint64_t> numbers,
            std::span<Action> joint) const override {
    if (numbers.empty()) return;
    const std::size_t cell = files_.front().header().seat.cell(h, s);
    const std::uint64_t n = files_.front().visits_before(cell, files_.front().episodes());
    // Visits from 1 on, and which draw it is. Where there was none, the first policy is uniform.
    std::vector<std::pair<std::uint64_t, std::size_t>> order(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Draws draws({.seed = seed,
                   .purpose = Purpose::index,
                   .player = {},
                   .episode = Episode(numbers[i]),
                   .step = h});
      order[i] = {n == 0 ? 1 : weights_.sample(n, draws), i};
    }
    std::sort(order.begin(), order.end());
    ReplayMemory memory;
    for (std::size_t j = 0; j < files_.size(); ++j) {
      PolicyWalk walk(files_[j], cell, memory);
      for (const auto& [visit, i] : order) {
        while (walk.visit() < visit) walk.next();
        const double u = uniform_of(seed, j, numbers[i], h);
        joint[i * files_.size() + j] = Action(sample(walk.policy(), u));
      }
    }
  }

 private:
  std::span<const PolicyFile> files_;
  OutputWeights weights_;
};

class Marginals final : public DrawnPolicy {
 public:
  Marginals(std::span<const PolicyFile> files, const ParallelOptions& options)
      : table_(table_of(of_one_run(files), files.front().episodes(), options)) {
    for (const PolicyFile& file : files) num_actions_.push_back(file.header().seat.num_actions);
    first_cell_ = files.front().header().seat.first_cell;
  }

  void draw(Step h,
            State s,
            std::uint64_t seed,
            std::span<const std::uint64_t> numbers,
            std::span<Action> joint) const override {
    const std::size_t cell = first_cell_[h.index()] + s.index();
    for (std::size_t j = 0; j < num_actions_.size(); ++j) {
      const std::size_t row = (j * table_.shape[1] + h.index()) * table_.shape[2] + s.index();
      const std::span<const double> policy =
          std::span(table_.averaged).subspan(row * table_.shape[3], num_actions_[j][cell]);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double u = uniform_of(seed, j, numbers[i], h);
        joint[i * num_actions_.size() + j] = Action(sample(policy, u));
      }
    }
  }

 private:
  AverageTable table_;
  std::vector<std::vector<std::uint32_t>> num_actions_;  // of each player and cell
  std::vector<std::size_t> first_cell_;
};

}  // namespace

std::unique_ptr<DrawnPolicy> make_drawn_mixture(std::span<const PolicyFile> files) {
  return std::make_unique<Mixture>(files);
}

std::unique_ptr<DrawnPolicy> make_drawn_marginals(std::span<const PolicyFile> files,
                                                  const ParallelOptions& options) {
  return std::make_unique<Marginals>(files, options);
}

}  // namespace vlearn
