// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the paper proves of V-learning, executed: runs of the engine, watched beside the exact
// values of what was played. A run can refute a lemma; it cannot prove one.
//
// Bounds that hold with probability 1 - delta only are looked at with delta = 0.001 a run. Seeds
// are fixed, so a run that is fine stays fine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "support/nested_bounds.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

using test::NestedBounds;

constexpr double kDelta = 0.001;
/// What averages of numbers up to 3 may lose by rounding in 10^6 visits, with room to spare.
constexpr double kRounding = 1e-10;

// ---------------------------------------------------------------------------------------- games

DenseGame table_game(const std::string& name) { return std::get<DenseGame>(make_game(name)); }

/// Rewards 0 or 1 by chance, another number of actions for each player and state, two states to
/// start from.
DenseGame noisy_game() {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 2;
  options.num_states = {2};
  options.num_actions = {2, 3, 3, 1};
  options.initial = {0.75, 0.25};
  options.noise = RewardNoise::bernoulli;
  std::vector<double> rewards;
  std::vector<double> probabilities;
  for (const std::size_t joints : {std::size_t{6}, std::size_t{3}}) {
    for (std::size_t i = 0; i < 2 * joints; ++i) {
      rewards.push_back(static_cast<double>((i * 5 + joints) % 8) / 8.0);
    }
    for (std::size_t a = 0; a < joints; ++a) {
      const double stay = static_cast<double>(1 + a) / 8.0;
      probabilities.push_back(stay);
      probabilities.push_back(1.0 - stay);
    }
  }
  return {Frame(options), rewards, probabilities};
}

/// The average over the law of the first state.
double at_start(const Frame& frame, std::span<const double> values) {
  double sum = 0.0;
  for (std::size_t s = 0; s < frame.initial().size(); ++s) sum += frame.initial()[s] * values[s];
  return sum;
}

/// H_h.
double most(const Frame& frame, Step h) { return static_cast<double>(frame.horizon() - h.index()); }

/// Calls visit(h, s, cell) for all of them, cells as Seat numbers them.
template <class Visit>
void for_each_cell(const Frame& frame, const Visit& visit) {
  std::size_t cell = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) visit(h, s, cell++);
  }
}

/// [step][state], and zeros after the last step.
using Values = std::vector<std::vector<double>>;

/// By backward induction: value(stage, V_{h+1}) at every (h, s), the profile of stage made by
/// profile(h, s), all players' policies one after the other.
template <KnownGame G, class ProfileOf, class ValueOf>
Values backward(const G& game, const ProfileOf& profile, const ValueOf& value) {
  const Frame& frame = game.frame();
  Values values(frame.horizon() + 1);
  for (std::size_t h = frame.horizon(); h-- > 0;) {
    for (const State s : all<State>(frame.num_states(Step(h)))) {
      const std::vector<double> policies = profile(Step(h), s);
      const Stage stage{Step(h), s, Profile(frame.action_begins(Step(h), s), policies)};
      values[h].push_back(value(stage, values[h + 1]));
    }
  }
  return values;
}

/// What a player can get at most against Markov policies: V^{dagger, pi_-j}.
template <KnownGame G, class ProfileOf>
Values best_response(const G& game, Player player, const ProfileOf& profile) {
  Workspace workspace;
  return backward(game, profile, [&](const Stage& stage, const std::vector<double>& next) {
    std::vector<double> q(stage.profile[player].size());
    game.backup(stage, player, next, q, workspace);
    return *std::max_element(q.begin(), q.end());
  });
}

/// V^pi.
template <KnownGame G, class ProfileOf>
Values policy_value(const G& game, Player player, const ProfileOf& profile) {
  Workspace workspace;
  return backward(game, profile, [&](const Stage& stage, const std::vector<double>& next) {
    std::vector<double> q(stage.profile[player].size());
    game.backup(stage, player, next, q, workspace);
    double sum = 0.0;
    for (std::size_t b = 0; b < q.size(); ++b) sum += stage.profile[player][b] * q[b];
    return sum;
  });
}

/// Of zero-sum games with two actions each.
template <KnownGame G>
Values minimax_value(const G& game) {
  Workspace workspace;
  const auto any = [](Step, State) { return std::vector(4, 0.5); };
  return backward(game, any, [&](const Stage& at, const std::vector<double>& next) {
    double q[2][2];  // [other's action][own action]
    for (std::size_t other = 0; other < 2; ++other) {
      const std::vector<double> pure = {0.5, 0.5, other == 0 ? 1.0 : 0.0, other == 0 ? 0.0 : 1.0};
      const Stage stage{at.h, at.s, Profile(game.frame().action_begins(at.h, at.s), pure)};
      game.backup(stage, Player(0), next, q[other], workspace);
    }
    const double low =
        std::max(std::min(q[0][0], q[1][0]), std::min(q[0][1], q[1][1]));  // by pure actions
    const double high = std::min(std::max(q[0][0], q[0][1]), std::max(q[1][0], q[1][1]));
    if (low == high) return low;
    return (q[0][0] * q[1][1] - q[0][1] * q[1][0]) / (q[0][0] + q[1][1] - q[0][1] - q[1][0]);
  });
}

// ----------------------------------------------------------------------------------------- runs

LearnerOptions rigorous_options(Target target, std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::rigorous, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  return options;
}

