// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/markov.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/policy/history.h"

namespace vlearn {
namespace {

constexpr const char* kFormat = "vlearn.markov/1";
constexpr double kMostOff = 1e-12;  // of the sum of a policy
constexpr std::uint32_t kMaxActions = 65535;
constexpr std::uint64_t kMaxMarkovBytes = std::uint64_t{1} << 40U;

/// A number of the metadata, in digits.
std::uint64_t number_in(const ContainerHeader& header, std::string_view key, std::uint64_t most) {
  const std::string_view text = header.metadata(key).value_or("");
  std::uint64_t number = 0;
  bool good = !text.empty() && text.size() <= 19;
  for (const char c : text) {
    good = good && c >= '0' && c <= '9';
    if (good) number = 10 * number + static_cast<std::uint64_t>(c - '0');
  }
  if (good && number >= 1 && number <= most) return number;
  throw header.error(key, "of the metadata is no number", fmt::format("want 1 to {}", most));
}

void read_shape(ContainerArrays& arrays, MarkovTable& table) {
  const ContainerHeader& header = arrays.header();
  const std::vector<std::uint64_t> states = arrays.take<std::uint64_t>("states");
  if (states.empty() || states.size() > kMaxPolicyCells) {
    throw header.error("states", "has no step or too many");
  }
  for (const std::uint64_t count : states) {
    if (count == 0 || count > kMaxPolicyCells - table.first_cell.back()) {
      throw header.error("states", "has a step without states, or too many of them");
    }
    table.first_cell.push_back(table.first_cell.back() + count);
  }
  table.num_actions = arrays.take<std::uint32_t>("actions");
  if (table.num_actions.size() != table.first_cell.back()) {
    throw header.error("actions", "is not a number for each (step, state)");
  }
}

void read_parts(ContainerArrays& arrays, MarkovTable& table) {
  const ContainerHeader& header = arrays.header();
  const std::vector<std::uint64_t> parts = arrays.take<std::uint64_t>("parts");
  table.weights = arrays.take<std::uint64_t>("weights");
  table.policies = arrays.take<double>("policies");
  if (parts.size() != table.num_actions.size()) {
    throw header.error("parts", "is not a number for each (step, state)");
  }
  for (std::size_t cell = 0; cell < parts.size(); ++cell) {
    const std::size_t first = table.first_part.back();
    const std::size_t begin = table.first_number.back();
    const std::uint32_t n = table.num_actions[cell];
    const auto refuse = [&](const char* array, const char* problem) {
      return header.error(fmt::format("{}[cell {}]", array, cell), problem);
    };
    if (n == 0 || n > kMaxActions) throw refuse("actions", "is no number of actions");
    if (parts[cell] == 0 || parts[cell] > table.weights.size() - first) {
      throw refuse("parts", "has no part, or more than there are weights");
    }
    if (table.target == Target::nash && parts[cell] > 1) {
      throw refuse("parts", "players of nash share no index: want one part");
    }
    if (parts[cell] > (table.policies.size() - begin) / n) {
      throw refuse("parts", "has more than there are policies");
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < parts[cell]; ++i) {
      const std::uint64_t weight = table.weights[first + i];
      if (weight == 0 || weight > kMaxPartWeights - sum) {
        throw refuse("weights", "want 1 at least, and 2^50 at most in sum");
      }
      sum += weight;
      double chances = 0.0;
      for (std::size_t b = 0; b < n; ++b) {
        const double chance = table.policies[begin + i * n + b];
        // Written so that what is not a number is refused.
        if (!(chance >= 0.0 && chance <= 1.0)) throw refuse("policies", "has what is no chance");
        chances += chance;
      }
      if (std::abs(chances - 1.0) > kMostOff) throw refuse("policies", "does not sum to 1");
    }
    table.first_part.push_back(first + parts[cell]);
    table.first_number.push_back(begin + parts[cell] * n);
  }
  if (table.first_part.back() != table.weights.size()) {
    throw header.error("weights", "has more than there are parts");
  }
  if (table.first_number.back() != table.policies.size()) {
    throw header.error("policies", "has more than there are parts");
  }
}

}  // namespace

void MarkovTable::add_part(std::uint64_t weight, std::span<const double> policy) {
  weights.push_back(weight);
  policies.insert(policies.end(), policy.begin(), policy.end());
}

void MarkovTable::end_cell() {
  first_part.push_back(weights.size());
  first_number.push_back(policies.size());
}

MarkovTable empty_markov_table(const Seat& seat,
                               Player player,
                               Target target,
                               std::string game_hash) {
  MarkovTable table;
  table.player = player;
  table.num_players = seat.num_players;
  table.target = target;
  table.game_hash = std::move(game_hash);
  table.first_cell = seat.first_cell;
  table.num_actions = seat.num_actions;
  return table;
}

void write_markov(const std::filesystem::path& path, const MarkovTable& table) {
  std::vector<std::uint64_t> states;
  for (std::size_t h = 0; h + 1 < table.first_cell.size(); ++h) {
    states.push_back(table.first_cell[h + 1] - table.first_cell[h]);
  }
  std::vector<std::uint64_t> parts;
  for (std::size_t cell = 0; cell < table.num_cells(); ++cell) {
    parts.push_back(table.first_part[cell + 1] - table.first_part[cell]);
  }
  ContainerWriter writer(kFormat);
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

MarkovTable read_markov(const std::filesystem::path& path) {
  ContainerArrays arrays = ContainerArrays::read(
      path,
      [](const ContainerHeader& header) {
        if (header.metadata("format") != kFormat) {
          throw header.error("format", "is not one that this version reads",
                             fmt::format("want {}", kFormat));
        }
      },
      kMaxMarkovBytes);
  const ContainerHeader& header = arrays.header();
  MarkovTable table;
  table.num_players = number_in(header, "players", kMaxPlayers);
  table.player = Player(number_in(header, "player", table.num_players) - 1);
  const auto target = target_named(header.metadata("target").value_or(""));
  if (!target) throw header.error("target", "of the metadata is none that is known");
  table.target = *target;
  table.game_hash = std::string(header.metadata("game_hash").value_or(""));
  read_shape(arrays, table);
  read_parts(arrays, table);
  return table;
}

MarkovPlayer::MarkovPlayer(const MarkovTable& table,
                           const PolicySeed& index_seed,
                           const PolicySeed& own_seed)
    : table_(table),
      totals_(table.weights),
      index_key_(stream_key(index_seed)),
      action_key_(stream_key(own_seed)) {
  for (std::size_t cell = 0; cell < table.num_cells(); ++cell) {
    for (std::size_t i = table.first_part[cell] + 1; i < table.first_part[cell + 1]; ++i) {
      totals_[i] += totals_[i - 1];
    }
  }
}

PolicyPlayer::Move MarkovPlayer::act(Step h, State s) {
  const std::size_t cell = table_.cell(h, s);
  const std::size_t first = table_.first_part[cell];
  const std::span<const std::uint64_t> totals =
      std::span(totals_).subspan(first, table_.first_part[cell + 1] - first);
  std::size_t part = 0;
  if (totals.size() > 1) {
    Draws draws({.seed = index_key_, .purpose = Purpose::index, .episode = episode_, .step = h});
    const std::uint64_t drawn = draws.below(totals.back());
    part = static_cast<std::size_t>(std::upper_bound(totals.begin(), totals.end(), drawn) -
                                    totals.begin());
  }
  Draws draws({.seed = action_key_,
               .purpose = Purpose::action,
               .player = table_.player,
               .episode = episode_,
               .step = h});
  return {part + 1, 0, Action(sample(table_.policy(cell, part), draws.uniform()))};
}

}  // namespace vlearn
