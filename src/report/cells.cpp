// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {
namespace {

/// Where tight, pairs have this part of all numbers.
constexpr std::size_t kNumbersOfPairs = kShownNumbers / 4;

/// A cell that may be shown.
struct Candidate {
  Step h;
  State s;
  std::size_t cell = 0;
  std::uint64_t visits = 0;
  double reach = 0.0;
  std::size_t numbers = 0;  ///< of policies and mixtures
  std::size_t pairs = 0;
  double work = 0.0;
  bool with_pairs = true;
};

std::vector<Candidate> candidates_of(const RunView& view, const CellSources& sources) {
  const Frame& frame = sources.policy.frame();
  const std::size_t shown = view.shown_players.size();
  std::vector<Candidate> candidates;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      Candidate one{h, s, candidates.size()};
      const std::span<const std::uint32_t> begins = frame.action_begins(h, s);
      if (!sources.visits.empty()) one.visits = sources.visits[one.cell];
      if (!sources.assessed.reach.empty()) one.reach = sources.assessed.reach[one.cell];
      const bool table = sources.policy.files().empty();
      one.numbers = begins[shown] * ((table ? 1 : 3) + kShownParts);
      for (std::size_t j = 0; j < shown; ++j) {
        for (std::size_t l = j + 1; l < shown; ++l) {
          const std::size_t joint =
              std::size_t{begins[j + 1] - begins[j]} * std::size_t{begins[l + 1] - begins[l]};
          if (joint <= kShownPairs) one.pairs += joint;
        }
      }
      one.work = static_cast<double>(sources.policy.num_parts(one.cell)) *
                 (100.0 * static_cast<double>(shown) + 10.0 * static_cast<double>(begins[shown]) +
                  4.0 * static_cast<double>(one.pairs));
      candidates.push_back(one);
    }
  }
  return candidates;
}

/// The most visited, or likeliest, as far as room and time go; by step and state.
std::vector<Candidate> choose(std::vector<Candidate> all_cells, std::vector<std::string>& remarks) {
  const std::size_t count = all_cells.size();
  std::size_t needed = 0;
  for (const Candidate& one : all_cells) needed += one.numbers + one.pairs;
  const bool tight = needed > kShownNumbers;
  std::stable_sort(all_cells.begin(), all_cells.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.visits, a.reach) > std::tie(b.visits, b.reach);
  });
  std::vector<Candidate> chosen;
  std::size_t numbers = 0;
  std::size_t pairs = 0;
  std::size_t without_pairs = 0;
  std::size_t too_long = 0;
  double work = 0.0;
  for (Candidate& one : all_cells) {
    if (work + one.work > kMostWork) {
      ++too_long;
      continue;
    }
    // One is always shown, whatever it takes.
    const std::size_t most = tight ? kShownNumbers - kNumbersOfPairs : kShownNumbers;
    if (!chosen.empty() && numbers + one.numbers > most) break;
    numbers += one.numbers;
    work += one.work;
    one.with_pairs = !tight || pairs + one.pairs <= kNumbersOfPairs;
    if (one.with_pairs) {
      pairs += one.pairs;
    } else {
      ++without_pairs;
    }
    chosen.push_back(one);
  }
  if (too_long > 0) {
    remarks.push_back(fmt::format(
        "policies of {} (step, state) pairs are not shown: replaying their visits takes "
        "too long; vlearn policy show looks at one of them",
        too_long));
  }
  if (chosen.size() + too_long < count) {
    remarks.push_back(fmt::format("of {} (step, state) pairs the {} that come most often are shown",
                                  count, chosen.size()));
  }
  if (without_pairs > 0) {
    remarks.push_back(
        fmt::format("actions of two players together are shown at the {} (step, state) pairs that "
                    "come most often",
                    chosen.size() - without_pairs));
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Candidate& a, const Candidate& b) { return a.cell < b.cell; });
  return chosen;
}

