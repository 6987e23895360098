// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "json_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "fraction.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMaxNamed = std::uint64_t{1} << 20U;  // of one kind
constexpr std::size_t kMaxFractionBytes = 255;

bool is_all(const JsonValue& value) { return value.is_string() && value.string() == "*"; }

/// Whether a rule of this list (or of none) names a step.
bool names_a_step(const std::optional<JsonValue>& rules) {
  if (!rules || !rules->is_array()) return false;
  for (const JsonValue rule : rules->items()) {
    if (!rule.is_object()) continue;
    const std::optional<JsonValue> step = rule.find("step");
    if (step && !is_all(*step)) return true;
  }
  return false;
}

std::optional<JsonValue> rules_in(const JsonValue& root, std::string_view section) {
  const std::optional<JsonValue> part = root.find(section);
  return part && part->is_object() ? part->find("rules") : std::nullopt;
}

}  // namespace

void allow_keys(const JsonValue& object, std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> all(keys);
  all.emplace_back("note");
  object.allow_keys(all);
  if (const std::optional<JsonValue> note = object.find("note")) {
    static_cast<void>(note->string());
  }
}

bool is_note(const JsonValue& item) {
  if (item.key() != "note") return false;
  static_cast<void>(item.string());
  return true;
}

double number_of(const JsonValue& value) {
  if (!value.is_string()) return value.number();
  const std::string_view text = value.string();
  std::optional<double> number;
  if (text.size() <= kMaxFractionBytes && text.find('/') != std::string_view::npos) {
    number = parse_fraction(text);
  }
  if (!number) {
    throw value.error("'" + printable(text, 50) + "' is not a number",
                      "want one like 0.5, or a text of at most 255 bytes like \"1/3\"");
  }
  return *number;
}

void Work::spend(std::uint64_t amount, const JsonValue& where) {
  const std::optional<std::uint64_t> sum = checked_add(spent_, amount);
  if (!sum || *sum > kMaxJsonWork) {
    throw where.error("the rules up to this one match too much too often", kUseContainer);
  }
  spent_ = *sum;
}

void Work::spend(std::uint64_t amount, std::uint64_t times, const JsonValue& where) {
  spend(checked_multiply(amount, times).value_or(UINT64_MAX), where);
}

// ------------------------------------------------------------------------------------- names

NameList::NameList(std::vector<std::string> names)
    : size_(names.size()), names_(std::move(names)), sorted_(size_) {
  std::iota(sorted_.begin(), sorted_.end(), 0U);
  std::sort(sorted_.begin(), sorted_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return names_[a] < names_[b]; });
}

NameList NameList::read(const JsonValue& value) {
  if (value.kind() == JsonKind::integer) {
    return NameList(static_cast<std::size_t>(value.integer(1, kMaxNamed)));
  }
  if (!value.is_array() || value.size() == 0) {
    throw value.error("wants a list of names, or a number of them");
  }
  std::vector<std::string> names;
  names.reserve(value.size());
  for (const JsonValue item : value.items()) {
    const std::string_view name = item.string();
    if (!can_be_name(name)) {
      throw item.error("'" + printable(name, 50) + "' is no name", kWantName);
    }
    names.emplace_back(name);
  }
  NameList list(std::move(names));
  for (std::size_t i = 1; i < list.sorted_.size(); ++i) {
    if (list.names_[list.sorted_[i]] == list.names_[list.sorted_[i - 1]]) {
      throw value.error(
          "the name '" + printable(list.names_[list.sorted_[i]], 100) + "' stands twice",
          "rename one of them");
    }
  }
  return list;
}

std::string NameList::name(std::size_t index) const {
  return named() ? names_[index] : std::to_string(index + 1);
}

std::vector<std::string> NameList::names() const {
  if (named()) return names_;
  std::vector<std::string> numbers(size_);
  for (std::size_t i = 0; i < size_; ++i) numbers[i] = std::to_string(i + 1);
  return numbers;
}

