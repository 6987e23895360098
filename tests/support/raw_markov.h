// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of tables that write_markov() would refuse.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/container.h"
#include "vlearn/policy/markov.h"

namespace vlearn::test {

inline void write_raw_markov(const std::filesystem::path& path, const MarkovTable& table) {
  std::vector<std::uint64_t> states;
  for (std::size_t h = 0; h + 1 < table.first_cell.size(); ++h) {
    states.push_back(table.first_cell[h + 1] - table.first_cell[h]);
  }
  std::vector<std::uint64_t> parts;
  for (std::size_t cell = 0; cell + 1 < table.first_part.size(); ++cell) {
    parts.push_back(table.first_part[cell + 1] - table.first_part[cell]);
  }
  ContainerWriter writer("vlearn.markov/1");
  writer.metadata("player", std::to_string(table.player.number()));
  writer.metadata("players", std::to_string(table.num_players));
  writer.metadata("target", std::string(name_of(table.target)));
  writer.metadata("game_hash", table.game_hash);
  writer.own("states", std::move(states)).own("parts", std::move(parts));
  writer.add("actions", {table.num_actions.size()}, table.num_actions);
  writer.add("weights", {table.weights.size()}, table.weights);
  writer.add("policies", {table.policies.size()}, table.policies);
  writer.write(path);
}

}  // namespace vlearn::test
