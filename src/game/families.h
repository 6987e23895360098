// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The families of any_game.h, one function each. Numbers come from the streams of Purpose::game, so
// a name means the same game everywhere.
#pragma once

#include "parameters.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

AnyGame make_random(Parameters& parameters);
AnyGame make_congestion(Parameters& parameters);
AnyGame make_lock(Parameters& parameters);
AnyGame make_soccer(Parameters& parameters);
AnyGame make_pursuit(Parameters& parameters);
AnyGame make_grid_game_1(Parameters& parameters);
AnyGame make_grid_game_2(Parameters& parameters);

}  // namespace vlearn
