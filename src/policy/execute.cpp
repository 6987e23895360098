// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

/// The key of a stream: the first 64 bits.
std::uint64_t key_of(const PolicySeed& seed) {
  std::uint64_t key = 0;
  std::memcpy(&key, seed.data(), sizeof(key));
  return key;
}

}  // namespace

PolicySeed derive_seed(std::uint64_t run_seed, std::string_view purpose, std::uint64_t player) {
  Sha256 hash;
  const std::string text =
      fmt::format("vlearn.seed/1 run={} purpose={} player={}", run_seed, purpose, player);
  hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

void write_seed(const std::filesystem::path& path, const PolicySeed& seed, bool secret) {
  using Privacy = AtomicFile::Privacy;
  write_file(path, to_hex(seed) + "\n", secret ? Privacy::secret : Privacy::open);
}

PolicySeed read_seed(const std::filesystem::path& path) {
  const FileBytes file = FileBytes::read(path, 1024);
  std::string_view text = file.text();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  PolicySeed seed{};
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  bool good = text.size() == 2 * seed.size();
  for (std::size_t i = 0; good && i < seed.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) seed[i] = static_cast<std::byte>(16 * high + low);
  }
  if (!good) {
    throw Error(ErrorKind::input, path.string(), "is not a seed",
                "want 64 hexadecimal digits, as `vlearn learn` writes them");
  }
  return seed;
}

PolicyPlayer::PolicyPlayer(const PolicyFile& file, const ExecuteOptions& options)
    : file_(file),
      options_(options),
      alpha_(file.header().weights),
      index_key_(key_of(options.index_seed)),
      action_key_(key_of(options.private_seed)) {
  const StartRule& start = options.start;
  if (start.kind == StartRule::Kind::at &&
      (start.episode < 1 || start.episode > file.episodes() + 1)) {
    throw Error(ErrorKind::usage, "start",
                fmt::format("is episode {}, and the policy has {}", start.episode, file.episodes()),
                fmt::format("want 1 to {}", file.episodes() + 1));
  }
  if (start.kind == StartRule::Kind::uniform && file.episodes() == 0) {
    throw Error(ErrorKind::usage, "start", "cannot be drawn: nothing was played");
  }
}

std::uint64_t PolicyPlayer::first_k() const {
  if (options_.output == OutputKind::markov) return file_.episodes();
  switch (options_.start.kind) {
    case StartRule::Kind::uniform: {
      Draws draws({.seed = index_key_, .purpose = Purpose::start, .episode = episode_});
      return draws.below(file_.episodes());
    }
    case StartRule::Kind::at: return options_.start.episode - 1;
    case StartRule::Kind::last: break;
  }
  return file_.episodes();
}

void PolicyPlayer::begin(Episode episode) {
  episode_ = episode;
  lost_ = false;
  k_ = first_k();
}

PolicyPlayer::Move PolicyPlayer::act(Step h, State s) {
  const Seat& seat = file_.header().seat;
  const std::size_t cell = seat.cell(h, s);
  policy_.assign(seat.num_actions[cell], 1.0 / static_cast<double>(seat.num_actions[cell]));
  Move move;
  const std::uint64_t t = lost_ ? 0 : file_.visits_before(cell, k_);
  if (t == 0) {
    // In a Markov policy the next state may be known again.
    lost_ = options_.output == OutputKind::nested;
  } else {
    Draws draws({.seed = index_key_, .purpose = Purpose::index, .episode = episode_, .step = h});
    move.visit = alpha_.sample(t, draws);
    const std::uint64_t k = file_.episode_of(cell, move.visit);
    move.episode = k + 1;
    if (options_.output == OutputKind::nested) k_ = k;
    file_.policy(cell, move.visit, policy_, memory_);
  }
  Draws draws({.seed = action_key_,
               .purpose = Purpose::action,
               .player = file_.header().player,
               .episode = episode_,
               .step = h});
  move.action = Action(sample(policy_, draws.uniform()));
  return move;
}

}  // namespace vlearn