std::optional<std::uint32_t> NameList::find(std::string_view name) const {
  if (!named()) {
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    if (error != std::errc() || stop != end || number < 1 || number > size_) return std::nullopt;
    if (name.front() == '0') return std::nullopt;  // "01" is not what we would write
    return number - 1;
  }
  const auto found =
      std::lower_bound(sorted_.begin(), sorted_.end(), name,
                       [&](std::uint32_t i, std::string_view key) { return names_[i] < key; });
  if (found == sorted_.end() || names_[*found] != name) return std::nullopt;
  return *found;
}

std::string NameList::suggest(std::string_view name) const {
  if (!named()) return fmt::format("want a number from 1 to {}, as text", size_);
  const std::vector<std::string_view> candidates(names_.begin(), names_.end());
  std::string fix = suggestion(name, candidates);
  if (fix.empty()) fix = fmt::format("there is '{}', for example", printable(names_.front(), 100));
  return fix;
}

std::uint32_t NameList::at(const JsonValue& value, const char* kind) const {
  const std::optional<std::uint32_t> index = find(value.string());
  if (index) return *index;
  throw value.error(fmt::format("'{}' is not {}", printable(value.string(), 100), kind),
                    suggest(value.string()));
}

std::optional<std::vector<JsonValue>> names_or_all(const JsonValue& value) {
  if (is_all(value)) return std::nullopt;
  if (value.is_string()) return std::vector{value};
  if (!value.is_array() || value.size() == 0) {
    throw value.error("wants a name, a list of names, or \"*\"");
  }
  std::vector<JsonValue> names;
  for (const JsonValue item : value.items()) {
    static_cast<void>(item.string());
    names.push_back(item);
  }
  return names;
}

// ------------------------------------------------------------------------------------- shape

GameShape GameShape::of_file(const JsonValue& root, const NameList* routes) {
  GameShape shape;
  shape.players_ = NameList::read(root.at("players"));
  shape.horizon_ = static_cast<std::size_t>(root.at("horizon").integer(1, kMaxSteps - 1));
  const std::optional<JsonValue> states = root.find("states");
  const std::optional<JsonValue> actions = root.find("actions");
  const bool states_per_step = states && states->is_array() && states->size() > 0 &&
                               (states->at(0U).is_array() || states->at(0U).is_number());
  const bool steps_named = names_a_step(root.find("rules")) || names_a_step(actions) ||
                           names_a_step(rules_in(root, "congestion")) ||
                           names_a_step(rules_in(root, "polymatrix"));
  shape.stationary_ = !states_per_step && !steps_named;
  if (const std::optional<JsonValue> stated = root.find("stationary")) {
    if (stated->boolean() && !shape.stationary_) {
      throw stated->error("is true, but states are given per step or a rule names a step",
                          "say false, or nothing");
    }
    shape.stationary_ = stated->boolean();
  }
  if (states) {
    shape.read_states(*states);
  } else {
    shape.states_.emplace_back(std::size_t{1});
  }
  shape.count_cells(states.value_or(root));
  if (const std::optional<JsonValue> terminal = root.find("terminal")) {
    shape.read_terminal(*terminal);
  }
  if (actions) {
    shape.read_actions(*actions);
  } else if (routes != nullptr) {
    shape.check_action_entries(root);
    shape.action_lists_.push_back(*routes);
    shape.action_list_.assign(shape.players_.size(), 0);
  } else {
    static_cast<void>(root.at("actions"));  // throws
  }
  if (shape.ends_early()) {
    shape.make_action_lists_per_cell();
    shape.action_lists_.emplace_back(std::vector<std::string>{kOver});
    const auto over = static_cast<std::uint32_t>(shape.action_lists_.size() - 1);
    for (std::size_t cell = 0; cell < shape.num_cells(); ++cell) {
      if (!shape.terminal(cell)) continue;
      for (std::size_t i = 0; i < shape.players_.size(); ++i) shape.set_action_list(cell, i, over);
    }
  }
  return shape;
}

