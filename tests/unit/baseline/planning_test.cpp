// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The planning steps against a transcription of their boxes that shares nothing with them but the
// solver of stages, from a list of what was played.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/random_game.h"
#include "vlearn/baseline/multi_vi.h"
#include "vlearn/baseline/nash_vi.h"
#include "vlearn/baseline/plug_in.h"
#include "vlearn/core/cancel.h"

namespace vlearn::test {
namespace {

using Place = std::tuple<std::size_t, std::size_t, std::size_t>;  // step, state, joint action

/// What was played, as a list; probabilities and means are computed when they are asked for.
struct Record {
  std::map<Place, std::vector<std::vector<double>>> rewards;
  std::map<Place, std::vector<std::size_t>> next;

  [[nodiscard]] std::size_t visits(const Place& place) const {
    const auto found = rewards.find(place);
    return found == rewards.end() ? 0 : found->second.size();
  }
  [[nodiscard]] double reward(const Place& place, std::size_t player) const {
    double sum = 0.0;
    for (const auto& row : rewards.at(place)) sum += row[player];
    return sum / static_cast<double>(visits(place));
  }
  /// E_P^ f(s')
  template <class Function>
  [[nodiscard]] double expect(const Place& place, const Function& f) const {
    double sum = 0.0;
    for (const std::size_t s : next.at(place)) sum += f(s) / static_cast<double>(visits(place));
    return sum;
  }
};

/// Uniform play of so many episodes, seen by a model and by a record.
void play(DenseGame& game, std::uint64_t episodes, PlayedModel& model, Record& record) {
  const Frame& frame = game.frame();
  std::vector<double> rewards(frame.num_players());
  std::vector<Action> joint(frame.num_players());
  for (std::uint64_t k = 0; k < episodes; ++k) {
    Draws draws({.seed = 77, .purpose = Purpose::test, .episode = Episode(k)});
    State s = game.start(Nature(5, Episode(k), Step(0U)));
    for (const Step h : all<Step>(frame.horizon())) {
      std::size_t chosen = 0;
      for (const Player player : all<Player>(frame.num_players())) {
        const std::size_t n = frame.num_actions(player, h, s);
        joint[player.index()] = Action(draws.below(n));
        chosen = chosen * n + joint[player.index()].index();
      }
      const State after = game.sample(h, s, joint, Nature(5, Episode(k), h), rewards);
      model.add(h, s, chosen, rewards, after);
      const Place place(h.index(), s.index(), chosen);
      record.rewards[place].push_back(rewards);
      if (!frame.is_last(h)) record.next[place].push_back(after.index());
      s = after;
    }
  }
}

/// Values and policies of a plan, computed anew.
class PlainPlan {
 public:
  PlainPlan(const Frame& frame, const Record& record, const BaselineOptions& options)
      : frame_(frame), record_(record), options_(options) {
    double joint = 0.0;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      joint = std::max(joint, static_cast<double>(*frame.num_joint_actions(cell)));
    }
    H_ = static_cast<double>(frame.horizon());
    S_ = static_cast<double>(frame.max_states());
    const auto m = static_cast<double>(frame.num_players());
    iota_ = std::log(4.0 * S_ * (S_ + 2.0 * m) * joint * H_ *
                     static_cast<double>(options.horizon_episodes) / options.delta);
    const std::size_t players =
        options.algorithm == BaselineName::nash_vi ? 1 : frame.num_players();
    upper.resize(frame.horizon() + 1);
    lower.resize(frame.horizon() + 1);
    joints.resize(frame.horizon());
    for (std::size_t h = frame.horizon(); h-- > 0;) {
      const std::size_t states = frame.num_states(Step(h));
      upper[h].assign(players, std::vector<double>(states));
      lower[h].assign(players, std::vector<double>(states));
      for (std::size_t s = 0; s < states; ++s) joints[h].push_back(solve(h, s));
    }
  }

  std::vector<std::vector<std::vector<double>>> upper;  // [step][player][state]
  std::vector<std::vector<std::vector<double>>> lower;
  std::vector<std::vector<std::vector<double>>> joints;  // [step][state][joint]

 private:
  double bonus(const Place& place, double t) {
    const double c = options_.constant;
    if (options_.algorithm != BaselineName::nash_vi) return c * std::sqrt(S_ * H_ * H_ * iota_ / t);
    double variance = H_ * H_;
    if (options_.bonus == BaselineBonus::bernstein) {
      variance = 0.0;
      const std::size_t h = std::get<0>(place);
      if (h + 1 < frame_.horizon()) {
        const auto middle = [&](std::size_t s) {
          return (upper[h + 1][0][s] + lower[h + 1][0][s]) / 2.0;
        };
        const double mean = record_.expect(place, middle);
        variance = record_.expect(
            place, [&](std::size_t s) { return (middle(s) - mean) * (middle(s) - mean); });
      }
      if (frame_.noise() != RewardNoise::none) variance += 0.25;
    }
    return c * (std::sqrt(variance * iota_ / t) + H_ * H_ * S_ * iota_ / t);
  }

