// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of congestion games (over routes) and polymatrix games (over players and pairs of them).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "json_reader.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

void check_numbers(const JsonValue& where, std::initializer_list<std::uint64_t> sizes) {
  const std::optional<std::uint64_t> numbers =
      checked_product(std::span(sizes.begin(), sizes.size()));
  if (!numbers || *numbers > kMaxJsonNumbers) {
    throw where.error("its tables are too large for JSON", kUseContainer);
  }
}

JsonValue rules_of(const JsonValue& section) {
  const JsonValue rules = section.at("rules");
  if (!rules.is_array()) throw rules.error("wants a list of rules");
  return rules;
}

/// Copies a distribution over next states into its dense row.
void fill_row(NextRow& next, const NameList& states, std::span<double> to, Work& work) {
  const NextRow::Row& row = next.resolve(states, work);
  for (std::size_t k = 0; k < row.states.size(); ++k) to[row.states[k]] = row.probabilities[k];
}

/// Where the rows of each cell begin in a flat table with `rows` of them, and its size at last.
std::vector<std::size_t> row_begins(const Frame& frame, std::span<const std::size_t> rows) {
  const std::vector<std::uint32_t> width = frame.next_states();
  std::vector<std::size_t> begins = {0};
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    begins.push_back(begins.back() + rows[cell] * width[cell]);
  }
  return begins;
}

// --------------------------------------------------------------------------------- congestion

/// What a route pays for 1, 2, ..., m players on it.
std::vector<double> read_route_rewards(const JsonValue& value, std::size_t m) {
  std::vector<double> rewards;
  if (value.is_number() || value.is_string()) {
    rewards.assign(m, number_of(value));
    return rewards;
  }
  if (value.is_object()) {
    allow_keys(value, {"alone", "all"});
    const double alone = number_of(value.at("alone"));
    const double all = number_of(value.at("all"));
    for (std::size_t n = 1; n <= m; ++n) {
      const double crowd = m == 1 ? 0.0 : static_cast<double>(n - 1) / static_cast<double>(m - 1);
      rewards.push_back(n == m && m > 1 ? all : alone + (all - alone) * crowd);
    }
    return rewards;
  }
  if (!value.is_array() || value.size() != m) {
    throw value.error(fmt::format("wants {} numbers, for 1 to {} players on the route", m, m),
                      R"(or one number, or {"alone": x, "all": y})");
  }
  for (const JsonValue item : value.items()) rewards.push_back(number_of(item));
  return rewards;
}

class CongestionReader {
 public:
  CongestionReader(const JsonValue& section,
                   const NameList& routes,
                   const GameShape& shape,
                   const Frame& frame)
      : section_(section),
        routes_(routes),
        shape_(shape),
        frame_(frame),
        m_(frame.num_players()),
        items_(frame.num_cells() * routes.size()) {
    check_numbers(section, {frame.num_cells(), routes.size(), m_ + frame.max_states()});
    row_begins_ = row_begins(frame, std::vector<std::size_t>(frame.num_cells(), routes.size()));
    tables_.num_routes = routes.size();
    tables_.rewards.resize(items_ * m_, 0.0);
    tables_.base.resize(items_, 0.0);
    tables_.transitions.resize(row_begins_.back(), 0.0);
    for (std::vector<std::uint32_t>* givers : {&reward_givers_, &next_givers_, &base_givers_}) {
      givers->resize(items_, Ledger::kNobody);
    }
  }

  CongestionOptions read() {
    for (const JsonValue rule : rules_of(section_).items()) add(rule);
    finish();
    add_routes_of_actions();
    return std::move(tables_);
  }

