// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "assess_cells.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "vlearn/certify/certify.h"
#include "vlearn/certify/nested.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/crew.h"
#include "vlearn/game/joint_profile.h"
#include "vlearn/policy/profile_replay.h"

namespace vlearn {
namespace {

/// Numbers of chances that are kept, over all cells.
constexpr std::uint64_t kMostChances = std::uint64_t{1} << 24U;
constexpr std::size_t kMostDrawnCells = 150;
constexpr std::size_t kMostDrawnEdges = 800;

template <class G>
concept HasTable = requires(const G& game) { game.rows(); };

bool has_table(const AnyGame& game) {
  return std::visit([](const auto& model) { return HasTable<decltype(model)>; }, game);
}

/// Joint actions of all cells of all steps; nothing where they are too many to keep a number of.
std::optional<std::uint64_t> count_joint(const Frame& frame) {
  std::uint64_t sum = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const auto joint = frame.num_joint_actions(frame.cell(h, s));
      if (!joint || *joint > kMostChances - sum) return std::nullopt;
      sum += *joint;
    }
  }
  return sum;
}

/// The chances of joint actions at a (step, state).
std::vector<double> joint_chances(const OutputPolicy& policy, Step h, State s) {
  const Frame& frame = policy.frame();
  const std::span<const std::uint32_t> begins = frame.action_begins(h, s);
  JointChances product;
  if (!policy.correlates()) {
    const std::vector<double> averages = averages_of(policy, h, s, frame.num_players());
    const std::span<const double> chances = product.of(begins, averages);
    return {chances.begin(), chances.end()};
  }
  std::vector<double> chances(*frame.num_joint_actions(frame.cell(h, s)), 0.0);
  std::vector<double> lost(chances.size(), 0.0);
  policy.for_each_part(h, s, frame.num_players(), [&](const OutputPolicy::Part& part) {
    const std::span<const double> now = product.of(begins, part.policies);
    for (std::size_t a = 0; a < chances.size(); ++a) {
      move_compensated(chances[a], lost[a], part.share, now[a]);
    }
  });
  return chances;
}

/// Of every cell.
std::vector<std::vector<double>> uniform_chances(const Frame& frame) {
  std::vector<std::vector<double>> chances;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::uint64_t joint = *frame.num_joint_actions(frame.cell(h, s));
      chances.emplace_back(joint, 1.0 / static_cast<double>(joint));
    }
  }
  return chances;
}

/// see(state of the next step, chance) under a law of joint actions.
template <class See>
void for_each_way(
    const AnyGame& game, Step h, State s, std::span<const double> chances, const See& see) {
  std::visit(
      [&](const auto& model) {
        if constexpr (HasTable<decltype(model)>) {
          const std::size_t cell = model.frame().cell(h, s);
          for (std::size_t a = 0; a < chances.size(); ++a) {
            if (!(chances[a] > 0.0)) continue;
            model.rows().for_each(cell, a,
                                  [&](State next, double p) { see(next, chances[a] * p); });
          }
        }
      },
      game);
}

/// E_pi [r + next] of a player, in units of [0, 1] rewards; next is empty after the last step.
double follow_once(const AnyGame& game,
                   Step h,
                   State s,
                   Player player,
                   std::span<const double> chances,
                   std::span<const double> next) {
  return std::visit(
      [&](const auto& model) {
        if constexpr (HasTable<decltype(model)>) {
          const std::size_t cell = model.frame().cell(h, s);
          double sum = 0.0;
          for (std::size_t a = 0; a < chances.size(); ++a) {
            double worth = model.reward(player, cell, a);
            if (!next.empty()) worth += model.rows().expect(cell, a, next);
            sum += chances[a] * worth;
          }
          return sum;
        } else {
          return 0.0;
        }
      },
      game);
}

/// In units of [0, 1] rewards, as the certifier has them, and in the user's.
struct Sweep {
  explicit Sweep(const Frame& of) : frame(of), m(of.num_players()), first_cell(first_cells(of)) {
    cells.values.resize(first_cell.back() * m);
    cells.deviations.resize(first_cell.back() * m);
  }