/// What two players do together, over the parts that they share.
class PairAverages {
 public:
  PairAverages(std::span<const std::uint32_t> begins, std::span<const Player> players)
      : begins_(begins) {
    for (std::size_t j = 0; j < players.size(); ++j) {
      for (std::size_t l = j + 1; l < players.size(); ++l) {
        const std::size_t joint = size(players[j]) * size(players[l]);
        if (joint > kShownPairs) continue;
        pairs_.push_back({players[j], players[l], std::vector<double>(joint, 0.0)});
        lost_.emplace_back(joint, 0.0);
      }
    }
  }
  void move(double share, std::span<const double> policies) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      PairCell& pair = pairs_[i];
      std::size_t place = 0;
      for (std::size_t a = 0; a < size(pair.first); ++a) {
        const double first = policies[begins_[pair.first.index()] + a];
        for (std::size_t b = 0; b < size(pair.second); ++b, ++place) {
          move_compensated(pair.chances[place], lost_[i][place], share,
                           first * policies[begins_[pair.second.index()] + b]);
        }
      }
    }
  }
  /// The sum of p(a, b) log2 [p(a, b) / (p(a) p(b))].
  void fill_information() {
    for (PairCell& pair : pairs_) {
      const std::size_t width = size(pair.second);
      std::vector<double> first(size(pair.first), 0.0);
      std::vector<double> second(width, 0.0);
      for (std::size_t place = 0; place < pair.chances.size(); ++place) {
        first[place / width] += pair.chances[place];
        second[place % width] += pair.chances[place];
      }
      double sum = 0.0;
      for (std::size_t place = 0; place < pair.chances.size(); ++place) {
        const double chance = pair.chances[place];
        if (!(chance > 0.0)) continue;
        sum += chance * (log(chance / first[place / width]) - log(second[place % width]));
      }
      pair.information = std::max(sum / log(2.0), 0.0);  // rounding may go below
    }
  }
  [[nodiscard]] std::vector<PairCell> take() { return std::move(pairs_); }

 private:
  [[nodiscard]] std::size_t size(Player player) const {
    return begins_[player.index() + 1] - begins_[player.index()];
  }
  std::span<const std::uint32_t> begins_;
  std::vector<PairCell> pairs_;
  std::vector<std::vector<double>> lost_;  // to rounding
};

/// The policies of a part go to where it is shown, which may be twice: of few visits with large
/// weights.
void keep_if_shown(std::vector<MixturePart>& mixture,
                   const OutputPolicy::Part& part,
                   std::span<const std::uint32_t> begins,
                   std::size_t num_players) {
  for (MixturePart& one : mixture) {
    if (one.visit != part.number) continue;
    for (std::size_t j = 0; j < num_players; ++j) {
      one.policies.emplace_back(part.policies.begin() + begins[j],
                                part.policies.begin() + begins[j + 1]);
    }
  }
}

/// Averages over the parts of a cell; shown players are the first ones.
void fill_policies(CellView& cell, const CellSources& sources, const Candidate& place) {
  const OutputPolicy& policy = sources.policy;
  const std::span<const std::uint32_t> begins = policy.frame().action_begins(place.h, place.s);
  const std::size_t shown = cell.players.size();
  std::vector<Player> players;
  if (place.with_pairs) {
    for (const Player player : all<Player>(shown)) players.push_back(player);
  }
  PairAverages pairs(begins, players);
  const std::size_t width = begins[shown];
  std::vector<double> averaged(width, 0.0);
  std::vector<double> lost(width, 0.0);
  std::vector<double> played;
  std::vector<double> last;
  for (const auto& [number, episode, weight] : policy.some_parts(place.cell, kShownParts)) {
    cell.mixture.push_back({number, episode, weight, {}});
  }
  policy.for_each_part(place.h, place.s, shown, [&](const OutputPolicy::Part& part) {
    keep_if_shown(cell.mixture, part, begins, shown);
    for (std::size_t b = 0; b < width; ++b) {
      move_compensated(averaged[b], lost[b], part.share, part.policies[b]);
    }
    if (policy.correlates()) pairs.move(part.share, part.policies);
    if (part.played.empty()) return;
    if (played.empty()) played.resize(width, 0.0);
    for (double& chance : played) chance -= part.share * chance;
    for (std::size_t j = 0; j < shown; ++j) played[begins[j] + part.played[j]] += part.share;
    last.assign(part.policies.begin(), part.policies.end());
  });
  if (policy.correlates()) {
    pairs.fill_information();
  } else {
    pairs.move(1.0, averaged);  // independent: what one does says nothing of the other
  }
  const auto part_of = [&](const std::vector<double>& numbers, std::size_t j) {
    if (numbers.empty()) return std::vector<double>();
    return std::vector<double>(numbers.begin() + begins[j], numbers.begin() + begins[j + 1]);
  };
  for (std::size_t j = 0; j < shown; ++j) {
    cell.players[j].averaged = part_of(averaged, j);
    cell.players[j].played = part_of(played, j);
    cell.players[j].last = part_of(last, j);
  }
  cell.pairs = pairs.take();
  cell.effective_parts = policy.effective_parts(place.cell);
}

