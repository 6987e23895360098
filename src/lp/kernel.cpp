// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "vlearn/core/cancel.h"

namespace vlearn::lp {
namespace {

// The programs that come here have coefficients of at most 2 and solutions in [0, 1].
constexpr double kLeastCost = 1e-11;   // of a column that enters
constexpr double kSameRatio = 1e-12;   // relative: rounding, taken for a tie
constexpr double kLeastValue = 1e-13;  // of a variable; below it is the rounding of a zero

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::size_t entering_column(const double* costs, std::size_t columns) noexcept {
  std::size_t best = kNone;
  double least = -kLeastCost;
  for (std::size_t j = 0; j < columns; ++j) {
    if (costs[j] < least) {
      least = costs[j];
      best = j;
    }
  }
  return best;
}

std::size_t leaving_row(const Program& tableau, std::size_t s, double least_pivot) noexcept {
  const std::size_t b = tableau.columns();
  const std::size_t d = b + 1;
  double largest = 1.0;
  for (std::size_t i = 0; i < tableau.rows(); ++i) largest = std::max(largest, tableau.row(i)[s]);
  std::size_t best = kNone;
  double least = std::numeric_limits<double>::infinity();
  double least_tie = 0.0;
  for (std::size_t i = 0; i < tableau.rows(); ++i) {
    const double* const row = tableau.row(i);
    if (!(row[s] > least_pivot * largest)) continue;
    const double ratio = row[b] / row[s];
    if (ratio > least * (1.0 + kSameRatio)) continue;
    const double tie = row[d] / row[s];
    if (ratio < least * (1.0 - kSameRatio) || tie < least_tie) {
      best = i;
      least = std::min(least, ratio);
      least_tie = tie;
    }
  }
  return best;
}

void drop_rounded_zeros(Program& tableau) noexcept {
  for (std::size_t i = 0; i < tableau.rows(); ++i) {
    double& value = tableau.bound(i);
    if (value < kLeastValue) value = 0.0;
  }
}

}  // namespace

void Program::reset(std::size_t rows, std::size_t columns) {
  rows_ = rows;
  columns_ = columns;
  stride_ = stride_of(columns);
  constexpr std::size_t line = 64 / sizeof(double);
  const std::size_t size = (rows + 1) * stride_;
  if (memory_.size() < size + line) memory_.resize(size + line);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  cells_ = memory_.data() + (64 - address % 64) % 64 / sizeof(double);
  std::fill(cells_, cells_ + size, 0.0);
  // Multiples of the golden ratio modulo 1: well spread and without small relations.
  constexpr double golden = 0.6180339887498949;
  for (std::size_t i = 0; i < rows; ++i) {
    const double multiple = static_cast<double>(i + 1) * golden;
    row(i)[columns_ + 1] = 1.0 + (multiple - std::floor(multiple));
  }
}

void Kernel::solve(Program& program, Vertex& vertex, double least_pivot) {
  least_pivot_ = least_pivot;
  start(program);
  vertex.pivots = 0;
  improve(program, vertex);
}

void Kernel::start(const Program& program) {
  of_row_.resize(program.rows());
  of_column_.resize(program.columns());
  std::iota(of_column_.begin(), of_column_.end(), 0U);
  std::iota(of_row_.begin(), of_row_.end(), static_cast<std::uint32_t>(program.columns()));
}

void Kernel::exchange(Program& program, std::size_t r, std::size_t s) {
  constexpr std::size_t some_milliseconds = std::size_t{1} << 23U;  // of cells
  work_ += program.rows() * program.stride();
  if (stop_ && work_ > some_milliseconds) {
    work_ = 0;
    if (stop_()) throw Cancelled();
  }
  pivot(program.row(0), program.stride(), program.rows() + 1, r, s);
  std::swap(of_row_[r], of_column_[s]);
}

void Kernel::solve_again(Program& program, Vertex& vertex) {
  const std::size_t columns = program.columns();
  rows_to_go_.clear();
  columns_to_go_.clear();
  for (const std::uint32_t variable : of_row_) {
    if (variable < columns) columns_to_go_.push_back(variable);
  }
  for (const std::uint32_t variable : of_column_) {
    if (variable >= columns) rows_to_go_.push_back(variable - static_cast<std::uint32_t>(columns));
  }
  start(program);
  while (!rows_to_go_.empty()) {
    auto row = rows_to_go_.begin();
    auto column = columns_to_go_.begin();
    double largest = 0.0;
    for (auto i = rows_to_go_.begin(); i != rows_to_go_.end(); ++i) {
      for (auto j = columns_to_go_.begin(); j != columns_to_go_.end(); ++j) {
        const double size = std::abs(program.row(*i)[*j]);
        if (size > largest) {
          largest = size;
          row = i;
          column = j;
        }
      }
    }
    if (!(largest > least_pivot_)) break;
    exchange(program, *row, *column);
    ++vertex.pivots;
    rows_to_go_.erase(row);
    columns_to_go_.erase(column);
  }
  drop_rounded_zeros(program);
  improve(program, vertex);
}

void Kernel::improve(Program& program, Vertex& vertex) {
  const std::size_t rows = program.rows();
  const std::size_t columns = program.columns();
  const std::size_t limit = vertex.pivots + most_pivots(program);
  for (; vertex.pivots < limit; ++vertex.pivots) {
    const std::size_t s = entering_column(program.row(rows), columns);
    if (s == kNone) break;  // optimal
    const std::size_t r = leaving_row(program, s, least_pivot_);
    if (r == kNone) break;
    exchange(program, r, s);
    drop_rounded_zeros(program);
  }

  vertex.primal.assign(columns, 0.0);
  vertex.dual.assign(rows, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    if (of_row_[i] < columns) vertex.primal[of_row_[i]] = program.bound(i);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    if (of_column_[j] >= columns) vertex.dual[of_column_[j] - columns] = program.row(rows)[j];
  }
}

}  // namespace vlearn::lp
