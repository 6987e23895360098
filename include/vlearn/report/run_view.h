// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A run as somebody looks at it: everything that a report shows of a run folder, as plain data.
// Nothing here knows of pages or pictures, and a page knows of nothing else.
//
// Numbers are in the user's reward units; names are as the game has them, from outside: who shows
// them makes them safe. Players, steps, states and actions are ids, which count from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vlearn/core/certificate.h"
#include "vlearn/core/id.h"
#include "vlearn/core/parallel.h"
#include "vlearn/game/board.h"

namespace vlearn {

/// One row of metrics.jsonl.
struct CurvePoint {
  std::uint64_t episode = 0;  ///< of a planned run: iterations so far
  std::optional<double> gap_upper = std::nullopt;
  std::optional<double> gap_lower = std::nullopt;  ///< the same where the output is Markov
  /// What play alone has bounded (preset rigorous, baselines): the largest of a player.
  std::optional<double> data_bound = std::nullopt;
  /// Of each of RunView::series; empty where the row has none.
  std::vector<double> values = {};
};

/// A way from one state to another, from one step to the next.
struct GraphEdge {
  std::size_t from = 0;  ///< cells, counted over all steps
  std::size_t to = 0;
  double chance = 0.0;  ///< under the output policy; where that is not known, uniform play
};

/// The states of all steps and the ways between them, of games small enough to be drawn.
struct StateGraph {
  std::vector<double> reach = {};  ///< of each cell: how likely an execution comes there
  std::vector<GraphEdge> edges = {};
  bool uniform = false;  ///< chances are of uniform play
};

struct GameView {
  std::string word = {};   ///< how it is named: a catalogue name, a family, a file
  std::string title = {};  ///< and what people say about it; may be empty
  std::string source = {};
  std::string note = {};
  std::string model = {};  ///< "dense", "sparse", "congestion", ...
  std::string hash = {};
  std::size_t horizon = 0;
  bool zero_sum = false;
  std::vector<std::string> players = {};
  std::vector<std::pair<double, double>> reward_ranges = {};  ///< of each player
  std::vector<std::size_t> states = {};                       ///< of each step
  /// The likeliest first state, where it is known how likely they are.
  std::optional<std::size_t> first_state = std::nullopt;
  std::size_t fewest_actions = 0;  ///< of a player anywhere
  std::size_t most_actions = 0;
  std::optional<StateGraph> graph = std::nullopt;
  std::optional<Board> board = std::nullopt;
  /// What others vouch for: the source, and the value of each player.
  std::vector<std::pair<std::string, std::vector<double>>> known = {};
};

/// What one player does at a (step, state), and what it could do instead.
struct PlayerCell {
  std::vector<std::string> actions = {};  ///< names
  std::vector<double> averaged = {};      ///< chances of each action in executions of the output
  std::vector<double> last = {};          ///< at the last visit; empty where nothing was visited
  std::vector<double> played = {};        ///< how often it was played while it learned, by weight
  /// From here on: what following is worth, and what the best deviation is worth at most.
  std::optional<double> value = std::nullopt;
  std::optional<double> deviation = std::nullopt;
  /// How much of the player's gap arises here: the chance of coming here times what deviating here
  /// gains. Over all cells it sums to the gap. Markov outputs only.
  std::optional<double> share = std::nullopt;
  /// What the certificate's witness plays here; for ce in place of each action.
  std::vector<std::uint32_t> witness = {};
};

/// One part of a mixture: of a learned policy a visit, of a table a part. Of many visits a few
/// stand for all, each for an equal share of the weight.
struct MixturePart {
  std::uint64_t visit = 0;    ///< from 1 on
  std::uint64_t episode = 0;  ///< in which it was learned, from 1 on; 0: of a table
  double weight = 0.0;        ///< that it stands for
  std::vector<std::vector<double>> policies = {};  ///< of each player, or of the shown ones
};

/// What two players do at one (step, state) together: chances[a * actions of the second + b].
struct PairCell {
  Player first;
  Player second;
  std::vector<double> chances = {};
  double information = 0.0;  ///< mutual information of the two, in bits
};

/// A (step, state) that is looked at closely.
struct CellView {
  Step h;
  State s;
  std::string name = {};     ///< of the state
  std::uint64_t visits = 0;  ///< while it learned
  /// Visits that an execution may draw: of the nested output those before its start; 0 of tables.
  std::uint64_t counted = 0;
  std::optional<double> reach =
      std::nullopt;                       ///< how likely an execution of a Markov output comes here
  double effective_parts = 1.0;           ///< equal weights on so many would be as concentrated
  std::vector<PlayerCell> players = {};   ///< of RunView::shown_players
  std::vector<MixturePart> mixture = {};  ///< visits from the oldest to the newest
  std::vector<PairCell> pairs = {};       ///< of RunView::shown_players, first < second
};

/// What came out when other code derived the certificate again.
struct Verification {
  enum class Outcome : std::uint8_t {
    not_done,
    accepted,
    refuted,
    mismatch,  ///< what the run recorded of its gap is not that of its certificate or its policies
  };
  Outcome outcome = Outcome::not_done;
  std::string message = {};  ///< why it was not done, or what is not true
  bool rationals = false;    ///< accepted in exact rationals, else in intervals
};

struct RunView {
  enum class Kind : std::uint8_t { learned, planned, baseline };
  Kind kind = Kind::learned;
  std::string path = {};  ///< the folder as it was given
  GameView game = {};
  Target target = Target::cce;
  std::string preset = {};     ///< of learned runs
  std::string algorithm = {};  ///< "v-learning", the baseline, or the planner's method
  std::string output = {};     ///< CertifiedOutput's name
  std::uint64_t seed = 0;
  std::uint64_t episodes = 0;  ///< played, or iterations
  std::string stopped = {};    ///< why it ended; empty: it has not
  std::string version = {};
  std::string config_hash = {};
  /// config.json, in its order, values as its text has them.
  std::vector<std::pair<std::string, std::string>> config = {};
  /// What is the same for runs that differ by their seed alone.
  std::string group = {};
  /// Makes the same run again: one line for a shell.
  std::string command = {};
  std::string guarantee = {};  ///< what was known beforehand; may be empty

