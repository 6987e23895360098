// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// soccer: Littman, "Markov games as a framework for multi-agent reinforcement learning" (1994).
// pursuit: one chases, one flees.
// grid-game-1, grid-game-2: Hu and Wellman, "Nash Q-learning for general-sum stochastic games"
// (2003); Greenwald and Hall, "Correlated-Q learning" (2003).
#include <array>
#include <map>
#include <vector>

#include "families.h"
#include "grid.h"

namespace vlearn {
namespace {

using namespace grid;

/// Collects the rows of a game, in the order of their joint actions.
struct Collector {
  std::vector<double> rewards;
  SparseRows::Tables rows;

  /// Of a zero-sum game: the first player's reward.
  void add(double reward, const std::map<std::uint32_t, double>& row) {
    rewards.push_back(reward);
    add(row);
  }
  void add(const std::map<std::uint32_t, double>& row) {
    for (const auto& [state, probability] : row) {
      rows.successors.push_back(state);
      rows.probabilities.push_back(probability);
    }
    rows.begins.push_back(rows.successors.size());
  }
};

/// Of two players whose moves lead to a few states each.
GameSize size_of_grid(std::uint64_t horizon, std::uint64_t states, std::uint64_t actions) {
  return {.players = 2,
          .horizon = horizon,
          .states = states,
          .actions = actions,
          .numbers = 4 * states * actions * actions};
}

// ------------------------------------------------------------------------------------- soccer

constexpr std::uint32_t kSoccerStates = 2 * kPlaces * (kPlaces - 1);

std::uint64_t read_soccer(Parameters& parameters) {
  const std::uint64_t horizon = parameters.integer("horizon", 10, 1, 10'000);
  parameters.finish();
  return horizon;
}

/// Carries out one player's move; true when it scores: player 1 to the left, player 2 to the right,
/// through the two middle rows.
bool play(Pitch& pitch, std::size_t player, std::size_t move) {
  const Cell to = moved(pitch.at.at(player), move);
  const bool has_ball = pitch.owner == static_cast<int>(player);
  const int goal = player == 0 ? -1 : kColumns;
  if (has_ball && to.column == goal && (to.row == 1 || to.row == 2)) return true;
  if (to.row < 0 || to.row >= kRows || to.column < 0 || to.column >= kColumns) return false;
  if (to == pitch.at.at(1 - player)) {
    pitch.owner = static_cast<int>(1 - player);  // the one who stands gets or keeps the ball
    return false;
  }
  pitch.at.at(player) = to;
  return false;
}

/// Both moves in both orders, each with probability 1/2. A goal starts anew, either one with the
/// ball. A reward depends on state and moves alone, so a goal pays its probability.
void add_soccer_row(std::uint32_t state, std::array<std::size_t, 2> moves, Collector& tables) {
  double reward = 0.0;
  std::map<std::uint32_t, double> row;
  for (const std::size_t first : {0U, 1U}) {
    Pitch pitch = pitch_of(state);
    std::size_t scorer = 2;
    for (const std::size_t player : {first, 1 - first}) {
      if (scorer == 2 && play(pitch, player, moves.at(player))) scorer = player;
    }
    if (scorer == 2) {
      row[state_of(pitch)] += 0.5;
      continue;
    }
    reward += scorer == 0 ? 0.5 : -0.5;
    for (const int owner : {0, 1}) row[state_of({kKickOff, owner})] += 0.25;
  }
  tables.add(reward, row);
}

// ------------------------------------------------------------------------------------ pursuit

constexpr double kSlip = 0.2;  // how often the one who flees stays where it is

struct PursuitParameters {
  int size;
  std::uint64_t horizon;
};

PursuitParameters read_pursuit(Parameters& parameters) {
  const auto size = static_cast<int>(parameters.integer("size", 4, 2, 12));
  const std::uint64_t horizon = parameters.integer("horizon", 10, 1, 10'000);
  parameters.finish();
  return {size, horizon};
}

std::vector<std::size_t> legal_moves(Cell from, int size) {
  std::vector<std::size_t> legal;
  for (std::size_t move = 0; move < kMoves.size(); ++move) {
    const Cell to = moved(from, move);
    if (to.row >= 0 && to.row < size && to.column >= 0 && to.column < size) legal.push_back(move);
  }
  return legal;
}

// ------------------------------------------------------------------------------- corner games

constexpr std::size_t kWays = 4;  // the first four of kMoves
constexpr double kPrize = 100.0;
constexpr double kFine = 1.0;

struct Meeting {
  std::array<Cell, 2> at;
  std::array<double, 2> rewards = {0.0, 0.0};
  bool over = false;
};

/// Both want to be somewhere.
Meeting meet(const CornerRules& rules, std::array<Cell, 2> from, std::array<Cell, 2> to) {
  const std::array<bool, 2> arrived = {to[0] == rules.goals[0], to[1] == rules.goals[1]};
  const bool crash = to[0] == to[1] && !(arrived[0] && arrived[1]);
  const bool swap = to[0] == from[1] && to[1] == from[0];
  if (crash || swap) return {.at = from, .rewards = {-kFine, -kFine}};
  return {.at = to,
          .rewards = {arrived[0] ? kPrize : 0.0, arrived[1] ? kPrize : 0.0},
          .over = arrived[0] || arrived[1]};
}

/// How often a move gets anywhere.
double passing(const CornerRules& rules, Cell from, std::size_t way) {
  const bool barrier = rules.barriers && way == 0 && (from == kCorners[0] || from == kCorners[1]);
  return barrier ? 0.5 : 1.0;
}

Cell wanted(Cell from, std::size_t way) {
  const Cell to = moved(from, way);
  const bool inside = to.row >= 0 && to.row < kSide && to.column >= 0 && to.column < kSide;
  return inside ? to : from;
}

/// All pairs of squares, and one state more: over.
constexpr std::uint32_t kCornerStates = kSide * kSide * (kSide * kSide - 1) + 1;

struct CornerParameters {
  std::uint64_t horizon;
  double discount;
};

CornerParameters read_corner_game(Parameters& parameters) {
  const std::uint64_t horizon = parameters.integer("horizon", 10, 1, 10'000);
  const double discount = parameters.number("discount", 0.9, 0.0, 1.0);
  parameters.finish();
  return {horizon, discount};
}

// Two players on a board of 3 by 3 squares, in its lower corners at first, move at once: north,
// south, east or west; who would leave the board wants to stay. If both want the same square
// (unless it is the goal of both) or each the other's, both stay and pay a fine of 1. In the second
// game a move north out of a lower corner succeeds one time in two. Reaching one's goal pays 100,
// and the game is over as soon as somebody has, or, after any step, with probability 1 - discount.
// A reward depends on state and moves alone, so what is paid is its mean.
AnyGame make_corner_game(Parameters& parameters, const CornerRules& rules) {
  const auto [horizon, discount] = read_corner_game(parameters);
  constexpr int places = kSide * kSide;
  const auto cell_of = [](int place) { return Cell{place / kSide, place % kSide}; };
  const auto number = [](const std::array<Cell, 2>& at) {
    const int first = at[0].row * kSide + at[0].column;
    const int second = at[1].row * kSide + at[1].column;
    return static_cast<std::uint32_t>(pair_of(first, second, places));
  };
  constexpr std::uint32_t over = kCornerStates - 1;  // the state after all pairs of squares
  FrameOptions options{.num_players = 2,
                       .horizon = horizon,
                       .stationary = true,
                       .num_states = {over + 1},
                       .ranges = {{-kFine, kPrize}},
                       .ends_early = true};
  options.initial.assign(over + 1, 0.0);
  options.initial[number(kCorners)] = 1.0;
  Collector tables;
  for (std::uint32_t state = 0; state < over; ++state) {
    options.num_actions.insert(options.num_actions.end(), 2, kWays);
    const auto [first, second] = places_of(static_cast<int>(state), places);
    const std::array<Cell, 2> from = {cell_of(first), cell_of(second)};
    const std::size_t begin = tables.rewards.size();
    tables.rewards.resize(begin + 2 * kWays * kWays, 0.0);
    for (std::size_t joint = 0; joint < kWays * kWays; ++joint) {
      const std::array<std::size_t, 2> ways = {joint / kWays, joint % kWays};
      std::map<std::uint32_t, double> row;
      for (const unsigned stuck : {0U, 1U, 2U, 3U}) {  // bit i: player i is held by the barrier
        double chance = 1.0;
        std::array<Cell, 2> to = from;
        for (std::size_t i = 0; i < 2; ++i) {
          const double passes = passing(rules, from.at(i), ways.at(i));
          const bool held = ((stuck >> i) & 1U) != 0;
          chance *= held ? 1.0 - passes : passes;
          if (!held) to.at(i) = wanted(from.at(i), ways.at(i));
        }
        if (chance == 0.0) continue;
        const Meeting meeting = meet(rules, from, to);
        const double survival = meeting.over ? 0.0 : discount;
        if (survival > 0.0) row[number(meeting.at)] += chance * survival;
        if (survival < 1.0) row[over] += chance * (1.0 - survival);
        for (std::size_t i = 0; i < 2; ++i) {
          tables.rewards[begin + i * kWays * kWays + joint] += chance * meeting.rewards.at(i);
        }
      }
      tables.add(row);
    }
  }
  options.num_actions.insert(options.num_actions.end(), 2, 1U);
  tables.rewards.insert(tables.rewards.end(), 2, 0.0);
  tables.add({{over, 1.0}});
  return SparseGame(Frame(std::move(options)), std::move(tables.rewards), std::move(tables.rows));
}

}  // namespace

GameSize size_of_soccer(Parameters& parameters) {
  return size_of_grid(read_soccer(parameters), kSoccerStates, kMoves.size());
}

GameSize size_of_pursuit(Parameters& parameters) {
  const auto [size, horizon] = read_pursuit(parameters);
  const auto places = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(size);
  // On a board of 2 by 2 every square is a corner: two ways out, and staying.
  return size_of_grid(horizon, places * places + 1, size == 2 ? 3 : kMoves.size());
}

GameSize size_of_grid_game(Parameters& parameters) {
  return size_of_grid(read_corner_game(parameters).horizon, kCornerStates, kWays);
}

AnyGame make_grid_game_1(Parameters& parameters) {
  return make_corner_game(parameters, kGridGame1);
}

AnyGame make_grid_game_2(Parameters& parameters) {
  return make_corner_game(parameters, kGridGame2);
}

AnyGame make_soccer(Parameters& parameters) {
  const std::uint64_t horizon = read_soccer(parameters);
  const std::uint32_t states = kSoccerStates;
  std::vector<double> initial(states, 0.0);
  for (const int owner : {0, 1}) initial[state_of({kKickOff, owner})] = 0.5;
  const Frame frame({.num_players = 2,
                     .horizon = horizon,
                     .stationary = true,
                     .num_states = {states},
                     .num_actions = {5, 5},
                     .initial = initial,
                     .ranges = {{-1.0, 1.0}},
                     .zero_sum = true});
  Collector tables;
  for (std::uint32_t state = 0; state < states; ++state) {
    for (std::size_t first = 0; first < kMoves.size(); ++first) {
      for (std::size_t second = 0; second < kMoves.size(); ++second) {
        add_soccer_row(state, {first, second}, tables);
      }
    }
  }
  return SparseGame(frame, std::move(tables.rewards), std::move(tables.rows));
}

// On a square board the first player chases the second; both move at once, to a neighbouring square
// or not at all, and the second slips one time in five. Caught (the same square, or places swapped)
// ends the game: the chaser gets 1. A reward depends on state and moves alone, so what is paid is
// the probability of being caught. Only moves that stay on the board are legal.
AnyGame make_pursuit(Parameters& parameters) {
  const auto [size, horizon] = read_pursuit(parameters);
  const int places = size * size;
  const auto cell_of = [size = size](int place) { return Cell{place / size, place % size}; };
  const auto number = [size = size, places](Cell chaser, Cell other) {
    return static_cast<std::uint32_t>((chaser.row * size + chaser.column) * places +
                                      other.row * size + other.column);
  };
  // All pairs of places, and one state more: caught. (Pairs on one square are never reached.)
  const auto caught = static_cast<std::uint32_t>(places * places);
  FrameOptions options{.num_players = 2,
                       .horizon = horizon,
                       .stationary = true,
                       .num_states = {caught + 1},
                       .ranges = {{0.0, 1.0}, {-1.0, 0.0}},
                       .ends_early = true,
                       .zero_sum = true};
  options.initial.assign(caught + 1, 0.0);
  options.initial[number({0, 0}, {size - 1, size - 1})] = 1.0;
  Collector tables;
  for (int pair = 0; pair < places * places; ++pair) {
    const Cell chaser = cell_of(pair / places);
    const Cell other = cell_of(pair % places);
    const std::vector<std::size_t> first = legal_moves(chaser, size);
    const std::vector<std::size_t> second = legal_moves(other, size);
    options.num_actions.push_back(static_cast<std::uint32_t>(first.size()));
    options.num_actions.push_back(static_cast<std::uint32_t>(second.size()));
    for (const std::size_t a : first) {
      for (const std::size_t b : second) {
        const Cell to = moved(chaser, a);
        double reward = 0.0;
        std::map<std::uint32_t, double> row;
        for (const bool slips : {false, true}) {
          const double chance = slips ? kSlip : 1.0 - kSlip;
          const Cell away = slips ? other : moved(other, b);
          const bool swapped = to == other && away == chaser;
          const bool is_caught = chaser == other || to == away || swapped;
          row[is_caught ? caught : number(to, away)] += chance;
          if (is_caught && !(chaser == other)) reward += chance;
        }
        tables.add(reward, row);
      }
    }
  }
  options.num_actions.insert(options.num_actions.end(), {1U, 1U});
  tables.add(0.0, {{caught, 1.0}});
  return SparseGame(Frame(std::move(options)), std::move(tables.rewards), std::move(tables.rows));
}

}  // namespace vlearn
