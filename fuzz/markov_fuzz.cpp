// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Markov policies as tables: what the library reads it can execute, and who verifies reads it too.
#include <span>
#include <string>
#include <utility>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/markov.h"
#include "vlearn/verify/policy_parts.h"

namespace {

bool is_read(const auto& read) {
  using namespace vlearn;
  try {
    read();
    return true;
  } catch (const Error& error) {
    fuzz::promise(error.kind() != ErrorKind::internal, "a bad file is the writer's mistake");
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vlearn;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const bool good = is_read([&] {
    const MarkovTable table = parse_markov(bytes, "input");
    MarkovPlayer player(table, {}, {});
    player.begin(Episode(0));
    const PolicyPlayer::Move move = player.act(Step(0), State(0));
    fuzz::promise(move.action.index() < table.num_actions[0], "an action of the player is played");
  });
  const bool parts_good =
      is_read([&] { static_cast<void>(PolicyParts::parse(FileBytes::copy(bytes), "input")); });
  fuzz::promise(parts_good || !good, "who verifies reads what the library reads");
  return 0;
}
