// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The bandit rules as plain loops over vectors, written to be read beside the paper's boxes
// ("FTRL for weighted external regret", "FTRL for weighted swap regret"). The fast path equals
// them bit for bit, so sums are taken in the order of simplex.h and exp is the project's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "support/plain.h"
#include "vlearn/bandit/potentials.h"
#include "vlearn/core/exp.h"

namespace vlearn::test {

struct PlainRule {
  double horizon;
  Potential potential;
  bool swap;
  bool means;
  std::function<double(double actions, double visit)> rate;
  std::function<double(double actions, double visit)> gamma;
  /// Steps are divided by the noise of the losses, as noise_scaled.h has it; `rate` is then eta
  /// times the noise.
  bool scaled_by_noise = false;
};

inline std::vector<double> plain_policy(Potential potential,
                                        const std::vector<double>& losses,
                                        double rate) {
  const double least = *std::min_element(losses.begin(), losses.end());
  std::vector<double> theta(losses.size());
  double sum = 0.0;
  if (potential == Potential::entropy) {
    for (std::size_t b = 0; b < theta.size(); ++b) {
      theta[b] = exp(std::clamp(losses[b] * -rate, -708.0, 708.0));
    }
    sum = plain_sum(theta);
  } else {
    const bool squared = potential == Potential::tsallis;
    const double scale = squared ? 0.5 * rate : rate;
    double y = 1.0;
    for (int step = 0;; ++step) {
      std::vector<double> slope(theta.size());
      for (std::size_t b = 0; b < theta.size(); ++b) {
        const double u = 1.0 / ((losses[b] - least) * scale + y);
        theta[b] = squared ? u * u : u;
        slope[b] = theta[b] * u;
      }
      sum = plain_sum(theta);
      if (!(sum - 1.0 > 0x1p-50) || step == 64) break;
      y += (sum - 1.0) / ((squared ? 2.0 : 1.0) * plain_sum(slope));
    }
  }
  for (double& p : theta) p *= 1.0 / sum;
  return theta;
}

/// Grassmann, Taksar, Heyman.
inline std::vector<double> plain_stationary(std::vector<std::vector<double>> t) {
  const std::size_t n = t.size();
  for (std::vector<double>& row : t) {
    for (double& chance : row) chance = std::max(chance, 1e-300);
  }
  for (std::size_t k = n - 1; k > 0; --k) {
    double leave = 0.0;
    for (std::size_t j = 0; j < k; ++j) leave += t[k][j];
    for (std::size_t j = 0; j < k; ++j) t[k][j] /= leave;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) t[i][j] += t[i][k] * t[k][j];
      t[i][k] /= leave;
    }
  }
  std::vector<double> pi(n, 1.0);
  for (std::size_t k = 1; k < n; ++k) {
    pi[k] = 0.0;
    for (std::size_t i = 0; i < k; ++i) pi[k] += pi[i] * t[i][k];
  }
  double sum = 0.0;
  for (const double mass : pi) sum += mass;
  for (double& mass : pi) mass /= sum;
  return pi;
}

class PlainBandit {
 public:
  PlainBandit(PlainRule rule, std::size_t actions)
      : rule_(std::move(rule)),
        theta_(actions, 1.0 / static_cast<double>(actions)),
        losses_(rule_.swap ? actions : 1, std::vector<double>(actions, 0.0)),
        means_(actions, 0.5),
        plays_(actions, 0.0) {}

  [[nodiscard]] const std::vector<double>& policy() const { return theta_; }

  void update(std::size_t a, double loss, std::uint64_t visit) {
    const auto n = static_cast<double>(theta_.size());
    const auto t = static_cast<double>(visit);
    const double h = rule_.horizon;
    const double chance = std::max(theta_[a] + rule_.gamma(n, t), 0x1p-40);
    const double mean = rule_.means ? means_[a] : 0.0;
    const auto score = static_cast<float>((loss - mean) / chance);
    const double weight = (h + 1.0) / (h + plays_[a] + 1.0);
    const auto growth = static_cast<float>((loss - mean) * weight);
    double rate = rule_.rate(n, t);
    if (rule_.scaled_by_noise) {
      const double seen = means_[a] + static_cast<double>(growth) * ((h + plays_[a] + 1.0) * 0.25);
      rate /= noise(seen, (h + 1.0) / (h + t));
    }
    std::vector<std::vector<double>> rows;
    for (std::size_t b = 0; b < losses_.size(); ++b) {
      const double scale = rule_.swap ? theta_[b] : 1.0;
      for (std::size_t c = 0; c < theta_.size(); ++c) {
        losses_[b][c] *= (t - 1.0) / (h + t - 1.0);
        if (rule_.means) losses_[b][c] += means_[c] * scale;
      }
      losses_[b][a] += scale * static_cast<double>(score);
      // A constant changes nothing: the least loss is kept at 0.
      std::vector<double> lowered = losses_[b];
      const double least = *std::min_element(lowered.begin(), lowered.end());
      for (double& sum : lowered) sum -= least;
      const std::vector<double>& seen = rule_.means ? lowered : losses_[b];
      rows.push_back(plain_policy(rule_.potential, seen, rate));
      losses_[b] = lowered;
    }
    theta_ = rule_.swap ? plain_stationary(rows) : rows[0];
    if (!rule_.means) return;
    means_[a] += static_cast<double>(growth);
    plays_[a] += 1.0;
  }

 private:
  static double sum_by_fours(const std::vector<double>& numbers) {
    double sums[4] = {};
    for (std::size_t b = 0; b < numbers.size(); ++b) sums[b % 4] += numbers[b];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  /// sigma after one more loss, which has this share in the averages.
  double noise(double loss, double share) {
    const double away = loss - loss_mean_;
    loss_variance_ = (1.0 - share) * (loss_variance_ + share * away * away);
    loss_mean_ += share * away;
    const double inverse = 1.0 / static_cast<double>(means_.size());
    const double middle = inverse * sum_by_fours(means_);
    std::vector<double> squares;
    for (const double mean : means_) squares.push_back((mean - middle) * (mean - middle));
    const double between = inverse * sum_by_fours(squares);
    return std::max(0.001, std::sqrt(loss_variance_ + between + 0.03 * share));
  }

  PlainRule rule_;
  std::vector<double> theta_;
  std::vector<std::vector<double>> losses_;  // one row, or one for each expert
  std::vector<double> means_;
  std::vector<double> plays_;
  double loss_mean_ = 0.0;
  double loss_variance_ = 0.0;
};

}  // namespace vlearn::test
