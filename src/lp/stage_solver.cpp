// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/lp/stage_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "clp.h"
#include "correlated.h"
#include "kernel.h"
#include "payoffs.h"
#include "program.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/simplex.h"

namespace vlearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kKernelRetries = 3;

/// Of a tableau; nothing where they cannot be counted.
std::optional<std::uint64_t> program_cells(std::uint64_t rows, std::uint64_t columns) {
  if (columns > UINT64_MAX - 64) return std::nullopt;
  return checked_multiply(rows + 1, lp::Program::stride_of(columns));
}

void check_size(std::uint64_t rows, std::uint64_t columns) {
  const auto cells = program_cells(rows, columns);
  if (cells && *cells <= StageSolver::kMaxCells) return;
  throw Error(ErrorKind::resource, "linear program",
              fmt::format("{} rows and {} columns are too many", rows, columns),
              fmt::format("at most {} cells", StageSolver::kMaxCells));
}

void write_matrix_game(std::span<const double> scaled,
                       std::size_t rows,
                       std::size_t columns,
                       lp::Program& program) {
  program.reset(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    double* const row = program.row(i);
    for (std::size_t j = 0; j < columns; ++j) row[j] = 1.0 + scaled[i * columns + j];
    program.bound(i) = 1.0;
  }
  double* const costs = program.row(rows);
  std::fill(costs, costs + columns, -1.0);
}

bool to_strategy(std::span<const double> weights, std::vector<double>& strategy) {
  strategy.assign(weights.begin(), weights.end());
  for (double& weight : strategy) weight = std::max(weight, 0.0);
  return normalise(strategy);
}

}  // namespace

struct StageSolver::Scratch {
  std::function<bool()> stop;
  lp::Program program;
  lp::Kernel kernel;
  lp::Vertex vertex;
  std::vector<double> scaled;
  std::vector<double> against;  // what x earns against each column
  lp::CorrelatedGame correlated;
  MatrixSolution matrix_solution;
  CorrelatedSolution correlated_solution;

  /// write(program) and read(vertex, solution), until the residual is small. Where none is, the
  /// same again with the backward residual.
  template <class Write, class Read, class Solution>
  void solve(LpMethod method, const Write& write, const Read& read, Solution& solution) {
    double least = kInfinity;
    for (const bool backward : {false, true}) {
      const auto good = [&](LpMethod by) {
        const lp::Residual residual = read(vertex, solution);
        const double reached = backward ? residual.backward : residual.worst;
        if (reached < least) least = reached;
        solution.solved_by = by;
        solution.pivots = vertex.pivots;
        return reached <= kTolerance;
      };
      if (method != LpMethod::clp) {
        write(program);
        kernel.solve(program, vertex, backward ? 1e-12 : 1e-10);
        if (good(LpMethod::kernel)) return;
        for (int again = 0; again < kKernelRetries; ++again) {
          write(program);
          kernel.solve_again(program, vertex);
          if (good(LpMethod::kernel)) return;
        }
      }
      if (method != LpMethod::kernel) {
        write(program);
        for (const auto route :
             {lp::ClpRoute::primal, lp::ClpRoute::dual, lp::ClpRoute::unscaled}) {
          lp::solve_by_clp(program, route, stop, vertex);
          if (good(LpMethod::clp)) return;
        }
      }
    }
    throw Error(ErrorKind::internal, "linear program",
                fmt::format("residuals of {} times the range of the payoffs remain, {} would do",
                            least, kTolerance));
  }

  /// The bounds that both strategies guarantee; returns the gap in units of the range.
  lp::Residual read_matrix_game(const MatrixGame& game,
                                const lp::Unit& unit,
                                MatrixSolution& solution) {
    if (!to_strategy(vertex.dual, solution.row)) return {kInfinity, kInfinity};
    if (!to_strategy(vertex.primal, solution.column)) return {kInfinity, kInfinity};
    against.assign(game.columns, 0.0);
    double upper = 0.0;
    for (std::size_t i = 0; i < game.rows; ++i) {
      const double* const row = scaled.data() + i * game.columns;
      const double x = solution.row[i];
      double earned = 0.0;
      for (std::size_t j = 0; j < game.columns; ++j) earned += row[j] * solution.column[j];
      for (std::size_t j = 0; j < game.columns; ++j) against[j] += x * row[j];
      upper = std::max(upper, earned);
    }
    const double lower = *std::min_element(against.begin(), against.end());
    const double gap = std::max(upper - lower, 0.0);
    solution.gap = unit.difference(gap);
    solution.value = unit.value(lower + 0.5 * (upper - lower));
    const double relative = unit.range > 0.0 ? gap / unit.range : 0.0;
    return {relative, relative};
  }
};

StageSolver::StageSolver(LpMethod method, std::function<bool()> stop)
    : method_(method), scratch_(std::make_unique<Scratch>()) {
  check_choice("method", method, std::size_t{3});
  scratch_->kernel.set_stop(stop);
  scratch_->stop = std::move(stop);
}
StageSolver::~StageSolver() = default;
StageSolver::StageSolver(StageSolver&&) noexcept = default;
StageSolver& StageSolver::operator=(StageSolver&&) noexcept = default;

std::optional<std::uint64_t> StageSolver::cells(std::span<const std::uint32_t> num_actions,
                                                std::optional<Target> correlated) {
  if (!correlated) return program_cells(num_actions[0], num_actions[1]);
  // Of the egalitarian selection, which has the most rows and a column more.
  std::uint64_t rows = 1 + num_actions.size();
  std::optional<std::uint64_t> columns = 1;
  for (const std::uint64_t n : num_actions) {
    columns = columns ? checked_multiply(*columns, n) : columns;
    rows += *correlated == Target::ce ? n * (n - 1) : n;
  }
  if (!columns || *columns == UINT64_MAX) return std::nullopt;
  return program_cells(rows, *columns + 1);
}

const MatrixSolution& StageSolver::solve(const MatrixGame& game) {
  const auto size = checked_multiply(game.rows, game.columns);
  if (!size || *size == 0 || *size != game.payoffs.size()) {
    throw Error(ErrorKind::usage, "payoffs",
                fmt::format("{} numbers do not make {} rows and {} columns", game.payoffs.size(),
                            game.rows, game.columns));
  }
  check_size(game.rows, game.columns);
  Scratch& s = *scratch_;
  const lp::Unit unit = lp::unit_of(game.payoffs);
  s.scaled.resize(game.payoffs.size());
  lp::scale(game.payoffs, unit, s.scaled);
  s.solve(
      method_,
      [&](lp::Program& program) { write_matrix_game(s.scaled, game.rows, game.columns, program); },
      [&](const lp::Vertex&, MatrixSolution& solution) {
        return s.read_matrix_game(game, unit, solution);
      },
      s.matrix_solution);
  return s.matrix_solution;
}

const CorrelatedSolution& StageSolver::solve(const StageGame& game,
                                             Target target,
                                             Selection selection) {
  Scratch& s = *scratch_;
  s.correlated.reset(game, target, selection);
  check_size(s.correlated.rows() + game.num_actions.size() + 1, s.correlated.columns());
  s.solve(
      method_, [&](lp::Program& program) { s.correlated.write(program); },
      [&](const lp::Vertex& vertex, CorrelatedSolution& solution) {
        return s.correlated.read(vertex, solution);
      },
      s.correlated_solution);
  return s.correlated_solution;
}

}  // namespace vlearn
