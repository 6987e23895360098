// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The output policy of a run, executed by all players in its game. Each plays its file as it would
// far from the others (policy/execute.h); here they are in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "vlearn/game/evaluate.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/markov.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

class JointPlay {
 public:
  /// Opens the policies and seeds of all players. The game must outlive it and be the run's. Throws
  /// Error for files that are missing, damaged or of another game, or a start that they do not
  /// have.
  JointPlay(const StoredRun& run, GameRef game, const StartRule& start, OutputKind output);
  /// The same of players who have tables, of a run of a game with this hash.
  JointPlay(const std::filesystem::path& run,
            const std::string& game_hash,
            GameRef game,
            Target target);

  /// One step of an episode, before its rewards.
  struct Seen {
    Episode episode;
    Step h;
    State s;
    std::span<const PolicyPlayer::Move> moves;  ///< of each player
  };
  using See = std::function<void(const Seen&)>;
  /// Plays episodes 0, 1, ... of a game that draws from `seed`; `see` may be empty. What each
  /// player has earned, in the user's units.
  [[nodiscard]] std::vector<PlayedValue> play(std::uint64_t episodes,
                                              std::uint64_t seed,
                                              const See& see = {});

 private:
  GameRef game_;
  std::vector<PolicyFile> files_;
  std::vector<MarkovTable> tables_;
  // Each refers to its file or its table:
  std::vector<PolicyPlayer> players_;
  std::vector<MarkovPlayer> table_players_;
};

}  // namespace vlearn
