// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules over joint actions, matched from the top.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "json_reader.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

/// Names that a rule wants somebody's action to have; each must be known somewhere.
struct WantedNames {
  JsonValue where;
  std::vector<JsonValue> names;
  std::vector<bool> seen;  // of each name: some matched cell has it

  explicit WantedNames(const JsonValue& value)
      : where(value), names(names_or_all(value).value_or(std::vector<JsonValue>())) {
    seen.resize(names.size(), false);
  }

  /// The actions of a list that have one of the names, rising.
  std::vector<std::uint32_t> actions_in(const NameList& list) {
    std::vector<std::uint32_t> actions;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (const std::optional<std::uint32_t> action = list.find(names[i].string())) {
        actions.push_back(*action);
        seen[i] = true;
      }
    }
    std::sort(actions.begin(), actions.end());
    actions.erase(std::unique(actions.begin(), actions.end()), actions.end());
    return actions;
  }

  /// `list`: where somebody who mistyped may have looked.
  void check_all_seen(const NameList& list) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (seen[i]) continue;
      throw names[i].error(fmt::format("'{}' is no action where this rule matches",
                                       printable(names[i].string(), 100)),
                           list.suggest(names[i].string()));
    }
  }
};

struct WantedOfPlayer {
  std::uint32_t player;
  WantedNames wanted;
};

/// "count": {"take": 2}, one entry of it.
struct WantedCount {
  JsonValue where;
  std::vector<std::uint64_t> numbers;
  bool seen = false;
};

/// What one rule matches, beyond step and state.
struct Pattern {
  std::vector<WantedOfPlayer> actions = {};
  std::vector<WantedCount> counts = {};
  std::optional<WantedNames> own = {};
};

/// The frame as far as sizes go; its ranges may not be known yet.
Frame sizes_of(FrameOptions options) {
  options.ranges = {{}};
  options.zero_sum = false;
  return Frame(std::move(options));
}

/// What one rule says.
struct Statement {
  std::vector<std::optional<double>> rewards = {};  // of each payer; empty: says nothing of them
  std::vector<std::size_t> payoff_sizes = {};       // of the table, one per player
  std::vector<double> payoffs = {};                 // [joint][payer]
  std::optional<NextRow> next = {};
};

class TableReader {
 public:
  TableReader(const JsonValue& rules, const GameShape& shape, FrameOptions options)
      : where_(rules),
        shape_(shape),
        options_(std::move(options)),
        frame_(sizes_of(options_)),
        payers_(options_.zero_sum ? 1 : shape.players().size()) {
    check_size();
    joints_.emplace(frame_);
    rewards_.resize(joints_->size() * payers_, 0.0);
    reward_givers_.resize(rewards_.size(), Ledger::kNobody);
    next_.resize(joints_->size(), kNoRow);
    next_givers_.resize(joints_->size(), Ledger::kNobody);
  }

  AnyGame read() {
    if (!where_.is_array()) throw where_.error("wants a list of rules");
    for (const JsonValue rule : where_.items()) add(rule);
    finish_next();
    finish_rewards();
    return build();
  }

 private:
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  void check_size() const {
    std::optional<std::uint64_t> numbers = 0;
    for (std::size_t cell = 0; cell < frame_.num_cells() && numbers; ++cell) {
      const std::optional<std::uint64_t> joint = frame_.num_joint_actions(cell);
      const auto cell_numbers = joint ? checked_multiply(*joint, payers_ + 1) : std::nullopt;
      numbers = cell_numbers ? checked_add(*numbers, *cell_numbers) : std::nullopt;
      if (numbers && *numbers > kMaxJsonNumbers) numbers.reset();
    }
    if (!numbers) {
      throw where_.error(
          fmt::format("a table over the joint actions of {} players is too large for JSON",
                      shape_.players().size()),
          "say it as a congestion or polymatrix game, or put it into the array container");
    }
  }

