// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The bounds that other tests compare with, against the definition of the mixture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/nested_bounds.h"
#include "support/theory_run.h"

namespace vlearn::test {
namespace {

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

}  // namespace
}  // namespace vlearn::test