  std::vector<std::string> series = {};  ///< whose values the curve has: players, or min mean max
  std::vector<CurvePoint> curve = {};
  /// Whose gaps the curve has, by CertifiedOutput's name; "" where it has none. A certificate may
  /// be of another output.
  std::string curve_output = {};
  /// Whether these gaps were derived again from the policies; else they are the run's own record.
  bool curve_derived = false;
  std::optional<Certificate> certificate = std::nullopt;
  std::optional<Certificate> sampled = std::nullopt;  ///< certificate-sampled.json
  Verification verification = {};

  std::vector<Player> shown_players = {};  ///< those whose cells are shown: all of a few
  bool correlates = false;           ///< whether players draw together: else pairs are products
  std::vector<CellView> cells = {};  ///< the most visited (or likeliest), by step and state
  std::size_t num_cells = 0;         ///< of the whole game
  /// Of each cell, empty where nothing was played or the game is too large.
  std::vector<std::uint64_t> visits = {};
  std::vector<std::string> remarks = {};  ///< what is left out, and why
};

struct ViewOptions {
  ParallelOptions parallel = {};
  bool verify = true;  ///< derive the certificate again with other code
  /// Whether the policies are looked at; not where many runs are compared by their curves alone.
  bool policies = true;
  std::string game = {};  ///< where it is now, if not where config.json says
};

/// Reads a run folder, as `vlearn learn` and `vlearn solve` leave it. A run that has not ended is
/// shown as far as it is. Throws Error that names the file for what is damaged or of another run.
[[nodiscard]] RunView view_run(const std::filesystem::path& run, const ViewOptions& options = {});

/// Throws Error (usage) that names the run where two paths are the same folder: side by side it
/// would count twice.
void check_distinct(std::span<const std::filesystem::path> runs);

}  // namespace vlearn
