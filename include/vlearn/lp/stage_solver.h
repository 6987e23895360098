// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Equilibria of one-shot games by linear programs: what planners solve at every (step, state).
//
// Matrix games (two players, zero-sum): with payoffs M > 0, maximise sum y subject to M y <= 1,
// y >= 0. The value is 1 / sum y, the column player's strategy is y times the value, the row
// player's comes from the dual.
//
// Correlated equilibria of m players: a distribution pi over joint actions a such that
//   cce: E_pi[u_i(b, a_-i) - u_i(a)] <= 0             for each player i and action b
//   ce:  E_pi[1{a_i = c} (u_i(b, a_-i) - u_i(a))] <= 0   for each i and pair c != b
// The rows are homogeneous, so with an objective made positive by adding a constant, sum pi <= 1
// does for sum pi = 1, and pi = 0 is where the simplex method can start.
//
// Two methods: a dense-tableau kernel of our own, and Clp, which solves what the kernel does not.
// A solution of either is returned only after its residuals have been computed from the payoffs.
// They are kept within kTolerance times the range (largest minus least payoff): of the matrix for a
// matrix game, of a player for its deviations, and for the objective the largest of these ranges
// (egalitarian: the range of all payoffs together). Where payoffs of one player differ by many
// orders of magnitude, deviations within the tolerance can be worth more than that to the
// objective. If no method finds better, the distance to the best objective is then held to the
// tolerance times (1 + the sum of the multipliers): `slack` says what it is.
//
// Same input, same bytes, whatever was solved before. The kernel gives the same bits on every
// machine; Clp's are those of the Clp that is installed. Which equilibrium is returned where
// several are equally good is not specified beyond that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vlearn/core/id.h"
#include "vlearn/core/target.h"

namespace vlearn {

enum class LpMethod : std::uint8_t {
  automatic,  ///< the kernel, and Clp where the kernel's solution fails its check
  kernel,
  clp,
};

/// The row player maximises x' M y, the column player minimises it. `payoffs` is row by row.
struct MatrixGame {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const double> payoffs;
};

struct MatrixSolution {
  double value = 0.0;  ///< the middle of [x' M's least entry, M y's largest]
  /// The length of that interval: neither player gains more by deviating.
  double gap = 0.0;
  std::vector<double> row;     ///< x: non-negative, sums to one
  std::vector<double> column;  ///< y
  LpMethod solved_by = LpMethod::kernel;
  std::size_t pivots = 0;
};

/// Player i gets payoffs[i * J + j] for the joint action j of J. The last player's action varies
/// fastest, as in the tables of a game. Units are the caller's: welfare and egalitarian selections
/// compare the payoffs of different players as they are.
struct StageGame {
  std::span<const std::uint32_t> num_actions;  ///< of each player
  std::span<const double> payoffs;
};

/// Which equilibrium, as there are many: one with the largest
struct Selection {
  enum class Rule : std::uint8_t {
    welfare,      ///< sum of all players' values
    egalitarian,  ///< least of all players' values
    player,       ///< value of one player
  };
  Rule rule = Rule::welfare;
  Player player{};  ///< for Rule::player
};
inline constexpr std::size_t kSelectionRules = 3;  ///< how many

struct CorrelatedSolution {
  std::vector<double> joint;   ///< pi: non-negative, sums to one
  std::vector<double> values;  ///< of each player under pi
  double objective = 0.0;      ///< what the selection maximises, in the caller's units
  /// No equilibrium has an objective above `objective + slack` (weak duality, up to rounding).
  double slack = 0.0;
  /// The most that a player gains by its best deviation: one action (cce), one for each
  /// recommendation (ce).
  double gain = 0.0;
  LpMethod solved_by = LpMethod::kernel;
  std::size_t pivots = 0;
};

/// Solves one game after the other in the same memory: nothing is allocated for a game that is not
/// larger than those before it, unless Clp is needed. One solver per thread. Results are valid
/// until the next call.
///
/// Throws Error: usage for shapes that do not fit together and for targets other than cce and ce;
/// input for payoffs that are not finite or whose range is not; resource for programs of more than
/// kMaxCells cells; internal when no method meets the tolerance, with what was reached.
class StageSolver {
 public:
  static constexpr double kTolerance = 1e-9;
  static constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 27U;  // 1 GiB

  /// `stop` is asked now and then while large programs are solved; when it says true, Cancelled is
  /// thrown, and the solver is as good as before.
  explicit StageSolver(LpMethod method = LpMethod::automatic, std::function<bool()> stop = {});
  ~StageSolver();
  StageSolver(StageSolver&&) noexcept;
  StageSolver& operator=(StageSolver&&) noexcept;
  StageSolver(const StageSolver&) = delete;
  StageSolver& operator=(const StageSolver&) = delete;

  /// Cells that the program of such a game has at most: of a matrix game where no target is given.
  /// Nothing where they cannot be counted.
  [[nodiscard]] static std::optional<std::uint64_t> cells(
      std::span<const std::uint32_t> num_actions, std::optional<Target> correlated);

  const MatrixSolution& solve(const MatrixGame& game);
  const CorrelatedSolution& solve(const StageGame& game, Target target, Selection selection = {});

 private:
  struct Scratch;
  LpMethod method_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace vlearn
