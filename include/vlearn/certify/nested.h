// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The nested mixture of V-learning (the paper's Algorithm 3) in a known game: what it is worth, and
// what a deviator can make of it, kept up visit by visit from the policies that are played. No
// history is needed.
//
// From (h, s) on, after n visits, the mixture draws visit i with probability alpha_n^i and goes on
// as it stood at the beginning of that visit's episode. So all numbers of (h, s) are averages with
// the weights alpha_n^i, and the n-th visit, which played the profile pi, does
//
//   U       <- U       + alpha_n (E_{a ~ pi} [r + U_{h+1}]                        - U)
//   Q(b)    <- Q(b)    + alpha_n (E_{a_-j ~ pi_-j} [r(b, .) + W_{h+1}]            - Q(b))
//   C(b,b') <- C(b,b') + alpha_n (pi_j(b) E_{a_-j ~ pi_-j} [r(b', .) + W_{h+1}]   - C(b,b'))
//
//   U   is the value of the mixture, exactly
//   W   bounds what a deviator can get: max_b Q(b) for one who ignores what was drawn for it (cce,
//       nash), sum_b max_b' C(b, b') for one who sees it and may play another action (ce). It is
//       the value of a deviator who is told, one step late, which visit was drawn.
//
// Without visits the mixture plays uniformly to the end. A deviator who does not know the episode k
// that the execution starts from (start `uniform`) has one answer for all of them at step 1: there
// the maxima are taken of averages over k.
//
// All numbers are sums of [0, 1] rewards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/container.h"
#include "vlearn/core/target.h"
#include "vlearn/game/any_game.h"
#include "vlearn/game/backup_both.h"

namespace vlearn {

/// What a policy is worth and what deviations from it are worth, for each player, averaged over the
/// first state.
struct Assessment {
  std::vector<double> values;      ///< without meaning for nash, where nobody knows it
  std::vector<double> deviations;  ///< at most this
};

/// The largest gain of a player; for nash, where the values of two players sum to H, that of both
/// together.
[[nodiscard]] double gap_of(const Assessment& assessment, Target target, double horizon) noexcept;

/// Numbers of first states, which change only when the state is visited, summed over episodes.
class StartSums {
 public:
  StartSums() = default;
  /// Where the numbers of each state begin, and at last how many there are.
  explicit StartSums(std::vector<std::size_t> begins)
      : begins_(std::move(begins)), sums_(2 * begins_.back(), 0.0), since_(begins_.size() - 1, 0) {}

  /// The numbers of state s were these at the beginning of the episode (counted from 0), and are
  /// about to change.
  void before_change(std::size_t s, std::uint64_t episode, std::span<const double> numbers) {
    const auto times = static_cast<double>(episode + 1 - since_[s]);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t place = begins_[s] + i;
      add_compensated(sums_[place], sums_[begins_.back() + place], times * numbers[i]);
    }
    since_[s] = episode + 1;
  }
  /// The mean over so many episodes, at least one, where the numbers are these at the end.
  void mean(std::size_t s,
            std::uint64_t episodes,
            std::span<const double> numbers,
            std::span<double> result) const {
    const auto times = static_cast<double>(episodes - since_[s]);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      result[i] = (sums_[begins_[s] + i] + times * numbers[i]) / static_cast<double>(episodes);
    }
  }
  [[nodiscard]] std::span<double> sums() noexcept { return sums_; }
  [[nodiscard]] std::span<const double> sums() const noexcept { return sums_; }
  [[nodiscard]] std::span<std::uint64_t> since() noexcept { return since_; }
  [[nodiscard]] std::span<const std::uint64_t> since() const noexcept { return since_; }

 private:
  std::vector<std::size_t> begins_;
  std::vector<double> sums_;  // and what they have lost to rounding
  std::vector<std::uint64_t> since_;
};

/// A deviation: an action of each cell, for ce of each cell and recommended action.
using WitnessPlan = std::vector<std::uint32_t>;

