// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "measure.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/exp.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"

namespace vlearn::bench {
namespace {

constexpr std::size_t kArray = 1024;
constexpr std::size_t kActions = 10;
constexpr std::uint64_t kWeights = 10;        // c of the index sampler
constexpr std::uint64_t kVisits = 1'000'000;  // t of the index sampler

StreamKey test_key(std::uint64_t episode) {
  return {.seed = 1, .purpose = Purpose::test, .episode = Episode(episode)};
}

/// What exp and softmax are measured on.
const std::vector<double>& arguments() {
  static const std::vector<double> values = [] {
    Draws draws(test_key(0));
    std::vector<double> drawn(kArray);
    for (double& value : drawn) value = -20.0 * draws.uniform();
    return drawn;
  }();
  return values;
}

double our_draws(std::size_t operations) {
  Draws draws(test_key(1));
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    if (i % (std::size_t{1} << 20U) == 0) draws = Draws(test_key(i));
    sum += draws.uniform();
  }
  return sum;
}

/// How a learner draws: a fresh key for every number.
double keyed_draws(std::size_t operations) {
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) sum += Draws(test_key(i)).uniform();
  return sum;
}

double mersenne_draws(std::size_t operations) {
  std::mt19937_64 engine(1);
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    sum += static_cast<double>(engine() >> 11U) * 0x1p-53;
  }
  return sum;
}

double our_exp(std::size_t operations) {
  const std::vector<double>& in = arguments();
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) sum += vlearn::exp(in[i % kArray]);
  return sum;
}

double std_exp(std::size_t operations) {
  const std::vector<double>& in = arguments();
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) sum += std::exp(in[i % kArray]);
  return sum;
}

double our_exp_array(std::size_t operations) {
  const std::vector<double>& in = arguments();
  std::vector<double> out(kArray);
  double sum = 0.0;
  for (std::size_t done = 0; done < operations; done += kArray) {
    vlearn::exp(in, out);
    sum += out[done / kArray % kArray];
  }
  return sum;
}

double our_softmax(std::size_t operations) {
  const std::vector<double>& in = arguments();
  std::array<double, kActions> out{};
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    softmax(std::span(in).subspan(i % (kArray - kActions), kActions), out);
    sum += out[i % kActions];
  }
  return sum;
}

double plain_softmax(std::size_t operations) {
  const std::vector<double>& in = arguments();
  std::array<double, kActions> out{};
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    const std::span<const double> scores(in.data() + i % (kArray - kActions), kActions);
    const double largest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (std::size_t a = 0; a < kActions; ++a) total += out[a] = std::exp(scores[a] - largest);
    for (double& value : out) value /= total;
    sum += out[i % kActions];
  }
  return sum;
}

double our_index(std::size_t operations) {
  const AlphaWeights weights(kWeights);
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    Draws draws(test_key(i));
    sum += static_cast<double>(weights.sample(kVisits, draws));
  }
  return sum;
}

/// The usual way: invert the product form of the cumulative weights by binary search.
double bisected_index(std::size_t operations) {
  const AlphaWeights weights(kWeights);
  std::mt19937_64 engine(1);
  double sum = 0.0;
  for (std::size_t i = 0; i < operations; ++i) {
    const double u = static_cast<double>(engine() >> 11U) * 0x1p-53;
    std::uint64_t low = 1;
    std::uint64_t high = kVisits;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (weights.cdf(kVisits, middle) > u) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    sum += static_cast<double>(low);
  }
  return sum;
}

}  // namespace

std::vector<Measurement> core() {
  return {
      compare("uniform draw, one key", our_draws, "std::mt19937_64", mersenne_draws),
      compare("uniform draw, a key each", keyed_draws, "std::mt19937_64", mersenne_draws),
      compare("exp, one value", our_exp, "std::exp", std_exp),
      compare("exp in an array, per value", our_exp_array, "std::exp", std_exp),
      compare("softmax of 10 actions", our_softmax, "loop with std::exp", plain_softmax),
      compare("index draw, c = 10, t = 1e6", our_index, "bisection of the CDF", bisected_index),
  };
}

}  // namespace vlearn::bench
