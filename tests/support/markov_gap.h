// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How good a Markov solution is, exactly, by backward induction: at every (step, state) a lottery
// over profiles is drawn anew, everybody learns its own part of it (or nothing, where only the
// lottery's law is common knowledge), and one player may deviate.
//
//   nash, optimal   there is one profile; the deviator plays a best response
//   cce             the deviator chooses an action before the draw
//   ce              the deviator sees the action drawn for it and may play another
#pragma once

#include <algorithm>
#include <vector>

#include "vlearn/game/about.h"
#include "vlearn/game/concepts.h"

namespace vlearn::test {

struct MarkovGap {
  std::vector<double> values;  // in units of [0, 1] rewards
  std::vector<double> gains;   // what each player can gain by deviating
};

template <KnownGame G>
MarkovGap markov_gap(const G& game,
                     Target target,
                     const std::vector<std::vector<WeightedProfile>>& policy) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  const std::size_t width = frame.max_states();
  std::vector<std::size_t> first_stage;
  std::size_t stages = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    first_stage.push_back(stages);
    stages += frame.num_states(h);
  }
  std::vector<double> value(m * width, 0.0);    // following, from the next step on
  std::vector<double> deviate(m * width, 0.0);  // deviating from the next step on
  Workspace workspace;
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    std::vector<double> value_now(m * width, 0.0);
    std::vector<double> deviate_now(m * width, 0.0);
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      for (const Player i : all<Player>(m)) {
        const std::size_t actions = frame.num_actions(i, Step(h), s);
        // [drawn action][answer]: what an answer is worth, times the chance of the drawn one.
        std::vector<double> answers(actions * actions, 0.0);
        double follow = 0.0;
        const auto next = [&](const std::vector<double>& of) {
          return std::span(of).subspan(i.index() * width, width);
        };
        for (const WeightedProfile& part : policy[first_stage[h] + s.index()]) {
          const Profile profile(frame.action_begins(Step(h), s), part.policies);
          std::vector<double> q(actions);
          game.backup({Step(h), s, profile}, i, next(value), q, workspace);
          for (std::size_t b = 0; b < actions; ++b) follow += part.weight * profile[i][b] * q[b];
          game.backup({Step(h), s, profile}, i, next(deviate), q, workspace);
          for (std::size_t a = 0; a < actions; ++a) {
            for (std::size_t b = 0; b < actions; ++b) {
              answers[a * actions + b] += part.weight * profile[i][a] * q[b];
            }
          }
        }
        double best = 0.0;
        if (target == Target::ce) {
          for (std::size_t a = 0; a < actions; ++a) {
            const auto row = std::span(answers).subspan(a * actions, actions);
            best += *std::max_element(row.begin(), row.end());
          }
        } else {
          std::vector<double> before_the_draw(actions, 0.0);
          for (std::size_t k = 0; k < answers.size(); ++k) {
            before_the_draw[k % actions] += answers[k];
          }
          best = *std::max_element(before_the_draw.begin(), before_the_draw.end());
        }
        value_now[i.index() * width + s.index()] = follow;
        deviate_now[i.index() * width + s.index()] = best;
      }
    }
    value = value_now;
    deviate = deviate_now;
  }
  MarkovGap result;
  for (std::size_t i = 0; i < m; ++i) {
    double from_start = 0.0;
    double deviating = 0.0;
    for (std::size_t s = 0; s < frame.initial().size(); ++s) {
      from_start += frame.initial()[s] * value[i * width + s];
      deviating += frame.initial()[s] * deviate[i * width + s];
    }
    result.values.push_back(from_start);
    result.gains.push_back(deviating - from_start);
  }
  return result;
}

}  // namespace vlearn::test
