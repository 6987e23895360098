// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The first half of a game file: who plays, where, with which moves, for how long; and the lookups
// by name that the second half, the rules, needs. docs/reference/game_format.md has the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vlearn/core/json.h"
#include "vlearn/game/about.h"
#include "vlearn/game/frame.h"

namespace vlearn {

/// What a game in JSON may come to: beyond it the array container is the better place, and a
/// hostile file stops costing.
inline constexpr std::uint64_t kMaxJsonNumbers = std::uint64_t{1} << 21U;
inline constexpr std::uint64_t kMaxJsonWork = std::uint64_t{1} << 26U;
inline constexpr JsonLimits kGameJsonLimits = {
    .max_bytes = std::uint64_t{16} << 20U, .max_depth = 64, .max_values = std::uint32_t{1} << 19U};
inline constexpr const char* kUseContainer = "put a game of this size into the array container";

/// The only action in a terminal state.
inline constexpr const char* kOver = "-";

/// allow_keys() with `note`, which may stand in every object.
void allow_keys(const JsonValue& object, std::initializer_list<std::string_view> keys);

/// Whether a member of an object from names to things is a remark, which must be a text.
[[nodiscard]] bool is_note(const JsonValue& item);

/// A number, or a text like "1/3" of at most 255 bytes.
[[nodiscard]] double number_of(const JsonValue& value);

/// Counts what reading a file costs and stops a file that would cost too much. A unit is a few
/// nanoseconds, or a byte that is kept.
class Work {
 public:
  /// Of looking up a name, and of reading a fraction once more.
  static constexpr std::uint64_t kLookup = 32;
  static constexpr std::uint64_t kFraction = 256;

  void spend(std::uint64_t amount, const JsonValue& where);
  void spend(std::uint64_t amount, std::uint64_t times, const JsonValue& where);

 private:
  std::uint64_t spent_ = 0;
};

/// Things of one kind: their names, or only how many they are.
class NameList {
 public:
  explicit NameList(std::size_t count) : size_(count) {}
  explicit NameList(std::vector<std::string> names);
  /// A list of names, or a number.
  [[nodiscard]] static NameList read(const JsonValue& value);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool named() const noexcept { return !names_.empty(); }
  [[nodiscard]] std::string name(std::size_t index) const;
  /// All of them, numbers where there are no names.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  /// Throws at `value` when it is none of them.
  [[nodiscard]] std::uint32_t at(const JsonValue& value, const char* kind) const;
  [[nodiscard]] std::string suggest(std::string_view name) const;

 private:
  std::size_t size_ = 0;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> sorted_;  // positions, by name
};

/// The texts of a value that is a name or a list of names; nothing for "*".
[[nodiscard]] std::optional<std::vector<JsonValue>> names_or_all(const JsonValue& value);

class GameShape {
 public:
  /// Reads players, states, actions, horizon, terminal and stationary. In a congestion game
  /// everybody's actions are the routes, unless the file says otherwise.
  [[nodiscard]] static GameShape of_file(const JsonValue& root, const NameList* routes);
  /// Of a game that exists already: `root` may give names.
  [[nodiscard]] static GameShape of_frame(const Frame& frame, const JsonValue& root);

  [[nodiscard]] const NameList& players() const noexcept { return players_; }
  [[nodiscard]] std::size_t horizon() const noexcept { return horizon_; }
  [[nodiscard]] bool stationary() const noexcept { return stationary_; }
  [[nodiscard]] bool ends_early() const noexcept { return !terminal_.empty(); }

  [[nodiscard]] std::size_t num_layers() const noexcept { return stationary_ ? 1 : horizon_; }
  [[nodiscard]] std::size_t num_cells() const noexcept { return first_cell_.back(); }
  [[nodiscard]] std::size_t layer_of(std::size_t cell) const noexcept;
  [[nodiscard]] std::size_t first_cell(std::size_t layer) const noexcept {
    return first_cell_[layer];
  }
  [[nodiscard]] const NameList& states(std::size_t layer) const noexcept {
    return states_[states_.size() == 1 ? 0 : layer];
  }
  /// The states that a cell of this layer leads to; null: nowhere.
  [[nodiscard]] const NameList* next_states(std::size_t layer) const noexcept;
  /// Layers of one list share it, so that rows need be looked up only once.
  [[nodiscard]] bool one_list_of_states() const noexcept { return states_.size() == 1; }
  [[nodiscard]] bool terminal(std::size_t cell) const noexcept {
    return !terminal_.empty() && terminal_[cell];
  }
  [[nodiscard]] const NameList& actions(std::size_t cell, std::size_t player) const noexcept {
    return action_lists_[list_of(cell, player)];
  }
  /// Lists are kept once: equal numbers, equal lists.
  [[nodiscard]] std::uint32_t list_of(std::size_t cell, std::size_t player) const noexcept {
    const bool everywhere = action_list_.size() == players_.size();
    return action_list_[(everywhere ? 0 : cell * players_.size()) + player];
  }

