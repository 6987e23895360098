// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "json_writer.h"

#include <algorithm>
#include <map>

#include "json_shape.h"

namespace vlearn {
namespace {

void write_list(JsonWriter& json, const std::vector<std::string>& names, std::size_t count) {
  if (names.empty()) {
    json.value(std::uint64_t{count});
    return;
  }
  json.on_one_line().begin_array();
  for (const std::string& name : names) json.value(name);
  json.end_array();
}

/// A distribution by names: one name, or an object.
template <class Name>
void write_row(JsonWriter& json, const SparseRow& row, const Name& name) {
  if (row.size() == 1 && row[0].second == 1.0) {
    json.value(name(row[0].first));
    return;
  }
  json.on_one_line().begin_object();
  for (const auto& [index, probability] : row) json.member(name(index), probability);
  json.end_object();
}

}  // namespace

SparseRow sparse_row(std::span<const double> row) {
  SparseRow entries;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > 0.0) entries.emplace_back(i, row[i]);
  }
  return entries;
}

GameWriter::GameWriter(const GameAbout& about, const Frame& frame)
    : about_(about),
      frame_(frame),
      many_states_(frame.max_states() > 1),
      next_states_(frame.next_states()),
      places_(frame.num_cells()),
      terminal_(frame.num_cells(), false) {
  about.names.check(frame);
  for (const Step h : all<Step>(frame.num_layers())) {
    for (const State s : all<State>(frame.num_states(h))) places_[frame.cell(h, s)] = {h, s};
  }
}

std::string GameWriter::action(std::size_t cell, std::size_t player, std::size_t a) const {
  const Place& place = places_[cell];
  return names().action(frame_, Player(player), place.h, place.s, Action(a));
}

std::string GameWriter::state(std::size_t cell) const {
  return names().state(places_[cell].h, places_[cell].s);
}

std::vector<std::vector<std::size_t>> GameWriter::cells_by_state_name() const {
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<std::size_t>> cells;
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    const auto [place, fresh] = known.try_emplace(state(cell), cells.size());
    if (fresh) cells.emplace_back();
    cells[place->second].push_back(cell);
  }
  return cells;
}

void GameWriter::find_terminal(const IsStill& is_still) {
  for (const Player player : all<Player>(frame_.num_players())) {
    const RewardRange& range = frame_.range(player);
    if (range.low > 0.0 || range.high < 0.0) return;  // 0 would widen it
  }
  if (frame_.zero_sum() && frame_.range(Player(1)) != frame_.range(Player(0)).negated()) return;
  std::size_t found = 0;
  for (const std::vector<std::size_t>& cells : cells_by_state_name()) {
    // A state is terminal in all steps that have it, and these go on to the last.
    bool over = places_[cells.back()].h.index() + 1 == frame_.num_layers();
    for (std::size_t k = 0; k < cells.size() && over; ++k) {
      const std::size_t cell = cells[k];
      over = frame_.begins_of_cell(cell).back() == frame_.num_players();
      for (std::size_t i = 0; i < frame_.num_players() && over; ++i) {
        over = action(cell, i, 0) == kOver;
      }
      const bool again = frame_.stationary() || k + 1 == cells.size() ||
                         places_[cells[k + 1]].h == places_[cell].h.next();
      std::optional<std::size_t> same;
      if (frame_.stationary()) same = places_[cell].s.index();
      if (!frame_.stationary() && k + 1 < cells.size()) same = places_[cells[k + 1]].s.index();
      over = over && again && is_still(cell, same);
    }
    if (!over) continue;
    for (const std::size_t cell : cells) terminal_[cell] = true;
    found += cells.size();
  }
  if (found == frame_.num_cells()) terminal_.assign(frame_.num_cells(), false);
}

void GameWriter::write_texts(JsonWriter& json) const {
  if (!about_.title.empty()) json.member("title", about_.title);
  if (!about_.source.empty()) json.member("source", about_.source);
  if (!about_.note.empty()) json.member("note", about_.note);
}

void GameWriter::write_players(JsonWriter& json) const {
  json.key("players");
  write_list(json, names().players, frame_.num_players());
}