  std::vector<double> solve(std::size_t h, std::size_t s) {
    const double most = H_ - static_cast<double>(h);
    std::vector<std::uint32_t> sizes;
    std::size_t joint = 1;
    for (const Player player : all<Player>(frame_.num_players())) {
      sizes.push_back(static_cast<std::uint32_t>(frame_.num_actions(player, Step(h), State(s))));
      joint *= sizes.back();
    }
    const bool plug_in = options_.algorithm == BaselineName::plug_in;
    const std::size_t players = upper[h].size();
    std::vector<double> up(players * joint, plug_in ? most / 2.0 : most);
    std::vector<double> low(players * joint, plug_in ? most / 2.0 : 0.0);
    for (std::size_t i = 0; i < players; ++i) {
      for (std::size_t a = 0; a < joint; ++a) {
        const Place place(h, s, a);
        const auto t = static_cast<double>(record_.visits(place));
        if (t == 0.0) continue;
        double next_up = 0.0;
        double next_low = 0.0;
        if (h + 1 < frame_.horizon()) {
          next_up = record_.expect(place, [&](std::size_t x) { return upper[h + 1][i][x]; });
          next_low = record_.expect(place, [&](std::size_t x) { return lower[h + 1][i][x]; });
        }
        const double r = record_.reward(place, i);
        double beta = 0.0;
        if (!plug_in) beta = bonus(place, t);
        if (options_.algorithm == BaselineName::nash_vi) {
          beta += options_.constant / H_ * (next_up - next_low);
        }
        up[i * joint + a] = r + next_up + beta;
        low[i * joint + a] = r + next_low - beta;
        if (plug_in) continue;
        up[i * joint + a] = std::min(up[i * joint + a], most);
        low[i * joint + a] = std::max(low[i * joint + a], 0.0);
      }
    }
    StageSolver solver;
    std::vector<double> pi(joint);
    if (plug_in && options_.target == Target::nash) {
      const MatrixSolution& found =
          solver.solve(MatrixGame{sizes[0], sizes[1], std::span(up).first(joint)});
      for (std::size_t a = 0; a < joint; ++a) {
        pi[a] = found.row[a / sizes[1]] * found.column[a % sizes[1]];
      }
    } else {
      std::vector<double> payoffs = up;
      if (options_.algorithm == BaselineName::nash_vi) {
        for (std::size_t a = 0; a < joint; ++a) payoffs.push_back(most - low[a]);
      }
      pi = solver
               .solve(StageGame{sizes, payoffs},
                      options_.target == Target::ce ? Target::ce : Target::cce)
               .joint;
    }
    for (std::size_t i = 0; i < players; ++i) {
      for (std::size_t a = 0; a < joint; ++a) {
        upper[h][i][s] += pi[a] * up[i * joint + a];
        lower[h][i][s] += pi[a] * low[i * joint + a];
      }
    }
    return pi;
  }

  const Frame& frame_;
  const Record& record_;
  BaselineOptions options_;
  double H_ = 0.0;
  double S_ = 0.0;
  double iota_ = 0.0;
};

/// Rounding alone tells them apart: values of at most 4 steps are the same within 1e-12, chances
/// within what a well-conditioned basis makes of that.
void expect_same(const PlayedModel& model, const PlainPlan& plain, const JointPlan& plan) {
  const Frame& frame = model.frame();
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      const std::size_t cell = model.cell(h, s);
      for (std::size_t i = 0; i < plan.num_values(); ++i) {
        EXPECT_NEAR(plan.upper(i)[cell], plain.upper[h.index()][i][s.index()], 1e-12);
        EXPECT_NEAR(plan.lower(i)[cell], plain.lower[h.index()][i][s.index()], 1e-12);
      }
      std::vector<double> pi(model.num_joint(cell), 0.0);
      for (std::size_t i = 0; i < plan.joints(cell).size(); ++i) {
        pi[plan.joints(cell)[i]] = plan.chances(cell)[i];
      }
      for (std::size_t a = 0; a < pi.size(); ++a) {
        EXPECT_NEAR(pi[a], plain.joints[h.index()][s.index()][a], 1e-9);
      }
    }
  }
}

struct Case {
  BaselineName algorithm;
  Target target;
  BaselineBonus bonus;
  double constant;
};
constexpr Case kCases[] = {
    {BaselineName::nash_vi, Target::nash, BaselineBonus::bernstein, 1e-4},
    {BaselineName::nash_vi, Target::nash, BaselineBonus::bernstein, 2e-3},
    {BaselineName::nash_vi, Target::nash, BaselineBonus::hoeffding, 1e-3},
    {BaselineName::nash_vi, Target::nash, BaselineBonus::bernstein, 6.0},
    {BaselineName::multi_cce_vi, Target::cce, BaselineBonus::bernstein, 0.02},
    {BaselineName::multi_ce_vi, Target::ce, BaselineBonus::bernstein, 0.02},
    {BaselineName::plug_in, Target::nash, BaselineBonus::bernstein, 0.0},
    {BaselineName::plug_in, Target::cce, BaselineBonus::bernstein, 0.0},
    {BaselineName::plug_in, Target::ce, BaselineBonus::bernstein, 0.0},
};

