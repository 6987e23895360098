// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A linear program whose origin is feasible: maximise c'x subject to A x <= b, x >= 0, with b >= 0.
// It lies in memory as the simplex method's first tableau, one row for each constraint and the
// objective as the last:
//
//   A[i][0] ... A[i][n-1]   b[i]   d[i]   (zeros up to a multiple of eight)
//   -c[0]   ... -c[n-1]     0      0
//
// d breaks ties as if the right-hand sides were b + epsilon d for an infinitely small epsilon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vlearn::lp {

class Program {
 public:
  Program() = default;
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;
  Program(const Program&) = delete;  // cells_ points into memory_
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  /// All zeros, but for d.
  void reset(std::size_t rows, std::size_t columns);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] static constexpr std::size_t stride_of(std::size_t columns) noexcept {
    return (columns + 2 + 7) / 8 * 8;
  }

  /// Row `rows()` is the objective.
  [[nodiscard]] double* row(std::size_t i) noexcept { return cells_ + i * stride_; }
  [[nodiscard]] const double* row(std::size_t i) const noexcept { return cells_ + i * stride_; }
  [[nodiscard]] double& bound(std::size_t i) noexcept { return row(i)[columns_]; }
  [[nodiscard]] double bound(std::size_t i) const noexcept { return row(i)[columns_]; }

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t stride_ = 0;
  std::vector<double> memory_;
  double* cells_ = nullptr;  // at a multiple of 64 bytes
};

/// Where a method stopped. Nothing is claimed: whoever uses it computes the residuals.
struct Vertex {
  std::vector<double> primal;  ///< x
  std::vector<double> dual;    ///< one for each row
  std::size_t pivots = 0;
};

/// What is left of a vertex's conditions, in units of the range that each is held against.
struct Residual {
  double worst = 0.0;
  /// The same, with the distance to the best objective divided by 1 + the sum of the multipliers:
  /// small for the optimum of a program whose bounds are moved by as much.
  double backward = 0.0;
};

}  // namespace vlearn::lp
