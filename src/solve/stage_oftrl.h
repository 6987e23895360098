// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A stage by players who learn it without noise: optimistic follow-the-regularised-leader on exact
// expected payoffs (Rakhlin and Sridharan 2013, Syrgkanis, Agarwal, Luo and Schapire 2015). With
// q_t(b), what own action b is worth against what the others play at iteration t,
//
//   G_t      = (t-1)/t G_{t-1} + q_t                         weight t on iteration t
//   pi_{t+1} ~ exp(eta_t (t/(t+1) G_t + q_t))                the last q stands for the next
//   eta_t    = 2 / sqrt(sum_{i<=t} |q_i - q_{i-1}|^2)         |.| the largest less the least entry
//
// For ce each own action has such a learner, fed with pi(b) q, and what is played is stationary
// under them (Blum and Mansour 2007).
//
// With the weights 2 i / (t (t+1)) of the iterations, their mixture, from which each iteration is
// drawn for all players at once, is an equilibrium up to the averaged regrets, which are computed
// on the way: iterate until they are small enough. Where the players come to rest, what they play
// at last is an equilibrium itself, of one part. In zero-sum games it is the product of averages.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stage.h"
#include "vlearn/bandit/stationary.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/simplex.h"
#include "vlearn/core/target.h"
#include "vlearn/game/joint_profile.h"

namespace vlearn {

/// Parts of a mixture of which joint actions are not listed.
inline constexpr std::size_t kOftrlParts = 512;

struct OftrlOptions {
  Target target = Target::cce;
  double tolerance = 0.0;  ///< in the user's units
  std::uint64_t max_iterations = 0;
  std::function<bool()> stop = {};
};

template <KnownGame G>
class OftrlStage {
 public:
  OftrlStage(const G& game, OftrlOptions options)
      : game_(game), frame_(game.frame()), options_(std::move(options)) {}

  StageSolution solve(const StageTask& task) {
    begin(task);
    std::uint64_t next_look = 1;  // at the mixture of what was kept
    for (std::uint64_t t = 1; t <= options_.max_iterations; ++t) {
      ask_whether_to_stop();
      iterate(task, t);
      if (gain_of_last_ <= options_.tolerance) return last(t);
      if (gain_ > options_.tolerance || t < next_look) continue;
      StageSolution solution = average(task, t);
      if (solution.complete) return solution;
      next_look = t + t / 4 + 1;
    }
    StageSolution solution = average(task, options_.max_iterations);
    solution.complete = false;
    return solution;
  }

 private:
  static constexpr double kStep = 2.0;
  static constexpr double kLeastChange = 1e-18;  // of squares: below are roundings
  static constexpr std::uint64_t kMaxJoint = 4096;
  /// Once for so many numbers that were looked at.
  void ask_whether_to_stop() {
    constexpr std::size_t some_milliseconds = 100'000;
    work_ += joint_.size() + profile_.size() * begins_.size();
    if (work_ < some_milliseconds) return;
    work_ = 0;
    if (options_.stop && options_.stop()) throw Cancelled();
  }

  [[nodiscard]] bool swap() const noexcept { return options_.target == Target::ce; }
  [[nodiscard]] bool zero_sum() const noexcept { return options_.target == Target::nash; }
  [[nodiscard]] double width(std::size_t j) const noexcept {
    const RewardRange& range = frame_.range(Player(j));
    return range.high - range.low;
  }

