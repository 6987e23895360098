// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates as a whole: from files as while learning, of Markov outputs, of known equilibria.
#include "vlearn/certify/certify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/executed_run.h"
#include "support/expect_error.h"
#include "support/markov_gap.h"
#include "support/markov_mixture.h"
#include "support/mixture_record.h"
#include "support/nested_value.h"
#include "support/random_game.h"
#include "support/random_tables.h"
#include "support/recorded_run.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/learn.h"

namespace vlearn::test {
namespace {

constexpr CertifiedStart kStarts[] = {CertifiedStart::uniform, CertifiedStart::last,
                                      CertifiedStart::best};

struct Learned {
  const char* game;
  Target target;
  std::string_view model;
};
constexpr Learned kLearned[] = {
    {"random:players=3,states=3,actions=2,horizon=3,seed=2", Target::cce, "dense"},
    {"random:players=2,states=3,actions=3,horizon=2,seed=3", Target::ce, "dense"},
    {"random:players=2,states=3,actions=3,horizon=3,seed=4,kind=zero-sum", Target::nash, "dense"},
    {"random:players=3,states=2,actions=2,horizon=2,seed=5,kind=polymatrix", Target::cce,
     "polymatrix"},
    {"congestion:players=5,routes=3,states=2,horizon=2,seed=5", Target::ce, "congestion"},
    {"grid-game-1:horizon=4", Target::cce, "sparse"},
    {"lock:horizon=4", Target::optimal, "dense"},
};

constexpr std::uint64_t kEpisodes = 300;

// Learned with a certifier that looks on, and certified again from the files alone.
TEST(Certify, IsTheSameFromTheFilesAsWhileLearning) {
  for (const Learned& learned : kLearned) {
    SCOPED_TRACE(learned.game);
    const AnyGame game = make_game(learned.game);
    ASSERT_EQ(model_of(game), learned.model);
    const Frame& frame = frame_of(game);
    const LearnerOptions options = preset_options(Preset::practical, learned.target);
    const auto trainer = std::visit(
        [&](const auto& model) { return make_trainer(GameRef(model), options, 3); }, game);
    std::vector<std::vector<std::byte>> bytes;
    for (const Player player : all<Player>(frame.num_players())) {
      const std::string header = encode_header(trainer->policy_header(player));
      append(bytes.emplace_back(), std::as_bytes(std::span(header)));
    }
    const std::uint64_t weights = trainer->policy_header(Player(0)).weights;
    trainer->keep_history([&](Player player, std::span<const std::byte> more) {
      append(bytes[player.index()], more);
    });
    RunCertifier online(game, learned.target, weights);
    trainer->watch([&](Step h, State s, const Profile& profile) { online.visit(h, s, profile); });
    for (std::uint64_t k = 0; k < kEpisodes;) {
      k = std::min(next_row_episode(k), kEpisodes);
      trainer->play_until(k, {});
      online.record();
    }
    trainer->hand_out_rest();
    std::vector<PolicyFile> files;
    files.reserve(bytes.size());
    for (const std::vector<std::byte>& own : bytes) {
      files.push_back(PolicyFile::parse(FileBytes::copy(own), "policy", make_replayer));
    }
    std::vector<std::string> wanted;
    for (const std::size_t threads : {1U, 2U, 3U}) {
      RunCertifier offline(game, learned.target, weights);
      std::uint64_t next = next_row_episode(0);
      const auto is_recorded = [&](std::uint64_t played) {
        if (played != next) return false;
        next = next_row_episode(played);
        return true;
      };
      certify_history(offline, frame, files, is_recorded, {.threads = threads});
      EXPECT_EQ(offline.episodes(), kEpisodes);
      EXPECT_EQ(offline.certified_gap(), online.certified_gap());
      for (std::size_t i = 0; i < std::size(kStarts); ++i) {
        const auto json_of = [&](const RunCertifier& certifier) {
          return to_json(certify_nested(game, {}, learned.target, weights, kEpisodes,
                                        certifier.at(kStarts[i]), files, {.threads = threads}));
        };
        if (threads == 1) wanted.push_back(json_of(online));
        EXPECT_EQ(json_of(offline), wanted[i]) << "threads " << threads;
      }
    }
  }
}

template <class Rule>
RecordedRun learned(const DenseGame& game, RuleName name) {
  return run_of<Rule>(GameRef(game), name, 150);
}

/// The certificate of a Markov policy against backward induction.
void expect_markov(const Certificate& certificate,
                   const DenseGame& game,
                   const MarkovMixture& mixture) {
  const Told told = certificate.target == Target::ce ? Told::recommended : Told::nothing;
  double largest = 0.0;
  double sum = 0.0;
  for (const Player player : all<Player>(game.frame().num_players())) {
    const PlayerCertificate& one = certificate.players[player.index()];
    const MarkovPlayer exact(game, mixture, player);
    const double value = exact.value();
    const double best = exact.best(told);
    EXPECT_NEAR(one.value_lower, value, 1e-9);
    EXPECT_EQ(one.value_lower, one.value_upper);
    EXPECT_NEAR(one.deviation_upper, best, 1e-9);
    EXPECT_EQ(one.deviation_lower, one.deviation_upper);
    EXPECT_LE(one.gap_lower, best - value);
    EXPECT_GE(one.gap_upper, best - value);
    EXPECT_LE(one.gap_upper - *one.gap_lower, 4.1 * one.rounding);
    EXPECT_LT(one.rounding, 1e-12);
    largest = player.index() == 0 ? best - value : std::max(largest, best - value);
    sum += best - value;
    // And the witness earns what it is said to earn.
    const std::vector<std::uint32_t>& witness = one.witness;
    const Answer answer = [&](Step h, State s, Action drawn) {
      std::size_t place = 0;
      for (const Step step : all<Step>(h.index() + 1)) {
        const std::size_t end = step == h ? s.index() : game.frame().num_states(step);
        for (const State state : all<State>(end)) {
          place += told == Told::recommended ? game.frame().num_actions(player, step, state) : 1;
        }
      }
      return Action(witness.at(place + (told == Told::recommended ? drawn.index() : 0)));
    };
    EXPECT_NEAR(exact.forward(answer), best, 1e-9);
  }
  EXPECT_NEAR(certificate.gap_upper, largest, 1e-9);
  EXPECT_NEAR(*certificate.gap_lower, largest, 1e-9);
  EXPECT_NEAR(certificate.sum_upper, sum, 1e-9);
  EXPECT_NEAR(*certificate.sum_lower, sum, 1e-9);
}

TEST(CertifyMarkov, IsBackwardInduction) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const AnyGame any = random_game(seed);
    const auto& game = std::get<DenseGame>(any);
    const RecordedRun run = seed % 2 == 0 ? learned<Ftrl<>>(game, RuleName::ftrl)
                                          : learned<Tsallis<>>(game, RuleName::tsallis);
    for (const std::uint64_t c : {std::uint64_t{1}, game.frame().horizon(), std::size_t{9}}) {
      std::vector<PolicyFile> files;
      for (std::size_t j = 0; j < run.files.size(); ++j) files.push_back(with_weights(run, j, c));
      const MixtureRecord record(game, run, c);
      const MarkovMixture mixture = markov_mixture(record);
      for (const Target target : {Target::cce, Target::ce}) {
        const Certificate certificate = certify_markov(any, {}, target, files, {});
        EXPECT_EQ(certificate.output, CertifiedOutput::markov);
        EXPECT_EQ(certificate.weights, c);
        EXPECT_EQ(certificate.episodes, 150U);
        expect_markov(certificate, game, mixture);
      }
    }
  }
}

