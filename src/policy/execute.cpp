// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

constexpr std::string_view kStart = "start ";
constexpr std::string_view kAnew = "anew";
constexpr std::uint64_t kMaxSeedBytes = 1024;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The digits of a seed file, and the start where it has one.
std::pair<std::string_view, std::string_view> seed_and_start(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view rest = text.substr(end);
  if (!rest.starts_with('\n') || !rest.substr(1).starts_with(kStart)) return {trimmed(text), ""};
  return {trimmed(text.substr(0, end)), trimmed(rest.substr(1 + kStart.size()))};
}

/// What write_index_seeds() puts there.
bool is_start(std::string_view start) {
  if (start.empty() || start == "uniform" || start == kAnew || start == "table") return true;
  if (start.starts_with(kAnew)) {
    start.remove_prefix(kAnew.size());
    if (!start.starts_with(' ')) return false;
    start.remove_prefix(1);
  }
  std::uint64_t episode = 0;
  const char* const end = start.data() + start.size();
  const auto [rest, failure] = std::from_chars(start.data(), end, episode);
  return failure == std::errc() && rest == end && episode > 0;
}

}  // namespace

std::uint64_t stream_key(const PolicySeed& seed) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, seed.data(), sizeof(key));
  return key;
}

PolicySeed derive_seed(std::uint64_t run_seed, std::string_view purpose, std::uint64_t player) {
  Sha256 hash;
  const std::string text =
      fmt::format("vlearn.seed/1 run={} purpose={} player={}", run_seed, purpose, player);
  hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

void write_seed(const std::filesystem::path& path,
                const PolicySeed& seed,
                bool secret,
                std::string_view start) {
  write_file(path, seed_text({seed, std::string(start)}),
             secret ? AtomicFile::Privacy::secret : AtomicFile::Privacy::open);
}

std::string seed_text(const SeedFile& file) {
  std::string text = to_hex(file.seed) + "\n";
  if (!file.start.empty()) text += fmt::format("{}{}\n", kStart, file.start);
  return text;
}

PolicySeed read_seed(const std::filesystem::path& path) {
  return parse_seed(FileBytes::read(path, kMaxSeedBytes).text(), path).seed;
}

std::string read_start(const std::filesystem::path& path) {
  return parse_seed(FileBytes::read(path, kMaxSeedBytes).text(), path).start;
}

SeedFile parse_seed(std::string_view text, const std::filesystem::path& path) {
  const auto [digits, start] = seed_and_start(text);
  PolicySeed seed{};
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  bool good = digits.size() == 2 * seed.size();
  for (std::size_t i = 0; good && i < seed.size(); ++i) {
    const int high = digit(digits[2 * i]);
    const int low = digit(digits[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) seed[i] = static_cast<std::byte>(16 * high + low);
  }
  if (!good) {
    throw Error(ErrorKind::input, path.string(), "is not a seed",
                "want 64 hexadecimal digits, as `vlearn learn` writes them");
  }
  if (!is_start(start)) {
    throw Error(ErrorKind::input, path.string(),
                fmt::format("the start '{}' is not known", printable(start, 40)),
                "want the number of an episode, uniform, anew (with or without a number) or table");
  }
  return {seed, std::string(start)};
}

PolicyPlayer::PolicyPlayer(const PolicyFile& file, const ExecuteOptions& options)
    : file_(file),
      options_(options),
      weights_(file.header().weights, file.header().taper && options.output == OutputKind::markov),
      index_key_(stream_key(options.index_seed)),
      action_key_(stream_key(options.private_seed)) {
  const StartRule& start = options.start;
  check_choice("start.kind", start.kind, std::size_t{3});
  check_choice("output", options.output, std::size_t{2});
  if (start.kind == StartRule::Kind::at &&
      (start.episode < 1 || start.episode > file.episodes() + 1)) {
    throw Error(
        ErrorKind::usage, "start",
        fmt::format("is episode {}, and {} has {}", start.episode, file.source(), file.episodes()),
        fmt::format("want 1 to {}", file.episodes() + 1));
  }
  if (start.kind == StartRule::Kind::uniform && options.output == OutputKind::markov) {
    throw Error(ErrorKind::usage, "start", "is uniform, which only the nested output has",
                "use last or the number of an episode");
  }
  if (start.kind == StartRule::Kind::uniform && file.episodes() == 0) {
    throw Error(ErrorKind::usage, "start",
                fmt::format("cannot be drawn: {} has no episodes", file.source()),
                "learn some first");
  }
}

std::uint64_t PolicyPlayer::first_k() const {
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
    move.visit = weights_.sample(t, draws);
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
