// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Executing the output policy (the paper's Algorithm 3): draw an episode k; at each step look how
// often the state had been visited before k, draw one of these visits i with probability alpha_t^i,
// set k to its episode, and play the policy of that visit. Unvisited states: uniform to the end.
//
// Players who correlate share the stream of k and i and nothing else; each draws its actions from a
// seed of its own. So a player executes its part alone: with its own file, the shared index seed,
// its private seed, and the states that everybody observes.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/random.h"
#include "vlearn/policy/history.h"

namespace vlearn {

/// Which episode an execution begins from.
struct StartRule {
  enum class Kind : std::uint8_t {
    uniform,  ///< any of the K played, as in the paper
    last,     ///< after the last
    at,       ///< before a given one
  };
  Kind kind = Kind::last;
  std::uint64_t episode = 0;  ///< of `at`, from 1 on as people count: k = 1 is before the first

  friend bool operator==(const StartRule&, const StartRule&) = default;
};

/// How the visit is drawn at each step.
enum class OutputKind : std::uint8_t {
  nested,  ///< among the visits before k, as in the paper
  markov,  ///< anew at every step, among those before the start: a Markov policy, correlated state
           ///< by state
};

/// 256 bits that nobody can guess from another one's.
using PolicySeed = Sha256Digest;

/// What keys the draws of a seed: its first 64 bits.
[[nodiscard]] std::uint64_t stream_key(const PolicySeed& seed) noexcept;

/// SHA-256 of the run's seed, a purpose and a player (0 for all): "index" or "private".
[[nodiscard]] PolicySeed derive_seed(std::uint64_t run_seed,
                                     std::string_view purpose,
                                     std::uint64_t player);
/// In a file of 64 hexadecimal digits. A private one gets mode 0600.
/// An index seed may say how executions go, for all who share it: `uniform` or the number of the
/// episode that nested ones start from; `anew` where the visit is drawn anew at every step, with a
/// number among the visits before that episode; `table` where the table is played and no history.
void write_seed(const std::filesystem::path& path,
                const PolicySeed& seed,
                bool secret,
                std::string_view start = {});
[[nodiscard]] PolicySeed read_seed(const std::filesystem::path& path);
/// That start; empty where it says none.
[[nodiscard]] std::string read_start(const std::filesystem::path& path);

/// What such a file says.
struct SeedFile {
  PolicySeed seed = {};
  std::string start = {};
  friend bool operator==(const SeedFile&, const SeedFile&) = default;
};
[[nodiscard]] std::string seed_text(const SeedFile& file);
/// Throws Error (input) that names the file for a text that is none.
[[nodiscard]] SeedFile parse_seed(std::string_view text, const std::filesystem::path& path);

struct ExecuteOptions {
  StartRule start = {};
  OutputKind output = OutputKind::nested;
  PolicySeed index_seed = {};
  PolicySeed private_seed = {};
};

/// One player executing its file.
class PolicyPlayer {
 public:
  /// The file must outlive it. Throws Error (usage) for a start that the file does not have.
  PolicyPlayer(const PolicyFile& file, const ExecuteOptions& options);

  /// A new episode of play; its number keys all draws.
  void begin(Episode episode);

  /// What was drawn for a step.
  struct Move {
    std::uint64_t visit = 0;    ///< i, from 1 on; 0: the state is new, uniform to the end
    std::uint64_t episode = 0;  ///< k^i, from 1 on; 0 likewise
    Action action;
  };
  [[nodiscard]] Move act(Step h, State s);
  /// The policy that the last move was drawn from.
  [[nodiscard]] std::span<const double> policy() const noexcept { return policy_; }

 private:
  [[nodiscard]] std::uint64_t first_k() const;

  const PolicyFile& file_;
  ExecuteOptions options_;
  OutputWeights weights_;
  std::uint64_t index_key_;
  std::uint64_t action_key_;
  Episode episode_;
  std::uint64_t k_ = 0;  // visits of episodes below it count
  bool lost_ = false;    // in a state that was new: uniform to the end
  std::vector<double> policy_;
  ReplayMemory memory_;
};

}  // namespace vlearn
