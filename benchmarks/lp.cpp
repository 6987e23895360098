// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// One stage game with uniform random payoffs, by the kernel and by Clp, both with their checks:
// the mean over the same games, as their times differ. The name has the kernel's mean number of
// pivots.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"
#include "vlearn/core/random.h"
#include "vlearn/core/target.h"
#include "vlearn/lp/stage_solver.h"

namespace vlearn::bench {
namespace {

constexpr std::size_t kGames = 64;

std::vector<std::vector<double>> random_payoffs(std::size_t size) {
  std::vector<std::vector<double>> games(kGames);
  for (std::size_t k = 0; k < kGames; ++k) {
    Draws draws({.seed = 1, .purpose = Purpose::test, .episode = Episode(k)});
    for (std::size_t i = 0; i < size; ++i) games[k].push_back(draws.uniform());
  }
  return games;
}

/// solve(solver, payoffs) returns the solution.
template <class Solve>
Measurement both_methods(const std::string& name, std::size_t size, const Solve& solve) {
  const std::vector<std::vector<double>> games = random_payoffs(size);
  std::size_t pivots = 0;
  StageSolver kernel(LpMethod::automatic);
  StageSolver clp(LpMethod::clp);
  for (const std::vector<double>& payoffs : games) pivots += solve(kernel, payoffs).pivots;
  const auto work = [&](StageSolver& solver) {
    return [&](std::size_t operations) {
      double sum = 0.0;
      for (std::size_t round = 0; round < operations; ++round) {
        for (const std::vector<double>& payoffs : games) {
          sum += static_cast<double>(solve(solver, payoffs).pivots);
        }
      }
      return sum;
    };
  };
  Measurement result =
      compare(fmt::format("{}, {:.1f} pivots", name, static_cast<double>(pivots) / kGames),
              work(kernel), "Clp", work(clp));
  result.ns /= kGames;
  result.reference_ns /= kGames;
  return result;
}

Measurement zero_sum(std::size_t actions) {
  return both_methods(
      fmt::format("zero-sum {}x{}", actions, actions), actions * actions,
      [=](StageSolver& solver, const std::vector<double>& payoffs) -> const auto& {
        return solver.solve(MatrixGame{.rows = actions, .columns = actions, .payoffs = payoffs});
      });
}

Measurement correlated(std::size_t players,
                       std::uint32_t actions,
                       Target target,
                       Selection select) {
  const std::vector<std::uint32_t> num_actions(players, actions);
  std::size_t joints = 1;
  for (std::size_t i = 0; i < players; ++i) joints *= actions;
  const std::string_view rule = select.rule == Selection::Rule::welfare ? "welfare" : "egalitarian";
  return both_methods(
      fmt::format("{} {} players x {}, {}", name_of(target), players, actions, rule),
      players * joints,
      [=](StageSolver& solver, const std::vector<double>& payoffs) -> const auto& {
        return solver.solve(StageGame{.num_actions = num_actions, .payoffs = payoffs}, target,
                            select);
      });
}

}  // namespace

std::vector<Measurement> lp() {
  std::vector<Measurement> all;
  for (const std::size_t actions : {2U, 3U, 5U, 10U, 20U, 50U}) all.push_back(zero_sum(actions));
  struct Shape {
    std::size_t players;
    std::uint32_t actions;
  };
  for (const Target target : {Target::cce, Target::ce}) {
    for (const Shape shape : {Shape{2, 3}, Shape{2, 10}, Shape{3, 4}, Shape{4, 3}}) {
      for (const auto rule : {Selection::Rule::welfare, Selection::Rule::egalitarian}) {
        all.push_back(correlated(shape.players, shape.actions, target, {.rule = rule}));
      }
    }
  }
  return all;
}

}  // namespace vlearn::bench
