// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "correlated.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "vlearn/core/checked.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/simplex.h"

namespace vlearn::lp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double dot(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// A residual in units of the range; where that is 0, nothing is at stake.
double relative(double residual, double range) noexcept {
  return range > 0.0 ? residual / range : 0.0;
}

}  // namespace

template <class Visit>
void CorrelatedGame::for_each_line(const Seat& seat, const Visit& visit) const {
  const std::size_t block = seat.actions * seat.stride;
  for (std::size_t outer = 0; outer < joints_; outer += block) {
    for (std::size_t inner = 0; inner < seat.stride; ++inner) visit(outer + inner);
  }
}

/// Where E[u(to, others) - u] <= 0 stands, given the recommendation `from` (ce) or not (cce).
std::size_t CorrelatedGame::deviation_row(const Seat& seat,
                                          std::size_t from,
                                          std::size_t to) const {
  if (target_ == Target::cce) return seat.first_row + to;
  return seat.first_row + from * (seat.actions - 1) + (to < from ? to : to - 1);
}

std::span<const double> CorrelatedGame::payoffs_of(std::size_t player) const noexcept {
  return std::span(scaled_).subspan(player * joints_, joints_);
}

std::span<const double> CorrelatedGame::objective(std::size_t k) const noexcept {
  return std::span(objectives_).subspan(k * joints_, joints_);
}

void CorrelatedGame::reset(const StageGame& game, Target target, Selection selection) {
  check_choice("target", target, kTargetNames);
  check_choice("selection.rule", selection.rule, kSelectionRules);
  if (target != Target::cce && target != Target::ce) {
    throw Error(ErrorKind::usage, "target", fmt::format("is {}", name_of(target)),
                "the program is for cce or ce");
  }
  target_ = target;
  selection_ = selection;
  set_seats(game);
  if (selection.rule == Selection::Rule::player && selection.player.index() >= seats_.size()) {
    throw Error(ErrorKind::usage, "selection",
                fmt::format("player {} of {}", selection.player.number(), seats_.size()));
  }
  scaled_.resize(game.payoffs.size());
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const std::span<const double> own = game.payoffs.subspan(i * joints_, joints_);
    seats_[i].unit = unit_of(own, i * joints_);
    scale(own, seats_[i].unit, std::span(scaled_).subspan(i * joints_, joints_));
  }
  set_objectives(game, selection);
}

void CorrelatedGame::set_seats(const StageGame& game) {
  std::uint64_t joints = 1;
  for (const std::uint32_t actions : game.num_actions) {
    if (actions == 0) throw Error(ErrorKind::usage, "num_actions", "a player has no action");
    const auto product = checked_multiply(joints, actions);
    // More would not fit any memory; what does is compared with the payoffs.
    if (!product || *product > game.payoffs.size()) {
      joints = 0;
      break;
    }
    joints = *product;
  }
  if (game.num_actions.empty() || joints == 0 ||
      joints * game.num_actions.size() != game.payoffs.size()) {
    throw Error(ErrorKind::usage, "payoffs",
                fmt::format("{} numbers do not make one for each player and joint action",
                            game.payoffs.size()));
  }
  joints_ = joints;
  seats_.resize(game.num_actions.size());
  std::size_t stride = 1;
  for (std::size_t i = seats_.size(); i-- > 0;) {
    seats_[i].actions = game.num_actions[i];
    seats_[i].stride = stride;
    stride *= game.num_actions[i];
  }
  rows_ = 0;
  for (Seat& seat : seats_) {
    seat.first_row = rows_;
    if (seat.actions == 1) continue;
    rows_ += target_ == Target::cce ? seat.actions : seat.actions * (seat.actions - 1);
  }
}

void CorrelatedGame::set_objectives(const StageGame& game, Selection selection) {
  const bool egalitarian = selection.rule == Selection::Rule::egalitarian;
  num_objectives_ = egalitarian ? seats_.size() : 1;
  objectives_.resize(num_objectives_ * joints_);
  if (egalitarian) {
    objective_unit_ = unit_of(game.payoffs);
    scale(game.payoffs, objective_unit_, objectives_);
    return;
  }
  // In units of the largest range of those that are summed.
  objective_unit_ = {};
  const auto counts = [&](std::size_t i) {
    return selection.rule == Selection::Rule::welfare || selection.player.index() == i;
  };
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Unit& unit = seats_[i].unit;
    if (!counts(i) || unit.range == 0.0) continue;
    if (objective_unit_.range == 0.0 ||
        objective_unit_.difference(objective_unit_.range) < unit.difference(unit.range)) {
      objective_unit_ = unit;
    }
  }
  std::fill(objectives_.begin(), objectives_.end(), 0.0);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Unit& unit = seats_[i].unit;
    if (!counts(i) || unit.range == 0.0) continue;
    const double weight = std::ldexp(1.0, unit.exponent - objective_unit_.exponent);
    const std::span<const double> own = payoffs_of(i);
    for (std::size_t j = 0; j < joints_; ++j) objectives_[j] += weight * own[j];
  }
}

