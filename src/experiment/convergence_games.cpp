// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games whose best replies go in circles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/text.h"
#include "vlearn/experiment/convergence.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

std::string game_text(std::size_t players, std::string_view rest) {
  return fmt::format(R"({{"format":"vlearn.game/1","players":{},{}}})", players, rest);
}

/// Rules of one round: everybody wants the action of the next player, the last one the action after
/// that of the first. `pays` is what action 1 pays, and every other.
std::string circle_rules(std::size_t players,
                         std::size_t actions,
                         std::array<double, 2> pays,
                         std::string_view condition) {
  std::string rules;
  for (std::size_t i = 1; i <= players; ++i) {
    for (std::size_t a = 1; a <= actions; ++a) {
      const bool last = i == players;
      const std::size_t seen = last ? (a + actions - 2) % actions + 1 : a;
      rules += fmt::format(R"({{{}"actions":{{"{}":"{}","{}":"{}"}},"reward":{{"{}":{}}}}},)",
                           condition, i, a, last ? 1 : i + 1, seen, i, pays[a == 1 ? 0 : 1]);
    }
  }
  return rules;
}

/// Shapley's game has two players and three actions, Jordan's three players and two actions. Action
/// 1 pays `first`, every other 1.
std::string circle(std::size_t players, std::size_t actions, double first = 1.0) {
  return game_text(players, fmt::format(R"("actions":{},"horizon":1,"rules":[{}{{"reward":0}}])",
                                        actions, circle_rules(players, actions, {first, 1.0}, "")));
}

/// The game four-friends of the catalogue, where a feast pays `stakes` times what a quarrel does.
/// Three are its own.
std::string friends(double stakes) {
  std::string rules;
  const auto round = [&](std::string_view state, double pays) {
    rules += circle_rules(4, 2, {pays, pays}, fmt::format(R"("state":"{}",)", state));
  };
  round("evening", (1.0 + stakes) / 2.0);
  round("feast", stakes);
  round("quarrel", 1.0);
  return game_text(
      4, fmt::format(R"("states":["evening","feast","quarrel"],"actions":2,"horizon":4,"rules":[{})"
                     R"({{"reward":0}},{{"count":{{"1":[0,4]}},"next":"feast"}},)"
                     R"({{"count":{{"1":2}},"next":"quarrel"}},{{"next":"evening"}}])",
                     rules));
}

/// Of each size the first five seeds with what CyclicGame promises.
struct RandomGames {
  std::size_t players;
  std::size_t actions;
  std::array<std::uint64_t, 5> seeds;
};
constexpr std::array<RandomGames, 4> kRandomGames = {{
    {2, 3, {26, 57, 65, 107, 151}},
    {2, 4, {11, 26, 38, 51, 54}},
    {2, 5, {12, 22, 44, 49, 50}},
    {3, 3, {75, 124, 128, 164, 189}},
}};

std::vector<CyclicGame> make_games() {
  std::vector<CyclicGame> games = {
      {"shapley", "Shapley's game", "shapley"},
      {"matching-pennies-3", "Jordan's matching pennies for three", "matching-pennies-3"},
      {"pennies-heads", "the same, but a player who wins with heads wins 2", circle(3, 2, 2.0)},
      {"pennies-4", "matching pennies for four", circle(4, 2)},
      {"bad-rps", "rock, paper, scissors, where a loss costs twice what a win pays", "bad-rps"},
      {"circle-4", "two players, four actions: Shapley's game with one action more", circle(2, 4)},
      {"circle-3-players", "three players, three actions: Shapley's game for three", circle(3, 3)},
      {"four-friends", "four steps, three states; stakes are 1, 2 and 3", "four-friends"},
      {"four-friends-6", "the same with stakes 1, 3.5 and 6", friends(6.0)},
      {"four-friends-9", "the same with stakes 1, 5 and 9", friends(9.0)},
      {"shapley-stakes", "three steps of Shapley's game, stakes 1, 2 and 3", "shapley-stakes"}};
  std::size_t number = 0;
  for (const auto& [players, actions, seeds] : kRandomGames) {
    for (const std::uint64_t seed : seeds) {
      const std::string word = fmt::format(
          "random:players={},states=1,actions={},horizon=1,seed={}", players, actions, seed);
      games.push_back({fmt::format("random-{}", ++number), word, word});
    }
  }
  return games;
}

}  // namespace

std::span<const CyclicGame> cyclic_games() {
  static const std::vector<CyclicGame> games = make_games();
  return games;
}

std::vector<CyclicGame> select_cyclic_games(std::span<const std::string> names) {
  std::vector<std::string_view> known;
  known.reserve(cyclic_games().size());
  for (const CyclicGame& game : cyclic_games()) known.push_back(game.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string fix = suggestion(name, known);
    if (fix.empty()) fix = fmt::format("want some of {}", fmt::join(known, ", "));
    throw Error(ErrorKind::usage, "--games",
                "'" + printable(name, 100) + "' is none of this experiment", fix);
  }
  std::vector<CyclicGame> chosen;
  for (const CyclicGame& game : cyclic_games()) {
    const bool named = std::find(names.begin(), names.end(), game.name) != names.end();
    if (names.empty() || named) chosen.push_back(game);
  }
  return chosen;
}

AnyGame load_cyclic_game(const CyclicGame& game) {
  const bool is_text = game.game.starts_with('{');
  return (is_text ? parse_game_json(game.game, game.name) : load_game(game.game)).game;
}

}  // namespace vlearn