  void add(const JsonValue& rule) {
    allow_keys(rule, {"step", "state", "actions", "count", "own", "reward", "payoffs", "next"});
    std::string keys;
    const std::vector<std::uint32_t> cells = shape_.cells(rule, keys, work_);
    Pattern pattern = read_pattern(rule, keys);
    Statement statement = read_statement(rule, pattern);
    if (!pattern.counts.empty()) keys += " count";
    if (pattern.own) keys += " own";
    ledger_.begin(rule, keys);
    rows_of_rule_.clear();
    for (const std::uint32_t cell : cells) apply(rule, cell, pattern, statement);
    // A mistyped name says more than that the rule matches nothing.
    const std::uint32_t cell = cells.front();
    for (const WantedOfPlayer& wanted : pattern.actions) {
      wanted.wanted.check_all_seen(shape_.actions(cell, wanted.player));
    }
    for (const WantedCount& count : pattern.counts) {
      if (!count.seen) {
        throw count.where.error("is no action where this rule matches",
                                shape_.actions(cell, 0).suggest(count.where.key()));
      }
    }
    if (pattern.own) pattern.own->check_all_seen(shape_.actions(cell, 0));
    ledger_.end();
  }

  Pattern read_pattern(const JsonValue& rule, std::string& keys) const {
    Pattern pattern;
    const auto add_player = [&](std::uint32_t player, const JsonValue& value) {
      if (!names_or_all(value)) return;
      keys += fmt::format(" {}", player);
      pattern.actions.push_back({player, WantedNames(value)});
    };
    if (const std::optional<JsonValue> actions = rule.find("actions")) {
      if (actions->is_object()) {
        std::vector<std::pair<std::uint32_t, JsonValue>> entries;
        for (const JsonValue item : actions->items()) {
          if (is_note(item)) continue;
          const std::optional<std::uint32_t> player = shape_.players().find(item.key());
          if (!player) throw item.error("is not a player", shape_.players().suggest(item.key()));
          entries.emplace_back(*player, item);
        }
        std::sort(entries.begin(), entries.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [player, value] : entries) add_player(player, value);
      } else {
        if (!actions->is_array() || actions->size() != shape_.players().size()) {
          throw actions->error(fmt::format("wants an action for each of the {} players",
                                           shape_.players().size()),
                               "write \"*\" for any, or an object from players to actions");
        }
        std::uint32_t player = 0;
        for (const JsonValue item : actions->items()) add_player(player++, item);
      }
    }
    if (const std::optional<JsonValue> count = rule.find("count")) {
      if (!count->is_object()) throw count->error("wants an object from actions to numbers");
      for (const JsonValue item : count->items()) {
        if (is_note(item)) continue;
        WantedCount wanted{item, {}};
        if (item.is_array()) {
          for (const JsonValue number : item.items()) wanted.numbers.push_back(count_of(number));
        } else {
          wanted.numbers.push_back(count_of(item));
        }
        std::sort(wanted.numbers.begin(), wanted.numbers.end());
        wanted.numbers.erase(std::unique(wanted.numbers.begin(), wanted.numbers.end()),
                             wanted.numbers.end());
        pattern.counts.push_back(std::move(wanted));
      }
    }
    if (const std::optional<JsonValue> own = rule.find("own")) {
      if (names_or_all(*own)) pattern.own.emplace(*own);
    }
    return pattern;
  }

  [[nodiscard]] std::uint64_t count_of(const JsonValue& value) const {
    return value.natural(shape_.players().size());
  }