GameShape GameShape::of_frame(const Frame& frame, const JsonValue& root) {
  GameShape shape;
  shape.max_entries_ = UINT64_MAX;  // the game exists: its size has been accepted
  const std::optional<JsonValue> players = root.find("players");
  const std::optional<JsonValue> states = root.find("states");
  const std::optional<JsonValue> actions = root.find("actions");
  shape.players_ = players ? NameList::read(*players) : NameList(frame.num_players());
  shape.horizon_ = frame.horizon();
  shape.stationary_ = frame.stationary();
  if (players && shape.players_.size() != frame.num_players()) {
    throw players->error(fmt::format("want {} players, as the game has", frame.num_players()));
  }
  if (states) {
    shape.read_states(*states);
  } else {
    for (const Step h : all<Step>(frame.num_layers())) {
      shape.states_.emplace_back(frame.num_states(h));
    }
  }
  shape.count_cells(states.value_or(root));
  for (const Step h : all<Step>(frame.num_layers())) {
    if (shape.states(h.index()).size() != frame.num_states(h)) {
      throw states.value_or(root).error(
          fmt::format("want {} states, as the game has", frame.num_states(h)));
    }
  }
  if (actions) {
    shape.read_actions(*actions);
  } else {
    shape.action_list_.assign(frame.num_players(), 0);
    shape.make_action_lists_per_cell();
    std::vector<std::uint32_t> list_of_size;  // one list for each number of actions
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      for (std::size_t i = 0; i < frame.num_players(); ++i) {
        const std::size_t count = begins[i + 1] - begins[i];
        if (list_of_size.size() <= count) list_of_size.resize(count + 1, UINT32_MAX);
        if (list_of_size[count] == UINT32_MAX) {
          list_of_size[count] = static_cast<std::uint32_t>(shape.action_lists_.size());
          shape.action_lists_.emplace_back(count);
        }
        shape.set_action_list(cell, i, list_of_size[count]);
      }
    }
  }
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t i = 0; i < frame.num_players(); ++i) {
      if (shape.actions(cell, i).size() != begins[i + 1] - begins[i]) {
        throw actions.value_or(root).error(
            fmt::format("want {} actions, as player '{}' has at {}", begins[i + 1] - begins[i],
                        printable(shape.players_.name(i), 100), shape.describe(cell)));
      }
    }
  }
  return shape;
}

void GameShape::read_states(const JsonValue& value) {
  const bool per_step = value.is_array() && value.size() > 0 && !value.at(0U).is_string();
  if (!per_step) {
    states_.push_back(NameList::read(value));
    return;
  }
  if (value.size() != horizon_ || stationary_) {
    throw value.error(fmt::format("has {} lists for {} steps{}", value.size(), horizon_,
                                  stationary_ ? " that share one law" : ""),
                      "give one per step, or one for all");
  }
  for (const JsonValue list : value.items()) states_.push_back(NameList::read(list));
}

void GameShape::count_cells(const JsonValue& where) {
  first_cell_.push_back(0);
  for (std::size_t layer = 0; layer < num_layers(); ++layer) {
    first_cell_.push_back(first_cell_.back() + states(layer).size());
    if (first_cell_.back() > max_entries_) {
      throw where.error("there are too many steps times states", kUseContainer);
    }
  }
}

std::size_t GameShape::layer_of(std::size_t cell) const noexcept {
  const auto after = std::upper_bound(first_cell_.begin(), first_cell_.end(), cell);
  return static_cast<std::size_t>(after - first_cell_.begin()) - 1;
}

const NameList* GameShape::next_states(std::size_t layer) const noexcept {
  if (stationary_) return &states(0);
  return layer + 1 < horizon_ ? &states(layer + 1) : nullptr;
}

void GameShape::read_terminal(const JsonValue& value) {
  if (!value.is_array() || value.size() == 0) throw value.error("wants a list of states");
  terminal_.assign(num_cells(), false);
  Work work;
  for (const JsonValue item : value.items()) {
    work.spend(Work::kLookup, num_layers(), item);
    bool found = false;
    for (std::size_t layer = 0; layer < num_layers(); ++layer) {
      const std::optional<std::uint32_t> state = states(layer).find(item.string());
      if (!state) {
        if (found) {
          throw item.error(fmt::format("is over at step {} and gone at step {}", layer, layer + 1),
                           "a terminal state must be there in all steps after its first");
        }
        continue;
      }
      found = true;
      terminal_[first_cell_[layer] + *state] = true;
    }
    if (!found) static_cast<void>(states(0).at(item, "a state"));  // throws
  }
  if (std::find(terminal_.begin(), terminal_.end(), false) == terminal_.end()) {
    throw value.error("all states are terminal: there is nothing to play");
  }
}