TEST(CertifyMarkov, RefusesFilesThatAreNotOfOneRun) {
  const AnyGame any = random_game(2, {.players = {2, 2}});
  const auto& game = std::get<DenseGame>(any);
  const LearnerOptions options = preset_options(Preset::practical, Target::cce);
  const auto run = [&](std::uint64_t seed) {
    return record(GameRef(game), Ftrl<>(game.frame().horizon()), options, 100, 64, seed);
  };
  std::vector<PolicyFile> files;
  files.push_back(run(1).file(0));
  files.push_back(run(2).file(1));
  error_of(ErrorKind::input,
           [&] { static_cast<void>(certify_markov(any, {}, Target::cce, files, {})); });
  files[1] = run(1).file(1);
  EXPECT_EQ(certify_markov(any, {}, Target::cce, files, {}).episodes, 100U);
}

TEST(CertifyProduct, IsBackwardInductionOnTheProductOfMarginals) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const bool zero_sum = seed % 3 == 0;
    RandomSizes sizes;
    if (zero_sum) sizes = {.players = {2, 2}, .zero_sum = true};
    const AnyGame any = random_game(seed, sizes);
    const auto& game = std::get<DenseGame>(any);
    const Frame& frame = game.frame();
    const RecordedRun run = learned<Ftrl<>>(game, RuleName::ftrl);
    const MixtureRecord record(game, run, frame.horizon());
    const MarkovMixture mixture = marginal_mixture(record);
    std::vector<double> row;
    const MarkovPolicy policy = [&](Player player, Step h, State s) {
      row.clear();
      std::vector<Action> joint(frame.num_players());
      for (const Action b : all<Action>(frame.num_actions(player, h, s))) {
        joint[player.index()] = b;
        row.push_back(mean_chance(record, {player}, h, s, joint));
      }
      return std::span<const double>(row);
    };
    for (const Target target : {Target::cce, Target::ce, Target::nash}) {
      if (target == Target::nash && !zero_sum) continue;
      const Certificate certificate =
          certify_marginals(any, {}, target, frame.horizon(), 150, policy);
      EXPECT_EQ(certificate.output, CertifiedOutput::marginals);
      expect_markov(certificate, game, mixture);
      // Nobody can be worse off who may deviate from a product.
      for (const PlayerCertificate& one : certificate.players) EXPECT_GE(one.gap_upper, 0.0);
    }
  }
}

