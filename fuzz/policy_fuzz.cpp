// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Policy files: what opens can be queried and executed, and its counts agree with each other. The
// verifier's reader takes the same files, and refuses the same.
//
// Checksums stop nearly every change of a file. So an input that begins with '{' is one without
// them, and without lengths: the header's JSON up to a newline, then segments, each its four
// numbers and its payload. It is made a file before it is parsed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/history.h"
#include "vlearn/run/trainer.h"
#include "vlearn/verify/policy_log.h"

namespace {

using namespace vlearn;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostVisits = 1000;   // that are looked at
constexpr std::size_t kMostPolicies = 100;  // that are replayed
constexpr std::size_t kMostActions = 64;    // of a bandit that is replayed

void append(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append_number(Bytes& bytes, std::uint64_t number) {
  append(bytes, std::as_bytes(std::span(&number, 1)));
}

/// Episodes, as the verifier reads it; nothing where it refuses.
std::optional<std::uint64_t> episodes_in(std::span<const std::byte> bytes) {
  try {
    return PolicyLog::parse(FileBytes::copy(bytes), "input").episodes();
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    return std::nullopt;
  }
}

/// Nothing where it is refused.
std::optional<PolicyFile> parse(std::span<const std::byte> bytes) {
  const std::optional<std::uint64_t> episodes = episodes_in(bytes);
  try {
    PolicyFile file = PolicyFile::parse(FileBytes::copy(bytes), "input", make_replayer);
    fuzz::promise(episodes == file.episodes(), "the verifier reads what is executed");
    return file;
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(!episodes, "the verifier refuses what cannot be executed");
    return std::nullopt;
  }
}

/// Four numbers and a payload as long as they say, or whatever is left.
void append_segment(Bytes& bytes, const PolicyHeader& header, std::span<const std::byte>& rest) {
  std::array<std::uint64_t, 5> numbers{};
  std::memcpy(numbers.data(), rest.data(), 32);
  rest = rest.subspan(32);
  const auto [first, episodes, runs, snapshots, unused] = numbers;
  const std::vector<std::uint32_t>& actions = header.seat.num_actions;
  const bool wide = *std::max_element(actions.begin(), actions.end()) > 256;
  const std::uint64_t per_visit = 6U + (header.control_variate ? 4U : 0U) + (wide ? 2U : 1U);
  const std::uint64_t size =
      8 * (snapshots + runs) + (episodes * header.seat.horizon * per_visit + 7) / 8 * 8;
  Bytes payload;
  append(payload, rest.first(std::min<std::uint64_t>(size, rest.size())));
  rest = rest.subspan(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  numbers[4] = xxh3(payload);
  append(bytes, std::as_bytes(std::span(numbers)).first(32));
  append_number(bytes, xxh3(std::as_bytes(std::span(numbers))));
  append(bytes, payload);
}

std::optional<PolicyFile> assemble(std::span<const std::byte> input) {
  const auto newline = std::find(input.begin(), input.end(), std::byte{'\n'});
  Bytes text(input.begin(), newline);
  text.resize((text.size() + 7) / 8 * 8, std::byte{' '});
  Bytes bytes;
  append_number(bytes, text.size());
  append(bytes, text);
  append_number(bytes, xxh3(bytes));
  const std::optional<PolicyFile> header = parse(bytes);
  if (!header || newline == input.end()) return std::nullopt;
  fuzz::promise(header->episodes() == 0, "a header alone is a file without episodes");
  std::span<const std::byte> rest(newline + 1, input.end());
  while (rest.size() >= 32) append_segment(bytes, header->header(), rest);
  return parse(bytes);
}

void check_policy(const PolicyFile& file,
                  std::size_t cell,
                  std::uint64_t visit,
                  ReplayMemory& memory) {
  std::vector<double> policy(file.header().seat.num_actions[cell]);
  file.policy(cell, visit, policy, memory);
  double sum = 0.0;
  for (const double p : policy) {
    fuzz::promise(p >= 0.0, "chances are not negative");
    sum += p;
  }
  fuzz::promise(std::abs(sum - 1.0) < 1e-9, "chances sum to one");
}

void check_cells(const PolicyFile& file) {
  const Seat& seat = file.header().seat;
  const std::uint64_t all = file.episodes();
  const std::size_t cells = std::min<std::size_t>(seat.num_cells(), kMostVisits);
  std::uint64_t visits = 0;
  std::size_t looked_at = 0;
  std::size_t replayed = 0;
  ReplayMemory memory;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::uint64_t count = file.visits_before(cell, all);
    visits += count;
    fuzz::promise(count <= all, "an episode visits a cell once at most");
    fuzz::promise(file.visits_before(cell, 0) == 0, "nothing comes before the first episode");
    fuzz::promise(file.visits_before(cell, UINT64_MAX) == count, "nothing comes after the last");
    for (std::uint64_t i = 1; i <= count && looked_at < kMostVisits; ++i, ++looked_at) {
      const std::uint64_t k = file.episode_of(cell, i);
      fuzz::promise(
          k < all && file.visits_before(cell, k) == i - 1 && file.visits_before(cell, k + 1) == i,
          "visits and episodes agree");
      fuzz::promise(file.logged(cell, i).action.index() < seat.num_actions[cell],
                    "actions are those of the player");
    }
    if (seat.num_actions[cell] > kMostActions) continue;
    // The first, the last, the one that would come next, and some between.
    for (std::uint64_t i = 1; i <= count + 1 && replayed < kMostPolicies; ++replayed) {
      check_policy(file, cell, i, memory);
      i = i <= count ? std::min(count + 1, i + 1 + count / 5) : i + 1;
    }
  }
  if (cells == seat.num_cells()) {
    fuzz::promise(visits == all * seat.horizon, "every step of every episode is a visit");
  }
}

void check_execution(const PolicyFile& file) {
  const Seat& seat = file.header().seat;
  const std::vector<std::uint32_t>& actions = seat.num_actions;
  if (*std::max_element(actions.begin(), actions.end()) > kMostActions) return;
  for (const OutputKind output : {OutputKind::nested, OutputKind::markov}) {
    ExecuteOptions options{.output = output};
    if (file.episodes() > 0) {
      // Only nested executions draw their start.
      const bool nested = output == OutputKind::nested;
      options.start = {nested ? StartRule::Kind::uniform : StartRule::Kind::at,
                       (file.episodes() + 1) / 2};
    }
    PolicyPlayer player(file, options);
    for (std::uint64_t episode = 0; episode < 2; ++episode) {
      player.begin(Episode(episode));
      for (const Step h : all<Step>(std::min<std::size_t>(seat.horizon, 4))) {
        const std::size_t states = seat.first_cell[h.index() + 1] - seat.first_cell[h.index()];
        const PolicyPlayer::Move move = player.act(h, State((episode + h.index()) % states));
        fuzz::promise(move.action.index() < player.policy().size(), "actions are possible");
        fuzz::promise((move.visit == 0) == (move.episode == 0), "a visit has an episode");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  const bool to_assemble = size > 0 && data[0] == '{';
  const std::optional<PolicyFile> file = to_assemble ? assemble(input) : parse(input);
  if (!file) return 0;
  check_cells(*file);
  check_execution(*file);
  return 0;
}