template <Regret kRegret>
RigorousSteps<kRegret> rigorous_steps(const Frame& frame, const LearnerOptions& options) {
  return {BonusSchedule(options, seat_of(frame, Player(0))).log_events()};
}

/// The policies of all players at a cell, one after the other.
template <class Rule>
std::vector<double> profile_of(const SelfPlay<Rule>& play, std::size_t cell) {
  std::vector<double> profile;
  for (const Player player : all<Player>(play.frame().num_players())) {
    const std::span<const double> policy = play.table(player).policy(cell);
    profile.insert(profile.end(), policy.begin(), policy.end());
  }
  return profile;
}

/// The averages that the bandits of a run are measured by: with V_{h+1} as it stood at the
/// beginning of each visit's episode,
///
///   mean       sum_i alpha_t^i E_{a ~ pi^{k^i}} [r + V_{h+1}^{k^i}]
///   fixed      the most that one own action would have had in place of the own policies
///   modified   the most of one answer to each own action
template <KnownGame G>
class LocalRegret {
 public:
  struct Averages {
    double mean = 0.0;
    double fixed = 0.0;
    double modified = 0.0;
    std::vector<double> answers;        // of each own action
    std::vector<double> modifications;  // [own action][answer]
  };

  LocalRegret(const G& game, std::size_t cells)
      : game_(game), cells_(cells), averages_(game.frame().num_players() * cells) {}

  [[nodiscard]] const Averages& at(Player player, std::size_t cell) const {
    return averages_[player.index() * cells_ + cell];
  }

  /// The first visit has alpha = 1.
  void visit(const Stage& stage,
             Player player,
             std::size_t cell,
             std::span<const double> next,
             double alpha) {
    Averages& of = averages_[player.index() * cells_ + cell];
    const std::span<const double> policy = stage.profile[player];
    const std::size_t n = policy.size();
    of.answers.resize(n, 0.0);
    of.modifications.resize(n * n, 0.0);
    std::vector<double> q(n);
    game_.backup(stage, player, next, q, workspace_);
    double mean = 0.0;
    of.modified = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      mean += policy[b] * q[b];
      of.answers[b] += alpha * (q[b] - of.answers[b]);
      double best = 0.0;
      for (std::size_t answer = 0; answer < n; ++answer) {
        double& sum = of.modifications[b * n + answer];
        sum += alpha * (policy[b] * q[answer] - sum);
        best = std::max(best, sum);
      }
      of.modified += best;
    }
    of.mean += alpha * (mean - of.mean);
    of.fixed = *std::max_element(of.answers.begin(), of.answers.end());
  }

 private:
  const G& game_;
  std::size_t cells_;
  std::vector<Averages> averages_;
  Workspace workspace_;
};

/// What was seen in a run. Every visit counts twice for every player: before and after it.
struct Sightings {
  std::uint64_t checks = 0;
  std::uint64_t not_optimistic = 0;   // V < W, for correlated equilibria V < Wc
  std::uint64_t regretful = 0;        // V below what one action (ce: answer) would have had, by V
  std::uint64_t not_pessimistic = 0;  // V_low > U
  std::uint64_t below_clip = 0;       // V < H_h
  std::uint64_t above_zero = 0;       // V_low > 0
  std::vector<double> from_data;      // of each player: mean of (V - V_low)(s_1)
  std::vector<double> from_law;       // of each player: mean of (W - U)(s_1)
  std::vector<double> value;          // of each player: mean of U(s_1)

  [[nodiscard]] double share(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(checks);
  }
};

/// V_{h+1}, which nobody has learned from yet while step h is watched.
template <class Rule>
std::span<const double> next_values(const SelfPlay<Rule>& play, Player player, Step h) {
  if (play.frame().is_last(h)) return {};
  const std::span<const std::size_t> first = play.seat().first_cell;
  const std::size_t begin = first[h.index() + 1];
  return play.table(player).values().subspan(begin, first[h.index() + 2] - begin);
}

template <KnownGame G>
double upper_bound(const NestedBounds<G>& nested, Target target, Player player, Step h, State s) {
  return target == Target::ce ? nested.modifying(player, h, s) : nested.deviating(player, h, s);
}

