// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games as JSON texts that the reader turns into the same law and the same names.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "game_io_parts.h"
#include "json_shape.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

using Layout = JsonWriter::Layout;

constexpr const char* kOver = "-";  // the only action in a terminal state

/// Tables of more players than this would be nested too deep.
constexpr std::size_t kMaxNested = 40;

bool is_single(std::span<const double> row, std::size_t at) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != (i == at ? 1.0 : 0.0)) return false;
  }
  return true;
}

/// What the sections of a file share: names, steps and states, and the texts of common parts.
class GameWriter {
 public:
  GameWriter(const GameAbout& about, const Frame& frame)
      : about_(about),
        names_(about.names),
        frame_(frame),
        many_states_(frame.max_states() > 1),
        cells_(frame.num_cells()) {
    for (const Step h : all<Step>(frame.num_layers())) {
      for (const State s : all<State>(frame.num_states(h))) {
        cells_[frame.cell(h, s)] = {h, s};
      }
    }
  }

  struct Place {
    Step h;
    State s;
  };

  [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
  [[nodiscard]] const GameNames& names() const noexcept { return names_; }
  [[nodiscard]] std::string player(std::size_t i) const { return names_.player(Player(i)); }
  [[nodiscard]] std::string action(std::size_t cell, std::size_t player, std::size_t a) const {
    const Place& place = cells_[cell];
    return names_.action(frame_, Player(player), place.h, place.s, Action(a));
  }
  [[nodiscard]] std::string state(std::size_t cell) const {
    return names_.state(cells_[cell].h, cells_[cell].s);
  }
  /// The name of a state that a cell leads to.
  [[nodiscard]] std::string next_state(std::size_t cell, std::size_t s) const {
    const Step h = frame_.stationary() ? Step(0) : cells_[cell].h.next();
    return names_.state(h, State(s));
  }
  [[nodiscard]] bool terminal(std::size_t cell) const { return terminal_.count(cell) > 0; }

  /// States of a stationary game in which nothing happens and nobody has a choice: `is_still` says
  /// whether a cell pays nothing and stays.
  template <class IsStill>
  void find_terminal(const IsStill& is_still) {
    if (!frame_.stationary()) return;
    for (const Player player : all<Player>(frame_.num_players())) {
      const RewardRange& range = frame_.range(player);
      if (range.low > 0.0 || range.high < 0.0) return;  // 0 would widen it
    }
    if (frame_.zero_sum() && frame_.range(Player(1)).low != -frame_.range(Player(0)).high) return;
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      if (frame_.begins_of_cell(cell).back() != frame_.num_players()) continue;
      bool over = true;
      for (std::size_t i = 0; i < frame_.num_players() && over; ++i) {
        over = action(cell, i, 0) == kOver;
      }
      if (over && is_still(cell)) terminal_.insert(cell);
    }
    if (terminal_.size() == frame_.num_cells()) terminal_.clear();
  }

  void write_texts(JsonWriter& json) const {
    if (!about_.title.empty()) json.member("title", about_.title);
    if (!about_.source.empty()) json.member("source", about_.source);
    if (!about_.note.empty()) json.member("note", about_.note);
  }

  void write_names(JsonWriter& json, bool with_actions) const {
    json.key("players");
    write_list(json, names_.players, frame_.num_players());
    write_states(json);
    if (with_actions) write_actions(json);
  }

  void write_frame(JsonWriter& json) const {
    json.member("horizon", std::uint64_t{frame_.horizon()});
    if (!frame_.stationary()) json.member("stationary", false);
    if (!is_single(frame_.initial(), 0)) {
      json.key("initial");
      write_row(json, row_of(frame_.initial()),
                [&](std::size_t s) { return names_.state(Step(0), State(s)); });
    }
    if (!terminal_.empty()) {
      json.key("terminal").on_one_line().begin_array();
      for (const std::size_t cell : terminal_) json.value(state(cell));
      json.end_array();
    }
    if (frame_.zero_sum()) json.member("zero_sum", true);
    write_ranges(json);
    if (frame_.noise() == RewardNoise::bernoulli) json.member("noise", "bernoulli");
    if (frame_.noise() == RewardNoise::uniform) json.member("noise", "uniform");
  }

