// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games as JSON texts that the reader turns into the same law and the same names.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "game_io_parts.h"
#include "json_shape.h"
#include "json_writer.h"
#include "vlearn/core/checked.h"

namespace vlearn {
namespace {

/// Tables of more players than this would be nested too deep.
constexpr std::size_t kMaxNested = 40;

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
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (!name.empty() && !taken.insert(name).second) return numbers;  // two routes of one name
  }
  // A route that nobody takes has its number, or what is free.
  for (std::size_t b = 0; b < names.size(); ++b) {
    if (!names[b].empty()) continue;
    names[b] = numbers[b];
    while (!taken.insert(names[b]).second) names[b] = "route " + names[b];
  }
  return names;
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

/// Rewards of one cell as a nested table.
template <class WriteReward>
void write_payoffs(JsonWriter& json,
                   std::span<const std::uint32_t> begins,
                   std::size_t joints,
                   const WriteReward& write_reward) {
  json.key("payoffs");
  // An array opens wherever all actions of the later players start anew.
  for (std::size_t joint = 0; joint < joints; ++joint) {
    std::size_t block = 1;
    std::size_t open = 0;
    std::size_t close = 0;
    for (std::size_t i = begins.size() - 1; i-- > 0;) {
      block *= begins[i + 1] - begins[i];
      open += joint % block == 0 ? 1 : 0;
      close += (joint + 1) % block == 0 ? 1 : 0;
    }
    for (std::size_t k = 0; k < open; ++k) json.begin_array();
    write_reward(joint);
    for (std::size_t k = 0; k < close; ++k) json.end_array();
  }
}

template <class Rows>
void write_law(JsonWriter& json, const GameWriter& writer, const TabularGame<Rows>& game) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  const std::size_t payers = frame.zero_sum() ? 1 : m;
  const JointIndex joints(frame);
  const std::vector<std::uint32_t> width = frame.next_states();
  const auto row_of = [&](std::size_t cell, std::size_t joint) {
    SparseRow row;
    if (width[cell] > 0) {
      game.rows().for_each(cell, joint, [&](State s, double p) { row.emplace_back(s.index(), p); });
    }
    return row;
  };
  const auto begin_rule = [&](std::size_t cell) {
    json.on_one_line().begin_object();
    writer.write_place(json, cell);
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
    const auto write_reward = [&](std::size_t joint) {
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
    if (m <= kMaxNested) {
      begin_rule(cell);
      write_payoffs(json, frame.begins_of_cell(cell), count, write_reward);
      json.end_object();
    }
    for (std::size_t joint = 0; joint < count && m > kMaxNested; ++joint) {
      begin_rule(cell);
      write_joint(cell, joint);
      json.key("reward");
      write_reward(joint);
      json.end_object();
    }
    const SparseRow first = row_of(cell, 0);
    bool same = true;
    for (std::size_t joint = 1; joint < count && same; ++joint) same = row_of(cell, joint) == first;
    if (same && writer.goes_without_saying(cell, first)) continue;
    for (std::size_t joint = 0; joint < (same ? 1 : count); ++joint) {
      begin_rule(cell);
      if (!same) write_joint(cell, joint);
      writer.write_next(json, cell, row_of(cell, joint));
      json.end_object();
    }
  }
  json.end_array();
}

void write_law(JsonWriter& json, const GameWriter& writer, const CongestionGame& game) {
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
      const SparseRow next = sparse_row(std::span(tables.transitions).subspan(row, width[cell]));
      if (!writer.goes_without_saying(cell, next)) writer.write_next(json, cell, next);
      json.end_object();
    }
  }
  json.end_array().end_object();
}