/// What the players of tables play together.
MarkovMixture mixture_of(const Frame& frame, const std::vector<MarkovTable>& tables) {
  return markov_of(frame, [&](Step h, State s, const std::vector<Action>& joint) {
    const std::size_t cell = tables.front().cell(h, s);
    const std::span<const std::uint64_t> weights = tables.front().weights_of(cell);
    double sum = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      double chance = 1.0;
      for (std::size_t j = 0; j < tables.size(); ++j) {
        chance *= tables[j].policy(cell, i)[joint[j].index()];
      }
      sum += static_cast<double>(weights[i]) * chance;
      total += static_cast<double>(weights[i]);
    }
    return sum / total;
  });
}

TEST(CertifyTable, IsBackwardInduction) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const bool zero_sum = seed % 3 == 0;
    RandomSizes sizes;
    if (zero_sum) sizes = {.players = {2, 2}, .zero_sum = true};
    const AnyGame any = random_game(seed, sizes);
    const auto& game = std::get<DenseGame>(any);
    const Frame& frame = game.frame();
    for (const Target target : {Target::cce, Target::ce, Target::nash}) {
      if (target == Target::nash && !zero_sum) continue;
      const std::size_t parts = target == Target::nash ? 1 : 5;
      const auto tables = random_tables(frame, target, parts, seed);
      const Certificate certificate = certify_table(any, {}, target, tables, {.threads = 1});
      EXPECT_EQ(certificate.output, CertifiedOutput::table);
      expect_markov(certificate, game, mixture_of(frame, tables));
      for (const std::size_t threads : {2U, 3U}) {
        EXPECT_EQ(to_json(certify_table(any, {}, target, tables, {.threads = threads})),
                  to_json(certificate));
      }
    }
  }
}

