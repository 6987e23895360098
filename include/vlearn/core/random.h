// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers without a generator. Every draw is a pure function of a key (seed, purpose,
// player, episode, step) and of its position in that key's sequence, by Philox4x32-10 (Salmon,
// Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). Nothing is stored,
// shared, or seeded from a clock; a draw is the same for any thread count and after any resume.
//
// The bit recipe (stream version 1; a change of any line below is a new version):
//
//   Philox key      k0 = seed[31:0]        k1 = seed[63:32]
//   Philox counter  c0 = episode[31:0]     c1 = episode[55:32] | purpose << 24
//                   c2 = player[23:0] | block[7:0] << 24
//                   c3 = step[19:0]   | block[19:8] << 20
//   words           block 0, 1, 2, ... of the key give words w0 w1 w2 w3 each
//   64 bits         two words in order: first | second << 32 (a block gives two)
//   uniform double  (bits >> 11) * 2^-53, in [0, 1)
//   below(n)        high half of bits * n; drawn again while the low half < 2^64 mod n
//   sample(p)       the first i with u < p[0] + ... + p[i] (added left to right in double);
//                   when u reaches the whole sum, the last i with p[i] > 0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vlearn/core/id.h"

namespace vlearn {

inline constexpr std::uint32_t kStreamVersion = 1;

/// What a draw is for. Streams of different purposes never meet: the index stream of an executed
/// policy is shared by all players, each player's action stream is private to it.
enum class Purpose : std::uint8_t {
  initial_state = 1,  ///< the state an episode starts in
  transition = 2,     ///< the next state
  reward = 3,         ///< a random reward
  action = 4,         ///< one player's own action: private
  index = 5,          ///< which past visit an executed policy replays: shared by all players
  game = 6,           ///< generated games
  test = 7,           ///< tests and benchmarks
};

struct StreamKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  Player player{};    ///< below kMaxPlayers
  Episode episode{};  ///< below kMaxEpisodes
  Step step{};        ///< below kMaxSteps
};

// The caller keeps these limits, once where sizes come in (players and horizon of a game) and not
// at each draw; development builds assert them. Beyond them two keys would share a stream.
inline constexpr std::uint64_t kMaxPlayers = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kMaxEpisodes = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 20;

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// The bare cipher, as published.
[[nodiscard]] PhiloxBlock philox4x32_10(PhiloxBlock counter,
                                        std::array<std::uint32_t, 2> key) noexcept;

/// The block-th four words of a key's sequence.
[[nodiscard]] PhiloxBlock random_block(const StreamKey& key, std::uint32_t block) noexcept;

/// A reading position in the sequence of one key: make one where draws are needed, take what is
/// needed, let it go. At most 2 * kMaxBlocks draws of 64 bits.
class Draws {
 public:
  explicit Draws(const StreamKey& key) noexcept : key_(key) {}

  [[nodiscard]] std::uint64_t bits() noexcept;
  /// In [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform() noexcept { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// Uniform on {0, ..., n - 1}, exactly; n >= 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

 private:
  StreamKey key_;
  PhiloxBlock words_{};
  std::uint32_t next_block_ = 0;
  std::uint32_t used_ = 4;  // words of words_ already handed out
};

/// The index that a uniform u in [0, 1) selects from a distribution. Never one of probability 0;
/// the probabilities are non-negative, not all 0, and need not sum to one exactly.
[[nodiscard]] std::size_t sample(std::span<const double> probabilities, double u) noexcept;

}  // namespace vlearn