void GameShape::make_action_lists_per_cell() {
  const std::size_t m = players_.size();
  if (num_cells() > 1 && action_list_.size() == m) {
    std::vector<std::uint32_t> lists;
    lists.reserve(num_cells() * m);
    for (std::size_t cell = 0; cell < num_cells(); ++cell) {
      lists.insert(lists.end(), action_list_.begin(), action_list_.end());
    }
    action_list_ = std::move(lists);
  }
}

void GameShape::set_action_list(std::size_t cell, std::size_t player, std::uint32_t list) {
  action_list_[cell * players_.size() + player] = list;
}

void GameShape::check_action_entries(const JsonValue& where) const {
  const std::optional<std::uint64_t> entries = checked_multiply(num_cells(), players_.size());
  if (!entries || *entries > max_entries_) {
    throw where.error("there are too many steps times states times players", kUseContainer);
  }
}

void GameShape::read_actions(const JsonValue& value) {
  const std::size_t m = players_.size();
  check_action_entries(value);
  const auto add = [&](const JsonValue& list) {
    action_lists_.push_back(NameList::read(list));
    return static_cast<std::uint32_t>(action_lists_.size() - 1);
  };
  const bool rules = value.is_array() && value.size() > 0 && value.at(0U).is_object();
  if (rules) {
    read_action_rules(value);
    return;
  }
  if (!value.is_object()) {
    action_list_.assign(m, add(value));
    return;
  }
  action_list_.assign(m, UINT32_MAX);
  if (const std::optional<JsonValue> others = value.find("*")) action_list_.assign(m, add(*others));
  for (const JsonValue item : value.items()) {
    if (item.key() == "*" || is_note(item)) continue;
    const std::optional<std::uint32_t> player = players_.find(item.key());
    if (!player) throw item.error("is not a player", players_.suggest(item.key()));
    action_list_[*player] = add(item);
  }
  const auto missing = std::find(action_list_.begin(), action_list_.end(), UINT32_MAX);
  if (missing != action_list_.end()) {
    const auto player = static_cast<std::size_t>(missing - action_list_.begin());
    throw value.error(fmt::format("player '{}' has no actions", printable(players_.name(player))),
                      "add them, or \"*\" for all others");
  }
}

void GameShape::read_action_rules(const JsonValue& rules) {
  const std::size_t m = players_.size();
  action_list_.assign(num_cells() * m, UINT32_MAX);
  std::vector<std::uint32_t> givers(action_list_.size(), Ledger::kNobody);
  Ledger ledger;
  Work work;
  for (const JsonValue rule : rules.items()) {
    allow_keys(rule, {"step", "state", "player", "actions"});
    action_lists_.push_back(NameList::read(rule.at("actions")));
    const auto list = static_cast<std::uint32_t>(action_lists_.size() - 1);
    std::string keys;
    const std::vector<std::uint32_t> matched = cells(rule, keys, work);
    std::vector<std::uint32_t> players(m);
    std::iota(players.begin(), players.end(), 0U);
    if (const std::optional<JsonValue> named = rule.find("player")) {
      if (!is_all(*named)) keys += " player";
      players = matching_players(*named);
    }
    work.spend(matched.size(), players.size(), rule);
    ledger.begin(rule, keys);
    for (const std::uint32_t cell : matched) {
      for (const std::uint32_t player : players) {
        const std::size_t at = cell * m + player;
        const auto what = [&] {
          return fmt::format("the actions of '{}' at {}", printable(players_.name(player), 100),
                             describe(cell));
        };
        if (ledger.claim(givers[at], what)) action_list_[at] = list;
      }
    }
    ledger.end();
  }
  for (std::size_t at = 0; at < action_list_.size(); ++at) {
    if (action_list_[at] == UINT32_MAX && !terminal(at / m)) {
      throw rules.error(fmt::format("player '{}' has no actions at {}",
                                    printable(players_.name(at % m), 100), describe(at / m)),
                        "add a rule for it");
    }
  }
}

