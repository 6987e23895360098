// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The game: what it is, who plays, and what it looks like.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "figures.h"
#include "page_parts.h"

namespace vlearn {
namespace {

constexpr std::size_t kMostPlayers = 20;
constexpr std::size_t kFewPlayers = 8;

std::string range_text(std::size_t least, std::size_t most) {
  return least == most ? count(most) : count(least) + " to " + count(most);
}

std::string states_text(const GameView& game) {
  if (game.states.empty()) return {};
  const auto [least, most] = std::minmax_element(game.states.begin(), game.states.end());
  const std::size_t cells = std::accumulate(game.states.begin(), game.states.end(), std::size_t{0});
  return fmt::format("{} in a step, {} over all steps", range_text(*least, *most), count(cells));
}

/// Whether a table of players would say the same of all.
bool all_alike(const GameView& game) {
  const auto& ranges = game.reward_ranges;
  return game.players.size() > kFewPlayers && game.known.empty() && !ranges.empty() &&
         std::all_of(ranges.begin(), ranges.end(),
                     [&](const auto& range) { return range == ranges.front(); });
}

void add_facts(Html& html, const GameView& game) {
  html.open("dl", {{"class", "facts"}});
  add_fact(html, "named", game.word);
  add_fact(html, "title", game.title);
  add_fact(html, "source", game.source);
  add_fact(html, "note", game.note);
  add_fact(html, "players",
           fmt::format("{}{}", count(game.players.size()), game.zero_sum ? ", zero-sum" : ""));
  add_fact(html, "horizon", plural(game.horizon, "step"));
  add_fact(html, "states", states_text(game));
  add_fact(html, "actions", range_text(game.fewest_actions, game.most_actions) + " of a player");
  if (all_alike(game)) {
    const auto& [low, high] = game.reward_ranges.front();
    add_fact(html, "rewards",
             fmt::format("{} to {} in a step, for everybody", figure(low), figure(high)));
  }
  add_fact(html, "model", game.model);
  html.close();
}

void add_players(Html& html, const RunView& run) {
  const GameView& game = run.game;
  std::vector<Column> columns = {{"player"}, {"least reward of a step", true}, {"largest", true}};
  std::vector<std::string> titles;
  titles.reserve(game.known.size());
  // "nash: von Neumann (1928)": the word goes into the table, the source below it.
  for (const auto& known : game.known) {
    titles.push_back("known value, " + known.first.substr(0, known.first.find(':')));
  }
  for (const std::string& title : titles) columns.push_back({title, true});
  const Certificate* certificate = certificate_of(run);
  if (certificate != nullptr && !titles.empty()) columns.push_back({"value of this policy", true});
  {
    TableWriter table(html, "Players", columns);
    const std::size_t shown = std::min(game.players.size(), kMostPlayers);
    for (std::size_t i = 0; i < shown; ++i) {
      const bool ranged = i < game.reward_ranges.size();
      table.row().head(player_name(run, i));
      table.cell(ranged ? figure(game.reward_ranges[i].first) : "?");
      table.cell(ranged ? figure(game.reward_ranges[i].second) : "?");
      for (const auto& known : game.known) {
        table.cell(i < known.second.size() ? figure(known.second[i], 6) : "–");
      }
      if (certificate != nullptr && !titles.empty()) {
        table.cell(i < certificate->players.size() ? bounds(certificate->players[i].value_lower,
                                                            certificate->players[i].value_upper)
                                                   : "–");
      }
    }
  }
  for (const auto& known : game.known) {
    html.open("p", {{"class", "note"}}).raw("Known, ").name(known.first).raw(".").close();
  }
  if (game.players.size() > kMostPlayers) {
    html.element("p",
                 fmt::format("And {} players more.", count(game.players.size() - kMostPlayers)),
                 {{"class", "note"}});
  }
}

void open_figure(Html& html, std::string_view label) {
  html.open(
      "div",
      {{"class", "scroll figure"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", label}});
}

void add_graph(Html& html, const RunView& run) {
  const StateGraph& graph = *run.game.graph;
  const std::string picture = state_graph({"graph", "States and the ways between them",
                                           fmt::format("{} columns, one for each step; {} ways.",
                                                       run.game.states.size(), graph.edges.size())},
                                          run.game.states, graph, graph.reach, cell_names(run));
  if (picture.empty()) return;
  html.element("h3", "States");
  open_figure(html, "State graph");
  html.raw(picture).close();
  html.element(
      "p",
      graph.uniform
          ? "Columns are steps. The area of a state is how likely uniform play, not the "
            "output of this run, comes there, the width of a way how likely it takes it."
          : "Columns are steps. The area of a state is how likely an execution comes there, "
            "the width of a way how likely it is taken from its state.",
      {{"class", "note"}});
}

void add_board(Html& html, const RunView& run) {
  const Board& board = *run.game.board;
  if (!run.game.first_state) return;
  const State s{*run.game.first_state};
  if (s.index() >= board.positions.size() || board.rows <= 0 || board.columns <= 0) return;
  html.element("h3", "Board");
  open_figure(html, "Board");
  html.raw(board_picture({"board", "The board as an episode begins",
                          fmt::format("{} rows and {} columns with {} pieces.", board.rows,
                                      board.columns, board.positions[s.index()].players.size())},
                         board, board.positions[s.index()]));
  html.close();
  std::string text = "Where an episode most often begins. Pieces have the numbers of their players";
  for (const BoardPosition& position : board.positions) {
    if (!position.ball) continue;
    text += "; the small dot is the ball";
    break;
  }
  html.element("p", text + ".", {{"class", "note"}});
}

}  // namespace

void add_game(Html& html, const RunView& run) {
  open_section(html, "game", "The game");
  add_facts(html, run.game);
  if (!all_alike(run.game)) add_players(html, run);
  if (run.game.graph) add_graph(html, run);
  if (run.game.board) add_board(html, run);
  html.close();
}

}  // namespace vlearn