  /// Of a state, once the certifier knows it.
  void take(const NestedCertifier& certifier, Step h, State s) {
    const Assessment found = certifier.at(h, s);
    const auto steps = static_cast<double>(frame.horizon() - h.index());
    for (const Player player : all<Player>(m)) {
      const std::size_t j = player.index();
      const std::size_t place = (first_cell[h.index()] + s.index()) * m + j;
      cells.values[place] = frame.range(player).from_unit(found.values[j], steps);
      cells.deviations[place] = frame.range(player).from_unit(found.deviations[j], steps);
    }
  }

  const Frame& frame;
  std::size_t m;
  std::vector<std::size_t> first_cell;
  AssessedCells cells;
};

/// How likely each cell is, where joint actions have these chances.
std::vector<double> reach_of(const AnyGame& game, std::span<const std::vector<double>> chances) {
  const Frame& frame = frame_of(game);
  const std::vector<std::size_t> first_cell = first_cells(frame);
  std::vector<double> reach(first_cell.back(), 0.0);
  std::copy(frame.initial().begin(), frame.initial().end(), reach.begin());
  for (const Step h : all<Step>(frame.horizon() - 1)) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = first_cell[h.index()] + s.index();
      if (reach[cell] == 0.0) continue;
      double* const next = reach.data() + first_cell[h.index() + 1];
      for_each_way(game, h, s, chances[cell],
                   [&](State to, double chance) { next[to.index()] += reach[cell] * chance; });
    }
  }
  return reach;
}

/// What deviating at each cell gains, W - F, times the chance of coming there.
void fill_shares(const AnyGame& game,
                 const NestedCertifier& certifier,
                 std::span<const std::vector<double>> chances,
                 Sweep& sweep) {
  const Frame& frame = sweep.frame;
  sweep.cells.shares.resize(sweep.cells.values.size());
  std::vector<double> next;  // W of the next step, [player][state]
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    const std::size_t states = frame.num_states(Step(h));
    const std::size_t next_states = next.size() / sweep.m;
    std::vector<double> now(sweep.m * states);
    for (const State s : all<State>(states)) {
      const std::size_t cell = sweep.first_cell[h] + s.index();
      const Assessment found = certifier.at(Step(h), s);
      for (const Player player : all<Player>(sweep.m)) {
        const std::size_t j = player.index();
        now[j * states + s.index()] = found.deviations[j];
        const double followed = follow_once(game, Step(h), s, player, chances[cell],
                                            std::span(next).subspan(j * next_states, next_states));
        const RewardRange& range = frame.range(player);
        sweep.cells.shares[cell * sweep.m + j] =
            sweep.cells.reach[cell] * (range.high - range.low) * (found.deviations[j] - followed);
      }
    }
    next = std::move(now);
  }
}

AssessedCells assess_markov(const AnyGame& game,
                            const OutputPolicy& policy,
                            const ParallelOptions& options) {
  const Frame& frame = policy.frame();
  Sweep sweep(frame);
  // The values of a product of Markov policies are known, of nash too.
  const Target target = policy.target() == Target::nash ? Target::cce : policy.target();
  const auto certifier = make_nested_certifier(game, target, 1);
  const bool table = has_table(game) && count_joint(frame).has_value();
  std::vector<std::vector<double>> chances(table ? sweep.first_cell.back() : 0);
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    parallel_for(frame.num_states(Step(h)), options, [&](std::size_t state) {
      const Step step(h);
      const State s(state);
      if (table) {
        std::vector<double>& here = chances[sweep.first_cell[h] + state];
        here = joint_chances(policy, step, s);
        certifier->set_joint(step, s, here);
      } else {
        const std::span<const std::uint32_t> begins = frame.action_begins(step, s);
        certifier->set(step, s, [&](const NestedCertifier::Absorb& absorb) {
          if (!policy.correlates()) {
            absorb(Profile(begins, averages_of(policy, step, s, sweep.m)), 1.0);
            return;
          }
          policy.for_each_part(step, s, sweep.m, [&](const OutputPolicy::Part& part) {
            absorb(Profile(begins, part.policies), part.share);
          });
        });
      }
      sweep.take(*certifier, step, s);
    });
  }
  if (table) {
    sweep.cells.reach = reach_of(game, chances);
    fill_shares(game, *certifier, chances, sweep);
    sweep.cells.chances = std::move(chances);
  } else {
    sweep.cells.remark =
        "how likely a state is reached, and where a gap arises, is not computed for this model";
  }
  return std::move(sweep.cells);
}

