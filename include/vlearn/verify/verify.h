// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Is a certificate true? Everything that it states is computed again from the game and the policy
// files, with code that shares nothing with who made it but file formats and the game: the files
// are read, the rules replayed and the recursions run here once more. Tables are summed in
// intervals that round outwards, and short histories in exact rationals.
//
// What is not checked: names, the word for the game, the program's version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/core/certificate.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/verify/interval.h"

namespace vlearn {

enum class VerifyNumbers : std::uint8_t {
  best,       ///< rationals where that is quick, else intervals
  intervals,  ///< always
  rationals,  ///< wherever the game is a table, however long it takes
};

struct VerifyOptions {
  VerifyNumbers numbers = VerifyNumbers::best;
  ParallelOptions parallel = {};
  /// How messages name the certificate: its file.
  std::string certificate = "certificate";
};

/// What was derived, in the user's units. Ends are outside of the true numbers by roundings and by
/// what policies may differ when they are replayed by other code.
struct VerifiedPlayer {
  Interval value_lower = {};
  Interval value_upper = {};
  Interval deviation_upper = {};
  std::optional<Interval> deviation_lower = std::nullopt;
};

struct Verdict {
  bool accepted = false;
  /// Of what was not accepted: the first number that is not true, as it is stated and as it was
  /// derived. "players[1].deviation.upper: stated 0.31, derived [0.3452, 0.3453]"
  std::string refuted;
  bool rationals = false;  ///< computed in these, else in intervals
  /// Empty where a hash or a count was refuted before anything was derived.
  std::vector<VerifiedPlayer> players;
};

/// policy_files: of all players, in any order. Throws Error (input) that names the file where one
/// is damaged or does not fit the game, and where a certificate is of a kind that policy files do
/// not tell enough about.
[[nodiscard]] Verdict verify(const AnyGame& game,
                             std::span<const std::filesystem::path> policy_files,
                             const Certificate& certificate,
                             const VerifyOptions& options = {});

}  // namespace vlearn
