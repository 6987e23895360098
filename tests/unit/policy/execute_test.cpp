// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Which visits are drawn, and what is played where there are none.
#include "vlearn/policy/execute.h"

#include <gtest/gtest.h>
#include <array>

#include <numeric>
#include <vector>

#include "support/chi_square.h"
#include "support/executed_run.h"
#include "support/expect_error.h"
#include "vlearn/bandit/tsallis.h"

namespace vlearn::test {
namespace {

// ---- the law of what is drawn ----

/// Draws against a law over 0, 1, 2, ...; rare values count together.
void expect_law(const std::vector<double>& counts, const std::vector<double>& law) {
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1.0, 1e-12);
  std::vector<double> seen = {0.0};
  std::vector<double> expected = {0.0};
  for (std::size_t i = 0; i < law.size(); ++i) {
    seen.back() += counts[i];
    expected.back() += n * law[i];
    if (expected.back() >= 10.0 && i + 1 < law.size()) {
      seen.push_back(0.0);
      expected.push_back(0.0);
    }
  }
  if (expected.back() < 10.0) {
    seen[seen.size() - 2] += seen.back();
    expected[expected.size() - 2] += expected.back();
    seen.pop_back();
    expected.pop_back();
  }
  ASSERT_GE(seen.size(), 10U);
  EXPECT_LT(chi_square(seen, expected), chi_square_limit(seen.size() - 1));
}

struct DrawnVisits {
  std::vector<double> first;   // how often each visit was drawn, 0 for none
  std::vector<double> second;  // at the second step
};

DrawnVisits drawn_visits(const PolicyFile& file, const StartRule& start, std::uint64_t episodes) {
  ExecuteOptions options = options_of(7, file);
  options.start = start;
  PolicyPlayer player(file, options);
  DrawnVisits drawn{std::vector<double>(file.episodes() + 1, 0.0),
                    std::vector<double>(file.episodes() + 1, 0.0)};
  for (std::uint64_t k = 0; k < episodes; ++k) {
    player.begin(Episode(k));
    const PolicyPlayer::Move first = player.act(Step(0), State(0));
    const PolicyPlayer::Move second = player.act(Step(1), State(0));
    EXPECT_EQ(first.episode, first.visit);  // every episode visits the only state
    EXPECT_TRUE(second.episode < first.episode || (first.episode == 0 && second.episode == 0));
    drawn.first[first.visit] += 1.0;
    drawn.second[second.visit] += 1.0;
  }
  return drawn;
}

/// alpha_t^i over i = 0, ..., K; with no visits it is all on 0.
std::vector<double> weights_of(const AlphaWeights& alpha, std::size_t t, std::size_t episodes) {
  std::vector<double> law(episodes + 1, 0.0);
  if (t == 0) law[0] = 1.0;
  for (std::size_t i = 1; i <= t; ++i) law[i] = alpha.weight(t, i);
  return law;
}

TEST(Execute, DrawsVisitsByTheirWeights) {
  const std::size_t episodes = 50;
  for (const std::uint64_t c : {1U, 2U, 20U}) {
    const AlphaWeights alpha(c);
    const PolicyFile file = with_weights(narrow_run(), 0, c);
    for (const std::uint64_t start : {51U, 31U}) {
      const std::size_t t = start - 1;
      const DrawnVisits drawn = drawn_visits(file, {StartRule::Kind::at, start}, 100'000);
      expect_law(drawn.first, weights_of(alpha, t, episodes));
      // Before the episode of visit i there were i - 1.
      std::vector<double> second(episodes + 1, 0.0);
      for (std::size_t i = 1; i <= t; ++i) {
        const std::vector<double> then = weights_of(alpha, i - 1, episodes);
        for (std::size_t l = 0; l <= episodes; ++l) second[l] += alpha.weight(t, i) * then[l];
      }
      expect_law(drawn.second, second);
    }
  }
}

TEST(Execute, DrawsTaperedWeightsOfMarkovOutputsAlone) {
  const std::size_t episodes = 50;
  const PolicyFile file = with_weights(narrow_run(), 0, 2, true);
  // A nested output draws as if there was no taper.
  expect_law(drawn_visits(file, {}, 100'000).first, weights_of(AlphaWeights(2), 50, episodes));
  ExecuteOptions options = options_of(7, file);
  options.output = OutputKind::markov;
  PolicyPlayer player(file, options);
  std::array<std::vector<double>, 2> drawn;
  drawn.fill(std::vector<double>(episodes + 1, 0.0));
  for (std::uint64_t k = 0; k < 100'000; ++k) {
    player.begin(Episode(k));
    for (std::size_t h = 0; h < 2; ++h) drawn[h][player.act(Step(h), State(0)).visit] += 1.0;
  }
  // c = 2: in proportion to (51 - i) i (i + 1).
  std::vector<double> law(episodes + 1, 0.0);
  double sum = 0.0;
  for (std::size_t i = 1; i <= episodes; ++i)
    sum += law[i] = static_cast<double>((51 - i) * i * (i + 1));
  for (double& chance : law) chance /= sum;
  for (const std::vector<double>& counts : drawn) expect_law(counts, law);
  // A uniform start is of the nested output alone.
  options.start = {StartRule::Kind::uniform};
  EXPECT_NE(error_of(ErrorKind::usage, [&] { static_cast<void>(PolicyPlayer(file, options)); })
                .find("which only the nested output has"),
            std::string::npos);
}

TEST(Execute, DrawsTheFirstEpisodeUniformly) {
  const std::size_t episodes = 50;
  const PolicyFile file = narrow_run().file(0);
  const DrawnVisits drawn = drawn_visits(file, {StartRule::Kind::uniform}, 100'000);
  std::vector<double> law(episodes + 1, 0.0);
  for (std::size_t k = 0; k < episodes; ++k) {
    const std::vector<double> then = weights_of(AlphaWeights(2), k, episodes);
    for (std::size_t i = 0; i <= episodes; ++i) law[i] += then[i] / double{episodes};
  }
  expect_law(drawn.first, law);
}

TEST(Execute, StartsWhereItIsTold) {
  const PolicyFile file = narrow_run().file(0);
  const DrawnVisits last = drawn_visits(file, {StartRule::Kind::last}, 1000);
  const DrawnVisits at = drawn_visits(file, {StartRule::Kind::at, 51}, 1000);
  EXPECT_EQ(last.first, at.first);
  EXPECT_EQ(last.second, at.second);
  const auto start = [&](const StartRule& rule) {
    ExecuteOptions options = options_of(7, file);
    options.start = rule;
    static_cast<void>(PolicyPlayer(file, options));
  };
  EXPECT_NE(error_of(ErrorKind::usage,
                     [&] {
                       start({StartRule::Kind::at, 0});
                     })
                .find("1 to 51"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::usage,
                     [&] {
                       start({StartRule::Kind::at, 52});
                     })
                .find("has 50"),
            std::string::npos);
}

// ---- states that are new ----

void expect_uniform(const PolicyPlayer& player, const PolicyPlayer::Move& move) {
  EXPECT_EQ(move.visit, 0U);
  EXPECT_EQ(move.episode, 0U);
  const auto n = static_cast<double>(player.policy().size());
  for (const double p : player.policy()) EXPECT_EQ(p, 1.0 / n);
  EXPECT_LT(move.action.index(), player.policy().size());
}

TEST(Execute, NewStatesAreUniformToTheEnd) {
  // Training begins in state 1, so state 2 of the first step is never seen.
  const AnyGame game = make_game("random:players=2,states=2,actions=3,horizon=3,seed=2");
  const RecordedRun run =
      run_of<Tsallis<>>(GameRef(std::get<DenseGame>(game)), RuleName::tsallis, 400);
  const PolicyFile file = run.file(0);
  const auto player_of = [&](const StartRule& start, OutputKind output) {
    ExecuteOptions options = options_of(1, file);
    options.start = start;
    options.output = output;
    return PolicyPlayer(file, options);
  };
  for (std::uint64_t k = 0; k < 100; ++k) {
    PolicyPlayer nested = player_of({StartRule::Kind::last}, OutputKind::nested);
    nested.begin(Episode(k));
    expect_uniform(nested, nested.act(Step(0), State(1)));
    expect_uniform(nested, nested.act(Step(1), State(0)));  // seen often, and still
    expect_uniform(nested, nested.act(Step(2), State(1)));
    // The next episode is another one.
    nested.begin(Episode(k + 1));
    EXPECT_GT(nested.act(Step(0), State(0)).visit, 0U);

    // A Markov policy looks at each state afresh.
    PolicyPlayer markov = player_of({}, OutputKind::markov);
    markov.begin(Episode(k));
    expect_uniform(markov, markov.act(Step(0), State(1)));
    EXPECT_GT(markov.act(Step(1), State(0)).visit, 0U);

    PolicyPlayer early = player_of({StartRule::Kind::at, 1}, OutputKind::markov);
    early.begin(Episode(k));
    expect_uniform(early, early.act(Step(0), State(0)));

    // Before the first episode everything is new; before the second, everything after a visit.
    PolicyPlayer first = player_of({StartRule::Kind::at, 1}, OutputKind::nested);
    first.begin(Episode(k));
    expect_uniform(first, first.act(Step(0), State(0)));
    PolicyPlayer second = player_of({StartRule::Kind::at, 2}, OutputKind::nested);
    second.begin(Episode(k));
    const PolicyPlayer::Move move = second.act(Step(0), State(0));
    EXPECT_EQ(move.visit, 1U);
    EXPECT_EQ(move.episode, 1U);
    expect_uniform(second, second.act(Step(1), State(0)));
    expect_uniform(second, second.act(Step(2), State(0)));
  }
}

TEST(Execute, NothingWasPlayed) {
  const AnyGame game = make_game("random:players=2,states=2,actions=3,horizon=2,seed=2");
  const RecordedRun run = run_of<Ftrl<>>(GameRef(std::get<DenseGame>(game)), RuleName::ftrl, 0);
  const PolicyFile file = run.file(1);
  EXPECT_EQ(file.episodes(), 0U);
  PolicyPlayer player(file, options_of(1, file));
  player.begin(Episode(0));
  expect_uniform(player, player.act(Step(0), State(0)));
  expect_uniform(player, player.act(Step(1), State(1)));
  ExecuteOptions options = options_of(1, file);
  options.start.kind = StartRule::Kind::uniform;
  EXPECT_NE(error_of(ErrorKind::usage, [&] { static_cast<void>(PolicyPlayer(file, options)); })
                .find("policy has no episodes"),
            std::string::npos);
}

}  // namespace
}  // namespace vlearn::test