AssessedCells assess_nested(const AnyGame& game,
                            const OutputPolicy& policy,
                            const ParallelOptions& options) {
  const Frame& frame = policy.frame();
  const std::span<const PolicyFile> files = policy.files();
  const auto certifier =
      make_nested_certifier(game, policy.target(), files.front().header().weights);
  certifier->use(Crew::for_players(frame.num_players(), options.threads));
  replay_profiles(files, policy.episodes(), options,
                  [&](Step h, State s, std::span<const double> policies) {
                    certifier->visit(h, s, Profile(frame.action_begins(h, s), policies));
                  });
  Sweep sweep(frame);
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) sweep.take(*certifier, h, s);
  }
  // Nobody knows the value of independent nested mixtures.
  if (policy.target() == Target::nash) sweep.cells.values.clear();
  return std::move(sweep.cells);
}

}  // namespace

std::vector<std::size_t> first_cells(const Frame& frame) {
  std::vector<std::size_t> first = {0};
  for (const Step h : all<Step>(frame.horizon())) {
    first.push_back(first.back() + frame.num_states(h));
  }
  return first;
}

std::size_t count_cells(const Frame& frame) { return first_cells(frame).back(); }

double assess_work(const AnyGame& game, const OutputPolicy& policy) {
  const Frame& frame = policy.frame();
  const double learning = static_cast<double>(frame.num_players()) *
                          (100.0 + 10.0 * static_cast<double>(frame.max_actions()));
  // Three backups for a visit, says certify.h.
  const double backup = relative_cost(game, CertifiedOutput::nested) * learning / 3.0;
  const auto cells = static_cast<double>(count_cells(frame));
  double parts = static_cast<double>(policy.episodes()) * static_cast<double>(frame.horizon());
  if (policy.output() == CertifiedOutput::table) {
    parts = 0.0;
    for (std::size_t cell = 0; cell < count_cells(frame); ++cell) {
      parts += static_cast<double>(policy.num_parts(cell));
    }
  }
  double of_part = learning;
  if (policy.output() == CertifiedOutput::nested) {
    of_part += 2.0 * backup;
  } else if (policy.correlates()) {
    const auto joint = has_table(game) ? count_joint(frame) : std::nullopt;
    of_part += joint ? 8.0 * static_cast<double>(*joint) / cells : 2.0 * backup;
  }
  return parts * of_part + 3.0 * cells * backup;
}

AssessedCells assess(const AnyGame& game,
                     const OutputPolicy& policy,
                     const ParallelOptions& options) {
  if (policy.output() == CertifiedOutput::nested) return assess_nested(game, policy, options);
  return assess_markov(game, policy, options);
}

std::optional<StateGraph> graph_of(const AnyGame& game,
                                   std::span<const std::vector<double>> chances) {
  const Frame& frame = frame_of(game);
  if (!has_table(game) || count_cells(frame) > kMostDrawnCells || !count_joint(frame)) {
    return std::nullopt;
  }
  const std::vector<std::size_t> first_cell = first_cells(frame);
  std::vector<std::vector<double>> uniform;
  if (chances.empty()) {
    uniform = uniform_chances(frame);
    chances = uniform;
  }
  StateGraph graph;
  graph.uniform = !uniform.empty();
  for (const Step h : all<Step>(frame.horizon() - 1)) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = first_cell[h.index()] + s.index();
      std::vector<double> ways(frame.num_states(Step(h.index() + 1)), 0.0);
      for_each_way(game, h, s, chances[cell],
                   [&](State next, double chance) { ways[next.index()] += chance; });
      for (std::size_t next = 0; next < ways.size(); ++next) {
        if (!(ways[next] > 0.0)) continue;
        graph.edges.push_back({cell, first_cell[h.index() + 1] + next, ways[next]});
        if (graph.edges.size() > kMostDrawnEdges) return std::nullopt;
      }
    }
  }
  graph.reach = reach_of(game, chances);
  return graph;
}

}  // namespace vlearn
