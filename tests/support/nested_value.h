// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player earns in the nested mixture when it plays f(h, s, b) where b was drawn for it, by
// definition: from (h, s) on, after n visits, it is worth
//
//   v_n = sum_{i <= n} alpha_n^i E_{a ~ pi^i} [ r(f(a_j), a_-j) + v_{N^{k^i}(s')} of (h + 1, s') ]
//
// with explicit weights; v_0 plays uniformly to the end. f(h, s, b) = b follows, an f without b is
// a Markov deviation, any other one a modification.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "support/mixture_record.h"
#include "support/plain_game.h"

namespace vlearn::test {

using Answer = std::function<Action(Step, State, Action)>;

inline Action follow(Step /*h*/, State /*s*/, Action drawn) { return drawn; }

/// In units of [0, 1] rewards.
inline double nested_value(const MixtureRecord& record,
                           Player player,
                           const Answer& answer,
                           const StartRule& start) {
  const Frame& frame = record.frame();
  const DenseGame& game = record.game();
  const std::vector<Player> players = everybody(frame);
  std::vector<double> falls = {0.0};  // alpha_n^{i-1} / alpha_n^i = (i - 1)/(c + i - 1)
  for (std::size_t i = 1; i <= record.episodes(); ++i) falls.push_back(record.alpha().decay(i));
  std::vector<std::vector<double>> next;  // [state][n], of the step after
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    std::vector<std::vector<double>> now;
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = frame.cell(h, s);
      // What visit i is worth: the mean over what is drawn, first where the game goes from there.
      std::vector<double> of_visit;
      for (std::size_t i = 0; i <= record.visits(h, s); ++i) {
        std::vector<double> after;
        for (std::size_t to = 0; to < next.size(); ++to) {
          const std::size_t n =
              i == 0 ? 0 : record.visits_before(h.next(), State(to), record.episode(h, s, i));
          after.push_back(next[to][n]);
        }
        double mean = 0.0;
        for_each_joint(frame, h, s, [&](const std::vector<Action>& drawn) {
          const Action played = answer(h, s, drawn[player.index()]);
          const std::size_t joint =
              joint_offset(frame.action_begins(h, s), with_action(drawn, player, played));
          double paid = game.reward(player, cell, joint);
          if (!after.empty()) {
            game.rows().for_each(
                cell, joint, [&](State to, double chance) { paid += chance * after[to.index()]; });
          }
          mean += record.chance(players, h, s, i, drawn) * paid;
        });
        of_visit.push_back(mean);
      }
      std::vector<double>& values = now.emplace_back(1, of_visit[0]);
      for (std::size_t n = 1; n < of_visit.size(); ++n) {
        double sum = 0.0;
        double weight = record.alpha().rate(n);  // alpha_n^n
        for (std::size_t i = n; i > 0; --i) {
          sum += weight * of_visit[i];
          weight *= falls[i];
        }
        values.push_back(sum);
      }
    }
    next = std::move(now);
  }
  const std::vector<std::uint64_t> starts = record.starts(start);
  double sum = 0.0;
  for (const std::uint64_t k : starts) {
    for (std::size_t s = 0; s < frame.initial().size(); ++s) {
      sum += frame.initial()[s] * next[s][record.visits_before(Step(0), State(s), k)];
    }
  }
  return sum / static_cast<double>(starts.size());
}

}  // namespace vlearn::test