void write_law(JsonWriter& json, const GameWriter& writer, const PolymatrixGame& game) {
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
        const SparseRow next = sparse_row(std::span(tables.transitions).subspan(row, width[cell]));
        if (writer.terminal(cell) || writer.goes_without_saying(cell, next)) continue;
        begin_rule(cell, i);
        json.member("action", writer.action(cell, i, a - begins[i]));
        writer.write_next(json, cell, next);
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

void write_law(JsonWriter& /*json*/, const GameWriter& /*writer*/, const CallbackGame& /*game*/) {
  throw Error(ErrorKind::usage, "game", "a game that a program computes has no tables to write");
}

/// Whether a cell pays nothing and goes to `same` for sure, if it leads anywhere.
template <class Rows>
bool is_still(const TabularGame<Rows>& game, std::size_t cell, std::optional<std::size_t> same) {
  // One joint action: nobody has a choice.
  for (const Player player : all<Player>(game.frame().num_players())) {
    if (game.user_reward(player, cell, 0) != 0.0) return false;
  }
  if (!same) return true;
  bool stays = false;
  game.rows().for_each(cell, 0, [&](State s, double p) { stays = s.index() == *same && p == 1.0; });
  return stays;
}

bool is_still(const CongestionGame& game, std::size_t cell, std::optional<std::size_t> same) {
  const CongestionOptions& tables = game.options();
  const Frame& frame = game.frame();
  const std::size_t routes = game.num_routes();
  const std::size_t m = frame.num_players();
  const std::vector<std::uint32_t> width = frame.next_states();
  std::size_t first_route = 0;  // of the cell, in the list of everybody's routes
  std::size_t row = 0;          // in the table of rows
  for (std::size_t before = 0; before < cell; ++before) {
    first_route += frame.begins_of_cell(before)[m];
    row += routes * width[before];
  }
  // The reader lets the action of a terminal state mean the first route.
  for (std::size_t i = 0; i < m; ++i) {
    if (tables.routes[first_route + i] != 0) return false;
  }
  const SparseRow stays = {{same.value_or(0), 1.0}};
  for (std::size_t b = 0; b < routes; ++b, row += width[cell]) {
    const std::size_t item = cell * routes + b;
    if (tables.base[item] != 0.0) return false;
    for (const double reward : std::span(tables.rewards).subspan(item * m, m)) {
      if (reward != 0.0) return false;
    }
    const auto next = std::span(tables.transitions).subspan(row, width[cell]);
    if (same && sparse_row(next) != stays) return false;
  }
  return true;
}

bool is_still(const PolymatrixGame& game, std::size_t cell, std::optional<std::size_t> same) {
  const PolymatrixOptions& tables = game.options();
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  const std::vector<std::uint32_t> width = frame.next_states();
  std::size_t block = 0;
  std::size_t row = 0;
  for (std::size_t before = 0; before < cell; ++before) {
    const std::size_t actions = frame.begins_of_cell(before)[m];
    block += actions * actions;
    row += actions * width[before];
  }
  for (const double reward : std::span(tables.rewards).subspan(block, m * m)) {
    if (reward != 0.0) return false;
  }
  const SparseRow stays = {{same.value_or(0), 1.0}};
  for (std::size_t i = 0; i < m; ++i, row += width[cell]) {
    const auto next = std::span(tables.transitions).subspan(row, width[cell]);
    if (tables.weights[cell * m + i] != 1.0 / static_cast<double>(m)) return false;
    if (same && sparse_row(next) != stays) return false;
  }
  return true;
}

bool is_still(const CallbackGame& /*game*/,
              std::size_t /*cell*/,
              std::optional<std::size_t> /*same*/) {
  return false;
}

Error too_large() {
  return {ErrorKind::usage, "game", "is too large for JSON",
          "write it as an array container: FILE.safetensors"};
}

std::uint64_t num_row_entries(const std::vector<double>& probabilities) {
  return static_cast<std::uint64_t>(
      std::count_if(probabilities.begin(), probabilities.end(), [](double p) { return p > 0.0; }));
}
std::uint64_t num_row_entries(const SparseRows::Tables& tables) {
  return num_row_entries(tables.probabilities);
}

template <class Rows>
std::uint64_t num_numbers(const TabularGame<Rows>& game) {
  return game.rewards().size() + num_row_entries(game.rows().tables());
}
template <class Game>
std::uint64_t num_numbers(const Game& game) {
  return num_row_entries(game.options().rewards) + num_row_entries(game.options().transitions);
}
std::uint64_t num_numbers(const CallbackGame& /*game*/) { return 0; }

/// Refuses what the reader would refuse, before a text of that size is made.
void check_size(const AnyGame& game) {
  const std::uint64_t numbers =
      std::visit([](const auto& model) { return num_numbers(model); }, game);
  if (numbers > kGameJsonLimits.max_values) throw too_large();
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
          writer.find_terminal([&](std::size_t cell, std::optional<std::size_t> same) {
            return is_still(game, cell, same);
          });
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
  const GameWriter writer = make_writer(about);
  JsonWriter json;
  json.begin_object().member("format", "vlearn.game/1");
  writer.write_texts(json);
  writer.write_players(json);
  writer.write_states(json);
  if (with_actions) writer.write_actions(json);
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
  if (!names.players.empty()) writer.write_players(json);
  if (!names.states.empty()) writer.write_states(json);
  if (!names.action_list.empty()) writer.write_actions(json);
  writer.write_known(json);
  return json.end_object().text() + "\n";
}

}  // namespace vlearn