  /// A rule's `step` and `state`, where they need saying.
  void write_place(JsonWriter& json, std::size_t cell) const {
    if (!frame_.stationary()) {
      json.member("step", static_cast<std::uint64_t>(cells_[cell].h.number()));
    }
    if (many_states_) json.member("state", state(cell));
  }

  /// A distribution without its zeros.
  using Row = std::vector<std::pair<std::size_t, double>>;
  static Row row_of(std::span<const double> probabilities) {
    Row row;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      if (probabilities[i] > 0.0) row.emplace_back(i, probabilities[i]);
    }
    return row;
  }

  /// One name, or an object.
  template <class Name>
  static void write_row(JsonWriter& json, const Row& row, const Name& name) {
    if (row.size() == 1 && row[0].second == 1.0) {
      json.value(name(row[0].first));
      return;
    }
    json.on_one_line().begin_object();
    for (const auto& [i, probability] : row) json.member(name(i), probability);
    json.end_object();
  }
  void write_next(JsonWriter& json, std::size_t cell, const Row& row) const {
    json.key("next");
    write_row(json, row, [&](std::size_t s) { return next_state(cell, s); });
  }

  void write_known(JsonWriter& json) const {
    if (about_.known.empty()) return;
    json.key("known").begin_array();
    for (const KnownSolution& known : about_.known) {
      json.begin_object().member("target", name_of(known.target)).member("source", known.source);
      if (!known.values.empty()) {
        json.key("values").on_one_line().begin_array();
        for (const double value : known.values) json.value(value);
        json.end_array();
      }
      if (!known.policy.empty()) write_policy(json, known);
      json.end_object();
    }
    json.end_array();
  }

 private:
  static void write_list(JsonWriter& json,
                         const std::vector<std::string>& names,
                         std::size_t count) {
    if (names.empty()) {
      json.value(std::uint64_t{count});
      return;
    }
    json.on_one_line().begin_array();
    for (const std::string& name : names) json.value(name);
    json.end_array();
  }

  void write_states(JsonWriter& json) const {
    const bool per_step = names_.states.size() > 1;
    bool same = true;
    for (const Step h : all<Step>(frame_.num_layers())) {
      same = same && frame_.num_states(h) == frame_.num_states(Step(0));
    }
    json.key("states");
    if (!per_step && (same || !names_.states.empty())) {
      write_list(json, names_.states.empty() ? std::vector<std::string>() : names_.states[0],
                 frame_.num_states(Step(0)));
      return;
    }
    json.begin_array();
    for (const Step h : all<Step>(frame_.num_layers())) {
      write_list(json, per_step ? names_.states[h.index()] : std::vector<std::string>(),
                 frame_.num_states(h));
    }
    json.end_array();
  }

  /// The names of a player's actions in a cell; empty: they are numbers.
  [[nodiscard]] std::vector<std::string> action_names(std::size_t cell, std::size_t player) const {
    if (names_.action_list.empty()) return {};
    const std::size_t m = frame_.num_players();
    const bool everywhere = names_.action_list.size() == m;
    return names_.action_lists[names_.action_list[(everywhere ? 0 : cell * m) + player]];
  }

  struct ActionList {
    std::vector<std::string> names;
    std::size_t count;
    friend bool operator==(const ActionList&, const ActionList&) = default;
  };
  [[nodiscard]] ActionList action_list(std::size_t cell, std::size_t player) const {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    return {action_names(cell, player), begins[player + 1] - begins[player]};
  }

  void write_actions(JsonWriter& json) const {
    const std::size_t m = frame_.num_players();
    std::size_t first = 0;
    while (terminal(first)) ++first;
    bool same_cells = true;
    bool same_players = true;
    for (std::size_t cell = first; cell < frame_.num_cells(); ++cell) {
      if (terminal(cell)) continue;
      for (std::size_t i = 0; i < m; ++i) {
        const ActionList list = action_list(cell, i);
        same_cells = same_cells && list == action_list(first, i);
        same_players = same_players && list == action_list(first, 0);
      }
    }
    json.key("actions");
    const auto write = [&](const ActionList& list) { write_list(json, list.names, list.count); };
    if (same_players) {
      write(action_list(first, 0));
    } else if (same_cells) {
      json.begin_object();
      for (std::size_t i = 0; i < m; ++i) {
        json.key(player(i));
        write(action_list(first, i));
      }
      json.end_object();
    } else {
      write_action_rules(json, action_list(first, 0));
    }
  }

  /// Exceptions first, then what holds for all others.
  void write_action_rules(JsonWriter& json, const ActionList& usual) const {
    const std::size_t m = frame_.num_players();
    json.begin_array();
    const auto write_rule = [&](std::size_t cell, std::size_t player_index, bool all_players) {
      const ActionList list = action_list(cell, player_index);
      json.on_one_line().begin_object();
      write_place(json, cell);
      if (!all_players) json.member("player", player(player_index));
      json.key("actions");
      write_list(json, list.names, list.count);
      json.end_object();
    };
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      if (terminal(cell)) continue;
      bool all_same = true;
      for (std::size_t i = 1; i < m; ++i) {
        all_same = all_same && action_list(cell, i) == action_list(cell, 0);
      }
      for (std::size_t i = 0; i < (all_same ? 1 : m); ++i) {
        if (!(action_list(cell, i) == usual)) write_rule(cell, i, all_same);
      }
    }
    json.on_one_line().begin_object().key("actions");
    write_list(json, usual.names, usual.count);
    json.end_object().end_array();
  }

  void write_ranges(JsonWriter& json) const {
    const RewardRange& first = frame_.range(Player(0));
    const auto write = [&](const RewardRange& range) {
      json.on_one_line().begin_array().value(range.low).value(range.high).end_array();
    };
    bool one = true;
    for (const Player player : all<Player>(frame_.num_players())) {
      one = one && frame_.range(player) == first;
    }
    if (frame_.zero_sum()) {
      const RewardRange negative{-first.high, -first.low};
      one = frame_.range(Player(1)) == negative;
    }
    json.key("range");
    if (one) {
      write(first);
      return;
    }
    json.begin_array();
    for (const Player player : all<Player>(frame_.num_players())) write(frame_.range(player));
    json.end_array();
  }

  /// What is played at one stage, as text.
  [[nodiscard]] std::string stage_text(std::size_t cell,
                                       const std::vector<WeightedProfile>& stage) const {
    JsonWriter json;
    json.on_one_line().begin_array();
    for (const WeightedProfile& part : stage) {
      json.begin_object().member("weight", part.weight).key("play");
      write_play(json, cell, part.policies);
      json.end_object();
    }
    return json.end_array().text();
  }

  void write_play(JsonWriter& json, std::size_t cell, std::span<const double> policies) const {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    json.begin_array();
    for (std::size_t i = 0; i < frame_.num_players(); ++i) {
      write_row(json, row_of(policies.subspan(begins[i], begins[i + 1] - begins[i])),
                [&](std::size_t a) { return action(cell, i, a); });
    }
    json.end_array();
  }

  void write_policy(JsonWriter& json, const KnownSolution& known) const {
    std::vector<std::size_t> first_stage;
    std::size_t stages = 0;
    bool same_states = true;
    for (const Step h : all<Step>(frame_.horizon())) {
      first_stage.push_back(stages);
      stages += frame_.num_states(h);
      same_states = same_states && frame_.num_states(h) == frame_.num_states(Step(0));
    }
    same_states = same_states && names_.states.size() <= 1;
    const auto text_at = [&](Step h, State s) {
      return stage_text(frame_.cell(h, s), known.policy[first_stage[h.index()] + s.index()]);
    };
    const auto write_rule = [&](Step h, State s, bool all_steps) {
      const std::size_t cell = frame_.cell(h, s);
      if (frame_.begins_of_cell(cell).back() == frame_.num_players()) return;  // no choice
      const std::vector<WeightedProfile>& stage = known.policy[first_stage[h.index()] + s.index()];
      json.on_one_line().begin_object();
      if (!all_steps) json.member("step", static_cast<std::uint64_t>(h.number()));
      if (frame_.num_states(h) > 1) json.member("state", names_.state(h, s));
      if (stage.size() == 1 && stage[0].weight == 1.0) {
        json.key("play");
        write_play(json, cell, stage[0].policies);
      } else {
        json.key("mix").begin_array();
        for (const WeightedProfile& part : stage) {
          json.begin_object().member("weight", part.weight).key("play");
          write_play(json, cell, part.policies);
          json.end_object();
        }
        json.end_array();
      }
      json.end_object();
    };
    json.key("policy").begin_array();
    for (const State s : all<State>(same_states ? frame_.num_states(Step(0)) : 0)) {
      bool all_steps = true;
      for (const Step h : all<Step>(frame_.horizon())) {
        all_steps = all_steps && text_at(h, s) == text_at(Step(0), s);
      }
      for (const Step h : all<Step>(all_steps ? 1 : frame_.horizon())) write_rule(h, s, all_steps);
    }
    for (const Step h : all<Step>(same_states ? 0 : frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) write_rule(h, s, false);
    }
    json.end_array();
  }

  const GameAbout& about_;
  const GameNames& names_;
  const Frame& frame_;
  bool many_states_;  // in some step
  std::vector<Place> cells_;
  std::set<std::size_t> terminal_;
};

