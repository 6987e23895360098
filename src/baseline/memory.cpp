// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/baseline/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vlearn/core/checked.h"
#include "vlearn/core/error.h"
#include "vlearn/lp/stage_solver.h"
#include "vlearn/policy/history.h"

namespace vlearn {
namespace {

using Count = std::optional<std::uint64_t>;

Count plus(const Count& a, const Count& b) { return a && b ? checked_add(*a, *b) : std::nullopt; }

Count times(const Count& a, const Count& b) {
  return a && b ? checked_multiply(*a, *b) : std::nullopt;
}

/// What a stage is solved as: matrix games by their own program.
std::optional<Target> program_of(const BaselineOptions& options) {
  switch (options.target) {
    case Target::nash:
      if (options.algorithm == BaselineName::plug_in) return std::nullopt;
      break;
    case Target::ce: return Target::ce;
    case Target::optimal:
    case Target::cce: break;
  }
  return Target::cce;
}

/// Joint actions that a plan has at a (step, state) at most: all of a product, otherwise as many as
/// the program of a vertex has rows.
std::uint64_t room(std::uint64_t joint,
                   const std::vector<std::uint32_t>& num_actions,
                   const std::optional<Target>& program) {
  if (!program) return joint;
  std::uint64_t rows = 1;
  for (const std::uint64_t n : num_actions) rows += program == Target::ce ? n * (n - 1) : n;
  return std::min(joint, rows);
}

struct Sizes {
  BaselineMemory memory = {0, 0};
  Count program = 0;  // numbers of the largest one
};

Sizes sizes_of(const Frame& frame, const BaselineOptions& options) {
  Sizes sizes;
  Count largest_stage = 0;
  const std::uint64_t m = frame.num_players();
  const std::uint64_t paid = frame.zero_sum() ? 1 : m;
  const auto program = program_of(options);
  const auto grow = [](Count& most, const Count& count) {
    most = most && count ? Count(std::max(*most, *count)) : std::nullopt;
  };
  std::vector<std::uint32_t> num_actions;
  for (const Step h : all<Step>(frame.horizon())) {
    const std::uint64_t after = frame.is_last(h) ? 0 : frame.num_states(h.next());
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = frame.cell(h, s);
      const auto begins = frame.begins_of_cell(cell);
      num_actions.clear();
      for (std::size_t j = 0; j < m; ++j) num_actions.push_back(begins[j + 1] - begins[j]);
      const Count joint = frame.num_joint_actions(cell);
      grow(sizes.memory.joint_actions, joint);
      grow(sizes.program, StageSolver::cells(num_actions, program));
      grow(largest_stage, times(joint, 16 * m));
      sizes.memory.bytes = plus(sizes.memory.bytes, times(joint, 4 + 8 * paid + 4 * after));
      const std::uint64_t parts = joint ? room(*joint, num_actions, program) : 0;
      const Count plan = plus(16 * m + 16, times(parts, 16));
      sizes.memory.bytes = plus(sizes.memory.bytes, times(plan, 3));
    }
  }
  sizes.memory.bytes = plus(sizes.memory.bytes, largest_stage);
  sizes.memory.bytes = plus(sizes.memory.bytes, times(sizes.program, sizeof(double)));
  return sizes;
}

std::string counted(const Count& count, const char* what) {
  return count ? fmt::format("{} {}", *count, what)
               : fmt::format("more {} than can be counted", what);
}

}  // namespace

BaselineMemory baseline_memory(const Frame& frame, const BaselineOptions& options) {
  return sizes_of(frame, options).memory;
}

void check_memory(const Frame& frame, const BaselineOptions& options) {
  constexpr const char* instead =
      "learn with v-learning, whose tables have the sum of all players' actions and not their "
      "product";
  const std::string name(name_of(options.algorithm));
  const Sizes sizes = sizes_of(frame, options);
  const BaselineMemory& memory = sizes.memory;
  if (!memory.bytes || *memory.bytes > options.max_memory) {
    throw Error(ErrorKind::resource, name,
                fmt::format("would take {} for {} at a (step, state), and the limit is {} bytes",
                            counted(memory.bytes, "bytes"),
                            counted(memory.joint_actions, "joint actions"), options.max_memory),
                std::string("raise the limit (--max-memory), or ") + instead);
  }
  if (!sizes.program || *sizes.program > StageSolver::kMaxCells) {
    throw Error(ErrorKind::resource, name,
                fmt::format("one of its linear programs would have {}, and the limit is {}",
                            counted(sizes.program, "numbers"), StageSolver::kMaxCells),
                instead);
  }
  std::size_t cells = 0;
  for (const Step h : all<Step>(frame.horizon())) cells += frame.num_states(h);
  if (cells > kMaxPolicyCells) {
    throw Error(ErrorKind::resource, name,
                fmt::format("the game has {} (step, state), and policies have {} at most", cells,
                            kMaxPolicyCells),
                "learn a smaller one");
  }
}

}  // namespace vlearn
