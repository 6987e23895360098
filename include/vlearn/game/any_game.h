// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A known game whose model is chosen at run time, and the families of games that are generated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vlearn/game/callback.h"
#include "vlearn/game/congestion.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/game/polymatrix.h"
#include "vlearn/game/tabular.h"

namespace vlearn {

using AnyGame = std::variant<DenseGame, SparseGame, CongestionGame, PolymatrixGame, CallbackGame>;

[[nodiscard]] const Frame& frame_of(const AnyGame& game);
/// To play it; the game must live on.
[[nodiscard]] GameRef ref_of(const AnyGame& game);
[[nodiscard]] Sha256Digest law_hash_of(const AnyGame& game);
/// "dense", "sparse", "congestion", "polymatrix", "callback".
[[nodiscard]] std::string_view model_of(const AnyGame& game) noexcept;

/// One family of games, parameters in its name.
struct GameFamily {
  std::string_view name;     ///< "random"
  std::string_view pattern;  ///< "random:players=2,states=4,...": defaults filled in
  std::string_view about;    ///< one line
};

[[nodiscard]] std::span<const GameFamily> game_families() noexcept;

/// How large the game of a family is, the most of any step or player; found from its parameters,
/// without building it.
struct GameSize {
  std::uint64_t players = 0;
  std::uint64_t horizon = 0;
  std::uint64_t states = 0;
  std::uint64_t actions = 0;
  /// In its tables, about; nothing: more than 64 bits count.
  std::optional<std::uint64_t> numbers = std::nullopt;
};

/// Of a name that make_game() takes; throws as it does.
[[nodiscard]] GameSize size_of_family(std::string_view name);

/// Whether a name, with or without parameters, is that of a family.
[[nodiscard]] bool is_family(std::string_view name) noexcept;

/// The game of a name: "soccer", "random:players=3,states=4,actions=3,horizon=5,seed=7". Throws
/// Error (usage) that suggests what was meant.
[[nodiscard]] AnyGame make_game(std::string_view name);

}  // namespace vlearn