 private:
  void add(const JsonValue& rule) {
    allow_keys(rule, {"step", "state", "route", "reward", "next", "base"});
    std::string keys;
    const std::vector<std::uint32_t> cells = shape_.cells(rule, keys, work_);
    std::vector<std::uint32_t> routes(routes_.size());
    std::iota(routes.begin(), routes.end(), 0U);
    if (const std::optional<JsonValue> named = rule.find("route")) {
      if (const std::optional<std::vector<JsonValue>> names = names_or_all(*named)) {
        keys += " route";
        routes.clear();
        for (const JsonValue& name : *names) routes.push_back(routes_.at(name, "a route"));
        std::sort(routes.begin(), routes.end());
        routes.erase(std::unique(routes.begin(), routes.end()), routes.end());
      }
    }
    const std::optional<JsonValue> reward = rule.find("reward");
    const std::optional<JsonValue> next = rule.find("next");
    const std::optional<JsonValue> base = rule.find("base");
    if (!reward && !next && !base) throw rule.error("says nothing", "give reward, next or base");
    std::vector<double> rewards;
    if (reward) rewards = read_route_rewards(*reward, m_);
    std::optional<NextRow> row;
    if (next) row.emplace(*next);
    const double weight = base ? number_of(*base) : 0.0;

    ledger_.begin(rule, keys);
    work_.spend(cells.size() * routes.size(), 1 + rewards.size(), rule);
    for (const std::uint32_t cell : cells) {
      const NameList* const states = shape_.next_states(shape_.layer_of(cell));
      for (const std::uint32_t route : routes) {
        const std::size_t item = cell * routes_.size() + route;
        const auto what = [&] { return describe(cell, route); };
        if (reward && ledger_.claim(reward_givers_[item], what)) {
          std::copy(rewards.begin(), rewards.end(),
                    tables_.rewards.begin() + static_cast<std::ptrdiff_t>(item * m_));
        }
        if (next && states != nullptr && ledger_.claim(next_givers_[item], what)) {
          work_.spend(states->size(), rule);
          fill_row(*row, *states, row_span(cell, route), work_);
        }
        if (base && ledger_.claim(base_givers_[item], what)) tables_.base[item] = weight;
      }
    }
    ledger_.end();
  }

  /// Terminal states pay 0 and stay; of all others rules must have spoken, but for a next state
  /// that is the only one.
  void finish() {
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      const std::size_t layer = shape_.layer_of(cell);
      const NameList* const states = shape_.next_states(layer);
      for (std::uint32_t route = 0; route < routes_.size(); ++route) {
        const std::size_t item = cell * routes_.size() + route;
        if (!shape_.terminal(cell) && reward_givers_[item] == Ledger::kNobody) {
          throw section_.error("no rule gives the reward of " + describe(cell, route));
        }
        if (states == nullptr || next_givers_[item] != Ledger::kNobody) continue;
        if (shape_.terminal(cell)) {
          row_span(
              cell,
              route)[*states->find(shape_.states(layer).name(cell - shape_.first_cell(layer)))] =
              1.0;
        } else if (states->size() == 1) {
          row_span(cell, route)[0] = 1.0;
        } else {
          throw section_.error("no rule gives the next state of " + describe(cell, route));
        }
      }
    }
  }

  /// In a terminal state the one action means the first route.
  void add_routes_of_actions() {
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      for (std::size_t i = 0; i < m_; ++i) {
        const NameList& actions = shape_.actions(cell, i);
        for (std::size_t a = 0; a < actions.size(); ++a) {
          const std::optional<std::uint32_t> route =
              shape_.terminal(cell) ? 0 : routes_.find(actions.name(a));
          if (!route) {
            throw section_.error(
                fmt::format("action '{}' is not a route", printable(actions.name(a), 100)),
                routes_.suggest(actions.name(a)));
          }
          tables_.routes.push_back(*route);
        }
      }
    }
  }

  [[nodiscard]] std::span<double> row_span(std::size_t cell, std::size_t route) {
    const std::size_t width = (row_begins_[cell + 1] - row_begins_[cell]) / routes_.size();
    return std::span(tables_.transitions).subspan(row_begins_[cell] + route * width, width);
  }

  [[nodiscard]] std::string describe(std::size_t cell, std::size_t route) const {
    return fmt::format("route '{}' at {}", printable(routes_.name(route), 100),
                       shape_.describe(cell));
  }

  JsonValue section_;
  const NameList& routes_;
  const GameShape& shape_;
  const Frame& frame_;
  std::size_t m_;
  std::size_t items_;
  std::vector<std::size_t> row_begins_;
  CongestionOptions tables_;
  std::vector<std::uint32_t> reward_givers_;
  std::vector<std::uint32_t> next_givers_;
  std::vector<std::uint32_t> base_givers_;
  Ledger ledger_;
  Work work_;
};

// --------------------------------------------------------------------------------- polymatrix