std::vector<std::uint32_t> GameShape::cells(const JsonValue& rule,
                                            std::string& keys,
                                            Work& work) const {
  std::vector<std::size_t> layers;  // that match, rising
  const std::optional<JsonValue> step = rule.find("step");
  if (step && !is_all(*step)) {
    if (stationary_) throw step->error("is named, but all steps share one law", "leave it out");
    keys += " step";
    const auto add = [&](const JsonValue& number) {
      layers.push_back(
          static_cast<std::size_t>(number.integer(1, static_cast<std::int64_t>(horizon_)) - 1));
    };
    if (step->is_array()) {
      if (step->size() == 0) throw step->error("is empty and matches nothing");
      for (const JsonValue number : step->items()) add(number);
    } else {
      add(*step);
    }
    std::sort(layers.begin(), layers.end());
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  } else {
    layers.resize(num_layers());
    std::iota(layers.begin(), layers.end(), std::size_t{0});
  }
  work.spend(layers.size(), rule);
  std::vector<std::uint32_t> matched;
  const std::optional<JsonValue> state = rule.find("state");
  const std::optional<std::vector<JsonValue>> names = state ? names_or_all(*state) : std::nullopt;
  if (!names) {
    for (const std::size_t layer : layers) {
      work.spend(states(layer).size(), rule);
      for (std::size_t cell = first_cell_[layer]; cell < first_cell_[layer + 1]; ++cell) {
        if (!terminal(cell)) matched.push_back(static_cast<std::uint32_t>(cell));
      }
    }
    if (matched.empty()) throw rule.error("matches terminal states only, which need no rules");
    return matched;
  }
  keys += " state";
  for (const JsonValue& name : *names) {
    work.spend(Work::kLookup, layers.size(), rule);
    const std::size_t before = matched.size();
    for (const std::size_t layer : layers) {
      const std::optional<std::uint32_t> found = states(layer).find(name.string());
      if (!found) continue;
      const std::size_t cell = first_cell_[layer] + *found;
      if (terminal(cell))
        throw name.error("is a terminal state, which needs no rules", "remove it");
      matched.push_back(static_cast<std::uint32_t>(cell));
    }
    if (matched.size() == before) {
      const std::string kind =
          stationary_ ? "a state" : fmt::format("a state of step {}", layers.back() + 1);
      static_cast<void>(states(layers.back()).at(name, kind.c_str()));
    }
  }
  std::sort(matched.begin(), matched.end());
  matched.erase(std::unique(matched.begin(), matched.end()), matched.end());
  return matched;
}

std::vector<std::uint32_t> GameShape::matching_players(const JsonValue& value) const {
  std::vector<std::uint32_t> matched;
  if (const std::optional<std::vector<JsonValue>> names = names_or_all(value)) {
    for (const JsonValue& name : *names) matched.push_back(players_.at(name, "a player"));
    std::sort(matched.begin(), matched.end());
    matched.erase(std::unique(matched.begin(), matched.end()), matched.end());
  } else {
    matched.resize(players_.size());
    std::iota(matched.begin(), matched.end(), 0U);
  }
  return matched;
}

std::string GameShape::describe(std::size_t cell) const {
  const std::size_t layer = layer_of(cell);
  const std::string state = printable(states(layer).name(cell - first_cell_[layer]), 100);
  if (stationary_) return fmt::format("state '{}'", state);
  return fmt::format("step {}, state '{}'", layer + 1, state);
}

FrameOptions GameShape::frame_options(const JsonValue& root) const {
  FrameOptions options{.num_players = players_.size(),
                       .horizon = horizon_,
                       .stationary = stationary_,
                       .ends_early = ends_early()};
  for (const NameList& list : states_) {
    options.num_states.push_back(static_cast<std::uint32_t>(list.size()));
  }
  for (const std::uint32_t list : action_list_) {
    options.num_actions.push_back(static_cast<std::uint32_t>(action_lists_[list].size()));
  }
  if (const std::optional<JsonValue> initial = root.find("initial")) {
    Work work;
    NextRow next(*initial);
    const NextRow::Row& row = next.resolve(states(0), work);
    options.initial.assign(states(0).size(), 0.0);
    for (std::size_t i = 0; i < row.states.size(); ++i) {
      options.initial[row.states[i]] = row.probabilities[i];
    }
  }
  return options;
}

