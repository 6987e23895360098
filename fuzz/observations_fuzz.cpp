// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vlearn play` reads from its standard input: whatever the lines, a player who is told of
// them plays actions that it has, step by step, or the line that is wrong is named.
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "fuzz_target.h"
#include "vlearn/core/error.h"
#include "vlearn/policy/markov.h"
#include "vlearn/policy/observations.h"

namespace {

using namespace vlearn;

/// Three steps with two, one and two states.
const MarkovTable& table() {
  static const MarkovTable made = [] {
    MarkovTable table;
    table.num_players = 1;
    table.first_cell = {0, 2, 3, 5};
    table.num_actions = {2, 3, 1, 2, 4};
    for (const std::uint32_t actions : table.num_actions) {
      table.add_part(1, std::vector<double>(actions, 1.0 / actions));
      table.end_cell();
    }
    return table;
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MarkovTable& policy = table();
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  Observations observations(lines, "input", policy.first_cell);
  MarkovPlayer player(policy, {}, {});
  std::string written;
  std::vector<Observation> all;
  try {
    while (const std::optional<Observation> seen = observations.next()) {
      const bool follows =
          !all.empty() && all.back().episode == seen->episode && all.back().h.next() == seen->h;
      fuzz::promise(seen->begins ? seen->h == Step(0) : follows, "steps come in order");
      if (seen->begins) player.begin(seen->episode);
      const PolicyPlayer::Move move = player.act(seen->h, seen->s);
      fuzz::promise(move.action.index() < policy.num_actions[policy.cell(seen->h, seen->s)],
                    "an action of the player is played");
      all.push_back(*seen);
      written += fmt::format("{{\"episode\": {}, \"step\": {}, \"state\": {}}}\n",
                             seen->episode.number(), seen->h.number(), seen->s.number());
    }
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad line is its writer's mistake");
    fuzz::promise(error.place().starts_with(fmt::format("input, line {}", all.size() + 1)),
                  "an error names the line");
  }
  std::istringstream again(written);
  Observations copies(again, "written", policy.first_cell);
  for (const Observation& seen : all) {
    const std::optional<Observation> copy = copies.next();
    fuzz::promise(copy && copy->episode == seen.episode && copy->h == seen.h && copy->s == seen.s &&
                      copy->begins == seen.begins,
                  "what is written reads back as itself");
  }
  fuzz::promise(!copies.next(), "nothing comes after the last line");
  return 0;
}
