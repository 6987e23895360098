// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/markov.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/policy/history.h"

namespace vlearn {
namespace {

constexpr const char* kFormat = "vlearn.markov/1";
constexpr std::uint32_t kMaxActions = 65535;
constexpr std::uint64_t kMaxMarkovBytes = std::uint64_t{1} << 40U;

/// A number of the metadata, in digits.
std::uint64_t number_in(const ContainerHeader& header, std::string_view key, std::uint64_t most) {
  const std::string_view text = header.metadata(key).value_or("");
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = failure == std::errc() && end == text.data() + text.size();
  if (good && number >= 1 && number <= most) return number;
  throw header.error(key, "of the metadata is no number", fmt::format("want 1 to {}", most));
}

Error refusal(const std::string& source, const std::string& place, std::string problem) {
  return {ErrorKind::input, fmt::format("{}: {}", source, place), std::move(problem)};
}

/// Of one cell, whose numbers are there.
void check_cell(const MarkovTable& table, std::size_t cell, const std::string& source) {
  const auto refuse = [&](const char* array, const char* problem) {
    return refusal(source, fmt::format("{}[cell {}]", array, cell), problem);
  };
  const std::span<const std::uint64_t> weights = table.weights_of(cell);
  if (table.target == Target::nash && weights.size() > 1) {
    throw refuse("parts", "players of nash share no index: want one part");
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0 || weights[i] > kMaxPartWeights - sum) {
      throw refuse("weights", "want 1 at least, and 2^50 at most in sum");
    }
    sum += weights[i];
    const std::span<const double> policy = table.policy(cell, i);
    for (const double chance : policy) {
      // Written so that what is not a number is refused.
      if (!(chance >= 0.0 && chance <= 1.0)) throw refuse("policies", "has what is no chance");
    }
    if (std::abs(fixed_sum(policy) - 1.0) > most_off(policy.size())) {
      throw refuse("policies", "does not sum to 1: divide by the sum");
    }
  }
}

MarkovTable table_in(ContainerArrays& arrays) {
  const ContainerHeader& header = arrays.header();
  MarkovTable table;
  table.num_players = number_in(header, "players", kMaxPlayers);
  table.player = Player(number_in(header, "player", table.num_players) - 1);
  const auto target = target_named(header.metadata("target").value_or(""));
  if (!target) throw header.error("target", "of the metadata is none that is known");
  table.target = *target;
  table.game_hash = std::string(header.metadata("game_hash").value_or(""));
  for (const std::uint64_t count : arrays.take<std::uint64_t>("states")) {
    if (count == 0 || count > kMaxPolicyCells - table.first_cell.back()) {
      throw header.error("states", "has a step without states, or too many of them");
    }
    table.first_cell.push_back(table.first_cell.back() + count);
  }
  table.num_actions = arrays.take<std::uint32_t>("actions");
  table.weights = arrays.take<std::uint64_t>("weights");
  table.policies = arrays.take<double>("policies");
  const std::vector<std::uint64_t> parts = arrays.take<std::uint64_t>("parts");
  if (parts.size() != table.num_actions.size()) {
    throw header.error("parts", "is not a number for each (step, state)");
  }
  for (std::size_t cell = 0; cell < parts.size(); ++cell) {
    const std::size_t part = table.first_part.back();
    const std::size_t number = table.first_number.back();
    const std::uint32_t n = std::max<std::uint32_t>(table.num_actions[cell], 1);
    if (parts[cell] > table.weights.size() - part ||
        parts[cell] > (table.policies.size() - number) / n) {
      throw header.error(fmt::format("parts[cell {}]", cell),
                         "has more than there are weights or policies");
    }
    table.first_part.push_back(part + parts[cell]);
    table.first_number.push_back(number + parts[cell] * table.num_actions[cell]);
  }
  check(table, header.source());
  table.source = header.source();
  return table;
}

void check_format(const ContainerHeader& header) {
  if (header.metadata("format") == kFormat) return;
  throw header.error("format", "is not one that this version reads",
                     fmt::format("want {}", kFormat));
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

void check(const MarkovTable& table, const std::string& source) {
  const auto refuse = [&](const char* array, const char* problem) {
    return refusal(source, array, problem);
  };
  const std::size_t cells = table.num_actions.size();
  if (table.player.index() >= table.num_players) throw refuse("player", "is not one of all");
  if (table.first_cell.size() < 2 || table.first_cell.back() != cells) {
    throw refuse("actions", "is not a number for each (step, state)");
  }
  for (std::size_t h = 0; h + 1 < table.first_cell.size(); ++h) {
    if (table.first_cell[h] >= table.first_cell[h + 1]) {
      throw refuse("states", "has a step without states");
    }
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (table.num_actions[cell] == 0 || table.num_actions[cell] > kMaxActions) {
      throw refusal(source, fmt::format("actions[cell {}]", cell), "is no number of actions");
    }
  }
  if (table.first_part.size() != cells + 1 || table.first_number.size() != cells + 1) {
    throw refuse("parts", "is not a number for each (step, state)");
  }
  if (table.first_part.back() != table.weights.size()) {
    throw refuse("weights", "has more than there are parts");
  }
  if (table.first_number.back() != table.policies.size()) {
    throw refuse("policies", "has more than there are parts");
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::uint32_t n = table.num_actions[cell];
    if (table.first_part[cell] >= table.first_part[cell + 1] ||
        table.first_number[cell] + (table.first_part[cell + 1] - table.first_part[cell]) * n !=
            table.first_number[cell + 1]) {
      throw refusal(source, fmt::format("parts[cell {}]", cell),
                    "has none, or not as many as policies");
    }
    check_cell(table, cell, source);
  }
}

void write_markov(const std::filesystem::path& path, const MarkovTable& table) {
  check(table, path.string());
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
  ContainerArrays arrays = ContainerArrays::read(path, check_format, kMaxMarkovBytes);
  return table_in(arrays);
}

MarkovTable parse_markov(std::span<const std::byte> bytes, const std::string& source) {
  ContainerArrays arrays = ContainerArrays::copy(bytes, source, check_format);
  return table_in(arrays);
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