/// Where the answers of each cell begin in a player's witness; at last how many there are.
std::vector<std::size_t> witness_begins(const Frame& frame, Target target, Player player) {
  std::vector<std::size_t> begins = {0};
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      begins.push_back(begins.back() +
                       (target == Target::ce ? frame.num_actions(player, h, s) : 1));
    }
  }
  return begins;
}

void fill_witness(RunView& view, const CellSources& sources) {
  if (!sources.certificate) return;
  const Frame& frame = sources.policy.frame();
  const std::vector<std::size_t> first_cell = first_cells(frame);
  for (std::size_t j = 0; j < view.shown_players.size(); ++j) {
    const Player player = view.shown_players[j];
    const std::vector<std::uint32_t>& witness =
        sources.certificate->players[player.index()].witness;
    if (witness.empty()) continue;
    const std::vector<std::size_t> begins = witness_begins(frame, view.target, player);
    const auto refuse = [&] {
      return Error(ErrorKind::input,
                   fmt::format("{}: players[{}].witness", certificate_path(view.path).string(),
                               player.index()),
                   "does not fit the game", "certify the run again: vlearn certify RUN");
    };
    if (witness.size() != begins.back()) throw refuse();
    for (CellView& cell : view.cells) {
      const std::size_t place = first_cell[cell.h.index()] + cell.s.index();
      PlayerCell& own = cell.players[j];
      own.witness.assign(witness.begin() + static_cast<std::ptrdiff_t>(begins[place]),
                         witness.begin() + static_cast<std::ptrdiff_t>(begins[place + 1]));
      for (const std::uint32_t action : own.witness) {
        if (action >= own.actions.size()) throw refuse();
      }
    }
  }
}

CellView view_of(const RunView& view, const CellSources& sources, const Candidate& place) {
  const Frame& frame = sources.policy.frame();
  const GameNames& names = sources.game.about.names;
  const AssessedCells& assessed = sources.assessed;
  CellView cell{.h = place.h, .s = place.s, .name = names.state(place.h, place.s)};
  cell.visits = place.visits;
  cell.counted = sources.policy.visits(place.cell);
  if (!assessed.reach.empty()) cell.reach = assessed.reach[place.cell];
  for (const Player player : view.shown_players) {
    PlayerCell& own = cell.players.emplace_back();
    for (const Action action : all<Action>(frame.num_actions(player, place.h, place.s))) {
      own.actions.push_back(names.action(frame, player, place.h, place.s, action));
    }
    const std::size_t number = place.cell * frame.num_players() + player.index();
    if (!assessed.values.empty()) own.value = assessed.values[number];
    if (!assessed.deviations.empty()) own.deviation = assessed.deviations[number];
    if (!assessed.shares.empty()) own.share = assessed.shares[number];
  }
  fill_policies(cell, sources, place);
  return cell;
}

}  // namespace

void fill_cells(RunView& view, const CellSources& sources, const ParallelOptions& options) {
  view.correlates = sources.policy.correlates();
  const std::vector<Candidate> chosen = choose(candidates_of(view, sources), view.remarks);
  std::vector<CellView> cells(chosen.size());
  parallel_for(chosen.size(), options,
               [&](std::size_t i) { cells[i] = view_of(view, sources, chosen[i]); });
  view.cells = std::move(cells);
  fill_witness(view, sources);
}

}  // namespace vlearn