/// The names of routes: those of the actions that mean them where all agree, else numbers.
std::vector<std::string> route_names(const GameWriter& writer, const CongestionGame& game) {
  const Frame& frame = writer.frame();
  std::vector<std::string> names(game.num_routes());
  std::vector<std::string> numbers;
  for (std::size_t b = 0; b < names.size(); ++b) numbers.push_back(std::to_string(b + 1));
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t i = 0; i < frame.num_players(); ++i) {
      for (std::size_t a = 0; a < begins[i + 1] - begins[i]; ++a) {
        std::string& name = names[game.options().routes[at++]];
        if (writer.terminal(cell)) continue;
        const std::string own = writer.action(cell, i, a);
        if (name.empty()) name = own;
        if (name != own) return numbers;
      }
    }
  }
  for (std::size_t b = 0; b < names.size(); ++b) {
    if (names[b].empty()) names[b] = numbers[b];
  }
  const std::set<std::string> distinct(names.begin(), names.end());
  return distinct.size() == names.size() ? names : numbers;
}

/// Whether everybody can take every route everywhere, in their order: then they need not be said.
bool has_all_routes(const GameWriter& writer, const CongestionGame& game) {
  const Frame& frame = writer.frame();
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t i = 0; i < frame.num_players(); ++i) {
      const std::size_t count = begins[i + 1] - begins[i];
      for (std::size_t a = 0; a < count; ++a, ++at) {
        if (writer.terminal(cell)) continue;
        if (count != game.num_routes() || game.options().routes[at] != a) return false;
      }
    }
  }
  return true;
}

