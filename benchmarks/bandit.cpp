// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One update of every rule, beside the same formulas as a straight loop with std::exp. Both go
// round the same cells, as a learner does, so neither waits for its own last result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "measure.h"
#include "vlearn/bandit/bank.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/random.h"

namespace vlearn::bench {
namespace {

constexpr std::uint64_t kHorizon = 10;
constexpr std::size_t kCells = 16;

/// What is played and lost, drawn once: actions from a policy that prefers the first ones.
struct Stream {
  std::vector<std::uint32_t> actions;
  std::vector<double> losses;

  explicit Stream(std::size_t n) {
    Draws draws({.seed = 1, .purpose = Purpose::test});
    for (std::size_t i = 0; i < 4096; ++i) {
      const double u = draws.uniform();
      actions.push_back(static_cast<std::uint32_t>(u * u * static_cast<double>(n)));
      losses.push_back(draws.uniform());
    }
  }
};

template <class Rule>
Work updates(Rule rule, std::size_t n) {
  return [rule, n, stream = Stream(n)](std::size_t operations) {
    BanditBank bank(rule, std::vector<std::uint32_t>(kCells, static_cast<std::uint32_t>(n)));
    // Step sizes are computed when a visit ends, for the next one, as learners do.
    std::vector<VisitSteps> ahead(kCells, rule.steps(n, 1));
    for (std::size_t i = 0; i < operations; ++i) {
      const std::size_t k = i % stream.actions.size();
      const std::size_t cell = i % kCells;
      bank.update(cell, Action(stream.actions[k]), stream.losses[k], ahead[cell]);
      ahead[cell] = rule.steps(n, 2 + i / kCells);
    }
    return bank.policy(0)[0];
  };
}

/// The straight loop: flat arrays, double, no allocation, std::exp.
struct Straight {
  std::size_t n;
  std::vector<double> theta;
  std::vector<double> losses;
  std::vector<double> means;
  std::vector<double> plays;