class PolymatrixReader {
 public:
  PolymatrixReader(const JsonValue& section, const GameShape& shape, const Frame& frame)
      : section_(section), shape_(shape), frame_(frame), m_(frame.num_players()) {
    std::vector<std::size_t> actions;
    block_begins_ = {0};
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::uint64_t all = frame.begins_of_cell(cell).back();
      actions.push_back(all);
      const std::optional<std::uint64_t> block = checked_multiply(all, all);
      const auto end = block ? checked_add(block_begins_.back(), *block) : std::nullopt;
      if (!end || *end > kMaxJsonNumbers) {
        throw section.error("its tables are too large for JSON", kUseContainer);
      }
      block_begins_.push_back(*end);
      action_begins_.push_back(action_begins_.back() + all);
    }
    check_numbers(section, {action_begins_.back(), frame.max_states()});
    check_numbers(section, {frame.num_cells(), m_, m_});
    row_begins_ = row_begins(frame, actions);
    tables_.rewards.resize(block_begins_.back(), 0.0);
    tables_.transitions.resize(row_begins_.back(), 0.0);
    tables_.weights.resize(frame.num_cells() * m_, 0.0);
    pair_givers_.resize(frame.num_cells() * m_ * m_, Ledger::kNobody);
    next_givers_.resize(action_begins_.back(), Ledger::kNobody);
    weight_givers_.resize(tables_.weights.size(), Ledger::kNobody);
  }

  PolymatrixOptions read() {
    for (const JsonValue rule : rules_of(section_).items()) add(rule);
    finish();
    return std::move(tables_);
  }

 private:
  void add(const JsonValue& rule) {
    allow_keys(rule, {"step", "state", "player", "against", "action", "payoffs", "next", "weight"});
    std::string keys;
    const std::vector<std::uint32_t> cells = shape_.cells(rule, keys, work_);
    std::vector<std::uint32_t> players(m_);
    std::iota(players.begin(), players.end(), 0U);
    if (const std::optional<JsonValue> named = rule.find("player")) {
      players = matching(*named, "player", keys);
    }
    const std::optional<JsonValue> against = rule.find("against");
    const std::optional<JsonValue> action = rule.find("action");
    const std::optional<JsonValue> payoffs = rule.find("payoffs");
    const std::optional<JsonValue> next = rule.find("next");
    const std::optional<JsonValue> weight = rule.find("weight");
    if ((payoffs ? 1 : 0) + (next ? 1 : 0) + (weight ? 1 : 0) != 1) {
      throw rule.error("wants exactly one of payoffs, next and weight");
    }
    if (against && !payoffs) throw against->error("goes with payoffs");
    if (action && !next) throw action->error("goes with next");
    if (payoffs) {
      add_payoffs(rule, cells, players, keys);
    } else if (next) {
      add_next(rule, cells, players, keys);
    } else {
      const double value = number_of(*weight);
      ledger_.begin(rule, keys);
      work_.spend(cells.size() * players.size(), rule);
      for (const std::uint32_t cell : cells) {
        for (const std::uint32_t player : players) {
          const auto what = [&] { return "the weight of " + describe(cell, player); };
          const std::size_t at = cell * m_ + player;
          if (ledger_.claim(weight_givers_[at], what)) tables_.weights[at] = value;
        }
      }
      ledger_.end();
      weights_given_ = true;
    }
  }

  std::vector<std::uint32_t> matching(const JsonValue& value,
                                      const char* key,
                                      std::string& keys) const {
    if (names_or_all(value)) keys += std::string(" ") + key;
    return shape_.matching_players(value);
  }

  void add_payoffs(const JsonValue& rule,
                   const std::vector<std::uint32_t>& cells,
                   const std::vector<std::uint32_t>& players,
                   std::string keys) {
    const JsonValue table = rule.at("payoffs");
    const std::optional<JsonValue> against = rule.find("against");
    std::vector<std::uint32_t> others;
    if (against) others = matching(*against, "against", keys);
    // Numbers once, row by row; own terms are rows of one.
    if (!table.is_array() || table.size() == 0) throw table.error("wants a list of rows");
    std::vector<std::vector<double>> rows;
    for (const JsonValue row : table.items()) {
      std::vector<double>& numbers = rows.emplace_back();
      if (!against) {
        numbers.push_back(number_of(row));
        continue;
      }
      if (!row.is_array()) throw row.error("wants a row of numbers");
      for (const JsonValue item : row.items()) numbers.push_back(number_of(item));
    }
    const bool named_other = against && names_or_all(*against);
    const bool named_player = rule.find("player") && names_or_all(rule.at("player"));
    ledger_.begin(rule, keys + (against ? " pair" : " own"));
    for (const std::uint32_t cell : cells) {
      for (const std::uint32_t player : players) {
        if (!against) {
          put(rule, cell, player, player, rows);
          continue;
        }
        for (const std::uint32_t other : others) {
          if (other != player) {
            put(rule, cell, player, other, rows);
          } else if (named_other && named_player && others.size() == 1 && players.size() == 1) {
            throw against->error("is the player itself", "leave it out for the own term");
          }
        }
      }
    }
    ledger_.end();
  }

  /// The term of a player against another one, or its own.
  void put(const JsonValue& rule,
           std::uint32_t cell,
           std::uint32_t player,
           std::uint32_t other,
           const std::vector<std::vector<double>>& rows) {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    const std::size_t own_count = begins[player + 1] - begins[player];
    const std::size_t other_count = player == other ? 1 : begins[other + 1] - begins[other];
    work_.spend(1 + own_count * other_count, rule);
    const auto what = [&] {
      return fmt::format("the term of {} against '{}'", describe(cell, player),
                         printable(shape_.players().name(other), 100));
    };
    if (!ledger_.claim(pair_givers_[(cell * m_ + player) * m_ + other], what)) return;
    if (rows.size() != own_count) {
      throw rule.at("payoffs").error(fmt::format("has {} rows, but {} has {} actions", rows.size(),
                                                 describe(cell, player), own_count));
    }
    const std::size_t all = begins[m_];
    for (std::size_t a = 0; a < own_count; ++a) {
      if (rows[a].size() != other_count) {
        throw rule.at("payoffs").error(fmt::format("row {} has {} numbers, but {} has {} actions",
                                                   a + 1, rows[a].size(), describe(cell, other),
                                                   other_count));
      }
      const std::size_t row = block_begins_[cell] + (begins[player] + a) * all;
      if (player == other) {
        tables_.rewards[row + begins[player] + a] = rows[a][0];
      } else {
        std::copy(rows[a].begin(), rows[a].end(),
                  tables_.rewards.begin() + static_cast<std::ptrdiff_t>(row + begins[other]));
      }
    }
  }

  void add_next(const JsonValue& rule,
                const std::vector<std::uint32_t>& cells,
                const std::vector<std::uint32_t>& players,
                std::string keys) {
    NextRow row(rule.at("next"));
    std::optional<std::vector<JsonValue>> names;
    if (const std::optional<JsonValue> action = rule.find("action")) names = names_or_all(*action);
    if (names) keys += " action";
    std::vector<bool> seen(names ? names->size() : 0, false);
    ledger_.begin(rule, keys + " next");
    for (const std::uint32_t cell : cells) {
      const NameList* const states = shape_.next_states(shape_.layer_of(cell));
      for (const std::uint32_t player : players) {
        const NameList& actions = shape_.actions(cell, player);
        std::vector<std::uint32_t> matched;
        work_.spend(Work::kLookup * (names ? names->size() : 0) + actions.size(), rule);
        if (names) {
          for (std::size_t i = 0; i < names->size(); ++i) {
            if (const auto found = actions.find((*names)[i].string())) {
              seen[i] = true;
              matched.push_back(*found);
            }
          }
          std::sort(matched.begin(), matched.end());
          matched.erase(std::unique(matched.begin(), matched.end()), matched.end());
        } else {
          matched.resize(actions.size());
          std::iota(matched.begin(), matched.end(), 0U);
        }
        if (states == nullptr) continue;
        work_.spend(1 + matched.size() * states->size(), rule);
        for (const std::uint32_t a : matched) {
          const std::size_t position = frame_.begins_of_cell(cell)[player] + a;
          const auto what = [&] { return "the next state of " + describe(cell, player); };
          if (ledger_.claim(next_givers_[action_begins_[cell] + position], what)) {
            fill_row(row, *states, row_span(cell, position), work_);
          }
        }
      }
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i]) continue;
      throw(*names)[i].error(
          "is no action where this rule matches",
          shape_.actions(cells.front(), players.front()).suggest((*names)[i].string()));
    }
    ledger_.end();
  }

  void finish() {
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      const std::size_t layer = shape_.layer_of(cell);
      const NameList* const states = shape_.next_states(layer);
      const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
      for (std::uint32_t player = 0; player < m_; ++player) {
        double& weight = tables_.weights[cell * m_ + player];
        if (!weights_given_ || shape_.terminal(cell)) {
          weight = 1.0 / static_cast<double>(m_);
        } else if (weight_givers_[cell * m_ + player] == Ledger::kNobody) {
          throw section_.error("no rule gives the weight of " + describe(cell, player));
        }
        if (states == nullptr) continue;
        for (std::size_t a = begins[player]; a < begins[player + 1]; ++a) {
          if (next_givers_[action_begins_[cell] + a] != Ledger::kNobody) continue;
          if (shape_.terminal(cell)) {
            row_span(cell,
                     a)[*states->find(shape_.states(layer).name(cell - shape_.first_cell(layer)))] =
                1.0;
          } else if (states->size() == 1) {
            row_span(cell, a)[0] = 1.0;
          } else {
            throw section_.error(fmt::format(
                "no rule gives the next state of {}, action '{}'", describe(cell, player),
                printable(shape_.actions(cell, player).name(a - begins[player]), 100)));
          }
        }
      }
    }
  }

  [[nodiscard]] std::span<double> row_span(std::size_t cell, std::size_t position) {
    const std::size_t width =
        (row_begins_[cell + 1] - row_begins_[cell]) / frame_.begins_of_cell(cell)[m_];
    return std::span(tables_.transitions).subspan(row_begins_[cell] + position * width, width);
  }

  [[nodiscard]] std::string describe(std::size_t cell, std::size_t player) const {
    return fmt::format("player '{}' at {}", printable(shape_.players().name(player), 100),
                       shape_.describe(cell));
  }

  JsonValue section_;
  const GameShape& shape_;
  const Frame& frame_;
  std::size_t m_;
  std::vector<std::size_t> block_begins_;         // of each cell, in rewards
  std::vector<std::size_t> action_begins_ = {0};  // of each cell, counting all actions of all
  std::vector<std::size_t> row_begins_;           // of each cell, in transitions
  PolymatrixOptions tables_;
  std::vector<std::uint32_t> pair_givers_;  // [cell][player][other], own terms on the diagonal
  std::vector<std::uint32_t> next_givers_;
  std::vector<std::uint32_t> weight_givers_;
  bool weights_given_ = false;
  Ledger ledger_;
  Work work_;
};