/// In the file an action is called by its route.
GameNames with_route_names(const GameWriter& writer,
                           const CongestionGame& game,
                           const std::vector<std::string>& routes) {
  const Frame& frame = writer.frame();
  GameNames names = writer.names();
  names.action_lists.clear();
  names.action_list.clear();
  std::map<std::vector<std::string>, std::uint32_t> known;
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    for (std::size_t i = 0; i < frame.num_players(); ++i) {
      std::vector<std::string> list;
      for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
        const std::uint32_t route = game.options().routes[at++];
        list.push_back(writer.terminal(cell) ? kOver : routes[route]);
      }
      const auto [place, fresh] = known.try_emplace(list, static_cast<std::uint32_t>(known.size()));
      if (fresh) names.action_lists.push_back(std::move(list));
      names.action_list.push_back(place->second);
    }
  }
  return names;
}

template <class Rows>
void write_law(JsonWriter& json, GameWriter& writer, const TabularGame<Rows>& game) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  const std::size_t payers = frame.zero_sum() ? 1 : m;
  const JointIndex joints(frame);
  const std::vector<std::uint32_t> width = frame.next_states();
  const auto row_of = [&](std::size_t cell, std::size_t joint) {
    GameWriter::Row row;
    game.rows().for_each(cell, joint, [&](State s, double p) { row.emplace_back(s.index(), p); });
    return row;
  };
  const auto write_reward = [&](std::size_t cell, std::size_t joint) {
    if (payers == 1) {
      json.value(game.user_reward(Player(0), cell, joint));
      return;
    }
    json.begin_array();
    for (const Player player : all<Player>(payers)) {
      json.value(game.user_reward(player, cell, joint));
    }
    json.end_array();
  };
  const auto write_joint = [&](std::size_t cell, std::size_t joint) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    std::vector<std::string> actions(m);
    for (std::size_t i = m; i-- > 0;) {
      const std::size_t count = begins[i + 1] - begins[i];
      actions[i] = writer.action(cell, i, joint % count);
      joint /= count;
    }
    json.key("actions").begin_array();
    for (const std::string& action : actions) json.value(action);
    json.end_array();
  };
  json.key("rules").begin_array();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    if (writer.terminal(cell)) continue;
    const std::size_t count = joints.count(cell);
    if (m <= kMaxNested) {
      json.on_one_line().begin_object();
      writer.write_place(json, cell);
      json.key("payoffs");
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      // An array opens wherever all actions of the later players start anew.
      for (std::size_t joint = 0; joint < count; ++joint) {
        std::size_t block = 1;
        std::size_t open = 0;
        std::size_t close = 0;
        for (std::size_t i = m; i-- > 0;) {
          block *= begins[i + 1] - begins[i];
          open += joint % block == 0 ? 1 : 0;
          close += (joint + 1) % block == 0 ? 1 : 0;
        }
        for (std::size_t k = 0; k < open; ++k) json.begin_array();
        write_reward(cell, joint);
        for (std::size_t k = 0; k < close; ++k) json.end_array();
      }
      json.end_object();
    } else {
      for (std::size_t joint = 0; joint < count; ++joint) {
        json.on_one_line().begin_object();
        writer.write_place(json, cell);
        write_joint(cell, joint);
        json.key("reward");
        write_reward(cell, joint);
        json.end_object();
      }
    }
    if (width[cell] <= 1) continue;  // there is nothing to say
    const GameWriter::Row first = row_of(cell, 0);
    bool same = true;
    for (std::size_t joint = 1; joint < count && same; ++joint) same = row_of(cell, joint) == first;
    for (std::size_t joint = 0; joint < (same ? 1 : count); ++joint) {
      json.on_one_line().begin_object();
      writer.write_place(json, cell);
      if (!same) write_joint(cell, joint);
      writer.write_next(json, cell, row_of(cell, joint));
      json.end_object();
    }
  }
  json.end_array();
}