// Games of all shapes, some episodes and many: some joint actions were never played.
TEST(BaselinePlanning, IsItsBox) {
  for (const Case& each : kCases) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(std::string(name_of(each.algorithm)) + " " + std::string(name_of(each.target)) +
                   " " + std::to_string(seed));
      RandomSizes sizes{.players = {2, 3}, .horizon = {1, 4}, .states = {1, 4}, .actions = {1, 3}};
      if (each.target == Target::nash) {
        sizes.players = {2, 2};
        sizes.zero_sum = true;
      }
      DenseGame game = random_game(seed, sizes);
      const Frame& frame = game.frame();
      BaselineOptions options = usual_options(each.algorithm, frame);
      options.target = each.target;
      options.bonus = each.bonus;
      options.constant = each.constant;
      options.horizon_episodes = 1000;
      PlayedModel model(frame);
      Record record;
      play(game, seed % 2 == 0 ? 20 : 500, model, record);
      const std::size_t values = each.algorithm == BaselineName::nash_vi ? 1 : frame.num_players();
      JointPlan plan(model.num_cells(), values);
      PlanMemory memory;
      // Twice in the same memory: what a plan leaves behind does not show in the next.
      for (int again = 0; again < 2; ++again) {
        switch (each.algorithm) {
          case BaselineName::nash_vi: plan_nash_vi(model, options, memory, plan); break;
          case BaselineName::multi_cce_vi:
          case BaselineName::multi_ce_vi: plan_multi_vi(model, options, memory, plan); break;
          case BaselineName::plug_in: plan_plug_in(model, options, memory, plan); break;
        }
      }
      expect_same(model, PlainPlan(frame, record, options), plan);
    }
  }
}

// By hand. One state, one step, two players with one action: Q = r +- beta, clipped at [0, 1].
TEST(BaselinePlanning, OneStepByHand) {
  FrameOptions shape;
  shape.num_players = 2;
  shape.horizon = 1;
  shape.num_states = {1};
  shape.num_actions = {1, 1};
  shape.zero_sum = true;
  const Frame frame(shape);
  PlayedModel model(frame);
  for (int t = 0; t < 4; ++t) {
    const std::vector<double> rewards = {0.5, 0.5};
    const bool doubled = model.add(Step(0U), State(0U), 0, rewards, State(0U));
    EXPECT_EQ(doubled, t != 2);  // at 1, 2 and 4 visits
  }
  BaselineOptions options = usual_options(BaselineName::nash_vi, frame);
  options.constant = 0.01;
  options.delta = 0.5;
  options.horizon_episodes = 1;
  const double iota = std::log(4.0 * 1.0 * 5.0 / 0.5);
  JointPlan plan(1, 1);
  PlanMemory memory;
  plan_nash_vi(model, options, memory, plan);  // no variance after the last step
  EXPECT_NEAR(plan.upper(0)[0], 0.5 + 0.01 * iota / 4.0, 1e-15);
  EXPECT_NEAR(plan.lower(0)[0], 0.5 - 0.01 * iota / 4.0, 1e-15);
  EXPECT_NEAR(optimism_gap(frame, plan), 0.02 * iota / 4.0, 1e-15);
  options.bonus = BaselineBonus::hoeffding;
  plan_nash_vi(model, options, memory, plan);
  EXPECT_NEAR(plan.upper(0)[0], 0.5 + 0.01 * (std::sqrt(iota / 4.0) + iota / 4.0), 1e-15);
  options.constant = 6.0;
  plan_nash_vi(model, options, memory, plan);
  EXPECT_EQ(plan.upper(0)[0], 1.0);
  EXPECT_EQ(plan.lower(0)[0], 0.0);
}

TEST(BaselinePlanning, StopsWhenItIsAskedTo) {
  DenseGame game = random_game(4, {.players = {2, 2}, .horizon = {4, 4}, .states = {3, 3}});
  PlayedModel model(game.frame());
  Record record;
  play(game, 10, model, record);
  int asked = 0;
  PlanMemory memory([&] { return ++asked > 5; });
  JointPlan plan(model.num_cells(), 2);
  BaselineOptions options = usual_options(BaselineName::multi_cce_vi, game.frame());
  EXPECT_THROW(plan_multi_vi(model, options, memory, plan), Cancelled);
  EXPECT_EQ(asked, 6);
}

}  // namespace
}  // namespace vlearn::test