template <class Rule, KnownGame G>
Sightings watch(const G& game,
                const Rule& rule,
                const LearnerOptions& options,
                std::uint64_t seed,
                std::uint64_t episodes) {
  const Frame& frame = game.frame();
  const std::size_t m = frame.num_players();
  SelfPlay<Rule> play(GameRef(game), rule, options, seed);
  NestedBounds<G> nested(game);
  LocalRegret<G> local(game, play.seat().num_cells());
  const AlphaWeights alpha(frame.horizon());
  Sightings seen;
  seen.from_data.resize(m);
  seen.from_law.resize(m);
  seen.value.resize(m);
  const auto check = [&](Step h, State s) {
    const std::size_t cell = play.seat().cell(h, s);
    for (const Player player : all<Player>(m)) {
      const double value = play.table(player).value(cell);
      const double room = value - upper_bound(nested, options.target, player, h, s);
      ++seen.checks;
      if (room < -kRounding) ++seen.not_optimistic;
      const auto& averages = local.at(player, cell);
      const double hindsight = options.target == Target::ce ? averages.modified : averages.fixed;
      if (value < hindsight - kRounding) ++seen.regretful;
      if (value < most(frame, h)) ++seen.below_clip;
      if (!options.pessimistic) continue;
      const double low = play.table(player).low_values()[cell];
      const double room_below = nested.value(player, h, s) - low;
      if (room_below < -kRounding) ++seen.not_pessimistic;
      if (low > 0.0) ++seen.above_zero;
    }
  };
  const double weight = 1.0 / static_cast<double>(episodes);
  std::vector<State> path(frame.horizon());
  for (std::uint64_t k = 0; k < episodes; ++k) {
    for (const Player player : all<Player>(m)) {
      const ValueTable<Rule>& table = play.table(player);
      for (std::size_t s = 0; s < frame.initial().size(); ++s) {
        const double chance = weight * frame.initial()[s];
        const double value = nested.value(player, Step(0), State(s));
        const double low = options.pessimistic ? table.low_values()[s] : 0.0;
        seen.from_data[player.index()] += chance * (table.value(s) - low);
        seen.from_law[player.index()] +=
            chance * (upper_bound(nested, options.target, player, Step(0), State(s)) - value);
        seen.value[player.index()] += chance * value;
      }
    }
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      check(visit.h, visit.s);
      path[visit.h.index()] = visit.s;
      const std::vector<double> policies = profile_of(play, visit.cell);
      const Profile profile(frame.action_begins(visit.h, visit.s), policies);
      nested.visit(visit.h, visit.s, profile);
      for (const Player player : all<Player>(m)) {
        local.visit({visit.h, visit.s, profile}, player, visit.cell,
                    next_values(play, player, visit.h), alpha.rate(play.visits(visit.cell) + 1));
      }
    });
    for (const Step h : all<Step>(frame.horizon())) check(h, path[h.index()]);
  }
  return seen;
}

void expect_bounds(const Sightings& seen) {
  EXPECT_EQ(seen.regretful, 0) << "of " << seen.checks;
  EXPECT_EQ(seen.not_optimistic, 0) << "of " << seen.checks;
  EXPECT_EQ(seen.not_pessimistic, 0) << "of " << seen.checks;
  // Values at their clips would prove nothing.
  EXPECT_GE(seen.share(seen.below_clip), 0.5);
  EXPECT_GE(seen.share(seen.above_zero), 0.5);
  for (std::size_t j = 0; j < seen.from_data.size(); ++j) {
    EXPECT_GE(seen.from_data[j], seen.from_law[j]) << "player " << j + 1;
  }
}

struct Case {
  std::string name;
  DenseGame game;
  std::uint64_t episodes;
};

