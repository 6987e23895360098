// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// soccer: Littman, "Markov games as a framework for multi-agent reinforcement learning" (1994).
// pursuit: one chases, one flees.
#include <array>
#include <map>
#include <vector>

#include "families.h"

namespace vlearn {
namespace {

struct Cell {
  int row = 0;
  int column = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// North, south, east, west, stand.
constexpr std::array<Cell, 5> kMoves = {{{-1, 0}, {1, 0}, {0, 1}, {0, -1}, {0, 0}}};

Cell moved(Cell from, std::size_t move) {
  return {from.row + kMoves.at(move).row, from.column + kMoves.at(move).column};
}

/// Collects the rows of a zero-sum game, in the order of their joint actions.
struct Collector {
  std::vector<double> rewards;  // of the first player
  SparseRows::Tables rows;

  void add(double reward, const std::map<std::uint32_t, double>& row) {
    rewards.push_back(reward);
    for (const auto& [state, probability] : row) {
      rows.successors.push_back(state);
      rows.probabilities.push_back(probability);
    }
    rows.begins.push_back(rows.successors.size());
  }
};

// ------------------------------------------------------------------------------------- soccer

constexpr int kRows = 4;
constexpr int kColumns = 5;
constexpr int kPlaces = kRows * kColumns;

/// Where the two players are and who has the ball.
struct Pitch {
  std::array<Cell, 2> at;
  int owner = 0;
};

constexpr std::array<Cell, 2> kKickOff = {{{2, 3}, {1, 1}}};  // player 1 right, player 2 left

int place_of(Cell cell) { return cell.row * kColumns + cell.column; }

/// Players never share a square: 20 * 19 pairs, times the owner of the ball.
std::uint32_t state_of(const Pitch& pitch) {
  const int first = place_of(pitch.at[0]);
  const int second = place_of(pitch.at[1]);
  const int pair = first * (kPlaces - 1) + (second > first ? second - 1 : second);
  return static_cast<std::uint32_t>(2 * pair + pitch.owner);
}

Pitch pitch_of(std::uint32_t state) {
  const int pair = static_cast<int>(state / 2);
  const int first = pair / (kPlaces - 1);
  const int rest = pair % (kPlaces - 1);
  const int second = rest >= first ? rest + 1 : rest;
  return {{Cell{first / kColumns, first % kColumns}, Cell{second / kColumns, second % kColumns}},
          static_cast<int>(state % 2)};
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

std::vector<std::size_t> legal_moves(Cell from, int size) {
  std::vector<std::size_t> legal;
  for (std::size_t move = 0; move < kMoves.size(); ++move) {
    const Cell to = moved(from, move);
    if (to.row >= 0 && to.row < size && to.column >= 0 && to.column < size) legal.push_back(move);
  }
  return legal;
}

}  // namespace

AnyGame make_soccer(Parameters& parameters) {
  const std::uint64_t horizon = parameters.integer("horizon", 10, 1, 10'000);
  parameters.finish();
  const std::uint32_t states = 2 * kPlaces * (kPlaces - 1);
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
  const auto size = static_cast<int>(parameters.integer("size", 4, 2, 12));
  const std::uint64_t horizon = parameters.integer("horizon", 10, 1, 10'000);
  parameters.finish();
  const int places = size * size;
  const auto cell_of = [&](int place) { return Cell{place / size, place % size}; };
  const auto number = [&](Cell chaser, Cell other) {
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