TEST(CertifyTable, RefusesTablesThatDoNotFit) {
  const AnyGame any = make_game("random:players=2,states=3,actions=3,horizon=2,seed=2");
  const Frame& frame = frame_of(any);
  const auto tables = random_tables(frame, Target::cce, 3, 1);
  const auto refusal = [&](std::vector<MarkovTable> spoilt, Target target) {
    return error_of(ErrorKind::input,
                    [&] { static_cast<void>(certify_table(any, {}, target, spoilt, {})); });
  };
  const auto of_game = [](const char* name) {
    return random_tables(frame_of(make_game(name)), Target::cce, 3, 1);
  };
  EXPECT_NE(refusal({tables[0]}, Target::cce).find("one for each player"), std::string::npos);
  EXPECT_NE(refusal({tables[1], tables[0]}, Target::cce).find("another player"), std::string::npos);
  EXPECT_NE(refusal(tables, Target::nash).find("several parts"), std::string::npos);
  auto weighted = tables;
  ++weighted[1].weights.back();
  EXPECT_NE(refusal(weighted, Target::cce).find("other parts"), std::string::npos);
  // Those that were read from files are named by these.
  weighted[0].source = "run/player-1.markov";
  weighted[1].source = "run/player-2.markov";
  EXPECT_EQ(refusal(weighted, Target::cce),
            "run/player-2.markov: has other parts than run/player-1.markov");
  for (const char* name : {"random:players=2,states=2,actions=3,horizon=2,seed=2",
                           "random:players=2,states=3,actions=2,horizon=2,seed=2",
                           "random:players=2,states=3,actions=3,horizon=1,seed=2",
                           "random:players=2,states=3,actions=3,horizon=3,seed=2"}) {
    EXPECT_NE(refusal(of_game(name), Target::cce).find("another shape"), std::string::npos);
  }
}

/// A known solution as the players' tables.
std::vector<MarkovTable> tables_of(const Frame& frame, const KnownSolution& known) {
  std::vector<MarkovTable> tables;
  for (const Player player : all<Player>(frame.num_players())) {
    MarkovTable table = empty_markov_table(seat_of(frame, player), player, known.target, "");
    std::size_t stage = 0;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        for (const WeightedProfile& part : known.policy[stage]) {
          table.add_part(static_cast<std::uint64_t>(std::llround(part.weight * 0x1p49)),
                         Profile(frame.action_begins(h, s), part.policies)[player]);
        }
        table.end_cell();
        ++stage;
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

struct Known {
  std::size_t products = 0;
  std::size_t lotteries = 0;
  std::size_t without_policy = 0;
};

TEST(CertifyKnown, EquilibriaOfTheCatalogueHaveNoGap) {
  Known counts;
  for (const CatalogueEntry& entry : catalogue()) {
    const LoadedGame loaded = load_game(std::string(entry.name));
    const Frame& frame = frame_of(loaded.game);
    for (const KnownSolution& known : loaded.about.known) {
      SCOPED_TRACE(std::string(entry.name) + ", " + known.source);
      if (known.policy.empty()) {
        ++counts.without_policy;
        std::printf("%s: %s of %s has values only\n", std::string(entry.name).c_str(),
                    std::string(name_of(known.target)).c_str(), known.source.c_str());
        continue;
      }
      const bool product = std::all_of(known.policy.begin(), known.policy.end(),
                                       [](const auto& lottery) { return lottery.size() == 1; });
      ++(product ? counts.products : counts.lotteries);
      const Certificate certificate =
          certify_table(loaded.game, {}, known.target, tables_of(frame, known), {});
      for (const Player player : all<Player>(frame.num_players())) {
        const PlayerCertificate& one = certificate.players[player.index()];
        const RewardRange& range = frame.range(player);
        const double close = 1e-9 * (range.high - range.low);
        EXPECT_LE(one.gap_upper, close);
        EXPECT_GE(*one.gap_lower, -close);
        if (product) {
          // Who may deviate from a product is never worse off.
          EXPECT_GE(one.gap_upper, 0.0);
          EXPECT_LE(*one.gap_lower, 0.0);
        }
        EXPECT_NEAR(one.value_lower, known.values[player.index()], close);
      }
    }
  }
  std::printf("%zu products, %zu lotteries, %zu without a policy\n", counts.products,
              counts.lotteries, counts.without_policy);
  EXPECT_GE(counts.products, 30U);
  EXPECT_GE(counts.lotteries, 4U);
  EXPECT_LE(counts.without_policy, 1U);
}

}  // namespace
}  // namespace vlearn::test