void write_law(JsonWriter& json, GameWriter& writer, const CongestionGame& game) {
  const Frame& frame = game.frame();
  const CongestionOptions& tables = game.options();
  const std::size_t m = frame.num_players();
  const std::vector<std::string> routes = route_names(writer, game);
  const std::vector<std::uint32_t> width = frame.next_states();
  json.key("congestion").begin_object().key("routes").on_one_line().begin_array();
  for (const std::string& name : routes) json.value(name);
  json.end_array().key("rules").begin_array();
  std::size_t row = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    for (std::size_t b = 0; b < routes.size(); ++b, row += width[cell]) {
      if (writer.terminal(cell)) continue;
      const std::size_t item = cell * routes.size() + b;
      json.on_one_line().begin_object();
      writer.write_place(json, cell);
      json.member("route", routes[b]).key("reward").begin_array();
      for (std::size_t n = 0; n < m; ++n) json.value(tables.rewards[item * m + n]);
      json.end_array();
      if (tables.base[item] != 0.0) json.member("base", tables.base[item]);
      if (width[cell] > 1) {
        const auto next = std::span(tables.transitions).subspan(row, width[cell]);
        writer.write_next(json, cell, GameWriter::row_of(next));
      }
      json.end_object();
    }
  }
  json.end_array().end_object();
}

