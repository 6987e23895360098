// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A certificate: how much any player could gain by deviating from one executable policy in one
// game, `vlearn.certificate/1`. It names the policy by the hashes of its files and the game by the
// hash of its law, and says enough for somebody else to compute every number again.
//
// Numbers are in the user's reward units, as sums over an episode. What a player's value and
// deviation stand for is within that player's `rounding` of them, but for what is lost where they
// are written as doubles; gaps lose nothing to that (docs/theory/certificate_rounding.md).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/target.h"

namespace vlearn {

/// Which policy is executed.
enum class CertifiedOutput : std::uint8_t {
  nested,     ///< the paper's: an index drawn at the start leads through the visits
  markov,     ///< the index is drawn anew at every step
  marginals,  ///< each player plays its averaged policy, independently of the others
  table,      ///< a Markov policy that its files have as a table
};
inline constexpr std::array<std::string_view, 4> kCertifiedOutputNames = {"nested", "markov",
                                                                          "marginals", "table"};

/// Whether players of a target can execute an output. Players of nash draw indices of their own, so
/// a visit that each draws anew at every step is the product of their averages: marginals. All
/// others share their indices: they play the mixture itself, markov.
[[nodiscard]] constexpr bool is_executable(Target target, CertifiedOutput output) noexcept {
  return output != (target == Target::nash ? CertifiedOutput::markov : CertifiedOutput::marginals);
}

/// From which episode an execution begins: what was played before it counts. Markov outputs have no
/// `uniform`.
enum class CertifiedStart : std::uint8_t { uniform, last, best };
inline constexpr std::array<std::string_view, 3> kCertifiedStartNames = {"uniform", "last", "best"};

/// How bounds were found that are not certain.
enum class MethodName : std::uint8_t {
  sampled,  ///< by playing the game from everywhere, over the draws of the certificate
  data,     ///< from what players have seen while they learned
};
inline constexpr std::array<std::string_view, 2> kMethodNames = {"sampled", "data"};
[[nodiscard]] constexpr std::string_view name_of(MethodName name) noexcept {
  return kMethodNames[static_cast<std::size_t>(name)];
}

/// All bounds of the certificate hold at once with this confidence.
struct UncertainMethod {
  MethodName name = MethodName::sampled;
  double confidence = 0.0;
  // Of sampled ones; the seed makes it again, byte for byte.
  std::uint64_t samples = 0;  ///< of each (step, state)
  std::uint64_t seed = 0;

  friend bool operator==(const UncertainMethod&, const UncertainMethod&) = default;
};

struct PlayerCertificate {
  std::string name;
  /// What the policy is worth: one number where it is known exactly (all but nash, nested), else an
  /// interval.
  double value_lower = 0.0;
  double value_upper = 0.0;
  /// What the best deviation is worth: at most this,
  double deviation_upper = 0.0;
  /// and at least this, which the witness earns; nothing where no witness was evaluated.
  std::optional<double> deviation_lower = std::nullopt;
  /// How far off each of the numbers above may be, and 2^-50 of H times the largest reward more.
  double rounding = 0.0;
  /// What a deviation gains: deviation - value, widened by 2 rounding on either side.
  double gap_upper = 0.0;
  std::optional<double> gap_lower = std::nullopt;
  /// The deviation that deviation_lower belongs to, actions counted from 0. For ce of each cell and
  /// each action that was recommended, else of each cell. Cells in the order of steps, then states.
  std::vector<std::uint32_t> witness;
  // Of a sampled certificate, without bias and without promise: what the policy and the witness are
  // worth, and the difference, which has digits that these may have lost.
  std::optional<double> value_estimate = std::nullopt;
  std::optional<double> deviation_estimate = std::nullopt;
  std::optional<double> gap_estimate = std::nullopt;  ///< nothing: the difference of the two
};

struct Certificate {
  std::string version;
  std::string game;
  std::string game_hash;
  Target target = Target::cce;
  CertifiedOutput output = CertifiedOutput::nested;
  // Of all but tables:
  std::uint64_t weights = 0;   ///< c of the output weights (c + 1)/(c + n)
  bool taper = false;          ///< whether they fade out at the end (OutputWeights)
  std::uint64_t episodes = 0;  ///< K: the policy is made of the visits of so many
  /// The visits before episode k are executed. Of the nested output k is drawn uniformly from 1,
  /// ..., K, or is start_episode, which is K + 1 for `last`. Of Markov outputs it is start_episode
  /// for `best`; for `last` start_episode is 0, and all visits count.
  CertifiedStart start = CertifiedStart::last;
  std::uint64_t start_episode = 0;
  /// Nothing where all numbers are certain.
  std::optional<UncertainMethod> method = std::nullopt;
  /// SHA-256 of each player's policy file, as hex digits; without a history one hash of all
  /// policies in the order of play (stream_hash).
  std::vector<std::string> policy_hashes;
  std::optional<std::string> stream_hash = std::nullopt;
  std::vector<PlayerCertificate> players;
  /// The largest gap of a player, and the sum of all (NashConv). For nash both players' gaps are
  /// known only together: each is at most the sum.
  double gap_upper = 0.0;
  std::optional<double> gap_lower = std::nullopt;
  double sum_upper = 0.0;
  std::optional<double> sum_lower = std::nullopt;
};

[[nodiscard]] inline bool is_sampled(const Certificate& certificate) noexcept {
  return certificate.method && certificate.method->name == MethodName::sampled;
}

/// Whether it says where executions start: those of Markov outputs may draw from all visits.
[[nodiscard]] inline bool has_start(const Certificate& certificate) noexcept {
  return certificate.output == CertifiedOutput::nested ||
         (certificate.output != CertifiedOutput::table &&
          certificate.start == CertifiedStart::best);
}

[[nodiscard]] std::string to_json(const Certificate& certificate);
/// Throws Error that names file, key and problem. Everything is checked that can be without the
/// game: ranges, kinds, sizes that agree, intervals that are intervals.
[[nodiscard]] Certificate certificate_from_json(std::string_view text, const std::string& source);
[[nodiscard]] Certificate read_certificate(const std::filesystem::path& path);

}  // namespace vlearn