  /// The cells that `step` and `state` of a rule match, in order, terminal ones left out; which of
  /// the two it names goes to `keys`.
  [[nodiscard]] std::vector<std::uint32_t> cells(const JsonValue& rule,
                                                 std::string& keys,
                                                 Work& work) const;
  /// The players that a value matches: a name, a list of names, or "*".
  [[nodiscard]] std::vector<std::uint32_t> matching_players(const JsonValue& value) const;

  /// "step 2, state 'low'", for messages.
  [[nodiscard]] std::string describe(std::size_t cell) const;

  /// Sizes, initial distribution and early end; ranges and kinds of rewards are still to come.
  [[nodiscard]] FrameOptions frame_options(const JsonValue& root) const;
  [[nodiscard]] GameNames names() const;

 private:
  GameShape() : players_(std::size_t{0}) {}
  void read_states(const JsonValue& value);
  void count_cells(const JsonValue& where);
  void read_terminal(const JsonValue& value);
  void read_actions(const JsonValue& value);
  void read_action_rules(const JsonValue& rules);
  void set_action_list(std::size_t cell, std::size_t player, std::uint32_t list);
  void check_action_entries(const JsonValue& where) const;
  void make_action_lists_per_cell();

  std::uint64_t max_entries_ = kMaxJsonNumbers;
  NameList players_;
  std::size_t horizon_ = 0;
  bool stationary_ = true;
  std::vector<NameList> states_;         // one for all layers, or one for each
  std::vector<std::size_t> first_cell_;  // of each layer, and at last the number of all
  std::vector<bool> terminal_;           // of each cell; empty: none
  std::vector<NameList> action_lists_;
  std::vector<std::uint32_t> action_list_;  // [player] or [cell][player]
};

/// A distribution over next states: the name of one, or an object of probabilities. Numbers are
/// read once, names looked up once for each list of states in a row.
class NextRow {
 public:
  struct Row {
    std::vector<std::uint32_t> states = {};  // rising
    std::vector<double> probabilities = {};
  };

  /// Checks what can be checked without knowing the states.
  explicit NextRow(const JsonValue& value);
  /// For cells of a layer; throws at the name that is no state there. Valid until the next call.
  [[nodiscard]] const Row& resolve(const NameList& states, Work& work);

 private:
  JsonValue value_;
  std::vector<std::pair<JsonValue, double>> entries_;  // of an object
  const NameList* states_ = nullptr;                   // of row_
  Row row_;
};

/// Which rule speaks first about what: items are claimed by the rules in order. Two rules that name
/// the same keys may not claim the same item, and a rule must be first somewhere.
class Ledger {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  /// `keys` says which keys the rule names, in any spelling that is the same for the same keys.
  void begin(const JsonValue& rule, const std::string& keys);
  /// Whether the rule is the first to speak about an item, which keeps its giver. `describe` names
  /// the item for the message that it is specified twice.
  template <class Describe>
  bool claim(std::uint32_t& giver, const Describe& describe) {
    const auto current = static_cast<std::uint32_t>(rules_.size() - 1);
    if (giver == kNobody) {
      giver = current;
      applied_ = true;
      return true;
    }
    if (keys_of_rule_[giver] == keys_of_rule_[current]) throw twice(giver, describe());
    before_ = giver;
    return false;
  }
  /// Throws when the rule was first nowhere.
  void end() const;

 private:
  [[nodiscard]] Error twice(std::uint32_t giver, const std::string& what) const;

  std::vector<JsonValue> rules_;
  std::map<std::string, std::uint32_t> keys_;  // all that there are, numbered
  std::vector<std::uint32_t> keys_of_rule_;
  bool applied_ = false;
  std::uint32_t before_ = kNobody;
};

}  // namespace vlearn