class NestedCertifier {
 public:
  virtual ~NestedCertifier() = default;
  NestedCertifier(const NestedCertifier&) = delete;
  NestedCertifier& operator=(const NestedCertifier&) = delete;
  NestedCertifier(NestedCertifier&&) = delete;
  NestedCertifier& operator=(NestedCertifier&&) = delete;

  /// Who does the work of a visit where players are many.
  virtual void use(std::shared_ptr<Crew> crew) = 0;
  /// All visits of an episode in the order of its steps. So the numbers of step h + 1 are still
  /// those of the beginning of the episode when step h needs them. The last step ends it.
  virtual void visit(Step h, State s, const Profile& profile) = 0;
  [[nodiscard]] virtual std::uint64_t episodes() const noexcept = 0;

  /// Of executions that start after all episodes so far (k = K + 1),
  [[nodiscard]] virtual Assessment last() const = 0;
  /// and of those that start from one of them, drawn uniformly. There is one at least.
  [[nodiscard]] virtual Assessment uniform() const = 0;
  /// The same of those who are at a (step, state) now, of what is still to come: U and W.
  [[nodiscard]] virtual Assessment at(Step h, State s) const = 0;

  /// Instead of visits, for a Markov policy: all that is played at a (step, state), each profile
  /// with its share of all up to it, the first having 1. The later steps are there already; states
  /// of one step may come from different threads.
  using Absorb = std::function<void(const Profile& profile, double share)>;
  using Parts = std::function<void(const Absorb& absorb)>;
  virtual void set(Step h, State s, const Parts& parts) = 0;
  /// The same of the chances of all joint actions, the last player's varying fastest.
  virtual void set_joint(Step h, State s, std::span<const double> chances) = 0;

  /// The deviations that look best, as certificates have them. Where `uniform` is set, at step 1
  /// for who does not know k. For ce there are two: who looks at what is recommended, and who does
  /// not.
  [[nodiscard]] virtual std::vector<WitnessPlan> witnesses(Player player, bool uniform) const = 0;

  /// No number above is off by more than this.
  [[nodiscard]] virtual double rounding() const noexcept = 0;

  /// Everything that changes, for a checkpoint; as Trainer::save() and load().
  virtual void save(ContainerWriter& writer) const = 0;
  virtual void load(ContainerArrays& arrays) = 0;

 protected:
  NestedCertifier() = default;
};

/// Of executions with the output weights (c + 1)/(c + n), c = weights. The game must live on.
[[nodiscard]] std::unique_ptr<NestedCertifier> make_nested_certifier(const AnyGame& game,
                                                                     Target target,
                                                                     std::uint64_t weights);

/// The exact value of one fixed deviation for each player: a lower bound of what the best is worth.
/// The same recursion as U, with a player's policy replaced by the witness.
class NestedWitness {
 public:
  virtual ~NestedWitness() = default;
  NestedWitness(const NestedWitness&) = delete;
  NestedWitness& operator=(const NestedWitness&) = delete;
  NestedWitness(NestedWitness&&) = delete;
  NestedWitness& operator=(NestedWitness&&) = delete;

  /// Who does the work of a visit where players are many.
  virtual void use(std::shared_ptr<Crew> crew) = 0;
  /// As NestedCertifier::visit().
  virtual void visit(Step h, State s, const Profile& profile) = 0;
  [[nodiscard]] virtual std::vector<double> last() const = 0;
  [[nodiscard]] virtual std::vector<double> uniform() const = 0;

 protected:
  NestedWitness() = default;
};

/// witnesses[j]: of player j, one of NestedCertifier::witnesses().
[[nodiscard]] std::unique_ptr<NestedWitness> make_nested_witness(
    const AnyGame& game, Target target, std::uint64_t weights, std::vector<WitnessPlan> witnesses);

}  // namespace vlearn
