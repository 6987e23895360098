// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of the rules: cumulative losses in, policies out. One pass over vectors of actions,
// the same bits for every vector width.
//
// Every policy minimises <theta, G> plus a potential over the simplex:
//
//   entropy      theta_b = exp(-eta G_b) / sum
//   tsallis      theta_b = 1/(z_b + y)^2,  z_b = eta/2 (G_b - min G), y such that they sum to one
//   log_barrier  theta_b = 1/(z_b + y),    z_b = eta (G_b - min G),   y such that they sum to one
//
// None of them changes when a constant is added to all of G, so rows are kept with their least loss
// at 0. That keeps numbers small, and without means it keeps the search for the least out of the
// way of the exponential: what was 0 has grown by one score at most, which times eta is 2 at most
// for steps with eta <= 2 gamma, as the rules have. With means, all losses grow, and the
// exponential waits for the least. Exponents beyond 708 count as 708.
//
// With u_b = 1/(z_b + y) policies are u^p, p = 2 or 1, and y is found from y = 1 on by Newton's and
// Halley's methods on (sum u^p)^(-1/p). That is a power mean of the z_b + y: concave in y and
// nearly straight, so few steps lead to the root, and their number depends on the number of actions
// alone. No branch waits for a result, and rows that are advanced together wait for their divisions
// together. The last step is taken by the policy itself, to first order:
//
//   theta_b = u_b^p - u_b^(p+1) (sum u^p - 1)/(sum u^(p+1))
//
// which makes the sum one without a division by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vlearn {

enum class Potential : std::uint8_t { entropy, tsallis, log_barrier };

/// What one visit does to a row of cumulative losses.
struct RowStep {
  double decay = 0.0;       ///< G *= decay
  double mean_scale = 0.0;  ///< G += mean_scale * means, where there are means
  std::size_t action = 0;   ///< then G[action] += score
  double score = 0.0;
  double rate = 0.0;  ///< eta of the policy that follows
};

/// A row and where its next policy goes. Arrays do not overlap.
struct RowAdvance {
  RowStep step;
  const double* means = nullptr;  ///< may be null
  double* losses = nullptr;
  double* policy = nullptr;
  double* root = nullptr;   ///< gets y, but for the entropy; may be null
  double* shift = nullptr;  ///< gets what min G was, but for the entropy; may be null
};

/// For each row G[b] = decay * G[b] (+ mean_scale * means[b]); G[action] += score; the policy of G;
/// G -= min G. At least one action. Rows have the same bits alone and together, and four at once
/// take little longer than one.
void advance_rows(Potential potential,
                  std::size_t num_actions,
                  std::span<const RowAdvance> rows) noexcept;

/// The same for one row and every step in turn, where nobody wants the policies.
void advance_losses(std::size_t num_actions,
                    std::span<const RowStep> steps,
                    const double* means,
                    double* losses) noexcept;

}  // namespace vlearn