std::vector<Case> bound_cases(std::uint64_t factor) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, std::uint64_t episodes) {
    cases.push_back({name, table_game(name), factor * episodes});
  };
  add("random:players=2,states=2,actions=2,horizon=2,seed=1", 80'000);
  add("random:players=3,states=2,actions=2,horizon=2,seed=2", 80'000);
  add("random:players=2,states=2,actions=3,horizon=3,seed=3", 600'000);
  add("random:players=2,states=2,actions=2,horizon=3,kind=zero-sum,seed=4", 120'000);
  add("random:players=1,states=3,actions=2,horizon=2,seed=5", 120'000);
  add("random:players=2,states=1,actions=2,horizon=1,kind=zero-sum,seed=6", 10'000);
  cases.push_back({"rewards by chance", noisy_game(), factor * 120'000});
  return cases;
}

// ---------------------------------------------------------------------------- the nested mixture

/// The mixture of Algorithm 3 as it is defined, from a full record of the visits.
class RecordedMixture {
 public:
  explicit RecordedMixture(const DenseGame& game) : game_(game), alpha_(game.frame().horizon()) {}

  struct Visit {
    std::uint64_t k;
    std::vector<double> policies;
  };
  std::vector<Visit>& visits(Step h, State s) { return visits_[h.index()][s.index()]; }

  struct Three {
    double value;
    double deviating;
    double modifying;
  };
  /// From (h, s) on, where the mixture stands at the beginning of episode k.
  Three from(Player player, Step h, State s, std::uint64_t k) {
    const Frame& frame = game_.frame();
    if (h.index() == frame.horizon()) return {};
    std::vector<const Visit*> before;
    for (const Visit& visit : visits(h, s)) {
      if (visit.k < k) before.push_back(&visit);
    }
    const std::size_t n = frame.num_actions(player, h, s);
    const Visit uniform{0, uniform_profile(h, s)};
    const bool none = before.empty();
    if (none) before.push_back(&uniform);  // and uniform from there on: episode 0 has no past
    double value = 0.0;
    std::vector<double> answers(n, 0.0);
    std::vector<double> modifications(n * n, 0.0);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double weight = none ? 1.0 : alpha_.weight(before.size(), i + 1);
      std::vector<double> next[3];
      const bool last = frame.is_last(h);
      for (std::size_t s2 = 0; !last && s2 < frame.num_states(h.next()); ++s2) {
        const Three after = from(player, h.next(), State(s2), before[i]->k);
        next[0].push_back(after.value);
        next[1].push_back(after.deviating);
        next[2].push_back(after.modifying);
      }
      const Stage stage{h, s, Profile(frame.action_begins(h, s), before[i]->policies)};
      std::vector<double> q[3] = {std::vector<double>(n), std::vector<double>(n),
                                  std::vector<double>(n)};
      for (std::size_t x = 0; x < 3; ++x) game_.backup(stage, player, next[x], q[x], workspace_);
      for (std::size_t b = 0; b < n; ++b) {
        value += weight * stage.profile[player][b] * q[0][b];
        answers[b] += weight * q[1][b];
        for (std::size_t c = 0; c < n; ++c) {
          modifications[b * n + c] += weight * stage.profile[player][b] * q[2][c];
        }
      }
    }
    double modifying = 0.0;
    for (std::size_t b = 0; b < n; ++b) {
      const auto row = std::span(modifications).subspan(b * n, n);
      modifying += *std::max_element(row.begin(), row.end());
    }
    return {value, *std::max_element(answers.begin(), answers.end()), modifying};
  }

 private:
  std::vector<double> uniform_profile(Step h, State s) const {
    std::vector<double> policies;
    for (const Player player : all<Player>(game_.frame().num_players())) {
      const std::size_t n = game_.frame().num_actions(player, h, s);
      policies.insert(policies.end(), n, 1.0 / static_cast<double>(n));
    }
    return policies;
  }

  const DenseGame& game_;
  AlphaWeights alpha_;
  std::vector<std::vector<std::vector<Visit>>> visits_ = std::vector(
      game_.frame().horizon(), std::vector(game_.frame().max_states(), std::vector<Visit>()));
  Workspace workspace_;
};

TEST(NestedMixture, BoundsKeptUpAreThoseOfTheRecord) {
  std::vector<DenseGame> games;
  games.push_back(table_game("random:players=2,states=2,actions=2,horizon=3,seed=7"));
  games.push_back(noisy_game());
  for (const DenseGame& game : games) {
    const Frame& frame = game.frame();
    const LearnerOptions options = preset_options(Preset::practical, Target::cce);
    SelfPlay<Ftrl<>> play(GameRef(game), Ftrl<>(frame.horizon()), options, 3);
    NestedBounds<DenseGame> nested(game);
    RecordedMixture record(game);
    const std::uint64_t episodes = 30;
    for (std::uint64_t k = 0; k <= episodes; ++k) {
      if (k <= 2 || k == episodes) {
        for (const Player player : all<Player>(frame.num_players())) {
          for_each_cell(frame, [&](Step h, State s, std::size_t) {
            const RecordedMixture::Three expected = record.from(player, h, s, k);
            EXPECT_NEAR(nested.value(player, h, s), expected.value, 1e-13);
            EXPECT_NEAR(nested.deviating(player, h, s), expected.deviating, 1e-13);
            EXPECT_NEAR(nested.modifying(player, h, s), expected.modifying, 1e-13);
            EXPECT_GE(nested.modifying(player, h, s), nested.deviating(player, h, s) - 1e-13);
            EXPECT_GE(nested.modifying(player, h, s), nested.value(player, h, s) - 1e-13);
          });
        }
      }
      play.play_episode(Episode(k), [&](const JointVisit& visit) {
        const std::vector<double> policies = profile_of(play, visit.cell);
        nested.visit(visit.h, visit.s, Profile(frame.action_begins(visit.h, visit.s), policies));
        record.visits(visit.h, visit.s).push_back({k, policies});
      });
    }
  }
}

// ---------------------------------------------------------------------------------- Lemma 11

/// Of every visit of a cell, with the values of the beginning of its episode.
struct VisitTargets {
  std::vector<double> high;  // r + V_{h+1}^{k^i}(s')
  std::vector<double> low;   // the same from below, where values from below are kept
};
using Record = std::vector<std::vector<VisitTargets>>;  // [player][cell]

/// sum_i alpha_t^i (x_i + beta_i), term by term.
double weighted_sum(std::uint64_t horizon,
                    const std::vector<double>& x,
                    const std::function<double(std::uint64_t)>& beta) {
  const AlphaWeights alpha(horizon);
  double sum = 0.0;
  for (std::uint64_t i = 1; i <= x.size(); ++i) {
    sum += alpha.weight(x.size(), i) * (x[i - 1] + beta(i));
  }
  return sum;
}

/// Plays, and calls compare(play, record) at some times.
template <class Rule, class Compare>
void play_and_compare(const DenseGame& game,
                      const Rule& rule,
                      const LearnerOptions& options,
                      const std::vector<std::uint64_t>& times,
                      const Compare& compare) {
  const Frame& frame = game.frame();
  SelfPlay<Rule> play(GameRef(game), rule, options, 11);
  const std::size_t cells = play.seat().num_cells();
  Record record(frame.num_players(), std::vector<VisitTargets>(cells));
  for (std::uint64_t k = 0; k < times.back(); ++k) {
    Values before;  // of each player
    Values low_before;
    for (const Player player : all<Player>(frame.num_players())) {
      const std::span<const double> values = play.table(player).values();
      const std::span<const double> low_values = play.table(player).low_values();
      before.emplace_back(values.begin(), values.end());
      low_before.emplace_back(low_values.begin(), low_values.end());
    }
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const std::size_t next =
          frame.is_last(visit.h) ? cells : play.seat().cell(visit.h.next(), visit.next);
      for (std::size_t j = 0; j < frame.num_players(); ++j) {
        VisitTargets& targets = record[j][visit.cell];
        targets.high.push_back(visit.rewards[j] + before[j][next]);
        if (options.pessimistic) targets.low.push_back(visit.rewards[j] + low_before[j][next]);
      }
    });
    if (std::find(times.begin(), times.end(), k + 1) != times.end()) compare(play, record);
  }
}

const std::vector<std::string>& lemma_games() {
  static const std::vector<std::string> names = {
      "random:players=2,states=2,actions=3,horizon=2,seed=8",
      "random:players=2,states=2,actions=2,horizon=3,seed=8",
      "random:players=3,states=2,actions=2,horizon=2,seed=9",
      "random:players=1,states=3,actions=2,horizon=1,seed=10"};
  return names;
}

/// log(factor m H S K / delta): with A or 4 B^p as the factor an iota.
double log_of_events(const Frame& frame, const LearnerOptions& options, double factor) {
  return std::log(factor * static_cast<double>(frame.num_players() * frame.horizon()) *
                  static_cast<double>(frame.max_states()) *
                  static_cast<double>(options.horizon_episodes) / options.delta);
}

TEST(ValueRepresentation, OfBonusesThatAreGiven) {
  const std::vector<std::uint64_t> times = {1, 2, 3, 10, 100, 3000};
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    const auto horizon = static_cast<double>(frame.horizon());
    const auto actions = static_cast<double>(frame.num_actions(Player(0), Step(0), State(0)));
    std::uint64_t below_clip = 0;
    for (const Preset preset : {Preset::paper, Preset::practical}) {
      for (const Target target : {Target::cce, Target::ce}) {
        LearnerOptions options = preset_options(preset, target);
        options.horizon_episodes = times.back();
        if (preset == Preset::paper) options.bonus_constant = 0.02;  // or values stay at the clip
        const double iota = log_of_events(frame, options, actions);
        const auto compare = [&](const auto& play, const Record& record) {
          for_each_cell(frame, [&](Step h, State, std::size_t cell) {
            for (std::size_t j = 0; j < record.size(); ++j) {
              const std::vector<double>& x = record[j][cell].high;
              if (x.empty()) continue;
              const double size = preset == Preset::paper ? horizon : most(frame, h);
              const double spread = target == Target::ce ? actions : std::sqrt(actions);
              const auto beta = [&](std::uint64_t i) {
                return options.bonus_constant * size * spread *
                       std::sqrt(horizon * iota / static_cast<double>(i));
              };
              const double expected = weighted_sum(frame.horizon(), x, beta);
              const auto& table = play.table(Player(j));
              EXPECT_NEAR(table.averages()[cell], expected, 1e-11 * expected);
              EXPECT_EQ(table.value(cell), std::min(most(frame, h), table.averages()[cell]));
              if (table.value(cell) < most(frame, h)) ++below_clip;
            }
          });
        };
        if (target == Target::ce) {
          play_and_compare(game, FtrlSwap<>(frame.horizon()), options, times, compare);
        } else {
          play_and_compare(game, Ftrl<>(frame.horizon()), options, times, compare);
        }
      }
    }
    EXPECT_GT(below_clip, 0);
  }
}

/// b_{h,t} / scale for t = 1, ..., n, from docs/theory/rigorous_bonus.md.
std::vector<double> rigorous_bounds(
    double horizon, double actions, double iota, bool swap, std::size_t n) {
  const double experts = swap ? actions : 1.0;
  const double lambda = (std::log(actions) + iota / 2.0) / 1.5;
  std::vector<double> bounds;
  double sum = 0.0;
  for (std::size_t i = 1; i <= n; ++i) {
    const auto t = static_cast<double>(i);
    const double alpha = (horizon + 1.0) / (horizon + t);
    const double gamma = std::sqrt(horizon * lambda * experts / (actions * t));
    sum = (1.0 - alpha) * sum + alpha * gamma;
    bounds.push_back(alpha * experts * std::log(actions) / gamma + 1.5 * actions * sum +
                     0.75 * alpha * experts * iota + alpha * experts * iota / (2.0 * gamma));
  }
  return bounds;
}

TEST(ValueRepresentation, OfBoundsThatAreProved) {
  const std::vector<std::uint64_t> times = {1, 2, 3, 10, 100, 3000, 100'000};
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    const auto horizon = static_cast<double>(frame.horizon());
    const auto actions = static_cast<double>(frame.num_actions(Player(0), Step(0), State(0)));
    std::uint64_t below_clip = 0;
    std::uint64_t above_zero = 0;
    for (const Target target : {Target::cce, Target::ce}) {
      for (const LossScale scale : {LossScale::step, LossScale::paper}) {
        const bool swap = target == Target::ce;
        LearnerOptions options = rigorous_options(target, times.back());
        options.loss_scale = scale;
        const double iota =
            log_of_events(frame, options, 4.0 * (swap ? actions * actions : actions));
        const std::vector<double> bounds =
            rigorous_bounds(horizon, actions, iota, swap, times.back());
        const AlphaWeights alpha(frame.horizon());
        const auto compare = [&](const auto& play, const Record& record) {
          for_each_cell(frame, [&](Step h, State, std::size_t cell) {
            for (std::size_t j = 0; j < record.size(); ++j) {
              const std::vector<double>& x = record[j][cell].high;
              if (x.empty()) continue;
              const double size = scale == LossScale::paper ? horizon : most(frame, h);
              // The increments of which the bound is the average.
              const auto beta = [&](std::uint64_t i) {
                const double before = i == 1 ? 0.0 : bounds[i - 2];
                return size * (bounds[i - 1] - (1.0 - alpha.rate(i)) * before) / alpha.rate(i);
              };
              const double expected = weighted_sum(frame.horizon(), x, beta);
              const auto& table = play.table(Player(j));
              EXPECT_NEAR(table.averages()[cell] + size * bounds[x.size() - 1], expected,
                          1e-11 * expected);
              EXPECT_NEAR(table.value(cell), std::min(most(frame, h), expected), 1e-11 * expected);
              if (table.value(cell) < most(frame, h)) ++below_clip;
              // From below: Hoeffding's bound under the average.
              double squares = 0.0;
              for (std::uint64_t i = 1; i <= x.size(); ++i) {
                squares += std::pow(alpha.weight(x.size(), i), 2);
              }
              const auto nothing = [](std::uint64_t) { return 0.0; };
              const double low = weighted_sum(frame.horizon(), record[j][cell].low, nothing) -
                                 most(frame, h) * std::sqrt(iota * squares / 2.0);
              EXPECT_NEAR(table.low_values()[cell], std::max(0.0, low), 1e-11 * most(frame, h));
              if (low > 0.0) ++above_zero;
            }
          });
        };
        if (swap) {
          const FtrlSwapRigorous<> rule(frame.horizon(),
                                        rigorous_steps<Regret::swap>(frame, options));
          play_and_compare(game, rule, options, times, compare);
        } else {
          const FtrlRigorous<> rule(frame.horizon(),
                                    rigorous_steps<Regret::external>(frame, options));
          play_and_compare(game, rule, options, times, compare);
        }
      }
    }
    EXPECT_GT(below_clip, 0);
    EXPECT_GT(above_zero, 0);
  }
}

// ------------------------------------------------------------------------- Lemmas 12 and 15

/// Every rule against the bound that it states, at every visit; also the largest part of the bound
/// that was used, which must not be nothing.
template <class Rule>
void expect_local_regret(const DenseGame& game, const Rule& rule, Target target) {
  const std::uint64_t episodes = 20'000;
  LearnerOptions options = preset_options(Preset::paper, target);
  options.delta = kDelta;
  options.horizon_episodes = episodes;
  options.bonus_constant = 0.02;  // so that V_{h+1} moves
  const Frame& frame = game.frame();
  SelfPlay<Rule> play(GameRef(game), rule, options, 12);
  LocalRegret<DenseGame> local(game, play.seat().num_cells());
  const AlphaWeights alpha(frame.horizon());
  const double iota = BonusSchedule(options, play.seat()).iota();
  const auto horizon = static_cast<double>(frame.horizon());
  double most_used = 0.0;
  for (std::uint64_t k = 0; k < episodes; ++k) {
    play.play_episode(Episode(k), [&](const JointVisit& visit) {
      const std::vector<double> policies = profile_of(play, visit.cell);
      const Profile profile(frame.action_begins(visit.h, visit.s), policies);
      const std::uint64_t t = play.visits(visit.cell) + 1;
      for (const Player player : all<Player>(frame.num_players())) {
        local.visit({visit.h, visit.s, profile}, player, visit.cell,
                    next_values(play, player, visit.h), alpha.rate(t));
        const auto& averages = local.at(player, visit.cell);
        const double best = target == Target::ce ? averages.modified : averages.fixed;
        const double bound = horizon * *rule.xi(profile[player].size(), t, iota);
        most_used = std::max(most_used, (best - averages.mean) / bound);
      }
    });
  }
  EXPECT_LE(most_used, 1.0);
  EXPECT_GT(most_used, 0.001);
}

TEST(LocalRegret, IsWithinTheStatedBoundAtEveryVisit) {
  for (const std::string& name : lemma_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    expect_local_regret(game, Ftrl<>(game.frame().horizon()), Target::cce);
    expect_local_regret(game, FtrlSwap<>(game.frame().horizon()), Target::ce);
  }
}

// ------------------------------------------------------------------ Lemmas 13, 14, 16 and 17

TEST(RigorousValues, BoundCoarseCorrelatedPlayFromBothSides) {
  for (const Case& one : bound_cases(1)) {
    SCOPED_TRACE(one.name);
    const Frame& frame = one.game.frame();
    const LearnerOptions options = rigorous_options(Target::cce, one.episodes);
    const FtrlRigorous<> rule(frame.horizon(), rigorous_steps<Regret::external>(frame, options));
    expect_bounds(watch(one.game, rule, options, 21, one.episodes));
  }
}

TEST(RigorousValues, BoundCorrelatedPlayFromBothSides) {
  for (const Case& one : bound_cases(3)) {
    SCOPED_TRACE(one.name);
    const Frame& frame = one.game.frame();
    const LearnerOptions options = rigorous_options(Target::ce, one.episodes);
    const FtrlSwapRigorous<> rule(frame.horizon(), rigorous_steps<Regret::swap>(frame, options));
    expect_bounds(watch(one.game, rule, options, 22, one.episodes));
  }
}

/// What the two tests above look at does happen where values have no bonus.
TEST(RigorousValues, NothingBoundsWithoutABonus) {
  for (const Case& one : bound_cases(1)) {
    SCOPED_TRACE(one.name);
    const Frame& frame = one.game.frame();
    for (const Target target : {Target::cce, Target::ce}) {
      LearnerOptions options = rigorous_options(target, one.episodes);
      options.bonus = Bonus::none;
      Sightings seen;
      if (target == Target::ce) {
        const FtrlSwapRigorous<> rule(frame.horizon(),
                                      rigorous_steps<Regret::swap>(frame, options));
        seen = watch(one.game, rule, options, 23, one.episodes / 10);
      } else {
        const FtrlRigorous<> rule(frame.horizon(),
                                  rigorous_steps<Regret::external>(frame, options));
        seen = watch(one.game, rule, options, 23, one.episodes / 10);
      }
      EXPECT_GT(seen.regretful, 0);
      EXPECT_GT(seen.not_optimistic, 0);
      EXPECT_GT(seen.not_pessimistic, 0);
    }
  }
}

/// The sum that trainers keep is the one that was watched above.
TEST(RigorousValues, TrainersKeepTheSumOfTheBoundFromData) {
  const std::uint64_t episodes = 20'000;
  const DenseGame game = noisy_game();
  const Frame& frame = game.frame();
  const LearnerOptions options = rigorous_options(Target::cce, episodes);
  const FtrlRigorous<> rule(frame.horizon(), rigorous_steps<Regret::external>(frame, options));
  const Sightings seen = watch(game, rule, options, 24, episodes);
  const std::unique_ptr<Trainer> trainer = make_trainer(GameRef(game), options, 24);
  trainer->play_until(episodes, {});
  for (const Player player : all<Player>(frame.num_players())) {
    EXPECT_NEAR(trainer->gap_bound(player).value(), seen.from_data[player.index()], kRounding);
    EXPECT_LT(seen.from_data[player.index()], most(frame, Step(0)));
  }
}

// ------------------------------------------------------------------------ Lemma 18, Theorem 8

/// Zero-sum games with two actions each.
const std::vector<std::string>& monotone_games() {
  static const std::vector<std::string> names = {
      "random:players=2,states=2,actions=2,horizon=2,kind=zero-sum,seed=31",
      "random:players=2,states=2,actions=2,horizon=3,kind=zero-sum,seed=32",
      "random:players=2,states=1,actions=2,horizon=1,kind=zero-sum,seed=33"};
  return names;
}

TEST(MonotoneValues, BoundBestRepliesToTheMarkovOutput) {
  const std::uint64_t episodes = 400'000;
  for (const std::string& name : monotone_games()) {
    SCOPED_TRACE(name);
    const DenseGame game = table_game(name);
    const Frame& frame = game.frame();
    LearnerOptions options = rigorous_options(Target::nash, episodes);
    options.monotone = true;
    const FtrlRigorous<> rule(frame.horizon(), rigorous_steps<Regret::external>(frame, options));
    SelfPlay<FtrlRigorous<>> play(GameRef(game), rule, options, 41);
    const AlphaWeights alpha(frame.horizon());
    const std::size_t cells = play.seat().num_cells();
    // Of each player and cell: sum_i alpha_t^i pi^{k^i}, and what it was when the other's value
    // fell.
    std::vector average(2, std::vector(cells, std::vector<double>(2, 0.5)));
    std::vector output(2, std::vector(cells, std::vector<double>()));
    std::uint64_t falls_apart = 0;
    for (std::uint64_t k = 0; k < episodes; ++k) {
      Values before;
      for (const Player player : all<Player>(2)) {
        const std::span<const double> values = play.table(player).values();
        before.emplace_back(values.begin(), values.end());
      }
      std::vector<std::size_t> path;
      play.play_episode(Episode(k), [&](const JointVisit& visit) {
        path.push_back(visit.cell);
        const double weight = alpha.rate(play.visits(visit.cell) + 1);
        for (const Player player : all<Player>(2)) {
          for (std::size_t b = 0; b < 2; ++b) {
            double& mean = average[player.index()][visit.cell][b];
            mean += weight * (play.table(player).policy(visit.cell)[b] - mean);
          }
        }
      });
      for (const std::size_t cell : path) {
        bool fell[2];
        for (std::size_t j = 0; j < 2; ++j) {
          const double value = play.table(Player(j)).value(cell);
          ASSERT_LE(value, before[j][cell]);
          fell[j] = value < before[j][cell];
        }
        for (std::size_t j = 0; j < 2; ++j) {
          if (fell[1 - j]) output[j][cell] = average[j][cell];
        }
        if (fell[0] != fell[1]) ++falls_apart;
      }
    }
    EXPECT_GT(falls_apart, 100);  // or it would not matter whose value fell

    const auto outputs = [&](Step h, State s) {
      std::vector<double> policies;
      for (const Player player : all<Player>(2)) {
        const auto policy = play.markov_policy(player, play.seat().cell(h, s));
        policies.insert(policies.end(), policy.begin(), policy.end());
      }
      return policies;
    };
    const Values replies[2] = {best_response(game, Player(0), outputs),
                               best_response(game, Player(1), outputs)};
    const Values worth = minimax_value(game);
    for_each_cell(frame, [&](Step h, State s, std::size_t cell) {
      const double high = most(frame, h);
      const double value[2] = {play.table(Player(0)).value(cell),
                               play.table(Player(1)).value(cell)};
      // Cells that were never seen are bounded too, by the most that there is.
      const bool visited = play.visits(cell) > 0;
      const double star[2] = {worth[h.index()][s.index()], high - worth[h.index()][s.index()]};
      for (std::size_t j = 0; j < 2; ++j) {
        const double reply = replies[j][h.index()][s.index()];
        if (visited) {
          EXPECT_LT(value[j], high);  // else there is nothing to see
        }
        EXPECT_GE(value[j], reply - kRounding);
        EXPECT_GE(reply, star[j] - kRounding);
        for (std::size_t b = 0; b < output[j][cell].size(); ++b) {
          EXPECT_NEAR(play.markov_policy(Player(j), cell)[b], output[j][cell][b], 1e-9);
        }
      }
      EXPECT_GE(value[0] + value[1], high - kRounding);
    });
    // Theorem 8: the duality gap of the Markov output is at most what the values say.
    const double most_gap = at_start(frame, play.table(Player(0)).values()) +
                            at_start(frame, play.table(Player(1)).values()) - most(frame, Step(0));
    const double gap = at_start(frame, replies[0].front()) + at_start(frame, replies[1].front()) -
                       most(frame, Step(0));
    EXPECT_GE(most_gap, gap);
    EXPECT_LE(gap, 0.1);
  }
}

/// One player, whom the trainer gives an opponent without choices.
TEST(MonotoneValues, OfOnePlayerBoundItsOptimumAndItsOutput) {
  const std::uint64_t episodes = 100'000;
  const DenseGame game = table_game("random:players=1,states=2,actions=2,horizon=3,seed=34");
  const Frame& frame = game.frame();
  LearnerOptions options = rigorous_options(Target::optimal, episodes);
  options.monotone = true;
  const std::unique_ptr<Trainer> trainer = make_trainer(GameRef(game), options, 42);
  trainer->play_until(episodes, {});
  const auto output = [&](Step h, State s) {
    const auto policy = trainer->markov_policy(Player(0), trainer->seat(Player(0)).cell(h, s));
    return std::vector<double>(policy.begin(), policy.end());
  };
  const Values best = best_response(game, Player(0), output);
  const Values earned = policy_value(game, Player(0), output);
  for_each_cell(frame, [&](Step h, State s, std::size_t cell) {
    const double value = trainer->values(Player(0))[cell];
    const double of_dummy = trainer->values(Player(1))[cell];
    if (trainer->visits(cell) > 0) {
      EXPECT_LT(value, most(frame, h));
      EXPECT_LT(of_dummy, most(frame, h));
    }
    EXPECT_GE(value, best[h.index()][s.index()] - kRounding);
    // The opponent's value bounds what the output leaves it.
    EXPECT_GE(of_dummy, most(frame, h) - earned[h.index()][s.index()] - kRounding);
  });
  EXPECT_LE(at_start(frame, best.front()) - at_start(frame, earned.front()), 0.1);
}

// ---------------------------------------------------------------------------------- Theorem 4

TEST(SinglePlayer, NestedOutputApproachesTheOptimum) {
  for (const std::string name : {"random:players=1,states=3,actions=3,horizon=3,seed=51",
                                 "random:players=1,states=2,actions=2,horizon=4,seed=52",
                                 "lock:horizon=3,actions=2,players=1,seed=53"}) {
    SCOPED_TRACE(name);
    const AnyGame any = make_game(name);
    std::visit(
        [&](const auto& game) {
          const Frame& frame = game.frame();
          const Values values = best_response(game, Player(0), [&](Step h, State s) {
            return std::vector<double>(frame.num_actions(Player(0), h, s), 0.0);
          });
          const double best = at_start(frame, values.front());
          std::vector<double> shortfalls;
          for (const std::uint64_t episodes : std::vector<std::uint64_t>{1000, 10'000, 300'000}) {
            LearnerOptions options = preset_options(Preset::practical, Target::optimal);
            options.horizon_episodes = episodes;
            const Sightings seen = watch(game, Ftrl<>(frame.horizon()), options, 43, episodes);
            shortfalls.push_back(best - seen.value.front());
          }
          for (const double shortfall : shortfalls) EXPECT_GE(shortfall, -kRounding);
          EXPECT_LT(shortfalls[1], shortfalls[0]);
          EXPECT_LT(shortfalls[2], shortfalls[1]);
          EXPECT_LE(shortfalls[2], 0.1);
          // And the bound from data bounds the shortfall, by less than what there is to earn.
          const std::uint64_t episodes = 400'000;
          const LearnerOptions options = rigorous_options(Target::optimal, episodes);
          const FtrlRigorous<> rule(frame.horizon(),
                                    rigorous_steps<Regret::external>(frame, options));
          const Sightings seen = watch(game, rule, options, 44, episodes);
          EXPECT_LE(best - seen.value.front(), seen.from_data.front());
          EXPECT_LT(seen.from_data.front(), best);
        },
        any);
  }
}

}  // namespace
}  // namespace vlearn
