// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Any game that can be played, by reference: what drives learners is compiled once per rule, not
// once per rule and model. One indirect call per step of a game, however many players it has.
#pragma once

#include <concepts>
#include <span>

#include "vlearn/game/concepts.h"

namespace vlearn {

/// Is itself a SampledGame. The game must outlive it.
class GameRef {
 public:
  template <SampledGame G>
    requires(!std::same_as<G, GameRef>)
  explicit GameRef(G& game) noexcept
      : game_(const_cast<void*>(static_cast<const void*>(&game))),
        frame_(&game.frame()),
        start_(
            [](void* self, const Nature& nature) { return static_cast<G*>(self)->start(nature); }),
        sample_([](void* self,
                   Step h,
                   State s,
                   std::span<const Action> joint,
                   const Nature& nature,
                   std::span<double> rewards) {
          return static_cast<G*>(self)->sample(h, s, joint, nature, rewards);
        }) {}

  [[nodiscard]] const Frame& frame() const noexcept { return *frame_; }
  [[nodiscard]] State start(const Nature& nature) const { return start_(game_, nature); }
  State sample(Step h,
               State s,
               std::span<const Action> joint,
               const Nature& nature,
               std::span<double> rewards) const {
    return sample_(game_, h, s, joint, nature, rewards);
  }

 private:
  void* game_;
  const Frame* frame_;
  State (*start_)(void*, const Nature&);
  State (*sample_)(void*, Step, State, std::span<const Action>, const Nature&, std::span<double>);
};

static_assert(SampledGame<GameRef>);

}  // namespace vlearn
