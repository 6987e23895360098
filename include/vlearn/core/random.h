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
#include <vector>

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
  start = 8,          ///< which episode an executed policy starts from: shared by all players
  joint = 9,          ///< the joint action of a learner that controls everybody
  resample = 10,      ///< which of several runs a bootstrap takes
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

/// The Philox counter of a block, as the recipe above says.
[[nodiscard]] PhiloxBlock counter_of(const StreamKey& key, std::uint32_t block) noexcept;

/// The block-th four words of a key's sequence.
[[nodiscard]] PhiloxBlock random_block(const StreamKey& key, std::uint32_t block) noexcept;

/// 64 bits as a number in [0, 1), a multiple of 2^-53.
[[nodiscard]] inline double to_uniform(std::uint64_t bits) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11U)) * 0x1p-53;
}

/// A reading position in the sequence of one key: make one where draws are needed, take what is
/// needed, let it go. At most 2 * kMaxBlocks draws of 64 bits.
class Draws {
 public:
  explicit Draws(const StreamKey& key) noexcept : key_(key) {}
  /// The same, where block 0 of the key is known already.
  Draws(const StreamKey& key, const PhiloxBlock& block) noexcept
      : key_(key), words_(block), next_block_(1), used_(0) {}

  [[nodiscard]] std::uint64_t bits() noexcept {
    if (used_ == words_.size()) refill();
    const std::uint64_t first = words_[used_];
    const std::uint64_t second = words_[used_ + 1];
    used_ += 2;
    return first | second << 32U;
  }
  /// In [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform() noexcept { return to_uniform(bits()); }
  /// Uniform on {0, ..., n - 1}, exactly; n >= 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

 private:
  void refill() noexcept;

  StreamKey key_;
  PhiloxBlock words_{};
  std::uint32_t next_block_ = 0;
  std::uint32_t used_ = 4;  // words of words_ already handed out
};

/// The index that a uniform u in [0, 1) selects from a distribution. Never one of probability 0;
/// the probabilities are non-negative, not all 0, and need not sum to one exactly.
[[nodiscard]] inline std::size_t sample(std::span<const double> probabilities, double u) noexcept {
  const std::size_t size = probabilities.size();
  double sum = 0.0;
  std::size_t i = 0;
  if (size <= 16) {
    // Sums never fall, so counting those that u reaches finds the first that it does not: no
    // branch to guess wrong.
    for (const double p : probabilities) {
      sum += p;
      i += static_cast<std::size_t>(u >= sum);
    }
  } else {
    for (; i < size; ++i) {
      sum += probabilities[i];
      if (u < sum) break;
    }
  }
  if (i == size) [[unlikely]] {
    i = size - 1;
    while (i > 0 && !(probabilities[i] > 0.0)) --i;
  }
  return i;
}

/// Block 0 of many keys at once, one episode after the other: what players and nature will draw in
/// an episode, several keys to a vector.
class DrawsAhead {
 public:
  /// One for each key; their seed is this one, their episode comes with fill().
  DrawsAhead(std::uint64_t seed, std::span<const StreamKey> keys);

  void fill(Episode episode) noexcept;

  /// Draws from key number i, as Draws(key) would make them.
  [[nodiscard]] PhiloxBlock block(std::size_t i) const noexcept {
    const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
    return {low(first_[i]), low(first_[i] >> 32U), low(second_[i]), low(second_[i] >> 32U)};
  }
  /// The first uniform() of key number i.
  [[nodiscard]] double uniform(std::size_t i) const noexcept { return to_uniform(first_[i]); }

 private:
  std::uint64_t seed_;
  // The counter words c1 (without the episode), c2, c3 of each key, in the low half of 64 bits, and
  // the block: its first and its second two words. All padded to whole vectors.
  std::vector<std::uint64_t> c1_;
  std::vector<std::uint64_t> c2_;
  std::vector<std::uint64_t> c3_;
  std::vector<std::uint64_t> first_;
  std::vector<std::uint64_t> second_;
};

}  // namespace vlearn
