// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// From the visits of a run to its certificate.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vlearn/certify/markov_certifier.h"
#include "vlearn/certify/nested.h"
#include "vlearn/certify/stream_hash.h"
#include "vlearn/core/alpha.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/container.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/any_game.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/markov.h"

namespace vlearn {

/// An execution's start, and what is known of it: in units of [0, 1] rewards.
struct AssessedStart {
  CertifiedStart start = CertifiedStart::last;
  std::uint64_t start_episode = 0;  ///< k, counted from 1; 0 for uniform
  Assessment assessment;
  double rounding = 0.0;
  std::vector<std::vector<WitnessPlan>> witnesses;  ///< of each player: those that are worth trying
};

/// What is known of a gap without files, in the user's units, widened by its rounding.
struct CertifiedGap {
  double largest = 0.0;  ///< of a player; of the nested output of nash only the sum is known
  double sum = 0.0;
};
[[nodiscard]] CertifiedGap gap_in_user_units(const Frame& frame,
                                             Target target,
                                             CertifiedOutput output,
                                             const AssessedStart& assessed);

/// A Markov output starts from the best look of the last three quarters of a run. Play goes round
/// in circles, and so does what it averages; but a policy of few episodes may have a gap of 0 and
/// be worth little.
inline constexpr std::uint64_t kLookLife = 4;

/// Certifies an output of a run that is being played, or played again.
class RunCertifier {
 public:
  /// Whether all policies are hashed, for a run that keeps none.
  enum class Stream : std::uint8_t { not_hashed, hashed };
  /// The game must live on. Throws Error (usage) for an output that it cannot certify: Markov
  /// mixtures of games that cannot be listed (markov_certifier.h), and tables.
  RunCertifier(const AnyGame& game,
               Target target,
               const OutputWeights& weights,
               CertifiedOutput output = CertifiedOutput::nested,
               Stream stream = Stream::not_hashed);

  /// Who does the work of a visit where players are many.
  void use(std::shared_ptr<Crew> crew) {
    if (nested_) nested_->use(std::move(crew));
  }
  /// As NestedCertifier::visit().
  void visit(Step h, State s, const Profile& profile) {
    if (nested_) nested_->visit(h, s, profile);
    if (markov_) markov_->visit(h, s, profile);
    if (stream_) stream_->visit(h, s, profile);
  }
  [[nodiscard]] std::uint64_t episodes() const noexcept {
    return nested_ ? nested_->episodes() : markov_->episodes();
  }
  [[nodiscard]] CertifiedOutput output() const noexcept { return output_; }

  /// Looks at the gap of executions that start now: of Markov outputs only where it `must`, or
  /// where looking takes no longer than learning has since the last look. Returns a gap in the
  /// user's units, widened by its rounding: of the nested output that of this look, of Markov
  /// outputs certified_gap(); nothing where it did not look.
  std::optional<double> record(bool must = false);
  /// That of start `best`: the smallest at a look. Of Markov outputs looks count until
  /// kLookLife times as many episodes were played. Nothing before the first look.
  [[nodiscard]] std::optional<double> certified_gap() const noexcept;

  /// Of the policies of all episodes so far, where it was asked for.
  [[nodiscard]] std::optional<std::string> stream_hash() const;

  /// For best there was a record(). Markov outputs have no start `uniform`.
  [[nodiscard]] AssessedStart at(CertifiedStart start) const;
  /// Of a Markov output: what record(true) would make of start `best`, where `now` is
  /// at(CertifiedStart::last). No look is kept.
  [[nodiscard]] AssessedStart best_now(AssessedStart now) const;

  void save(ContainerWriter& writer) const;
  void load(ContainerArrays& arrays);

 private:
  struct Look {
    AssessedStart assessed;
    double gap = 0.0;
  };

  [[nodiscard]] Look look_at(AssessedStart now) const;
  /// Whether it no longer counts.
  [[nodiscard]] bool is_old(const Look& look) const noexcept;
  void load_looks(ContainerArrays& arrays);
  /// Whether a player has the actions of a plan of its length.
  [[nodiscard]] bool is_plan(std::span<const std::uint32_t> actions, Player player) const;
  [[nodiscard]] bool worth_a_look() const noexcept;