/// The least and the most that each player can get from sums of pair terms.
std::vector<RewardRange> ranges_of_sums(const Frame& frame, std::span<const double> rewards) {
  const std::size_t m = frame.num_players();
  std::vector<RewardRange> ranges(m, RewardRange::empty());
  std::size_t block = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    const std::size_t all = begins[m];
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
        const std::span<const double> row = rewards.subspan(block + a * all, all);
        double low = row[a];
        double high = row[a];
        for (std::size_t j = 0; j < m; ++j) {
          if (j == i) continue;
          const auto [least, most] =
              std::minmax_element(row.begin() + begins[j], row.begin() + begins[j + 1]);
          low += *least;
          high += *most;
        }
        ranges[i].include(low);
        ranges[i].include(high);
      }
    }
    block += all * all;
  }
  for (RewardRange& range : ranges) range = natural_range(range.low, range.high);
  return ranges;
}

FrameOptions with_any_range(FrameOptions options) {
  options.ranges = {{}};
  options.zero_sum = false;
  return options;
}

}  // namespace

AnyGame read_congestion(const JsonValue& section,
                        const NameList& routes,
                        const GameShape& shape,
                        FrameOptions options) {
  allow_keys(section, {"routes", "rules"});
  const Frame sizes(with_any_range(options));
  CongestionOptions tables = CongestionReader(section, routes, shape, sizes).read();
  if (options.ranges.empty()) {
    const auto [low, high] = std::minmax_element(tables.rewards.begin(), tables.rewards.end());
    options.ranges = {natural_range(*low, *high)};
  }
  return CongestionGame(Frame(std::move(options)), std::move(tables));
}

AnyGame read_polymatrix(const JsonValue& section, const GameShape& shape, FrameOptions options) {
  allow_keys(section, {"rules"});
  const Frame sizes(with_any_range(options));
  PolymatrixOptions tables = PolymatrixReader(section, shape, sizes).read();
  if (options.ranges.empty()) options.ranges = ranges_of_sums(sizes, tables.rewards);
  return PolymatrixGame(Frame(std::move(options)), std::move(tables));
}

}  // namespace vlearn
