// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A model must state how far its backup can be off.
// expect: backup_error|StatesItsError
#include "vlearn/game/tabular.h"

#ifdef VLEARN_MISUSE
struct Silent : vlearn::DenseGame {
  double backup_error(double) const = delete;
};
#else
using Silent = vlearn::DenseGame;
#endif

template <vlearn::KnownGame G>
double bound(const G& game) {
  return game.backup_error(1.0);
}

double of(const Silent& game) { return bound(game); }