void write_law(JsonWriter& json, GameWriter& writer, const PolymatrixGame& game) {
  const Frame& frame = game.frame();
  const PolymatrixOptions& tables = game.options();
  const std::size_t m = frame.num_players();
  const std::vector<std::uint32_t> width = frame.next_states();
  json.key("polymatrix").begin_object().key("rules").begin_array();
  const auto begin_rule = [&](std::size_t cell, std::size_t player) {
    json.on_one_line().begin_object();
    writer.write_place(json, cell);
    json.member("player", writer.player(player));
  };
  std::size_t block = 0;
  std::size_t row = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    const std::size_t all_actions = begins[m];
    const auto pays = [&](std::size_t a, std::size_t b) {
      return tables.rewards[block + a * all_actions + b];
    };
    for (std::size_t i = 0; i < m && !writer.terminal(cell); ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        bool zero = true;
        for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
          for (std::size_t b = begins[j]; b < begins[j + 1]; ++b) zero = zero && pays(a, b) == 0.0;
        }
        if (zero) continue;
        begin_rule(cell, i);
        if (j != i) json.member("against", writer.player(j));
        json.key("payoffs").begin_array();
        for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
          if (j == i) {
            json.value(pays(a, a));
            continue;
          }
          json.begin_array();
          for (std::size_t b = begins[j]; b < begins[j + 1]; ++b) json.value(pays(a, b));
          json.end_array();
        }
        json.end_array().end_object();
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t a = begins[i]; a < begins[i + 1]; ++a, row += width[cell]) {
        if (writer.terminal(cell) || width[cell] <= 1) continue;
        begin_rule(cell, i);
        json.member("action", writer.action(cell, i, a - begins[i]));
        const auto next = std::span(tables.transitions).subspan(row, width[cell]);
        writer.write_next(json, cell, GameWriter::row_of(next));
        json.end_object();
      }
    }
    block += all_actions * all_actions;
  }
  const double equal = 1.0 / static_cast<double>(m);
  if (std::any_of(tables.weights.begin(), tables.weights.end(),
                  [&](double weight) { return weight != equal; })) {
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (std::size_t i = 0; i < m && !writer.terminal(cell); ++i) {
        begin_rule(cell, i);
        json.member("weight", tables.weights[cell * m + i]).end_object();
      }
    }
  }
  json.end_array().end_object();
}

void write_law(JsonWriter& /*json*/, GameWriter& /*writer*/, const CallbackGame& /*game*/) {
  throw Error(ErrorKind::usage, "game", "a game that a program computes has no tables to write");
}

/// Whether a cell pays nothing, whatever is done, and stays where it is.
template <class Rows>
bool is_still(const TabularGame<Rows>& game, std::size_t cell) {
  // One joint action: nobody has a choice.
  for (const Player player : all<Player>(game.frame().num_players())) {
    if (game.user_reward(player, cell, 0) != 0.0) return false;
  }
  bool stays = false;
  game.rows().for_each(cell, 0, [&](State s, double p) { stays = s.index() == cell && p == 1.0; });
  return stays;
}