  const Frame& frame_;
  Target target_;
  CertifiedOutput output_;
  std::unique_ptr<NestedCertifier> nested_;  // or
  std::unique_ptr<MarkovCertifier> markov_;
  std::optional<StreamHash> stream_;
  // Those that are or may become the best, the best first: later ones have larger gaps. Of the
  // nested output, whose looks count for ever, one at most.
  std::deque<Look> looks_;
  // Of Markov outputs:
  std::uint64_t last_look_ = 0;  // episodes
  double look_work_ = 0.0;       // multiplications of a look, and of a step with its visit
  double step_work_ = 0.0;
};

/// Which policy of which game is certified; what is empty is left for the caller to fill in.
struct CertificateTitle {
  std::string game;
  std::string game_hash;
  std::vector<std::string> player_names;
  std::vector<std::string> policy_hashes;
};

/// The certificate of a Markov output of a run that keeps no policies.
[[nodiscard]] Certificate certify_played(const AnyGame& game,
                                         const CertificateTitle& title,
                                         Target target,
                                         CertifiedOutput output,
                                         const OutputWeights& weights,
                                         std::uint64_t episodes,
                                         const AssessedStart& assessed);

/// The certificate of the nested output. Files are those of all players; without any there is no
/// lower bound and no witness.
[[nodiscard]] Certificate certify_nested(const AnyGame& game,
                                         const CertificateTitle& title,
                                         Target target,
                                         std::uint64_t weights,
                                         std::uint64_t episodes,
                                         const AssessedStart& assessed,
                                         std::span<const PolicyFile> files,
                                         const ParallelOptions& options);

/// Plays a run's visits to a certifier: record() after each episode that `is_recorded` names, and
/// after the last.
void certify_history(RunCertifier& certifier,
                     const Frame& frame,
                     std::span<const PolicyFile> files,
                     const std::function<bool(std::uint64_t episodes)>& is_recorded,
                     const ParallelOptions& options);

/// Multiplications that certifying takes for each one that learning takes, counted and not timed:
/// of the nested output both passes of certify_nested().
[[nodiscard]] double relative_cost(const AnyGame& game, CertifiedOutput output);

/// Multiplications of certify_history(), counted and not timed, of so many episodes with so many
/// looks at the gap.
[[nodiscard]] double curve_work(const AnyGame& game,
                                CertifiedOutput output,
                                std::uint64_t episodes,
                                std::uint64_t looks);

/// The certificate of the Markov mixture: at every step the index of a visit is drawn anew, among
/// all visits of the state before an episode, by one draw for all players; 0: among all visits.
/// Upper and lower bounds agree. Throws Error (input) for files that are not of one run.
[[nodiscard]] Certificate certify_markov(const AnyGame& game,
                                         const CertificateTitle& title,
                                         Target target,
                                         std::span<const PolicyFile> files,
                                         const ParallelOptions& options,
                                         std::uint64_t start_episode = 0);

/// Throws Error (input) unless tables are those of all players in their order, of the game's shape
/// and with the same parts; for nash with one part.
void check_tables(const Frame& frame, Target target, std::span<const MarkovTable> tables);

/// The certificate of such tables. Upper and lower bounds agree.
[[nodiscard]] Certificate certify_table(const AnyGame& game,
                                        const CertificateTitle& title,
                                        Target target,
                                        std::span<const MarkovTable> tables,
                                        const ParallelOptions& options);

/// The policy of a player at a (step, state); valid until the next call.
using MarkovPolicy = std::function<std::span<const double>(Player player, Step h, State s)>;

/// The certificate of players who play their averages independently of each other: what they do in
/// zero-sum games, where each draws indices of its own. Upper and lower bounds agree.
[[nodiscard]] Certificate certify_marginals(const AnyGame& game,
                                            const CertificateTitle& title,
                                            Target target,
                                            const OutputWeights& weights,
                                            std::uint64_t episodes,
                                            const MarkovPolicy& policy,
                                            std::uint64_t start_episode = 0);

}  // namespace vlearn
