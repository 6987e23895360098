// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The families of any_game.h: for each how large a game is, and the game. Numbers come from the
// streams of Purpose::game, so a name means the same game everywhere.
#pragma once

#include "parameters.h"
#include "vlearn/game/any_game.h"

namespace vlearn {

GameSize size_of_random(Parameters& parameters);
GameSize size_of_congestion(Parameters& parameters);
GameSize size_of_lock(Parameters& parameters);
GameSize size_of_soccer(Parameters& parameters);
GameSize size_of_pursuit(Parameters& parameters);
GameSize size_of_grid_game(Parameters& parameters);

AnyGame make_random(Parameters& parameters);
AnyGame make_congestion(Parameters& parameters);
AnyGame make_lock(Parameters& parameters);
AnyGame make_soccer(Parameters& parameters);
AnyGame make_pursuit(Parameters& parameters);
AnyGame make_grid_game_1(Parameters& parameters);
AnyGame make_grid_game_2(Parameters& parameters);

}  // namespace vlearn
