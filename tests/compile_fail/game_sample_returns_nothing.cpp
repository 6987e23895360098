// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// sample() returns the next state.
// expect: HasSample|same_as
#include "vlearn/game/concepts.h"

struct Model {
  vlearn::Frame f;
  const vlearn::Frame& frame() const { return f; }
  vlearn::State start(const vlearn::Nature& nature) const { return f.draw_start(nature); }
#ifdef VLEARN_MISUSE
  using Result = void;
#else
  using Result = vlearn::State;
#endif
  Result sample(vlearn::Step,
                vlearn::State,
                std::span<const vlearn::Action>,
                const vlearn::Nature&,
                std::span<double>) const {
    return Result();
  }
};

template <vlearn::SampledGame G>
void play(const G&) {}

void run(const Model& model) { play(model); }
