// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Small instances of every model, each with its law written plainly beside it. A new model adds a
// specialisation of instances_of<>, and the whole suite runs on it.
#pragma once

#include <string>
#include <vector>

#include "support/plain_game.h"
#include "vlearn/game/callback.h"
#include "vlearn/game/congestion.h"
#include "vlearn/game/polymatrix.h"
#include "vlearn/game/tabular.h"

namespace vlearn::test {

template <KnownGame G>
struct Instance {
  std::string name;
  G game;
  PlainLaw law;
};

/// Rewards r become shift + scale r in the user's units; inside nothing may change.
struct RewardUnits {
  double scale = 1.0;
  double shift = 0.0;
};

template <KnownGame G>
std::vector<Instance<G>> instances_of(const RewardUnits& units = {});

template <>
std::vector<Instance<DenseGame>> instances_of<DenseGame>(const RewardUnits& units);
template <>
std::vector<Instance<SparseGame>> instances_of<SparseGame>(const RewardUnits& units);
template <>
std::vector<Instance<CongestionGame>> instances_of<CongestionGame>(const RewardUnits& units);
template <>
std::vector<Instance<PolymatrixGame>> instances_of<PolymatrixGame>(const RewardUnits& units);
template <>
std::vector<Instance<CallbackGame>> instances_of<CallbackGame>(const RewardUnits& units);

}  // namespace vlearn::test