void GameWriter::write_states(JsonWriter& json) const {
  const std::vector<std::vector<std::string>>& lists = names().states;
  bool same = lists.size() <= 1;
  for (const Step h : all<Step>(frame_.num_layers())) {
    same = same && frame_.num_states(h) == frame_.num_states(Step(0));
  }
  const auto list_of = [&](Step h) {
    return lists.empty() ? std::vector<std::string>() : lists[lists.size() == 1 ? 0 : h.index()];
  };
  json.key("states");
  if (same) {
    write_list(json, list_of(Step(0)), frame_.num_states(Step(0)));
    return;
  }
  json.begin_array();
  for (const Step h : all<Step>(frame_.num_layers())) {
    write_list(json, list_of(h), frame_.num_states(h));
  }
  json.end_array();
}

GameWriter::ActionList GameWriter::action_list(std::size_t cell, std::size_t player) const {
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  ActionList list{{}, begins[player + 1] - begins[player]};
  const std::vector<std::uint32_t>& index = names().action_list;
  if (!index.empty()) {
    const std::size_t m = frame_.num_players();
    list.names = names().action_lists[index[(index.size() == m ? 0 : cell * m) + player]];
  }
  return list;
}

void GameWriter::write_actions(JsonWriter& json) const {
  const std::size_t m = frame_.num_players();
  std::size_t first = 0;
  while (terminal(first)) ++first;
  bool same_cells = true;
  bool same_players = true;
  for (std::size_t cell = first; cell < frame_.num_cells(); ++cell) {
    if (terminal(cell)) continue;
    for (std::size_t i = 0; i < m && same_cells; ++i) {
      const ActionList list = action_list(cell, i);
      same_cells = list == action_list(first, i);
      same_players = same_players && list == action_list(first, 0);
    }
  }
  json.key("actions");
  const auto write = [&](const ActionList& list) { write_list(json, list.names, list.count); };
  if (!same_cells) {
    write_action_rules(json, action_list(first, 0));
  } else if (same_players) {
    write(action_list(first, 0));
  } else {
    json.begin_object();
    for (std::size_t i = 0; i < m; ++i) {
      json.key(player(i));
      write(action_list(first, i));
    }
    json.end_object();
  }
}

/// Exceptions first, then what holds for all others.
void GameWriter::write_action_rules(JsonWriter& json, const ActionList& usual) const {
  const std::size_t m = frame_.num_players();
  json.begin_array();
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    if (terminal(cell)) continue;
    bool all_same = true;
    for (std::size_t i = 1; i < m; ++i) {
      all_same = all_same && action_list(cell, i) == action_list(cell, 0);
    }
    for (std::size_t i = 0; i < (all_same ? 1 : m); ++i) {
      const ActionList list = action_list(cell, i);
      if (list == usual) continue;
      json.on_one_line().begin_object();
      write_place(json, cell);
      if (!all_same) json.member("player", player(i));
      json.key("actions");
      write_list(json, list.names, list.count);
      json.end_object();
    }
  }
  json.on_one_line().begin_object().key("actions");
  write_list(json, usual.names, usual.count);
  json.end_object().end_array();
}

void GameWriter::write_frame(JsonWriter& json) const {
  json.member("horizon", std::uint64_t{frame_.horizon()});
  if (!frame_.stationary()) json.member("stationary", false);
  const SparseRow initial = sparse_row(frame_.initial());
  if (initial != SparseRow{{0, 1.0}}) {
    json.key("initial");
    write_row(json, initial, [&](std::size_t s) { return names().state(Step(0), State(s)); });
  }
  std::vector<std::string> over;
  for (const std::vector<std::size_t>& cells : cells_by_state_name()) {
    if (terminal(cells[0])) over.push_back(state(cells[0]));
  }
  if (!over.empty()) {
    json.key("terminal");
    write_list(json, over, over.size());
  }
  if (frame_.zero_sum()) json.member("zero_sum", true);
  write_ranges(json);
  if (frame_.noise() == RewardNoise::bernoulli) json.member("noise", "bernoulli");
  if (frame_.noise() == RewardNoise::uniform) json.member("noise", "uniform");
}

void GameWriter::write_ranges(JsonWriter& json) const {
  const RewardRange& first = frame_.range(Player(0));
  const auto write = [&](const RewardRange& range) {
    json.on_one_line().begin_array().value(range.low).value(range.high).end_array();
  };
  bool one = true;
  for (const Player player : all<Player>(frame_.num_players())) {
    one = one && frame_.range(player) == first;
  }
  if (frame_.zero_sum()) one = frame_.range(Player(1)) == first.negated();
  json.key("range");
  if (one) {
    write(first);
    return;
  }
  json.begin_array();
  for (const Player player : all<Player>(frame_.num_players())) write(frame_.range(player));
  json.end_array();
}