  explicit Straight(std::size_t actions)
      : n(actions),
        theta(kCells * n, 1.0 / static_cast<double>(n)),
        losses(kCells * n, 0.0),
        means(kCells * n, 0.5),
        plays(kCells * n, 0.0) {}
};

void straight_entropy(const double* losses, double rate, double* theta, std::size_t n) {
  double least = losses[0];
  for (std::size_t b = 1; b < n; ++b) least = std::min(least, losses[b]);
  double sum = 0.0;
  for (std::size_t b = 0; b < n; ++b) {
    theta[b] = std::exp(-rate * (losses[b] - least));
    sum += theta[b];
  }
  for (std::size_t b = 0; b < n; ++b) theta[b] /= sum;
}

void straight_barrier(
    const double* losses, double scale, bool squared, double* theta, std::size_t n) {
  double least = losses[0];
  for (std::size_t b = 1; b < n; ++b) least = std::min(least, losses[b]);
  double y = 1.0;
  double sum = 2.0;
  for (int step = 0; step < 64; ++step) {
    sum = 0.0;
    double slope = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      const double u = 1.0 / (scale * (losses[b] - least) + y);
      theta[b] = squared ? u * u : u;
      sum += theta[b];
      slope += theta[b] * u;
    }
    if (sum - 1.0 <= 0x1p-50) break;
    y += (sum - 1.0) / ((squared ? 2.0 : 1.0) * slope);
  }
  for (std::size_t b = 0; b < n; ++b) theta[b] /= sum;
}

template <class Steps>
Work straight(Steps steps, std::size_t n, bool with_means) {
  return [=, stream = Stream(n)](std::size_t operations) {
    Straight cells(n);
    const double h = kHorizon;
    for (std::size_t i = 0; i < operations; ++i) {
      const std::size_t k = i % stream.actions.size();
      const std::size_t first = i % kCells * n;
      double* const theta = cells.theta.data() + first;
      double* const g = cells.losses.data() + first;
      double* const means = cells.means.data() + first;
      double* const plays = cells.plays.data() + first;
      const std::uint64_t visit = 1 + i / kCells;
      const auto t = static_cast<double>(visit);
      const std::size_t a = stream.actions[k];
      const double mean = with_means ? means[a] : 0.0;
      const double gamma = steps.gamma(h, n, visit);
      const double chance = std::max(theta[a] + gamma, kLeastChance);
      const double score = (stream.losses[k] - mean) / chance;
      const double decay = (t - 1.0) / (h + t - 1.0);
      for (std::size_t b = 0; b < n; ++b) g[b] = decay * g[b] + (with_means ? means[b] : 0.0);
      g[a] += score;
      if (with_means) {
        plays[a] += 1.0;
        means[a] += (stream.losses[k] - mean) * (h + 1.0) / (h + plays[a]);
      }
      const double rate = steps.rate(h, n, visit, gamma);
      switch (Steps::kPotential) {
        case Potential::entropy: straight_entropy(g, rate, theta, n); break;
        case Potential::tsallis: straight_barrier(g, 0.5 * rate, true, theta, n); break;
        case Potential::log_barrier: straight_barrier(g, rate, false, theta, n); break;
      }
    }
    return cells.theta[0];
  };
}

Work straight_swap(std::size_t n) {
  return [n, stream = Stream(n)](std::size_t operations) {
    const double h = kHorizon;
    const FtrlSwapSteps steps;
    std::vector<double> theta(kCells * n, 1.0 / static_cast<double>(n));
    std::vector<double> losses(kCells * n * n, 0.0);
    std::vector<double> chain(n * n);
    for (std::size_t i = 0; i < operations; ++i) {
      const std::size_t k = i % stream.actions.size();
      double* const own = theta.data() + i % kCells * n;
      double* const m = losses.data() + i % kCells * n * n;
      const std::uint64_t visit = 1 + i / kCells;
      const auto t = static_cast<double>(visit);
      const std::size_t a = stream.actions[k];
      const double gamma = steps.gamma(h, n, visit);
      const double score = stream.losses[k] / std::max(own[a] + gamma, kLeastChance);
      const double decay = (t - 1.0) / (h + t - 1.0);
      for (std::size_t b = 0; b < n; ++b) {
        for (std::size_t c = 0; c < n; ++c) m[b * n + c] *= decay;
        m[b * n + a] += own[b] * score;
        straight_entropy(m + b * n, gamma, chain.data() + b * n, n);
      }
      stationary_distribution(chain, {own, n});
    }
    return theta[0];
  };
}

template <template <ControlVariate> class Rule, class Steps>
void add_rule(std::vector<Measurement>& all, Steps steps) {
  for (const std::size_t n : {2U, 4U, 10U, 64U}) {
    all.push_back(compare(fmt::format("{}, {} actions", Steps::kName, n),
                          updates(Rule<ControlVariate::off>(kHorizon, steps), n), "straight loop",
                          straight(steps, n, false)));
  }
  for (const std::size_t n : {4U, 10U}) {
    all.push_back(compare(fmt::format("{} + variates, {} actions", Steps::kName, n),
                          updates(Rule<ControlVariate::on>(kHorizon, steps), n), "straight loop",
                          straight(steps, n, true)));
  }
}

}  // namespace

std::vector<Measurement> bandit() {
  std::vector<Measurement> all;
  add_rule<Ftrl>(all, FtrlSteps{});
  add_rule<Exp3Ix>(all, Exp3IxSteps{});
  add_rule<Tsallis>(all, TsallisSteps{});
  add_rule<LogBarrier>(all, LogBarrierSteps{});
  for (const std::size_t n : {2U, 4U, 10U, 64U}) {
    all.push_back(compare(fmt::format("ftrl-swap, {} actions", n), updates(FtrlSwap<>(kHorizon), n),
                          "straight loop", straight_swap(n)));
  }
  // What the scale of the noise costs beside the same rule without it.
  for (const std::size_t n : {2U, 4U, 10U, 64U}) {
    all.push_back(compare(fmt::format("optimistic, {} actions", n), updates(Optimistic(), n),
                          "tsallis + variates", updates(Tsallis<ControlVariate::on>(kHorizon), n)));
  }
  return all;
}

}  // namespace vlearn::bench