  Statement read_statement(const JsonValue& rule, const Pattern& pattern) const {
    Statement statement;
    const std::optional<JsonValue> reward = rule.find("reward");
    const std::optional<JsonValue> payoffs = rule.find("payoffs");
    const std::optional<JsonValue> next = rule.find("next");
    if (!reward && !payoffs && !next) {
      throw rule.error("says nothing", "give reward, payoffs or next");
    }
    if (reward && payoffs) throw payoffs->error("stands beside reward", "keep one of them");
    if (payoffs && (rule.find("actions") || rule.find("count") || rule.find("own"))) {
      throw payoffs->error("is a table over all joint actions",
                           "it goes without actions, count and own");
    }
    if (pattern.own && !reward) {
      throw rule.at("own").error("is about rewards, and the rule gives none");
    }
    if (pattern.own && options_.zero_sum) {
      throw rule.at("own").error("does not go with zero_sum, where rewards are player 1's");
    }
    if (reward) statement.rewards = read_reward(*reward);
    if (payoffs) {
      // The sizes are those of the first row at each level; read_payoffs() holds the rest to them.
      JsonValue level = *payoffs;
      for (std::size_t i = 0; i < shape_.players().size(); ++i) {
        if (!level.is_array() || level.size() == 0) {
          throw level.error(fmt::format("wants a table with {} levels, one per player",
                                        shape_.players().size()));
        }
        statement.payoff_sizes.push_back(level.size());
        level = level.at(0U);
      }
      std::optional<std::uint64_t> numbers = payers_;
      for (const std::size_t size : statement.payoff_sizes) {
        numbers = numbers ? checked_multiply(*numbers, size) : std::nullopt;
      }
      if (!numbers || *numbers > kMaxJsonNumbers) {
        throw payoffs->error("has more numbers than a game in JSON has rewards",
                             "want one level per player, one entry per action");
      }
      read_payoffs(*payoffs, 0, statement);
    }
    if (next) statement.next.emplace(*next);
    return statement;
  }

  [[nodiscard]] std::vector<std::optional<double>> read_reward(const JsonValue& value) const {
    std::vector<std::optional<double>> rewards(payers_);
    if (value.is_number() || value.is_string()) {
      rewards.assign(payers_, number_of(value));
      return rewards;
    }
    if (options_.zero_sum) throw value.error("of a zero-sum game is one number, player 1's");
    if (value.is_object()) {
      for (const JsonValue item : value.items()) {
        if (is_note(item)) continue;
        const std::optional<std::uint32_t> player = shape_.players().find(item.key());
        if (!player) throw item.error("is not a player", shape_.players().suggest(item.key()));
        rewards[*player] = number_of(item);
      }
      return rewards;
    }
    if (!value.is_array() || value.size() != payers_) {
      throw value.error(fmt::format("wants a number, or one for each of the {} players", payers_));
    }
    std::size_t player = 0;
    for (const JsonValue item : value.items()) rewards[player++] = number_of(item);
    return rewards;
  }

  void read_payoffs(const JsonValue& level, std::size_t player, Statement& statement) const {
    if (player == shape_.players().size()) {
      if (!level.is_array() && !level.is_number() && !level.is_string()) {
        throw level.error("wants a number, or a list with one per player");
      }
      for (const std::optional<double> reward : read_reward(level)) {
        statement.payoffs.push_back(*reward);
      }
      return;
    }
    if (!level.is_array() || level.size() != statement.payoff_sizes[player]) {
      throw level.error(fmt::format("wants {} entries, one for each action of '{}'",
                                    statement.payoff_sizes[player],
                                    printable(shape_.players().name(player), 100)));
    }
    for (const JsonValue item : level.items()) read_payoffs(item, player + 1, statement);
  }

