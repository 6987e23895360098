// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The bandit rules once more, for those who check what others computed: plain loops, from the
// formulas of docs/reference/policy_format.md and the papers, none of the learner's code. A replay
// of a log gives the policies that were played up to
//
//   |theta'(b) - theta(b)| <= error(B) theta(b) + 10^-300
//
// The cumulative losses come out the same bits, because the order of their operations is part of
// the file format; policies differ by roundings of exp, log and the order of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace vlearn {

class ReplayedRule {
 public:
  struct Options {
    std::string_view name;
    bool control_variate = false;
    std::uint64_t horizon = 1;
    double parameter = 0.0;  ///< log(4 m H S K / delta) of the rigorous rules
  };
  /// Nothing for a name that is not known, and for a rule that needs control variates and has none.
  [[nodiscard]] static std::optional<ReplayedRule> make(const Options& options);

  /// Numbers in a state: the policy first.
  [[nodiscard]] std::size_t state_size(std::size_t num_actions) const noexcept {
    return num_actions * (1 + (options_.control_variate ? 2 : 0) + (swap_ ? num_actions : 1)) +
           (noise_scaled_ ? 2 : 0);
  }
  /// Of these a snapshot has the last ones.
  [[nodiscard]] std::size_t snapshot_size(std::size_t num_actions) const noexcept {
    return state_size(num_actions) - (swap_ ? 0 : num_actions);
  }
  /// A snapshot follows each multiple of so many visits.
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept;
  /// Whether a snapshot is what a replay has come to: the same numbers, and of rules for swap
  /// regret, whose losses depend on policies, nearly the same.
  [[nodiscard]] bool agree(std::span<const double> replayed,
                           std::span<const double> snapshot) const noexcept;

  void reset(std::size_t num_actions, std::span<double> state) const noexcept;
  /// Visit number t = 1, 2, ... of the bandit, and what its log says.
  struct Logged {
    std::size_t action = 0;
    double score = 0.0;
    double mean = 0.0;
  };
  void advance(std::size_t num_actions,
               std::uint64_t visit,
               const Logged& logged,
               std::span<double> state) const;

  /// Exponents are 708 at most, and off by a few 2^-53 of that; a stationary distribution is off by
  /// 2 B times as much as its chain. Measured on runs: 10^-14 at most.
  [[nodiscard]] double error(std::size_t num_actions) const noexcept {
    const auto n = static_cast<double>(num_actions);
    return 1e-12 * (swap_ ? n : 1.0) + 0x1p-51 * n;
  }

 private:
  enum class Name : std::uint8_t {
    ftrl,
    ftrl_predictive,
    ftrl_rigorous,
    ftrl_swap,
    ftrl_swap_rigorous,
    exp3_ix,
    tsallis,
    log_barrier,
    noise_scaled,
    noise_scaled_swap,
  };
  ReplayedRule(Name name, const Options& options)
      : name_(name),
        swap_(name == Name::ftrl_swap || name == Name::ftrl_swap_rigorous ||
              name == Name::noise_scaled_swap),
        noise_scaled_(name == Name::noise_scaled || name == Name::noise_scaled_swap),
        memory_(noise_scaled_ ? 3.0 : static_cast<double>(options.horizon)),
        options_(options) {}

  [[nodiscard]] double rate(std::size_t num_actions, std::uint64_t visit) const noexcept;
  void policy_of(std::span<const double> losses,
                 double rate,
                 std::span<double> policy) const noexcept;
  /// Moves mean and variance of the losses, the last two numbers of a state, and gives the noise
  /// that the step of this visit is divided by. Means of actions are still those before it.
  [[nodiscard]] double noise_after(std::size_t num_actions,
                                   std::uint64_t visit,
                                   const Logged& logged,
                                   std::span<double> state) const;

  Name name_;
  bool swap_;
  bool noise_scaled_;
  double memory_;  // c of the weights: H, or that of the rule
  Options options_;
};

}  // namespace vlearn