  void begin(const StageTask& task) {
    begins_ = frame_.action_begins(task.h, task.s);
    const std::size_t m = frame_.num_players();
    first_score_.assign(1, 0);
    std::uint64_t joint = 1;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t n = begins_[j + 1] - begins_[j];
      first_score_.push_back(first_score_.back() + (swap() ? n * n : n));
      joint = joint > kMaxJoint ? joint : joint * n;
    }
    profile_.resize(begins_.back());
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t n = begins_[j + 1] - begins_[j];
      std::fill_n(profile_.begin() + begins_[j], n, 1.0 / static_cast<double>(n));
    }
    q_.assign(begins_.back(), 0.0);
    before_.assign(begins_.back(), 0.0);
    scores_.assign(first_score_.back(), 0.0);
    answers_.assign(first_score_.back(), 0.0);
    change_.assign(m, 0.0);
    values_.assign(m, 0.0);
    played_values_.assign(m, 0.0);
    marginals_.assign(zero_sum() ? begins_.back() : 0, 0.0);
    joint_.assign(!zero_sum() && joint <= kMaxJoint ? joint : 0, 0.0);
    kept_.clear();
    kept_profiles_.clear();
    stride_ = 1;
  }

  void backup(const StageTask& task, std::span<const double> profile) {
    game_.backup_all({task.h, task.s, Profile(begins_, profile)}, task.next,
                     ActionValues(begins_, q_), workspace_);
  }

  /// Iteration t, all players at once.
  void iterate(const StageTask& task, std::uint64_t t) {
    backup(task, profile_);
    played_ = profile_;
    const auto number = static_cast<double>(t);
    const double share = 2.0 / (number + 1.0);
    keep(t, share);
    gain_ = 0.0;
    gain_of_last_ = 0.0;
    for (std::size_t j = 0; j + 1 < begins_.size(); ++j) {
      const std::size_t n = begins_[j + 1] - begins_[j];
      const std::span<const double> q = std::span(q_).subspan(begins_[j], n);
      const std::span<double> policy = std::span(profile_).subspan(begins_[j], n);
      double value = 0.0;
      for (std::size_t b = 0; b < n; ++b) value += policy[b] * q[b];
      played_values_[j] = value;
      values_[j] += share * (value - values_[j]);
      const double best = *std::max_element(q.begin(), q.end());
      add_gain(gain_of_last_, j, best - value);
      const double step = kStep / std::sqrt(std::max(grown_change(j, q), kLeastChange));
      add_gain(gain_, j, learn(j, q, policy, t, step) - values_[j]);
    }
    std::copy(q_.begin(), q_.end(), before_.begin());
  }

  /// For nash gains add up; else the largest counts.
  void add_gain(double& gain, std::size_t j, double more) const noexcept {
    gain = zero_sum() ? gain + width(j) * more : std::max(gain, width(j) * more);
  }

  /// The sum of squared changes of what own actions are worth.
  double grown_change(std::size_t j, std::span<const double> q) noexcept {
    double low = q[0] - before_[begins_[j]];
    double high = low;
    for (std::size_t b = 1; b < q.size(); ++b) {
      const double change = q[b] - before_[begins_[j] + b];
      low = std::min(low, change);
      high = std::max(high, change);
    }
    return change_[j] += (high - low) * (high - low);
  }

  /// What the best answer in hindsight is worth on average; sets what is played next.
  double learn(std::size_t j,
               std::span<const double> q,
               std::span<double> policy,
               std::uint64_t t,
               double step) {
    const std::size_t n = q.size();
    const auto number = static_cast<double>(t);
    const double share = 2.0 / (number + 1.0);
    const double decay = (number - 1.0) / number;
    const double ahead = number / (number + 1.0);
    const std::size_t rows = swap() ? n : 1;
    row_.resize(n);
    chain_.resize(rows * n);
    double best = 0.0;
    for (std::size_t a = 0; a < rows; ++a) {
      const double chance = swap() ? policy[a] : 1.0;
      double* const scores = scores_.data() + first_score_[j] + a * n;
      double* const answers = answers_.data() + first_score_[j] + a * n;
      for (std::size_t b = 0; b < n; ++b) {
        const double gain = chance * q[b];
        answers[b] += share * (gain - answers[b]);
        scores[b] = decay * scores[b] + gain;
        row_[b] = step * (ahead * scores[b] + gain);
      }
      best += *std::max_element(answers, answers + n);
      softmax(row_, std::span(chain_).subspan(a * n, n));
    }
    if (swap()) {
      stationary_distribution(chain_, policy);
    } else {
      std::copy(chain_.begin(), chain_.end(), policy.begin());
    }
    return best;
  }

  /// Adds what is played at iteration t to the mixture.
  void keep(std::uint64_t t, double share) {
    if (zero_sum()) {
      for (std::size_t i = 0; i < profile_.size(); ++i) {
        marginals_[i] += share * (profile_[i] - marginals_[i]);
      }
    } else if (!joint_.empty()) {
      const std::span<const double> now = joint_chances_.of(begins_, profile_);
      for (std::size_t i = 0; i < joint_.size(); ++i) joint_[i] += share * (now[i] - joint_[i]);
    } else if (t % stride_ == 0) {
      keep_profile(t);
    }
  }

  /// Too many joint actions to list: every so many iterations, half as often when they are too
  /// many.
  void keep_profile(std::uint64_t t) {
    kept_.push_back(t);
    kept_profiles_.insert(kept_profiles_.end(), profile_.begin(), profile_.end());
    if (kept_.size() < kOftrlParts) return;
    const std::size_t width = profile_.size();
    for (std::size_t i = 1, to = 0; i < kept_.size(); i += 2, ++to) {
      kept_[to] = kept_[i];
      std::copy_n(kept_profiles_.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  kept_profiles_.begin() + static_cast<std::ptrdiff_t>(to * width));
    }
    kept_.resize(kept_.size() / 2);
    kept_profiles_.resize(kept_.size() * width);
    stride_ *= 2;
  }

  /// What was played at iteration t, where nobody gains.
  StageSolution last(std::uint64_t t) const {
    StageSolution solution;
    solution.iterations = t;
    solution.add_part(1, played_);
    solution.values = played_values_;
    return solution;
  }

  /// The mixture of t iterations. Where it is not what regrets were computed of, they are computed
  /// again: it may not be good enough.
  StageSolution average(const StageTask& task, std::uint64_t t) {
    StageSolution solution;
    solution.iterations = t;
    if (zero_sum()) {
      average_marginals(task, solution);
    } else if (!joint_.empty()) {
      profile_scratch_.resize(profile_.size());
      for (std::size_t joint = 0; joint < joint_.size(); ++joint) {
        const std::uint64_t weight = weight_of(joint_[joint]);
        if (weight == 0) continue;
        put_pure(joint, begins_, profile_scratch_);
        solution.add_part(weight, profile_scratch_);
      }
      solution.values = values_;
    } else {
      average_kept(task, solution);
    }
    return solution;
  }

  void average_marginals(const StageTask& task, StageSolution& solution) {
    profile_scratch_ = marginals_;
    for (std::size_t j = 0; j + 1 < begins_.size(); ++j) {
      static_cast<void>(
          normalise(std::span(profile_scratch_).subspan(begins_[j], begins_[j + 1] - begins_[j])));
    }
    backup(task, profile_scratch_);
    double gain = 0.0;
    for (std::size_t j = 0; j + 1 < begins_.size(); ++j) {
      double value = 0.0;
      for (std::size_t b = begins_[j]; b < begins_[j + 1]; ++b) {
        value += profile_scratch_[b] * q_[b];
      }
      solution.values.push_back(value);
      add_gain(gain, j,
               *std::max_element(q_.begin() + begins_[j], q_.begin() + begins_[j + 1]) - value);
    }
    solution.add_part(1, profile_scratch_);
    solution.complete = gain <= options_.tolerance;
  }

  void average_kept(const StageTask& task, StageSolution& solution) {
    const std::size_t m = frame_.num_players();
    const std::size_t width = profile_.size();
    std::vector<double> answers(first_score_.back(), 0.0);
    solution.values.assign(m, 0.0);
    double sum = 0.0;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      ask_whether_to_stop();
      const std::span<const double> profile = std::span(kept_profiles_).subspan(i * width, width);
      const auto weight = static_cast<double>(kept_[i]);
      sum += weight;
      const double share = weight / sum;
      solution.add_part(kept_[i], profile);
      backup(task, profile);
      for (std::size_t j = 0; j < m; ++j) {
        const std::size_t n = begins_[j + 1] - begins_[j];
        const double* const q = q_.data() + begins_[j];
        const double* const policy = profile.data() + begins_[j];
        double value = 0.0;
        for (std::size_t b = 0; b < n; ++b) value += policy[b] * q[b];
        solution.values[j] += share * (value - solution.values[j]);
        for (std::size_t x = 0; x < (swap() ? n * n : n); ++x) {
          const double gain = swap() ? policy[x / n] * q[x % n] : q[x];
          double& answer = answers[first_score_[j] + x];
          answer += share * (gain - answer);
        }
      }
    }
    double gain = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t n = begins_[j + 1] - begins_[j];
      double best = 0.0;
      for (std::size_t row = first_score_[j]; row < first_score_[j + 1]; row += n) {
        best += *std::max_element(answers.begin() + static_cast<std::ptrdiff_t>(row),
                                  answers.begin() + static_cast<std::ptrdiff_t>(row + n));
      }
      add_gain(gain, j, best - solution.values[j]);
    }
    solution.complete = gain <= options_.tolerance;
  }

  const G& game_;
  const Frame& frame_;
  OftrlOptions options_;
  std::span<const std::uint32_t> begins_;  // of each player in a profile
  std::vector<std::size_t> first_score_;   // of each player
  std::vector<double> profile_;            // pi_t
  std::vector<double> q_;
  std::vector<double> before_;   // q_{t-1}
  std::vector<double> scores_;   // G
  std::vector<double> answers_;  // averages of q, for ce of pi(b) q
  std::vector<double> change_;   // of each player, sum of squares
  std::vector<double> values_;   // of each player, averaged
  double gain_ = 0.0;            // of the mixture
  // Of the iteration before the players moved on:
  std::vector<double> played_;
  std::vector<double> played_values_;
  double gain_of_last_ = 0.0;
  // The mixture: of zero-sum games the averages; of few joint actions their chances; else profiles.
  std::vector<double> marginals_;
  std::vector<double> joint_;
  std::vector<std::uint64_t> kept_;  // iterations
  std::vector<double> kept_profiles_;
  std::uint64_t stride_ = 1;
  std::size_t work_ = 0;  // since it was asked whether to stop
  // Scratch:
  std::vector<double> row_;
  std::vector<double> chain_;
  JointChances joint_chances_;
  std::vector<double> profile_scratch_;
  Workspace workspace_;
};

}  // namespace vlearn
