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
#include <vector>

namespace vlearn {

class ReplayedRule {
 public:
  struct Options {
    std::string_view name;
    bool control_variate = false;
    std::uint64_t horizon = 1;
    double parameter = 0.0;  ///< of the rigorous rules: policy_format.md has it
  };
  /// Nothing for a name that is not known, and for a rule that needs control variates and has none.
  [[nodiscard]] static std::optional<ReplayedRule> make(const Options& options);

  /// Numbers in a state: the policy first.
  [[nodiscard]] std::size_t state_size(std::size_t num_actions) const noexcept {
    const std::size_t rows = swap_ ? num_actions : 1;
    return num_actions * (policies() + (options_.control_variate ? 2 : 0) + rows) + noises() * rows;
  }
  /// Of these a snapshot has the last ones.
  [[nodiscard]] std::size_t snapshot_size(std::size_t num_actions) const noexcept {
    return state_size(num_actions) - (swap_ && noises() == 0 ? 0 : policies() * num_actions);
  }
  /// A snapshot follows each multiple of so many visits.
  [[nodiscard]] std::uint64_t snapshot_interval(std::size_t num_actions) const noexcept;
  /// Whether a snapshot is what a replay has come to: the same numbers. Of rules for swap regret
  /// and of optimistic-rigorous, whose losses depend on policies, and of D and M, which have sums
  /// whose order is not part of the format, nearly the same.
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
    optimistic,
    optimistic_nash,
    optimistic_swap,
    optimistic_rigorous,
    optimistic_swap_rigorous,
  };
  ReplayedRule(Name name, const Options& options)
      : name_(name),
        swap_(name == Name::ftrl_swap || name == Name::ftrl_swap_rigorous ||
              name == Name::optimistic_swap || name == Name::optimistic_swap_rigorous),
        optimistic_(name == Name::optimistic || name == Name::optimistic_nash ||
                    name == Name::optimistic_swap),
        cuts_means_(name == Name::optimistic_rigorous || name == Name::optimistic_swap_rigorous),
        memory_(name == Name::optimistic        ? 2.0
                : name == Name::optimistic_nash ? 1.0
                : name == Name::optimistic_swap ? 3.0
                                                : static_cast<double>(options.horizon)),
        options_(options) {}

  [[nodiscard]] double rate(std::size_t num_actions, std::uint64_t visit) const noexcept;
  void policy_of(std::span<const double> losses,
                 double rate,
                 std::span<double> policy) const noexcept;
  /// Moves D and M of every row, the last numbers of a state, by a visit. Means of actions, losses
  /// and policy are still those before it.
  void add_noise(std::size_t num_actions,
                 std::uint64_t visit,
                 const Logged& logged,
                 std::span<double> state) const;
  /// eta of a row after a visit, of rules whose steps are scaled by its noise.
  [[nodiscard]] double scaled_rate(std::size_t num_actions,
                                   std::uint64_t visit,
                                   std::size_t row,
                                   std::span<const double> state) const noexcept;
  /// The chance that the expert of a row gave an action at a visit, from a state before it.
  [[nodiscard]] double row_chance(std::size_t num_actions,
                                  std::uint64_t visit,
                                  std::size_t row,
                                  std::size_t action,
                                  std::span<const double> state) const noexcept;
  /// nu of a visit, of rules that cut means.
  [[nodiscard]] double nu(std::size_t num_actions, std::uint64_t visit) const noexcept;
  /// Means as the visit uses them, of rules that cut them; and what it adds to D of every row.
  [[nodiscard]] std::vector<double> cut_means(std::size_t num_actions,
                                              std::uint64_t visit,
                                              std::span<const double> state) const;
  void add_cut_noise(std::size_t num_actions,
                     std::uint64_t visit,
                     const Logged& logged,
                     std::span<const double> cut,
                     std::span<double> state) const;
  /// Times B: what a state begins with and a snapshot leaves out, the policy; of the optimistic
  /// rules for swap regret the largest chance of every row too.
  [[nodiscard]] std::size_t policies() const noexcept { return swap_ && noises() > 0 ? 2 : 1; }
  /// Numbers of a row that say how noisy it is: D and M, or D.
  [[nodiscard]] std::size_t noises() const noexcept {
    return optimistic_ ? 2 : static_cast<std::size_t>(cuts_means_);
  }

  Name name_;
  bool swap_;
  bool optimistic_;
  bool cuts_means_;
  double memory_;  // c of the weights: H, or that of the rule
  Options options_;
};

}  // namespace vlearn
