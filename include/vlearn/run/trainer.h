// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Self-play whose rule is chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/core/cancel.h"
#include "vlearn/core/container.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/replay.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

class Trainer {
 public:
  virtual ~Trainer() = default;

  /// Plays until `episodes` episodes have been played in all, or the token fires.
  virtual void play_until(std::uint64_t episodes, const CancelToken& cancel) = 0;
  [[nodiscard]] virtual std::uint64_t episodes() const noexcept = 0;

  [[nodiscard]] virtual const Seat& seat(Player player) const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t visits(std::size_t cell) const noexcept = 0;
  /// Of every cell, and a 0 behind them: V,
  [[nodiscard]] virtual std::span<const double> values(Player player) const noexcept = 0;
  /// the estimate of what the output policy is worth,
  [[nodiscard]] virtual std::span<const double> estimates(Player player) const noexcept = 0;
  /// and V from below, empty unless the options ask for it.
  [[nodiscard]] virtual std::span<const double> low_values(Player player) const noexcept = 0;
  /// The policy that would be played now.
  [[nodiscard]] virtual std::span<const double> policy(Player player,
                                                       std::size_t cell) const noexcept = 0;
  /// Monotonic V-learning's output; of its trainers only.
  [[nodiscard]] virtual std::span<const double> markov_policy(Player player,
                                                              std::size_t cell) const noexcept = 0;
  /// The average of a number of each cell over the first states: by their law, or where nobody
  /// knows it (simulators) by how often each has come.
  [[nodiscard]] virtual double at_start(std::span<const double> of_cells) const noexcept = 0;
  /// What the player has earned in all episodes, in units of [0, 1] rewards.
  [[nodiscard]] virtual double earned(Player player) const noexcept = 0;
  /// Where the last row of metrics ended: its returns begin there.
  struct Mark {
    std::uint64_t episodes = 0;
    std::vector<double> earned;  ///< of each player
  };
  [[nodiscard]] virtual const Mark& mark() const noexcept = 0;
  virtual void set_mark() = 0;
  /// Means over the episodes, in units of [0, 1] rewards, of what a player's own values said when
  /// each began: averaged over the law of the first state where it is known, else at the state that
  /// was drawn. Nothing where they bound nothing: see has_bounds(); of monotonic V-learning, before
  /// the first episode, and beyond horizon_episodes.
  struct StartMeans {
    double upper = 0.0;                          ///< of V_1
    std::optional<double> lower = std::nullopt;  ///< of V_1 from below, cut at V_1, if it is kept
  };
  [[nodiscard]] virtual std::optional<StartMeans> start_means(Player player) const noexcept = 0;
  /// What the player can gain against the output policy, at most, with probability 1 - delta, known
  /// from play alone, in units of [0, 1] rewards. For cce, ce and optimal the mean over the
  /// episodes of V - V_low at the start of each; for nash, where players draw independently, the
  /// mean of V_1 + V_2 - H, which bounds the gains of both together; of monotonic V-learning the
  /// last V_1 + V_2 - H. Where the law of the first state is unknown, what its draws may hide
  /// (start_radius) is added, the probability is 1 - 2 delta, and monotonic V-learning has none.
  /// Nothing where no proof covers it, as start_means().
  [[nodiscard]] virtual std::optional<double> gap_bound(Player player) const noexcept = 0;
  /// Sees what all players play at each visit, in the order of play.
  using Watch = std::function<void(Step h, State s, const Profile& profile)>;
  virtual void watch(Watch watch) = 0;

  /// Who plays for the players where they are many; null: the caller for all.
  virtual void use(std::shared_ptr<Crew> crew) = 0;

  /// Takes a piece of a player's history: bytes to append to its policy file.
  using Sink = std::function<void(Player player, std::span<const std::byte> bytes)>;
  /// From now on, and before the first episode, visits are kept; the sink gets every segment when
  /// it is full.
  virtual void keep_history(Sink sink) = 0;
  /// Hands out what has come since the last full segment, if anything; the run may go on.
  virtual void hand_out_rest() = 0;
  /// What a player's policy file says of itself, hashes left out.
  [[nodiscard]] virtual PolicyHeader policy_header(Player player) const = 0;

  /// Everything that the rest of the run depends on, the history since its last segment included.
  /// The trainer must live on, unchanged, until the file is written.
  virtual void save(ContainerWriter& writer) const = 0;
  /// Goes on from there, after keep_history() where there was one. Throws Error (input) for arrays
  /// that a run of these options cannot have left; then another load() must follow.
  virtual void load(ContainerArrays& arrays) = 0;

  /// XXH3 of everything that was learned.
  [[nodiscard]] virtual std::uint64_t signature() const = 0;

  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  Trainer(Trainer&&) = delete;
  Trainer& operator=(Trainer&&) = delete;

 protected:
  Trainer() = default;
};

/// Throws Error (usage) for options that do not go together or have no guarantee for the game; the
/// message says why.
[[nodiscard]] std::unique_ptr<Trainer> make_trainer(GameRef game,
                                                    const LearnerOptions& options,
                                                    std::uint64_t seed);

/// The rule of a policy file. Throws Error (input) for one that this version does not know.
[[nodiscard]] std::unique_ptr<Replayer> make_replayer(const PolicyHeader& header);

/// Why a target has no guarantee in a game, and what to ask for instead; nothing if it has.
[[nodiscard]] std::optional<std::string> why_not(const Frame& frame, const LearnerOptions& options);

/// What a player can gain at most, by its own bounds; and what both of a zero-sum game can
/// together. In units of [0, 1] rewards; `radius` is start_radius().
[[nodiscard]] double own_gap(const Trainer::StartMeans& own,
                             double radius,
                             double horizon) noexcept;
[[nodiscard]] double duality_gap(const Trainer::StartMeans& one,
                                 const Trainer::StartMeans& other,
                                 double radius,
                                 double horizon) noexcept;

/// How far the mean over the first states that were drawn may be from the mean over their law: H
/// sqrt(log(3 m K / delta) / (2 n)) after n episodes, K = horizon_episodes; 0 where the law is
/// known. In units of [0, 1] rewards.
[[nodiscard]] double start_radius(const Frame& frame,
                                  const LearnerOptions& options,
                                  std::uint64_t episodes) noexcept;

/// optimal for one player, nash for two whose rewards sum to nothing, else cce.
[[nodiscard]] Target natural_target(const Frame& frame) noexcept;

}  // namespace vlearn
