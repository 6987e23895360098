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
#include "vlearn/core/log.h"

namespace vlearn::test {

struct PlainRule {
  double horizon;
  Potential potential;
  bool swap;
  bool means;
  std::function<double(double actions, double visit)> rate;
  std::function<double(double actions, double visit)> gamma;
  /// Estimates and noise as optimistic.h has them; `rate` is then eta times the noise.
  bool optimistic = false;
  /// The chance that every action is played with at least.
  std::function<double(double actions, double visit)> floor = [](double, double) { return 0.0; };
};

struct PlainPolicy {
  std::vector<double> theta;
  double root;  // y
};

/// 1/(z + y)^p with sum one: some steps of Newton's and of Halley's method on sum^(-1/p), and the
/// last one taken by the policy.
inline PlainPolicy plain_inverse(const std::vector<double>& z, int p) {
  const std::size_t n = z.size();
  int newton = p == 2 ? (n <= 64 ? 1 : 6) : (n <= 8 ? 1 : n <= 64 ? 3 : 8);
  int halley = p == 2 && n <= 4 ? 1 : 2;
  double y = 1.0;
  while (true) {
    std::vector<double> theta(n);
    std::vector<double> slope(n);
    std::vector<double> bend(n);
    for (std::size_t b = 0; b < n; ++b) {
      const double u = 1.0 / (z[b] + y);
      theta[b] = p == 2 ? u * u : u;
      slope[b] = theta[b] * u;
      bend[b] = slope[b] * u;
    }
    const double s = plain_sum(theta);
    const double s1 = plain_sum(slope);
    const double s2 = plain_sum(bend);
    const double over = s * (p == 2 ? std::sqrt(s) : s) - s;
    if (newton > 0) {
      --newton;
      y += over / s1;
    } else if (halley > 0) {
      --halley;
      y += over * s1 / (s1 * s1 + 0.5 * (p + 1.0) * (s1 * s1 / s - s2) * over);
    } else {
      const double rest = (s - 1.0) / s1;
      for (std::size_t b = 0; b < n; ++b) theta[b] -= rest * slope[b];
      return {theta, y + rest / p};
    }
  }
}

inline PlainPolicy plain_policy(Potential potential,
                                const std::vector<double>& losses,
                                double rate) {
  if (potential == Potential::entropy) {
    std::vector<double> theta;
    for (const double loss : losses) theta.push_back(exp(std::clamp(loss * -rate, -708.0, 708.0)));
    const double sum = plain_sum(theta);
    for (double& p : theta) p *= 1.0 / sum;
    return {theta, 0.0};
  }
  const double least = *std::min_element(losses.begin(), losses.end());
  const double scale = potential == Potential::tsallis ? 0.5 * rate : rate;
  std::vector<double> z;
  for (const double loss : losses) z.push_back((loss - least) * scale);
  return plain_inverse(z, potential == Potential::tsallis ? 2 : 1);
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

/// The rules of docs/theory/optimistic_rule.md as its box has them, one sum after the other in the
/// order of the fast path.
class PlainProvenBandit {
 public:
  /// c and iota.
  struct Settings {
    double horizon;
    double iota;
    bool swap;
  };

  PlainProvenBandit(const Settings& settings, std::size_t actions)
      : c_(settings.horizon),
        swap_(settings.swap),
        lambda_(settings.iota +
                (swap_ ? static_cast<double>(actions) : 1.0) * log(static_cast<double>(actions))),
        p_(actions, 1.0 / static_cast<double>(actions)),
        losses_(swap_ ? actions : 1, std::vector<double>(actions, 0.0)),
        least_(losses_.size(), 0.0),
        noise_(losses_.size(), 0.0),
        roots_(losses_.size(), std::sqrt(static_cast<double>(actions))),
        means_(actions, 0.5),
        plays_(actions, 0.0) {}

  [[nodiscard]] const std::vector<double>& policy() const { return p_; }
  /// sum_r min_b G_r(b).
  [[nodiscard]] double least_estimate() const {
    double sum = 0.0;
    for (const double least : least_) sum += least;
    return sum;
  }
  [[nodiscard]] double lambda() const { return lambda_; }
  [[nodiscard]] double nu(double t) const {
    const auto n = static_cast<double>(p_.size());
    return std::min(0.5 / n, std::sqrt(0.75 * (c_ + 0.5) * lambda_ / (n * t)));
  }

  void update(std::size_t a, double x, std::uint64_t visit) {
    const std::size_t n = p_.size();
    const auto t = static_cast<double>(visit);
    const double nu_t = nu(t);
    const double decay = (t - 1.0) / (c_ + t - 1.0);
    std::vector<double> cut;
    for (std::size_t b = 0; b < n; ++b) cut.push_back(std::min(means_[b], 0.25 * p_[b] / nu_t));
    const double s = x - cut[a];
    const auto score = static_cast<double>(static_cast<float>(estimate(s, p_[a], nu_t)));
    const auto growth = static_cast<float>((x - means_[a]) * ((c_ + 1.0) / (c_ + plays_[a] + 1.0)));
    const double kappa = 0.25 / (std::sqrt(static_cast<double>(n)) + 1.0);
    const double up = (c_ + t) / t;
    const double guard = 3.0 * up * up / nu(t + 1.0);
    std::vector<std::vector<double>> chain;
    for (std::size_t r = 0; r < losses_.size(); ++r) {
      std::vector<double> parts;
      for (std::size_t b = 0; b < n; ++b) {
        const double away = (cut[b] - cut[a]) * (cut[b] - cut[a]);
        if (!swap_) {
          parts.push_back(p_[b] * std::sqrt(p_[b]) * away);
          continue;
        }
        // T_r(b) = 1/z^2, with eta of the visit before.
        const double eta = decay / std::sqrt(decay * decay * noise_[r] + 3.0 / nu_t);
        const double z = 0.5 * eta * losses_[r][b] + roots_[r];
        parts.push_back((b == a ? score * score : away) / (z * z * z));
      }
      const double own = swap_ ? 0.0 : p_[a] * std::sqrt(p_[a]) * (score * score);
      const double q = swap_ ? p_[r] : 1.0;
      noise_[r] = decay * decay * noise_[r] + kappa * (q * q) * (own + sum_by_fours(parts));
      for (std::size_t b = 0; b < n; ++b) losses_[r][b] = decay * losses_[r][b] + q * cut[b];
      losses_[r][a] += q * score;
      const double lowest = *std::min_element(losses_[r].begin(), losses_[r].end());
      for (double& loss : losses_[r]) loss -= lowest;
      least_[r] = decay * least_[r] + lowest;
      const PlainPolicy next =
          plain_policy(Potential::tsallis, losses_[r], 1.0 / std::sqrt(noise_[r] + guard));
      roots_[r] = next.root;
      chain.push_back(next.theta);
    }
    p_ = swap_ ? plain_stationary(chain) : chain[0];
    means_[a] = std::clamp(means_[a] + static_cast<double>(growth), 0.0, 1.0);
    plays_[a] += 1.0;
  }

 private:
  static double estimate(double s, double p, double nu) {
    if (s >= 0.0) return s / (p + 0.5 * nu * s);
    return s / p * (1.0 - 0.61 * nu * (s / p));
  }
  static double sum_by_fours(const std::vector<double>& numbers) {
    double sums[4] = {};
    for (std::size_t b = 0; b < numbers.size(); ++b) sums[b % 4] += numbers[b];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  double c_;
  bool swap_;
  double lambda_;
  std::vector<double> p_;
  std::vector<std::vector<double>> losses_;  // one row, or one for each expert; the least is 0
  // Of each row:
  std::vector<double> least_;  // what is above 0 of its least loss
  std::vector<double> noise_;  // D
  std::vector<double> roots_;  // y
  std::vector<double> means_;
  std::vector<double> plays_;
};

class PlainBandit {
 public:
  PlainBandit(PlainRule rule, std::size_t actions)
      : rule_(std::move(rule)),
        theta_(actions, 1.0 / static_cast<double>(actions)),
        losses_(rule_.swap ? actions : 1, std::vector<double>(actions, 0.0)),
        means_(actions, 0.5),
        plays_(actions, 0.0),
        chain_(losses_.size(), {{}, std::sqrt(static_cast<double>(actions))}),
        sums_(losses_.size(), 0.0),
        largest_(losses_.size(), 0.0) {}

  /// What is returned.
  [[nodiscard]] const std::vector<double>& policy() const { return theta_; }
  /// The chance that every action is played with at least.
  [[nodiscard]] double floor(std::uint64_t visit) const {
    return rule_.floor(static_cast<double>(theta_.size()), static_cast<double>(visit));
  }

  void update(std::size_t a, double loss, std::uint64_t visit) {
    const auto n = static_cast<double>(theta_.size());
    const auto t = static_cast<double>(visit);
    const double h = rule_.horizon;
    const double mean = rule_.means ? means_[a] : 0.0;
    const double chance = std::max(theta_[a] + rule_.gamma(n, t), 0x1p-40);
    const auto score =
        static_cast<float>(rule_.optimistic ? estimate(a, loss - mean, t) : (loss - mean) / chance);
    const double weight = (h + 1.0) / (h + plays_[a] + 1.0);
    const auto growth = static_cast<float>((loss - mean) * weight);
    if (rule_.optimistic) {
      const double surprise =
          static_cast<double>(growth) * ((h + plays_[a] + 1.0) * (1.0 / (h + 1.0)));
      add_noise(a, surprise, static_cast<double>(score), t);
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
      const double rate = rule_.rate(n, t) / (rule_.optimistic ? noise(b) : 1.0);
      chain_[b] = plain_policy(rule_.potential, seen, rate);
      rows.push_back(chain_[b].theta);
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
  /// Of the optimistic rules: what is added to the loss of the action.
  [[nodiscard]] double estimate(std::size_t a, double s, double t) const {
    const auto n = static_cast<double>(theta_.size());
    const double g = rule_.floor(n, t);
    const double q = rule_.gamma(n, t);
    const double o = rule_.swap ? g * std::min(1.0, 2.0 * std::abs(s)) : g;
    const double p = (1.0 - n * g) * theta_[a] + g;
    // s/(p + o + q) for s > 0, s (p + o)/(p (p + q)) for s < 0.
    const double up = p + o + q;
    const double down = p * (p + q);
    return (s > 0.0 ? s * down : s * ((p + o) * up)) / (up * down);
  }
  void add_noise(std::size_t a, double s, double score, double t) {
    const double inverse = 1.0 / static_cast<double>(means_.size());
    const double middle = inverse * sum_by_fours(means_);
    std::vector<double> squares;
    for (const double mean : means_) squares.push_back((mean - middle) * (mean - middle));
    const double v = inverse * sum_by_fours(squares);
    const double dec = (t - 1.0) / (rule_.horizon + t - 1.0);
    for (std::size_t r = 0; r < losses_.size(); ++r) {
      double more = std::abs(s) * std::sqrt(std::abs(s * score)) + 0.3 * v;
      double drop = std::abs(s * score);
      if (rule_.swap) {
        const double eta = rule_.rate(static_cast<double>(theta_.size()), t) / noise(r);
        const double z = 0.5 * eta * losses_[r][a] + chain_[r].root;
        const double chance = 1.0 / (z * z);
        const double w = theta_[r] * theta_[r];
        more = w * (chance * (score * score) * std::sqrt(chance) + 0.3 * v);
        drop = w * (chance * (score * score));
      }
      sums_[r] = dec * dec * sums_[r] + more;
      largest_[r] = std::max(dec * dec * largest_[r], score < 0.0 ? drop : 0.0);
    }
  }
  [[nodiscard]] double noise(std::size_t row) const {
    const auto rows = static_cast<double>(losses_.size());
    return std::sqrt(sums_[row] + largest_[row] + 0.12 / (rows * rows));
  }

  PlainRule rule_;
  std::vector<double> theta_;
  std::vector<std::vector<double>> losses_;  // one row, or one for each expert
  std::vector<double> means_;
  std::vector<double> plays_;
  // Of each row:
  std::vector<PlainPolicy> chain_;
  std::vector<double> sums_;     // D
  std::vector<double> largest_;  // M
};

}  // namespace vlearn::test