void GameWriter::write_place(JsonWriter& json, std::size_t cell) const {
  if (!frame_.stationary()) {
    json.member("step", static_cast<std::uint64_t>(places_[cell].h.number()));
  }
  if (many_states_) json.member("state", state(cell));
}

bool GameWriter::goes_without_saying(std::size_t cell, const SparseRow& row) const {
  return next_states_[cell] == 0 || (next_states_[cell] == 1 && row == SparseRow{{0, 1.0}});
}

void GameWriter::write_next(JsonWriter& json, std::size_t cell, const SparseRow& row) const {
  const Step h = frame_.stationary() ? Step(0) : places_[cell].h.next();
  json.key("next");
  write_row(json, row, [&](std::size_t s) { return names().state(h, State(s)); });
}

void GameWriter::write_known(JsonWriter& json) const {
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

void GameWriter::write_play(JsonWriter& json,
                            std::size_t cell,
                            std::span<const double> policies) const {
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  json.begin_array();
  for (std::size_t i = 0; i < frame_.num_players(); ++i) {
    write_row(json, sparse_row(policies.subspan(begins[i], begins[i + 1] - begins[i])),
              [&](std::size_t a) { return action(cell, i, a); });
  }
  json.end_array();
}

void GameWriter::write_stage(JsonWriter& json,
                             std::size_t cell,
                             const std::vector<WeightedProfile>& stage) const {
  if (stage.size() == 1 && stage[0].weight == 1.0) {
    json.key("play");
    write_play(json, cell, stage[0].policies);
    return;
  }
  json.key("mix").begin_array();
  for (const WeightedProfile& part : stage) {
    json.begin_object().member("weight", part.weight).key("play");
    write_play(json, cell, part.policies);
    json.end_object();
  }
  json.end_array();
}

/// One rule for a state where all steps do the same, one for each step else; none where nobody has
/// a choice.
void GameWriter::write_policy(JsonWriter& json, const KnownSolution& known) const {
  struct Stage {
    Step h;
    State s;
    std::size_t cell;
    std::string text;
  };
  // Stages of one state name, in the order of steps.
  std::map<std::string, std::size_t> known_names;
  std::vector<std::vector<Stage>> states;
  std::size_t at = 0;
  for (const Step h : all<Step>(frame_.horizon())) {
    for (const State s : all<State>(frame_.num_states(h))) {
      const std::size_t cell = frame_.cell(h, s);
      JsonWriter text(JsonWriter::Layout::compact);
      text.begin_object();
      write_stage(text, cell, known.policy[at++]);
      const auto [place, fresh] = known_names.try_emplace(names().state(h, s), states.size());
      if (fresh) states.emplace_back();
      states[place->second].push_back({h, s, cell, text.text()});
    }
  }
  const auto has_choice = [&](const Stage& stage) {
    return frame_.begins_of_cell(stage.cell).back() != frame_.num_players();
  };
  std::vector<std::size_t> first_stage(frame_.horizon(), 0);
  for (std::size_t h = 1; h < frame_.horizon(); ++h) {
    first_stage[h] = first_stage[h - 1] + frame_.num_states(Step(h - 1));
  }
  const auto write_rule = [&](const Stage& stage, bool all_steps) {
    json.on_one_line().begin_object();
    if (!all_steps) json.member("step", static_cast<std::uint64_t>(stage.h.number()));
    if (states.size() > 1) json.member("state", names().state(stage.h, stage.s));
    write_stage(json, stage.cell, known.policy[first_stage[stage.h.index()] + stage.s.index()]);
    json.end_object();
  };
  json.key("policy").begin_array();
  for (const std::vector<Stage>& stages : states) {
    const auto chosen = std::find_if(stages.begin(), stages.end(), has_choice);
    if (chosen == stages.end()) continue;
    const bool same = std::all_of(stages.begin(), stages.end(),
                                  [&](const Stage& stage) { return stage.text == chosen->text; });
    for (const Stage& stage : stages) {
      if (same && &stage != &*chosen) continue;
      if (has_choice(stage)) write_rule(stage, same);
    }
  }
  json.end_array();
}

}  // namespace vlearn