GameNames GameShape::names() const {
  GameNames names;
  if (players_.named()) names.players = players_.names();
  const auto is_named = [](const NameList& list) { return list.named(); };
  if (std::any_of(states_.begin(), states_.end(), is_named)) {
    for (const NameList& list : states_) names.states.push_back(list.names());
  }
  if (std::any_of(action_lists_.begin(), action_lists_.end(), is_named)) {
    // Each list once, and only those that somebody has.
    std::vector<std::uint32_t> kept(action_lists_.size(), UINT32_MAX);
    std::map<std::vector<std::string>, std::uint32_t> known;
    for (const std::uint32_t list : action_list_) {
      if (kept[list] == UINT32_MAX) {
        const auto count = static_cast<std::uint32_t>(known.size());
        kept[list] = known.try_emplace(action_lists_[list].names(), count).first->second;
      }
      names.action_list.push_back(kept[list]);
    }
    // One list per player where all cells have the same.
    const std::size_t m = players_.size();
    bool everywhere = true;
    for (std::size_t k = m; k < names.action_list.size() && everywhere; ++k) {
      everywhere = names.action_list[k] == names.action_list[k - m];
    }
    if (everywhere) names.action_list.resize(m);
    names.action_lists.resize(known.size());
    for (const auto& [actions, index] : known) names.action_lists[index] = actions;
  }
  return names;
}

// --------------------------------------------------------------------------------------- rows

NextRow::NextRow(const JsonValue& value) : value_(value) {
  if (value.is_string()) return;
  if (!value.is_object()) {
    throw value.error("wants the name of a state, or an object of probabilities");
  }
  std::vector<double> probabilities;
  for (const JsonValue item : value.items()) {
    if (is_note(item)) continue;
    probabilities.push_back(number_of(item));
    if (!(probabilities.back() >= 0.0)) {
      throw item.error(fmt::format("is {}; a probability lies in [0, 1]", probabilities.back()));
    }
    entries_.emplace_back(item, probabilities.back());
  }
  if (const std::optional<std::string> flaw = flaw_of(probabilities)) throw value.error(*flaw);
}

const NextRow::Row& NextRow::resolve(const NameList& states, Work& work) {
  if (states_ == &states) return row_;
  work.spend(Work::kLookup, 1 + entries_.size(), value_);
  states_ = &states;
  if (value_.is_string()) {
    row_ = {{states.at(value_, "a state")}, {1.0}};
    return row_;
  }
  std::vector<std::pair<std::uint32_t, double>> found;
  for (const auto& [item, probability] : entries_) {
    const std::optional<std::uint32_t> state = states.find(item.key());
    if (!state) throw item.error("is not a state", states.suggest(item.key()));
    found.emplace_back(*state, probability);
  }
  std::sort(found.begin(), found.end());
  row_ = {};
  for (const auto& [state, probability] : found) {
    row_.states.push_back(state);
    row_.probabilities.push_back(probability);
  }
  return row_;
}

// ------------------------------------------------------------------------------------- ledger

void Ledger::begin(const JsonValue& rule, const std::string& keys) {
  rules_.push_back(rule);
  const auto count = static_cast<std::uint32_t>(keys_.size());
  keys_of_rule_.push_back(keys_.try_emplace(keys, count).first->second);
  applied_ = false;
  before_ = kNobody;
}

Error Ledger::twice(std::uint32_t giver, const std::string& what) const {
  return rules_.back().error(
      fmt::format("specifies {} twice: the rule in line {} names the same keys and matches it too",
                  what, rules_[giver].line()),
      "name more keys in the one that is the exception, and put it first");
}

void Ledger::end() const {
  if (applied_) return;
  if (before_ == kNobody) throw rules_.back().error("matches nothing");
  throw rules_.back().error(
      fmt::format("never applies: rules above it match all that it matches, among them that in "
                  "line {}",
                  rules_[before_].line()),
      "remove it, or move it up");
}

}  // namespace vlearn
