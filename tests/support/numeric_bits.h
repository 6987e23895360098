// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A hash of everything numerical in core and bandit. It is the same for every compiler,
// optimisation level and vector width: the unit tests compare it in the presets, and
// test_same_bits.py in builds that no preset makes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "vlearn/bandit/bank.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/optimistic.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/exp.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"

namespace vlearn {

/// A change of this number is a change of every result: the commit says why.
inline constexpr std::uint64_t kRecordedBits = 0x7060e7f81bc292fe;

/// FNV-1a over the bytes of numbers.
class BitsHash {
 public:
  void add(double number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    add(bits);
  }
  void add(std::uint64_t bits) {
    for (unsigned byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (bits >> (8 * byte) & 0xFFU)) * 0x100000001b3U;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// Adds a thousand visits of cells with different numbers of actions, actions drawn from the
/// policies.
template <class Rule>
void add_rule(BitsHash& hash, const Rule& rule) {
  BanditBank bank(rule, std::vector<std::uint32_t>{1, 2, 3, 4, 7, 10, 17, 40});
  Draws draws({.seed = 2, .purpose = Purpose::test});
  for (std::uint64_t t = 1; t <= 125; ++t) {
    for (std::size_t cell = 0; cell < bank.size(); ++cell) {
      const Action action(sample(bank.policy(cell), draws.uniform()));
      bank.update(cell, action, draws.uniform(), t);
    }
  }
  for (const double number : bank.memory()) hash.add(number);
}

inline std::uint64_t hash_of_everything() {
  BitsHash hash;
  std::vector<double> values;
  for (std::uint64_t k = 0; k < 200; ++k) {
    Draws draws(
        {.seed = 1, .purpose = Purpose::test, .player = Player(k % 3), .episode = Episode(k)});
    for (int i = 0; i < 100; ++i) values.push_back(1400.0 * draws.uniform() - 740.0);
    hash.add(draws.below(1000 + k));
    const AlphaWeights weights(1 + k % 64);
    const std::uint64_t i = weights.sample(1 + k * k, draws);
    hash.add(i);
    hash.add(weights.weight(1 + k * k, i));
    hash.add(weights.sum_of_inverse_visits(1 + k));
  }
  std::vector<double> out(values.size());
  vlearn::exp(values, out);
  for (const double y : out) hash.add(y);
  for (const double x : values) hash.add(vlearn::exp(x / 1000.0));
  for (std::size_t size = 1; size < 70; ++size) {
    const std::span<const double> scores(values.data() + 7 * size, size);
    const std::span<double> policy(out.data(), size);
    softmax(scores, policy);
    for (const double p : policy) hash.add(p);
    hash.add(fixed_sum(scores));
    hash.add(static_cast<std::uint64_t>(sample(policy, 0.77)));
  }
  add_rule(hash, Ftrl<>(5));
  add_rule(hash, Ftrl<>(5, {FtrlIndex::predictive}));
  add_rule(hash, Exp3Ix<>(5));
  add_rule(hash, Tsallis<ControlVariate::on>(5));
  add_rule(hash, LogBarrier<>(5));
  add_rule(hash, FtrlSwap<>(5));
  add_rule(hash, FtrlSwap<ControlVariate::on>(5));
  add_rule(hash, Optimistic());
  add_rule(hash, OptimisticNash());
  add_rule(hash, OptimisticSwap());
  return hash.value();
}

}  // namespace vlearn
