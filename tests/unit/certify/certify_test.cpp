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
      EXPECT_EQ(offline.best_gap(), online.best_gap());
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
        const Certificate certificate = certify_markov(any, {}, target, files);
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
           [&] { static_cast<void>(certify_markov(any, {}, Target::cce, files)); });
  files[1] = run(1).file(1);
  EXPECT_EQ(certify_markov(any, {}, Target::cce, files).episodes, 100U);
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
      const Certificate certificate = certify_product(any, {}, target, CertifiedOutput::marginals,
                                                      frame.horizon(), 150, policy);
      EXPECT_EQ(certificate.output, CertifiedOutput::marginals);
      expect_markov(certificate, game, mixture);
      // Nobody can be worse off who may deviate from a product.
      for (const PlayerCertificate& one : certificate.players) EXPECT_GE(one.gap_upper, 0.0);
    }
  }
}

/// Visits, in an order that is their number, whose weights 2 i / (n (n + 1)) of c = 1 add up to
/// those of a lottery: for each visit the profile that it plays. Nothing where n is too small.
std::optional<std::vector<std::size_t>> share_visits(const std::vector<WeightedProfile>& lottery,
                                                     std::size_t n) {
  std::vector<double> left;
  for (const WeightedProfile& part : lottery) {
    left.push_back(part.weight * static_cast<double>(n * (n + 1)) / 2.0);
    if (std::abs(left.back() - std::round(left.back())) > 1e-9) return std::nullopt;
  }
  std::vector<std::size_t> plays(n);
  const auto share = [&](const auto& self, std::size_t i) -> bool {
    if (i == 0) return true;
    for (std::size_t part = 0; part < left.size(); ++part) {
      if (left[part] < static_cast<double>(i) - 1e-6) continue;
      left[part] -= static_cast<double>(i);
      plays[i - 1] = part;
      if (self(self, i - 1)) return true;
      left[part] += static_cast<double>(i);
    }
    return false;
  };
  if (!share(share, n)) return std::nullopt;
  return plays;
}

struct Known {
  std::size_t products = 0;
  std::size_t lotteries = 0;
  std::size_t without_policy = 0;
};

/// A Markov lottery is a nested mixture whose later steps are all there before the earlier ones.
void expect_known_lottery(const LoadedGame& loaded, const KnownSolution& known) {
  const Frame& frame = frame_of(loaded.game);
  const auto certifier = make_nested_certifier(loaded.game, known.target, 1);
  std::size_t stage = known.policy.size();
  for (std::size_t step = frame.horizon(); step-- > 0;) {
    const Step h(step);
    stage -= frame.num_states(h);
    for (const State s : all<State>(frame.num_states(h))) {
      const std::vector<WeightedProfile>& lottery = known.policy[stage + s.index()];
      std::optional<std::vector<std::size_t>> plays;
      for (std::size_t n = 1; n <= 12 && !plays; ++n) plays = share_visits(lottery, n);
      ASSERT_TRUE(plays) << "no visits have these weights";
      for (const std::size_t part : *plays) {
        certifier->visit(h, s, Profile(frame.action_begins(h, s), lottery[part].policies));
      }
    }
  }
  const Assessment found = certifier->last();
  for (const Player player : all<Player>(frame.num_players())) {
    const std::size_t j = player.index();
    const RewardRange& range = frame.range(player);
    EXPECT_NEAR(found.deviations[j], found.values[j], 1e-9);
    EXPECT_NEAR(range.from_unit(found.values[j], static_cast<double>(frame.horizon())),
                known.values[j], 1e-9 * (range.high - range.low));
  }
}

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
      if (!product) {
        ++counts.lotteries;
        expect_known_lottery(loaded, known);
        continue;
      }
      ++counts.products;
      std::vector<std::size_t> first_stage = {0};
      for (const Step h : all<Step>(frame.horizon())) {
        first_stage.push_back(first_stage.back() + frame.num_states(h));
      }
      const MarkovPolicy policy = [&](Player player, Step h, State s) {
        const std::vector<WeightedProfile>& lottery =
            known.policy[first_stage[h.index()] + s.index()];
        return Profile(frame.action_begins(h, s), lottery.front().policies)[player];
      };
      const Certificate certificate =
          certify_product(loaded.game, {}, known.target, CertifiedOutput::marginals, 1, 1, policy);
      for (const Player player : all<Player>(frame.num_players())) {
        const PlayerCertificate& one = certificate.players[player.index()];
        const RewardRange& range = frame.range(player);
        const double close = 1e-9 * (range.high - range.low);
        EXPECT_LE(one.gap_upper, close);
        EXPECT_GE(one.gap_upper, 0.0);
        EXPECT_LE(*one.gap_lower, 0.0);
        EXPECT_GE(*one.gap_lower, -close);
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
