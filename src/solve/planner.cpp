// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/solve/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "stage.h"
#include "stage_lp.h"
#include "stage_oftrl.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"

namespace vlearn {
namespace {

/// Programs up to this size take milliseconds.
constexpr std::uint64_t kQuickProgram = std::uint64_t{1} << 18U;
/// Policies of oftrl, all of them with as many parts as there may be.
constexpr std::uint64_t kMaxOftrlBytes = std::uint64_t{1} << 36U;

void check_options(const Frame& frame, const PlannerOptions& options) {
  check_target(frame, options.target);
  check_choice("method", options.method, kPlanMethodNames);
  check_choice("selection.rule", options.selection.rule, kSelectionRules);
  if (options.target == Target::optimal && options.method == PlanMethod::oftrl) {
    throw Error(ErrorKind::usage, "optimal", "needs no players who learn", "use the method lp");
  }
  if (options.method == PlanMethod::lp && options.selection.rule == Selection::Rule::player &&
      options.selection.player.index() >= frame.num_players()) {
    throw Error(ErrorKind::usage, "select", "there is no such player",
                fmt::format("want 1 to {}", frame.num_players()));
  }
}

std::size_t num_stages(const Frame& frame) {
  std::size_t count = 0;
  for (const Step h : all<Step>(frame.horizon())) count += frame.num_states(h);
  return count;
}

/// Bytes of a stage of oftrl and of what it returns, at most; nothing where they cannot be counted.
std::optional<std::uint64_t> oftrl_bytes(const Frame& frame, Target target) {
  std::uint64_t numbers = 0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    std::uint64_t scores = begins.back();
    if (target == Target::ce) {
      for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
        const std::uint64_t n = begins[j + 1] - begins[j];
        scores += 3 * n * n;
      }
    }
    const std::uint64_t parts = target == Target::nash ? 1 : kOftrlParts;
    numbers = std::max(numbers, 8 * scores + parts * begins.back());
  }
  return checked_multiply(numbers * sizeof(double), num_stages(frame));
}

void check_size(const Frame& frame, const PlannerOptions& options) {
  const auto refuse = [](const char* what, const std::optional<std::uint64_t>& bytes,
                         const char* fix) {
    return Error(ErrorKind::resource, what,
                 bytes ? fmt::format("would take {} bytes", *bytes)
                       : std::string("would take more bytes than can be counted"),
                 fix);
  };
  if (num_stages(frame) > kMaxPolicyCells) {
    throw Error(ErrorKind::resource, "game",
                fmt::format("has {} (step, state), and policies have {} at most", num_stages(frame),
                            kMaxPolicyCells),
                "plan a smaller one");
  }
  if (options.method == PlanMethod::lp) {
    const auto numbers = largest_program(frame, options.target);
    if (numbers && *numbers <= StageSolver::kMaxCells) return;
    const auto bytes = numbers ? checked_multiply(*numbers, sizeof(double)) : std::nullopt;
    throw refuse("one of the linear programs", bytes,
                 "use the method oftrl, which does not list joint actions");
  }
  const auto bytes = oftrl_bytes(frame, options.target);
  if (bytes && *bytes <= kMaxOftrlBytes) return;
  throw refuse("the method oftrl", bytes,
               "cce takes less than ce, and learning less than planning: vlearn learn");
}

/// Threads where a step is worth the start of one; a stage takes so many multiplications.
ParallelOptions threads_for(const Frame& frame, Step h, double work, ParallelOptions options) {
  constexpr double worth_it = 1e6;
  if (static_cast<double>(frame.num_states(h)) * work < worth_it) options.threads = 1;
  return options;
}

double stage_work(const Frame& frame, PlanMethod method) {
  double joint = 0.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const auto count = frame.num_joint_actions(cell);
    joint = std::max(joint, count ? static_cast<double>(*count) : 0x1p64);
  }
  const double one = std::min(joint, 1e6) * static_cast<double>(frame.num_players());
  return method == PlanMethod::lp ? 100.0 * one : 10'000.0 * one;
}

/// The values of a step, [player][state], as backups want them.
struct StepValues {
  StepValues(std::size_t num_players, std::size_t num_states)
      : states(num_states), numbers(num_players * num_states, 0.0) {}
  std::size_t states;
  std::vector<double> numbers;
};

/// A solver of stages for each thread.
template <class StageSolverOf>
class SolverPool {
 public:
  explicit SolverPool(std::function<std::unique_ptr<StageSolverOf>()> make)
      : make_(std::move(make)) {}
  std::unique_ptr<StageSolverOf> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return make_();
    std::unique_ptr<StageSolverOf> solver = std::move(free_.back());
    free_.pop_back();
    return solver;
  }
  void give_back(std::unique_ptr<StageSolverOf> solver) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(solver));
  }

 private:
  std::function<std::unique_ptr<StageSolverOf>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<StageSolverOf>> free_;
};

