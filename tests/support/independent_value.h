// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the nested mixtures of two players are worth who draw their visits independently of each
// other, by definition: from (h, s) on, with n visits for player 1 and l for player 2,
//
//   v(n, l) = sum_{i <= n} sum_{k <= l} alpha_n^i alpha_l^k
//             E_{a ~ pi_1^i, b ~ pi_2^k} [ r(a, b) + v of (h + 1, s') at what i and k saw there ]
//
// Visit 0 is uniform play to the end. It takes the square of the visits in time and memory: for
// short runs.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "support/mixture_record.h"
#include "support/plain_game.h"

namespace vlearn::test {

/// Of player 1, in units of [0, 1] rewards; player 2 has H less that.
inline double independent_value(const MixtureRecord& record, const StartRule& start) {
  const Frame& frame = record.frame();
  const DenseGame& game = record.game();
  using Pairs = std::vector<std::vector<double>>;  // [n][l]
  std::vector<Pairs> next;                         // of each state of the step after
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    std::vector<Pairs> now;
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = frame.cell(h, s);
      const std::size_t visits = record.visits(h, s);
      const auto seen = [&](std::size_t i, std::size_t to) {
        return i == 0 ? 0 : record.visits_before(h.next(), State(to), record.episode(h, s, i));
      };
      std::vector<std::vector<std::size_t>> counts(visits + 1);  // [i][state after]
      for (std::size_t i = 0; i <= visits; ++i) {
        for (std::size_t to = 0; to < next.size(); ++to) counts[i].push_back(seen(i, to));
      }
      Pairs& worth = now.emplace_back(visits + 1, std::vector<double>(visits + 1, 0.0));
      for (std::size_t i = 0; i <= visits; ++i) {
        for (std::size_t k = 0; k <= visits; ++k) {
          for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
            const double chance = record.policy(Player(0), h, s, i)[joint[0].index()] *
                                  record.policy(Player(1), h, s, k)[joint[1].index()];
            const std::size_t place = joint_offset(frame.action_begins(h, s), joint);
            double paid = game.reward(Player(0), cell, place);
            if (!next.empty()) {
              game.rows().for_each(cell, place, [&](State to, double p) {
                paid += p * next[to.index()][counts[i][to.index()]][counts[k][to.index()]];
              });
            }
            worth[i][k] += chance * paid;
          });
        }
      }
      // From visits to their mixtures, of one player and then of the other: visit 0 is alone.
      for (std::size_t n = 2; n <= visits; ++n) {
        const double rate = record.alpha().rate(n);
        for (std::size_t k = 0; k <= visits; ++k) {
          worth[n][k] = (1.0 - rate) * worth[n - 1][k] + rate * worth[n][k];
        }
      }
      for (std::vector<double>& row : worth) {
        for (std::size_t l = 2; l <= visits; ++l) {
          const double rate = record.alpha().rate(l);
          row[l] = (1.0 - rate) * row[l - 1] + rate * row[l];
        }
      }
    }
    next = std::move(now);
  }
  const std::vector<std::uint64_t> starts = record.starts(start);
  double sum = 0.0;
  for (const std::uint64_t first : starts) {
    for (const std::uint64_t second : starts) {
      for (std::size_t s = 0; s < frame.initial().size(); ++s) {
        sum += frame.initial()[s] * next[s][record.visits_before(Step(0), State(s), first)]
                                        [record.visits_before(Step(0), State(s), second)];
      }
    }
  }
  return sum / static_cast<double>(starts.size() * starts.size());
}

}  // namespace vlearn::test