bool is_still(const CongestionGame& game, std::size_t cell) {
  const CongestionOptions& tables = game.options();
  const std::size_t routes = game.num_routes();
  const std::size_t m = game.frame().num_players();
  const std::size_t states = game.frame().max_states();
  std::size_t routes_used = 0;  // an action of a terminal state means the first route
  std::size_t at = 0;
  for (std::size_t before = 0; before < cell; ++before) at += game.frame().begins_of_cell(before)[m];
  for (std::size_t i = 0; i < m; ++i) routes_used += tables.routes[at + i];
  if (routes_used != 0) return false;
  for (std::size_t b = 0; b < routes; ++b) {
    const std::size_t item = cell * routes + b;
    const auto rewards = std::span(tables.rewards).subspan(item * m, m);
    if (tables.base[item] != 0.0 || std::count(rewards.begin(), rewards.end(), 0.0) !=
                                        static_cast<std::ptrdiff_t>(m)) {
      return false;
    }
    if (!is_single(std::span(tables.transitions).subspan(item * states, states), cell)) return false;
  }
  return true;
}

bool is_still(const PolymatrixGame& /*game*/, std::size_t /*cell*/) { return false; }
bool is_still(const CallbackGame& /*game*/, std::size_t /*cell*/) { return false; }

Error too_large() {
  return {ErrorKind::usage, "game", "is too large for JSON",
          "write it as an array container: FILE.safetensors"};
}

/// Refuses what the reader would refuse, before a text of that size is made.
void check_size(const AnyGame& game) {
  const Frame& frame = frame_of(game);
  std::optional<std::uint64_t> numbers = 0;
  const bool table =
      std::holds_alternative<DenseGame>(game) || std::holds_alternative<SparseGame>(game);
  for (std::size_t cell = 0; cell < frame.num_cells() && table && numbers; ++cell) {
    const auto joint = frame.num_joint_actions(cell);
    const auto own = joint ? checked_multiply(*joint, frame.num_players() + 1) : std::nullopt;
    numbers = own ? checked_add(*numbers, *own) : std::nullopt;
  }
  if (!numbers || *numbers > kMaxJsonNumbers || frame.num_cells() > kMaxJsonNumbers) {
    throw too_large();
  }
}

/// The same for the text.
void check_limits(const std::string& text) {
  try {
    static_cast<void>(JsonDocument::parse(text, "game", kGameJsonLimits));
  } catch (const Error&) {
    throw too_large();
  }
}

}  // namespace

std::string game_to_json(const LoadedGame& loaded) {
  check_size(loaded.game);
  const Frame& frame = frame_of(loaded.game);
  const auto make_writer = [&](const GameAbout& about) {
    GameWriter writer(about, frame);
    std::visit(
        [&](const auto& game) {
          writer.find_terminal([&](std::size_t cell) { return is_still(game, cell); });
        },
        loaded.game);
    return writer;
  };
  GameAbout about = loaded.about;
  bool with_actions = true;
  if (const auto* congestion = std::get_if<CongestionGame>(&loaded.game)) {
    const GameWriter writer = make_writer(loaded.about);
    with_actions = !has_all_routes(writer, *congestion);
    about.names = with_route_names(writer, *congestion, route_names(writer, *congestion));
  }
  GameWriter writer = make_writer(about);
  JsonWriter json;
  json.begin_object().member("format", "vlearn.game/1");
  writer.write_texts(json);
  writer.write_names(json, with_actions);
  writer.write_frame(json);
  std::visit([&](const auto& game) { write_law(json, writer, game); }, loaded.game);
  writer.write_known(json);
  std::string text = json.end_object().text() + "\n";
  check_limits(text);
  return text;
}

std::string about_to_json(const GameAbout& about, const Frame& frame) {
  const GameWriter writer(about, frame);
  JsonWriter json;
  json.begin_object();
  writer.write_texts(json);
  const GameNames& names = about.names;
  if (!names.players.empty() || !names.states.empty() || !names.action_list.empty()) {
    writer.write_names(json, true);
  }
  writer.write_known(json);
  return json.end_object().text() + "\n";
}

}  // namespace vlearn