/// Stages from the last step to the first.
template <class StageSolverOf>
std::vector<std::vector<StageSolution>> solve_backward(const Frame& frame,
                                                       const PlannerOptions& options,
                                                       SolverPool<StageSolverOf>& solvers) {
  std::vector<std::vector<StageSolution>> solutions(frame.horizon());
  StepValues next(0, 0);
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    StepValues values(frame.num_players(), frame.num_states(Step(h)));
    solutions[h].resize(values.states);
    const ParallelOptions parallel =
        threads_for(frame, Step(h), stage_work(frame, options.method), options.parallel);
    parallel_for(values.states, parallel, [&](std::size_t s) {
      if (options.stop && options.stop()) throw Cancelled();
      std::unique_ptr<StageSolverOf> solver = solvers.take();
      const NextValues after =
          frame.is_last(Step(h)) ? NextValues() : NextValues(next.numbers, next.states);
      StageSolution solution = solver->solve({Step(h), State(s), after});
      for (std::size_t j = 0; j < solution.values.size(); ++j) {
        values.numbers[j * values.states + s] = solution.values[j];
      }
      solutions[h][s] = std::move(solution);
      solvers.give_back(std::move(solver));
    });
    next = std::move(values);
  }
  return solutions;
}

PlannedPolicy gather(const Frame& frame,
                     const PlannerOptions& options,
                     const std::vector<std::vector<StageSolution>>& solutions) {
  PlannedPolicy planned;
  for (const Player player : all<Player>(frame.num_players())) {
    MarkovTable& table = planned.tables.emplace_back();
    table.player = player;
    table.num_players = frame.num_players();
    table.target = options.target;
    table.game_hash = options.game_hash;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        const StageSolution& solution = solutions[h.index()][s.index()];
        const std::span<const std::uint32_t> begins = frame.action_begins(h, s);
        for (std::size_t i = 0; i < solution.weights.size(); ++i) {
          const Profile profile(begins, std::span(solution.profiles).subspan(i * begins.back()));
          table.add_part(solution.weights[i], profile[player]);
        }
        table.end_cell();
        table.num_actions.push_back(static_cast<std::uint32_t>(frame.num_actions(player, h, s)));
      }
      table.first_cell.push_back(table.num_actions.size());
    }
  }
  for (const auto& step : solutions) {
    for (const StageSolution& solution : step) {
      planned.iterations += solution.iterations;
      planned.complete = planned.complete && solution.complete;
    }
  }
  return planned;
}

}  // namespace

void check_target(const Frame& frame, Target target) {
  check_choice("target", target, kTargetNames);
  const auto refuse = [&](const char* problem, const std::string& fix) {
    return Error(ErrorKind::usage, std::string(name_of(target)), problem, fix);
  };
  if (target == Target::optimal && frame.num_players() != 1) {
    throw refuse("is for one player", "use cce, ce or, of a zero-sum game, nash");
  }
  if (target == Target::nash && !frame.constant_sum()) {
    throw refuse("can be planned in zero-sum games of two players only",
                 "use cce or ce, which every game has" + std::string(kZeroSumHint));
  }
}

std::optional<std::uint64_t> largest_program(const Frame& frame, Target target) {
  std::uint64_t largest = 0;
  std::vector<std::uint32_t> num_actions;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
    num_actions.clear();
    for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
      num_actions.push_back(begins[j + 1] - begins[j]);
    }
    const auto numbers =
        target == Target::optimal
            ? std::optional<std::uint64_t>(num_actions[0])
            : StageSolver::cells(num_actions,
                                 target == Target::nash ? std::nullopt : std::optional(target));
    if (!numbers) return std::nullopt;
    largest = std::max(largest, *numbers);
  }
  return largest;
}

MethodChoice choose_method(const Frame& frame, Target target) {
  if (target == Target::optimal) return {PlanMethod::lp, "one player: backward induction"};
  const auto numbers = largest_program(frame, target);
  if (numbers && *numbers <= kQuickProgram) {
    return {PlanMethod::lp, fmt::format("the largest linear program has {} numbers", *numbers)};
  }
  return {PlanMethod::oftrl, numbers
                                 ? fmt::format("a linear program would have {} numbers", *numbers)
                                 : std::string("nobody could list the joint actions")};
}

PlannedPolicy plan_policy(const AnyGame& game, const PlannerOptions& options) {
  const Frame& frame = frame_of(game);
  check_options(frame, options);
  check_size(frame, options);
  return std::visit(
      [&]<class Game>(const Game& model) {
        if (options.method == PlanMethod::lp) {
          SolverPool<LpStage<Game>> solvers([&] {
            return std::make_unique<LpStage<Game>>(model, options.target, options.selection,
                                                   options.stop);
          });
          return gather(frame, options, solve_backward(frame, options, solvers));
        }
        SolverPool<OftrlStage<Game>> solvers([&] {
          return std::make_unique<OftrlStage<Game>>(
              model, OftrlOptions{options.target, options.tolerance, options.max_iterations,
                                  options.stop});
        });
        return gather(frame, options, solve_backward(frame, options, solvers));
      },
      game);
}

}  // namespace vlearn