  /// Everything that a rule says about one (step, state).
  void apply(const JsonValue& rule, std::uint32_t cell, Pattern& pattern, Statement& statement) {
    const std::size_t m = shape_.players().size();
    const std::size_t layer = shape_.layer_of(cell);
    std::uint64_t lookups = 1 + pattern.counts.size() * m;
    for (const WantedOfPlayer& wanted : pattern.actions) lookups += wanted.wanted.names.size();
    if (pattern.own) lookups += pattern.own->names.size() * payers_;
    work_.spend(Work::kLookup * lookups + 4 * m, rule);
    // The actions that match, player by player.
    std::vector<std::vector<std::uint32_t>> allowed(m);
    for (WantedOfPlayer& wanted : pattern.actions) {
      allowed[wanted.player] = wanted.wanted.actions_in(shape_.actions(cell, wanted.player));
      if (allowed[wanted.player].empty()) return;  // nobody of that name here
    }
    std::vector<std::vector<bool>> own(pattern.own ? payers_ : 0);
    for (std::size_t i = 0; i < own.size(); ++i) {
      work_.spend(shape_.actions(cell, i).size(), rule);
      own[i].resize(shape_.actions(cell, i).size(), false);
      for (const std::uint32_t a : pattern.own->actions_in(shape_.actions(cell, i))) {
        own[i][a] = true;
      }
    }
    // For each count, which action of each player counts.
    std::vector<std::vector<std::uint32_t>> counted;
    for (WantedCount& count : pattern.counts) {
      std::vector<std::uint32_t>& actions = counted.emplace_back(m, UINT32_MAX);
      for (std::size_t i = 0; i < m; ++i) {
        if (const auto action = shape_.actions(cell, i).find(count.where.key())) {
          actions[i] = *action;
          count.seen = true;
        }
      }
    }
    if (!statement.payoffs.empty()) check_payoff_sizes(rule, cell, statement);
    const bool leads_on = shape_.next_states(layer) != nullptr;
    const std::uint32_t row =
        statement.next && leads_on ? row_of(*statement.next, layer) : kNoRow;
    std::vector<bool> wildcard(m, true);
    for (const WantedOfPlayer& wanted : pattern.actions) wildcard[wanted.player] = false;
    for (std::size_t i = 0; i < m; ++i) {
      if (!wildcard[i]) continue;
      allowed[i].resize(shape_.actions(cell, i).size());
      std::iota(allowed[i].begin(), allowed[i].end(), 0U);
    }
    visit_joint_actions(allowed, [&](std::span<const std::uint32_t> actions, std::size_t joint) {
      work_.spend(1 + counted.size() * m + payers_, rule);
      for (std::size_t k = 0; k < counted.size(); ++k) {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < m; ++i) number += actions[i] == counted[k][i] ? 1U : 0U;
        const std::vector<std::uint64_t>& wanted = pattern.counts[k].numbers;
        if (!std::binary_search(wanted.begin(), wanted.end(), number)) return;
      }
      for (std::size_t i = 0; i < payers_; ++i) {
        if (pattern.own && !own[i][actions[i]]) continue;
        std::optional<double> reward;
        if (!statement.payoffs.empty()) reward = statement.payoffs[joint * payers_ + i];
        if (!statement.rewards.empty()) reward = statement.rewards[i];
        if (!reward) continue;
        const std::size_t at = reward_index(cell, i, joint);
        const auto what = [&] { return reward_text(cell, i, actions); };
        if (ledger_.claim(reward_givers_[at], what)) rewards_[at] = *reward;
      }
      if (row == kNoRow) return;
      const std::size_t at = joints_->first(cell) + joint;
      const auto what = [&] { return next_text(cell, actions); };
      if (ledger_.claim(next_givers_[at], what)) next_[at] = row;
    }, cell);
  }

  /// Calls visit(actions, joint) for every joint action of the given ones, in order.
  template <class Visit>
  void visit_joint_actions(const std::vector<std::vector<std::uint32_t>>& allowed,
                           const Visit& visit,
                           std::size_t cell) const {
    const std::size_t m = allowed.size();
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    std::vector<std::size_t> position(m, 0);
    std::vector<std::uint32_t> actions(m);
    while (true) {
      std::size_t joint = 0;
      for (std::size_t i = 0; i < m; ++i) {
        actions[i] = allowed[i][position[i]];
        joint = joint * (begins[i + 1] - begins[i]) + actions[i];
      }
      visit(std::span<const std::uint32_t>(actions), joint);
      std::size_t i = m;
      while (i > 0 && ++position[i - 1] == allowed[i - 1].size()) position[--i] = 0;
      if (i == 0) return;
    }
  }

  void check_payoff_sizes(const JsonValue& rule,
                          std::size_t cell,
                          const Statement& statement) const {
    for (std::size_t i = 0; i < statement.payoff_sizes.size(); ++i) {
      const std::size_t count = shape_.actions(cell, i).size();
      if (statement.payoff_sizes[i] == count) continue;
      throw rule.at("payoffs").error(
          fmt::format("has {} entries for '{}', who has {} actions at {}",
                      statement.payoff_sizes[i], printable(shape_.players().name(i), 100), count,
                      shape_.describe(cell)),
          "want one for each");
    }
  }

  /// The row in rows_, looked up once per rule and list of states.
  std::uint32_t row_of(NextRow& next, std::size_t layer) {
    const std::size_t key = shape_.one_list_of_states() ? 0 : layer;
    if (rows_of_rule_.size() <= key) rows_of_rule_.resize(key + 1, kNoRow);
    if (rows_of_rule_[key] == kNoRow) {
      rows_.push_back(next.resolve(*shape_.next_states(layer), work_));
      rows_of_rule_[key] = static_cast<std::uint32_t>(rows_.size() - 1);
      work_.spend(64 + 16 * rows_.back().states.size(), where_);  // they take memory too
    }
    return rows_of_rule_[key];
  }

  [[nodiscard]] std::size_t reward_index(std::size_t cell,
                                         std::size_t payer,
                                         std::size_t joint) const {
    return joints_->first(cell) * payers_ + payer * joints_->count(cell) + joint;
  }

  [[nodiscard]] std::string profile_text(std::size_t cell,
                                         std::span<const std::uint32_t> actions) const {
    std::string text = shape_.describe(cell) + ", actions (";
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (i > 0) text += ", ";
      if (i == 8 && actions.size() > 9) {
        text += "...";
        break;
      }
      text += printable(shape_.actions(cell, i).name(actions[i]), 100);
    }
    return text + ")";
  }
  [[nodiscard]] std::string reward_text(std::size_t cell,
                                        std::size_t payer,
                                        std::span<const std::uint32_t> actions) const {
    return fmt::format("the reward of '{}' at {}", printable(shape_.players().name(payer), 100),
                       profile_text(cell, actions));
  }
  [[nodiscard]] std::string next_text(std::size_t cell,
                                      std::span<const std::uint32_t> actions) const {
    return "the next state at " + profile_text(cell, actions);
  }

  /// Actions of a joint action, for messages.
  [[nodiscard]] std::vector<std::uint32_t> actions_of(std::size_t cell, std::size_t joint) const {
    std::vector<std::uint32_t> actions(shape_.players().size());
    for (std::size_t i = actions.size(); i-- > 0;) {
      const std::size_t count = shape_.actions(cell, i).size();
      actions[i] = static_cast<std::uint32_t>(joint % count);
      joint /= count;
    }
    return actions;
  }

  /// Terminal states stay, and where there is one state only, that is the next.
  void finish_next() {
    std::vector<std::uint32_t> rows_to_state(frame_.max_states(), kNoRow);
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      const std::size_t layer = shape_.layer_of(cell);
      const NameList* const states = shape_.next_states(layer);
      if (states == nullptr) continue;
      std::uint32_t fallback = kNoRow;
      const auto go_to = [&](std::uint32_t state) {
        if (rows_to_state[state] == kNoRow) {
          rows_.push_back({{state}, {1.0}});
          rows_to_state[state] = static_cast<std::uint32_t>(rows_.size() - 1);
        }
        fallback = rows_to_state[state];
      };
      if (shape_.terminal(cell)) {
        go_to(*states->find(shape_.states(layer).name(cell - shape_.first_cell(layer))));
      } else if (states->size() == 1) {
        go_to(0);
      }
      for (std::size_t joint = 0; joint < joints_->count(cell); ++joint) {
        std::uint32_t& row = next_[joints_->first(cell) + joint];
        if (row == kNoRow) row = fallback;
        if (row == kNoRow) {
          throw where_.error("no rule gives " + next_text(cell, actions_of(cell, joint)),
                             "add one, or a general one at the end");
        }
      }
    }
  }

  void finish_rewards() const {
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      if (shape_.terminal(cell)) continue;  // they pay 0
      for (std::size_t i = 0; i < payers_; ++i) {
        for (std::size_t joint = 0; joint < joints_->count(cell); ++joint) {
          if (reward_givers_[reward_index(cell, i, joint)] != Ledger::kNobody) continue;
          throw where_.error("no rule gives " + reward_text(cell, i, actions_of(cell, joint)),
                             "add one, or a general one at the end");
        }
      }
    }
  }

  void set_natural_ranges() {
    options_.ranges.clear();
    for (std::size_t i = 0; i < payers_; ++i) {
      double low = rewards_[reward_index(0, i, 0)];
      double high = low;
      for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
        for (std::size_t joint = 0; joint < joints_->count(cell); ++joint) {
          const double reward = rewards_[reward_index(cell, i, joint)];
          low = std::min(low, reward);
          high = std::max(high, reward);
        }
      }
      options_.ranges.push_back(natural_range(low, high));
    }
    if (options_.zero_sum) {
      const RewardRange& first = options_.ranges.front();
      options_.ranges.push_back({-first.high, -first.low});
    }
  }

  AnyGame build() {
    if (options_.ranges.empty()) set_natural_ranges();
    std::uint64_t full = 0;
    std::uint64_t kept = 0;
    const std::vector<std::uint32_t> width = frame_.next_states();
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      full += joints_->count(cell) * width[cell];
      for (std::size_t joint = 0; joint < joints_->count(cell); ++joint) {
        const std::uint32_t row = next_[joints_->first(cell) + joint];
        if (row != kNoRow) kept += rows_[row].states.size();
      }
    }
    if (kept > kMaxJsonNumbers) {
      throw where_.error(fmt::format("the transitions come to {} probabilities", kept),
                         kUseContainer);
    }
    Frame frame(std::move(options_));
    if (2 * kept < full) {
      SparseRows::Tables tables;
      for (const std::uint32_t row : next_) {
        if (row != kNoRow) {
          const NextRow::Row& from = rows_[row];
          tables.successors.insert(tables.successors.end(), from.states.begin(),
                                   from.states.end());
          tables.probabilities.insert(tables.probabilities.end(), from.probabilities.begin(),
                                      from.probabilities.end());
        }
        tables.begins.push_back(tables.successors.size());
      }
      return SparseGame(std::move(frame), std::move(rewards_), std::move(tables));
    }
    std::vector<double> probabilities(full, 0.0);
    std::size_t at = 0;
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      for (std::size_t joint = 0; joint < joints_->count(cell); ++joint) {
        const std::uint32_t row = next_[joints_->first(cell) + joint];
        if (row == kNoRow) continue;
        for (std::size_t k = 0; k < rows_[row].states.size(); ++k) {
          probabilities[at + rows_[row].states[k]] = rows_[row].probabilities[k];
        }
        at += width[cell];
      }
    }
    return DenseGame(std::move(frame), std::move(rewards_), std::move(probabilities));
  }

  JsonValue where_;
  const GameShape& shape_;
  FrameOptions options_;
  Frame frame_;  // for the sizes; its ranges do not matter
  std::size_t payers_;
  std::optional<JointIndex> joints_;
  std::vector<double> rewards_;  // as TabularGame wants them
  std::vector<std::uint32_t> reward_givers_;
  std::vector<NextRow::Row> rows_;
  std::vector<std::uint32_t> next_;  // row of each joint action
  std::vector<std::uint32_t> next_givers_;
  std::vector<std::uint32_t> rows_of_rule_;
  Ledger ledger_;
  Work work_;
};

}  // namespace

AnyGame read_table(const JsonValue& rules, const GameShape& shape, FrameOptions options) {
  return TableReader(rules, shape, std::move(options)).read();
}

}  // namespace vlearn
