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
// y is found by Newton's method from y = 1, where the sum is at least one. The sum is convex and
// falling in y, so the iterates rise to the root and never pass it but by rounding: no bracket, no
// bisection. It stops when the sum is within 2^-50 of one, after at most 64 steps; then the
// policy is divided by its sum.
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

/// G[b] = decay * G[b] (+ mean_scale * means[b]); G[action] += score; the policy of G; G -= min G.
/// `means` may be null. At least one action; arrays do not overlap.
void advance_row(Potential potential,
                 std::size_t num_actions,
                 const RowStep& step,
                 const double* means,
                 double* losses,
                 double* policy) noexcept;

/// The same for every step in turn, where nobody wants the policies.
void advance_losses(std::size_t num_actions,
                    std::span<const RowStep> steps,
                    const double* means,
                    double* losses) noexcept;

}  // namespace vlearn