void CorrelatedGame::write(Program& program) const {
  const std::size_t sum_row = rows_ + (one_objective() ? 0 : num_objectives_);
  program.reset(sum_row + 1, columns());
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Seat& seat = seats_[i];
    const std::span<const double> own = payoffs_of(i);
    for (std::size_t from = 0; from < seat.actions; ++from) {
      for (std::size_t to = 0; to < seat.actions; ++to) {
        if (to == from) continue;
        double* const row = program.row(deviation_row(seat, from, to));
        for_each_line(seat, [&](std::size_t first) {
          const std::size_t here = first + from * seat.stride;
          row[here] = own[first + to * seat.stride] - own[here];
        });
      }
    }
  }
  double* const sum = program.row(sum_row);
  std::fill(sum, sum + joints_, 1.0);
  program.bound(sum_row) = 1.0;
  // Objectives are moved up by one, which makes them positive.
  double* const costs = program.row(sum_row + 1);
  if (one_objective()) {
    for (std::size_t j = 0; j < joints_; ++j) costs[j] = -(1.0 + objectives_[j]);
    return;
  }
  costs[joints_] = -1.0;
  for (std::size_t k = 0; k < num_objectives_; ++k) {
    double* const row = program.row(rows_ + k);
    const std::span<const double> own = objective(k);
    for (std::size_t j = 0; j < joints_; ++j) row[j] = -(1.0 + own[j]);
    row[joints_] = 1.0;
  }
}

/// What the player gains by its best deviation from `joint`, scaled.
double CorrelatedGame::best_gain(std::size_t player, std::span<const double> joint) {
  const Seat& seat = seats_[player];
  const std::span<const double> own = payoffs_of(player);
  const std::size_t n = seat.actions;
  gains_.assign(n * n, 0.0);  // [recommended][played]
  for_each_line(seat, [&](std::size_t first) {
    for (std::size_t from = 0; from < n; ++from) {
      const double mass = joint[first + from * seat.stride];
      if (mass == 0.0) continue;
      const double obeyed = own[first + from * seat.stride];
      for (std::size_t to = 0; to < n; ++to) {
        gains_[from * n + to] += mass * (own[first + to * seat.stride] - obeyed);
      }
    }
  });
  if (target_ == Target::ce) {
    double sum = 0.0;
    for (std::size_t from = 0; from < n; ++from) {
      sum += *std::max_element(gains_.data() + from * n, gains_.data() + (from + 1) * n);
    }
    return sum;
  }
  double best = 0.0;
  for (std::size_t to = 0; to < n; ++to) {
    double gain = 0.0;
    for (std::size_t from = 0; from < n; ++from) gain += gains_[from * n + to];
    best = std::max(best, gain);
  }
  return best;
}

/// Weak duality: for any multipliers y >= 0 of the deviations and weights w of the objectives, no
/// equilibrium has an objective above max over j of (sum_k w_k objective_k[j] - sum y
/// deviation[j]).
CorrelatedGame::Bound CorrelatedGame::objective_bound(std::span<const double> dual) {
  const auto multiplier = [&](std::size_t row) { return std::max(dual[row], 0.0); };
  margins_.assign(joints_, 0.0);
  double weights = 0.0;
  for (std::size_t k = 0; k < num_objectives_; ++k) {
    const double weight = one_objective() ? 1.0 : multiplier(rows_ + k);
    const std::span<const double> own = objective(k);
    for (std::size_t j = 0; j < joints_; ++j) margins_[j] += weight * own[j];
    weights += weight;
  }
  if (!(weights > 0.0)) return {kInfinity, 0.0};
  double multipliers = 0.0;
  for (std::size_t row = 0; row < rows_; ++row) multipliers += multiplier(row);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Seat& seat = seats_[i];
    const std::span<const double> own = payoffs_of(i);
    for (std::size_t from = 0; from < seat.actions; ++from) {
      for (std::size_t to = 0; to < seat.actions; ++to) {
        if (to == from) continue;
        const double y = multiplier(deviation_row(seat, from, to));
        if (y == 0.0) continue;
        for_each_line(seat, [&](std::size_t first) {
          const std::size_t here = first + from * seat.stride;
          margins_[here] -= y * (own[first + to * seat.stride] - own[here]);
        });
      }
    }
  }
  return {*std::max_element(margins_.begin(), margins_.end()) / weights, multipliers};
}

Residual CorrelatedGame::read(const Vertex& vertex, CorrelatedSolution& solution) {
  const std::span<const double> primal(vertex.primal.data(), joints_);
  solution.joint.assign(primal.begin(), primal.end());
  for (double& mass : solution.joint) mass = std::max(mass, 0.0);
  if (!normalise(solution.joint)) return {kInfinity, kInfinity};

  double worst = 0.0;
  solution.gain = 0.0;
  solution.values.resize(seats_.size());
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Unit& unit = seats_[i].unit;
    solution.values[i] = unit.value(dot(solution.joint, payoffs_of(i)));
    const double gain = best_gain(i, solution.joint);
    solution.gain = std::max(solution.gain, unit.difference(gain));
    worst = std::max(worst, relative(gain, unit.range));
  }

  double reached = kInfinity;
  for (std::size_t k = 0; k < num_objectives_; ++k) {
    reached = std::min(reached, dot(solution.joint, objective(k)));
  }
  const Bound bound = objective_bound(vertex.dual);
  const double slack = objective_unit_.range > 0.0 ? std::max(bound.objective - reached, 0.0) : 0.0;
  const double short_of = relative(slack, objective_unit_.range);
  solution.slack = objective_unit_.difference(slack);
  switch (selection_.rule) {
    case Selection::Rule::welfare: solution.objective = fixed_sum(solution.values); break;
    case Selection::Rule::egalitarian:
      solution.objective = *std::min_element(solution.values.begin(), solution.values.end());
      break;
    case Selection::Rule::player:
      solution.objective = solution.values[selection_.player.index()];
      break;
  }
  return {std::max(worst, short_of), std::max(worst, short_of / (1.0 + bound.multipliers))};
}

}  // namespace vlearn::lp
