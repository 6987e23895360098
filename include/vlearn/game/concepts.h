// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The ladder of games. No base class: a model is any type with these members.
//
//   SampledGame    can be played; learners need no more
//   KnownGame      also knows its law, through one operation that everything exact is built on:
//
//     backup:  q[b] = E over the others' independent policies of
//                     r_j(h, s, (b, a_-j)) + sum_s' P(s' | h, s, (b, a_-j)) next[s']
//
//   for each own action b, in units of [0, 1] rewards. A model does it as its structure lets it: a
//   table by enumeration, a congestion game by counting, a polymatrix game by pairs. Certificates
//   and planners ask for nothing else.
//
//   EpisodicGame   a simulator that can only be reset and stepped; DiscoveredGame makes a
//                  SampledGame of it (discovered.h)
#pragma once

#include <any>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/crew.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/id.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// The one-shot game at a (step, state): where a backup is taken, and what everyone plays there.
struct Stage {
  Step h;
  State s;
  Profile profile;
};

/// What backups may use, kept by the caller between calls: memory, so that nothing is allocated
/// anew, and hands. One per thread.
class Workspace {
 public:
  /// Who does the work of backups where players are many; null: the caller alone.
  void use(std::shared_ptr<Crew> crew) noexcept { crew_ = std::move(crew); }
  [[nodiscard]] Crew* crew() const noexcept { return crew_.get(); }

  /// Room for `size` numbers, whatever is in it; the room given before is gone.
  [[nodiscard]] std::span<double> take(std::size_t size) {
    if (values_.size() < size) values_.resize(size);
    return std::span(values_).first(size);
  }

  /// An object of the model's own, T(size), which stays from call to call.
  template <class T>
  [[nodiscard]] T& keep(std::size_t size) {
    T* const kept = std::any_cast<T>(&kept_);
    return kept != nullptr && kept->size() == size ? *kept : kept_.emplace<T>(size);
  }

 private:
  std::vector<double> values_;
  std::any kept_;
  std::shared_ptr<Crew> crew_;
};

template <class G>
concept HasFrame = requires(const G& game) {
  { game.frame() } -> std::convertible_to<const Frame&>;
};

/// start(nature) is the state that an episode begins in.
template <class G>
concept HasStart = requires(G& game, const Nature& nature) {
  { game.start(nature) } -> std::same_as<State>;
};

/// sample(h, s, joint, nature, rewards) plays one step: fills in every player's reward in [0, 1]
/// and returns the next state (after the last step it means nothing).
template <class G>
concept HasSample = requires(G& game,
                             Step h,
                             State s,
                             std::span<const Action> joint,
                             const Nature& nature,
                             std::span<double> rewards) {
  { game.sample(h, s, joint, nature, rewards) } -> std::same_as<State>;
};

template <class G>
concept SampledGame = HasFrame<G> && HasStart<G> && HasSample<G>;

/// backup(stage, player, next, q, workspace), next[s'] of that player (empty after the last step).
template <class G>
concept HasBackup = requires(const G& game,
                             const Stage& stage,
                             Player player,
                             std::span<const double> next,
                             std::span<double> q,
                             Workspace& workspace) {
  { game.backup(stage, player, next, q, workspace) } -> std::same_as<void>;
};

/// backup_all(stage, next, q, workspace): the same for all players at once.
template <class G>
concept HasBackupAll = requires(const G& game,
                                const Stage& stage,
                                const NextValues& next,
                                const ActionValues& q,
                                Workspace& workspace) {
  { game.backup_all(stage, next, q, workspace) } -> std::same_as<void>;
};

/// backup_error(v): no q[b] is off by more than this when all next values lie in [0, v] and every
/// policy is non-negative and sums to one. (One that sums to 1 + d may move q by |d| (1 + v) more,
/// in a way of the model's own: a probability that is not stated may be 1 minus the others.)
///
/// law_defect(): how far the law is from one whose rows sum to one. Models keep rows as they were
/// given, within kRowTolerance of a sum of one, and backups use them as they are. For each (step,
/// state, joint action) some distribution of next states is within law_defect() of the row that
/// backups use, in the sum of absolute differences. Rewards in [0, 1] are outside of it by no more
/// than law_defect() either.
template <class G>
concept StatesItsError = requires(const G& game, double largest_next) {
  { game.backup_error(largest_next) } -> std::same_as<double>;
  { game.law_defect() } -> std::same_as<double>;
};

/// add_law_to(hash): everything that determines play, nothing else (no names).
template <class G>
concept HasLaw = requires(const G& game, Sha256& hash) {
  { game.add_law_to(hash) } -> std::same_as<void>;
};

template <class G>
concept KnownGame =
    SampledGame<G> && HasBackup<G> && HasBackupAll<G> && StatesItsError<G> && HasLaw<G>;

/// A simulator: reset(draws) and step(joint, draws, rewards) move it on, step() says whether the
/// episode has ended; state_key() identifies the state that players observe, num_actions(player)
/// the moves they have in it; rewards come in the units of reward_range(player).
template <class E>
concept EpisodicGame = requires(E& game,
                                const E& constant,
                                Player player,
                                std::span<const Action> joint,
                                Draws& draws,
                                std::span<double> rewards) {
  { constant.num_players() } -> std::convertible_to<std::size_t>;
  { constant.horizon() } -> std::convertible_to<std::size_t>;
  { constant.max_actions(player) } -> std::convertible_to<std::uint32_t>;
  { constant.reward_range(player) } -> std::convertible_to<RewardRange>;
  { constant.num_actions(player) } -> std::convertible_to<std::uint32_t>;
  { constant.state_key() } -> std::convertible_to<std::string>;
  { game.reset(draws) } -> std::same_as<void>;
  { game.step(joint, draws, rewards) } -> std::same_as<bool>;
};

/// backup_all as one backup after the other, for models where nothing is shared between players.
template <HasBackup G>
void backup_each(const G& game,
                 const Stage& stage,
                 const NextValues& next,
                 const ActionValues& q,
                 Workspace& workspace) {
  const bool last = game.frame().is_last(stage.h);
  for (const Player player : all<Player>(stage.profile.num_players())) {
    const std::span<const double> own = last ? std::span<const double>() : next[player];
    game.backup(stage, player, own, q[player], workspace);
  }
}

/// SHA-256 of the law of a game.
template <KnownGame G>
[[nodiscard]] Sha256Digest law_hash(const G& game) {
  Sha256 hash;
  game.frame().add_to(hash);
  game.add_law_to(hash);
  return hash.finish();
}

}  // namespace vlearn
