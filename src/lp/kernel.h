// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The simplex method on a dense tableau without columns for the basic variables: a pivot exchanges
// one row's variable with one column's (Dantzig 1963, condensed form).
//
// The entering column has the most negative reduced cost. The leaving row has the least ratio, and
// among equal ratios the least ratio of d (program.h): the lexicographic rule with generic numbers
// for the inverse of the basis, under which no basis comes twice in exact arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "program.h"

namespace vlearn::lp {

class Kernel {
 public:
  /// Asked while large programs are solved; when it says true, Cancelled is thrown.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Overwrites the program. Gives up at a column without a row to leave and after most_pivots().
  /// Pivots below `least_pivot` times the largest of their column are taken for rounding.
  void solve(Program& program, Vertex& vertex, double least_pivot);

  /// For the same program, written anew, after a vertex that was not good enough: goes to that
  /// vertex by the largest pivots, which leaves the rounding of the way behind, and on from there.
  void solve_again(Program& program, Vertex& vertex);

  [[nodiscard]] static std::size_t most_pivots(const Program& program) noexcept {
    return 1000 + 20 * (program.rows() + program.columns());
  }

 private:
  void start(const Program& program);
  void exchange(Program& program, std::size_t r, std::size_t s);
  void improve(Program& program, Vertex& vertex);

  std::function<bool()> stop_;
  std::size_t work_ = 0;  // since it was asked
  double least_pivot_ = 0.0;
  // Variables 0 ... n-1 are those of the program, n + i is the slack of row i.
  std::vector<std::uint32_t> of_row_;
  std::vector<std::uint32_t> of_column_;
  std::vector<std::uint32_t> rows_to_go_;
  std::vector<std::uint32_t> columns_to_go_;
};

/// Exchanges row r and column s: the new tableau, elementwise, so with the same bits for every
/// vector width. `rows` counts the objective.
void pivot(double* cells, std::size_t stride, std::size_t rows, std::size_t r, std::size_t s);

}  // namespace vlearn::lp
