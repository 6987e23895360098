// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/tabular.h"

namespace vlearn {
namespace {

/// Marks are a short cut to sample(), never another answer: near every sum, in short rows and long.
TEST(RowMarks, FindWhatSamplingFinds) {
  for (const std::size_t width : {1U, 2U, 3U, 4U, 7U, 8U, 20U, 100U, 256U, 257U, 3000U}) {
    Draws draws({.seed = width, .purpose = Purpose::test});
    std::vector<double> rows;
    RowMarks marks;
    for (std::size_t r = 0; r < 3; ++r) {
      std::vector<double> row;
      for (std::size_t i = 0; i < width; ++i) {
        const double u = draws.uniform();
        row.push_back(r == 1 && u < 0.7 ? 0.0 : u * u * u);  // the second has many zeros
      }
      row[width / 2] += 1e-3;
      ASSERT_TRUE(normalise(row));
      marks.add(row);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    for (std::size_t r = 0; r < 3; ++r) {
      const std::span<const double> row = std::span(rows).subspan(r * width, width);
      std::vector<double> tried = {0.0, 0x1p-53, 0x1p-16, 0.5, 1.0 - 0x1p-16, 1.0 - 0x1p-53};
      double sum = 0.0;
      for (const double p : row) {
        sum += p;
        for (const double u : {sum, std::nextafter(sum, 0.0), std::nextafter(sum, 2.0)}) {
          if (u < 1.0) tried.push_back(u);
        }
      }
      for (int i = 0; i < 1000; ++i) tried.push_back(draws.uniform());
      for (const double u : tried) EXPECT_EQ(marks.sample(row, r * width, u), sample(row, u)) << u;
    }
  }
}

}  // namespace
}  // namespace vlearn
