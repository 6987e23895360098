// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The same programs by Clp, the linear programming code of COIN-OR. Only clp.cpp knows its headers.
#pragma once

#include <cstdint>
#include <functional>

#include "program.h"

namespace vlearn::lp {

enum class ClpRoute : std::uint8_t { primal, dual, unscaled };

/// The primal or the dual simplex method; `unscaled` is the primal without Clp's scaling of rows.
/// Prints nothing. Where `stop` is there and says true, throws Cancelled.
void solve_by_clp(const Program& program,
                  ClpRoute route,
                  const std::function<bool()>& stop,
                  Vertex& vertex);

}  // namespace vlearn::lp
