// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "clp.h"

#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <vector>

#include "vlearn/core/cancel.h"

namespace vlearn::lp {

namespace {

/// Asks now and then whether to go on.
class StopHandler final : public ClpEventHandler {
 public:
  explicit StopHandler(const std::function<bool()>& stop) : stop_(&stop) {}
  int event(Event which) override {
    constexpr int go_on = -1;
    constexpr int end = 5;  // Clp: stopped by an event
    return which == endOfIteration && (*stop_)() ? end : go_on;
  }
  [[nodiscard]] ClpEventHandler* clone() const override { return new StopHandler(*this); }

 private:
  const std::function<bool()>* stop_;
};

}  // namespace

void solve_by_clp(const Program& program,
                  ClpRoute route,
                  const std::function<bool()>& stop,
                  Vertex& vertex) {
  const auto rows = static_cast<int>(program.rows());
  const auto columns = static_cast<int>(program.columns());
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> indices;
  std::vector<double> elements;
  std::vector<double> costs;
  for (std::size_t j = 0; j < program.columns(); ++j) {
    for (std::size_t i = 0; i < program.rows(); ++i) {
      const double element = program.row(i)[j];
      if (element == 0.0) continue;
      indices.push_back(static_cast<int>(i));
      elements.push_back(element);
    }
    starts.push_back(static_cast<CoinBigIndex>(indices.size()));
    costs.push_back(program.row(program.rows())[j]);
  }
  const std::vector<double> zeros(program.columns(), 0.0);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < program.rows(); ++i) bounds.push_back(program.bound(i));
  const std::vector<double> no_bounds(program.rows(), -COIN_DBL_MAX);

  ClpSimplex model;  // a new one each time: what it solved before would show in the result
  model.setLogLevel(0);
  model.loadProblem(columns, rows, starts.data(), indices.data(), elements.data(), zeros.data(),
                    nullptr, costs.data(), no_bounds.data(), bounds.data());
  model.setPrimalTolerance(1e-11);
  model.setDualTolerance(1e-11);
  constexpr int no_perturbation = 100;
  model.setPerturbation(no_perturbation);
  if (route == ClpRoute::unscaled) model.scaling(0);
  if (stop) {
    const StopHandler handler(stop);
    model.passInEventHandler(&handler);
  }
  if (route == ClpRoute::dual) {
    model.dual();
  } else {
    model.primal();
  }
  if (stop && stop()) throw Cancelled();

  vertex.pivots = static_cast<std::size_t>(model.getIterationCount());
  const double* const primal = model.primalColumnSolution();
  vertex.primal.assign(primal, primal + columns);
  // Clp minimises -c'x, where the multipliers of upper bounds are not positive.
  vertex.dual.resize(program.rows());
  const double* const dual = model.dualRowSolution();
  for (std::size_t i = 0; i < vertex.dual.size(); ++i) vertex.dual[i] = -dual[i];
}

}  // namespace vlearn::lp
