// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of learned policies enclose the truth, which is computed from the whole record of
// the run by other means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/brute_force.h"
#include "support/exact_deviation.h"
#include "support/executed_run.h"
#include "support/mixture_record.h"
#include "support/nested_value.h"
#include "support/random_game.h"
#include "support/recorded_run.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/parallel.h"
#include "vlearn/run/learn.h"

namespace vlearn::test {
namespace {

constexpr std::uint64_t kEpisodes = 2000;
/// What the truth itself may be off by: it sums up to 2000 terms of up to 4.
constexpr double kOracle = 1e-12;

template <class Rule>
RecordedRun learned(const DenseGame& game, Target target, RuleName name, std::uint64_t episodes) {
  LearnerOptions options = preset_options(Preset::practical, target);
  options.rule = name;
  options.control_variate = true;
  return record(GameRef(game), Rule(game.frame().horizon()), options, episodes, 64);
}

constexpr CertifiedStart kStarts[] = {CertifiedStart::uniform, CertifiedStart::last,
                                      CertifiedStart::best};

/// The certificates of all starts, from the files; `best` is chosen among the usual rows.
std::vector<Certificate> certificates_of(const AnyGame& game,
                                         Target target,
                                         const RecordedRun& run) {
  const std::vector<PolicyFile> files = files_of(run);
  const std::uint64_t weights = files.front().header().weights;
  const ParallelOptions alone{.threads = 1};
  RunCertifier certifier(game, target, weights);
  std::uint64_t next = next_row_episode(0);
  const auto is_recorded = [&](std::uint64_t played) {
    if (played != next) return false;
    next = next_row_episode(played);
    return true;
  };
  certify_history(certifier, frame_of(game), files, is_recorded, alone);
  std::vector<Certificate> all_starts;
  for (const CertifiedStart start : kStarts) {
    all_starts.push_back(certify_nested(game, {}, target, weights, certifier.episodes(),
                                        certifier.at(start), files, alone));
  }
  return all_starts;
}

StartRule start_of(const Certificate& certificate) {
  if (certificate.start == CertifiedStart::uniform) return {StartRule::Kind::uniform};
  return {StartRule::Kind::at, certificate.start_episode};
}

/// A certificate's gap beside the true one: of nash the sum of both players'.
struct Judged {
  bool holds = true;
  double lower = 0.0;
  double exact = 0.0;
  double upper = 0.0;
};

void expect_within(Judged& judged, double lower, double exact, double upper) {
  EXPECT_LE(lower, exact + kOracle);
  EXPECT_LE(exact, upper + kOracle);
  judged.holds = judged.holds && lower <= exact + kOracle && exact <= upper + kOracle;
}

/// Holds every number of the certificate against the truth. Rewards are in [0, 1].
Judged judge(const Certificate& certificate, const MixtureRecord& record) {
  const Frame& frame = record.frame();
  const Told told = certificate.target == Target::ce ? Told::recommended : Told::nothing;
  const StartRule start = start_of(certificate);
  Judged judged;
  double sum = 0.0;
  for (const Player player : all<Player>(frame.num_players())) {
    const PlayerCertificate& one = certificate.players[player.index()];
    const double deviation = ExactDeviation(record, player, told).value(start);
    EXPECT_TRUE(one.deviation_lower.has_value());
    expect_within(judged, *one.deviation_lower - one.rounding, deviation,
                  one.deviation_upper + one.rounding);
    EXPECT_LE(one.rounding, 1e-9 * static_cast<double>(frame.horizon()));
    if (certificate.target == Target::nash) {
      sum += deviation;
      continue;
    }
    const double value = nested_value(record, player, follow, start);
    expect_within(judged, one.value_lower - one.rounding, value, one.value_upper + one.rounding);
    expect_within(judged, *one.gap_lower, deviation - value, one.gap_upper);
    judged.exact =
        player.index() == 0 ? deviation - value : std::max(judged.exact, deviation - value);
    sum += deviation - value;
  }
  if (certificate.target == Target::nash) {
    judged.exact = sum -= static_cast<double>(frame.horizon());
    judged.lower = *certificate.sum_lower;
    judged.upper = certificate.sum_upper;
    // The larger of two gains is between half of their sum and all of it.
    expect_within(judged, 2.0 * *certificate.gap_lower, sum, certificate.gap_upper);
  } else {
    judged.lower = *certificate.gap_lower;
    judged.upper = certificate.gap_upper;
    expect_within(judged, judged.lower, judged.exact, judged.upper);
  }
  expect_within(judged, *certificate.sum_lower, sum, certificate.sum_upper);
  return judged;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of what is certified in one game, [start].
using OfGame = std::vector<Judged>;

/// Prints how tight the intervals are, and wants those of `best` to be tight.
void expect_tight(const char* title, const std::vector<OfGame>& games) {
  for (std::size_t start = 0; start < std::size(kStarts); ++start) {
    std::size_t held = 0;
    std::vector<double> above;  // (upper - exact)/exact
    std::vector<double> width;  // (upper - lower)/exact
    std::vector<double> gaps;
    for (const OfGame& game : games) {
      const Judged& judged = game[start];
      held += judged.holds ? 1 : 0;
      if (judged.exact <= 0.01) continue;
      gaps.push_back(judged.exact);
      above.push_back((judged.upper - judged.exact) / judged.exact);
      width.push_back((judged.upper - judged.lower) / judged.exact);
    }
    ASSERT_GT(gaps.size(), games.size() / 4);
    std::printf(
        "%-14s %-7s: %zu of %zu hold; %zu gaps above 0.01, median %.4f; (upper - exact)/exact "
        "median %.4f most %.3f; (upper - lower)/exact median %.4f most %.3f\n",
        title, std::string(kCertifiedStartNames[start]).c_str(), held, games.size(), gaps.size(),
        median(gaps), median(above), *std::max_element(above.begin(), above.end()), median(width),
        *std::max_element(width.begin(), width.end()));
    EXPECT_EQ(held, games.size());
    if (kStarts[start] != CertifiedStart::best) continue;
    EXPECT_LE(median(above), 0.10);
    EXPECT_LE(median(width), 0.15);
  }
}

struct Study {
  const char* title;
  RuleName rule;
  Target learned;         ///< what players learn for
  Target certified;       ///< any play can be certified for any target
  std::uint64_t horizon;  ///< at most
};

/// Every fourth game may be as small as games get; the others leave something to learn.
RandomSizes sizes_of(const Study& study, std::uint64_t seed) {
  const bool zero_sum = study.learned == Target::nash;
  const std::uint64_t least = seed % 4 == 0 ? 1 : 2;
  return {.players = zero_sum ? Sizes{2, 2} : Sizes{least, 3},
          .horizon = {least, study.horizon},
          .states = {1, 4},
          .actions = {least, 3},
          .zero_sum = zero_sum};
}

template <class Rule>
void run_study(const Study& study, std::uint64_t num_games) {
  std::vector<OfGame> games(num_games);
  parallel_for(num_games, {}, [&](std::size_t i) {
    const std::uint64_t seed = i + 1;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const AnyGame any = random_game(seed, sizes_of(study, seed));
    const auto& game = std::get<DenseGame>(any);
    const RecordedRun run = learned<Rule>(game, study.learned, study.rule, kEpisodes);
    const MixtureRecord record(game, run, game.frame().horizon());
    for (const Certificate& certificate : certificates_of(any, study.certified, run)) {
      SCOPED_TRACE(kCertifiedStartNames[static_cast<std::size_t>(certificate.start)]);
      games[i].push_back(judge(certificate, record));
    }
  });
  expect_tight(study.title, games);
}

// Who is told recommendations has many more histories.
constexpr Study kFtrlCce = {"ftrl cce", RuleName::ftrl, Target::cce, Target::cce, 4};
constexpr Study kTsallisCce = {"tsallis cce", RuleName::tsallis, Target::cce, Target::cce, 4};
constexpr Study kFtrlNash = {"ftrl nash", RuleName::ftrl, Target::nash, Target::nash, 4};
constexpr Study kTsallisNash = {"tsallis nash", RuleName::tsallis, Target::nash, Target::nash, 4};
constexpr Study kSwapCe = {"ftrl-swap ce", RuleName::ftrl_swap, Target::ce, Target::ce, 3};
// No learner of its own: tsallis has no small swap regret.
constexpr Study kTsallisCe = {"tsallis ce", RuleName::tsallis, Target::cce, Target::ce, 3};

constexpr std::uint64_t kFew = 60;
constexpr std::uint64_t kMany = 500;

TEST(Certificates, OfFtrlHoldTheTruth) { run_study<Ftrl<ControlVariate::on>>(kFtrlCce, kFew); }
TEST(Certificates, OfTsallisHoldTheTruth) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisCce, kFew);
}
TEST(Certificates, OfFtrlHoldTheDualityGap) {
  run_study<Ftrl<ControlVariate::on>>(kFtrlNash, kFew);
}
TEST(Certificates, OfTsallisHoldTheDualityGap) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisNash, kFew);
}
TEST(Certificates, OfFtrlSwapHoldTheTruth) {
  run_study<FtrlSwap<ControlVariate::on>>(kSwapCe, kFew);
}
TEST(Certificates, OfTsallisHoldTheTruthOfModifications) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisCe, kFew);
}

TEST(CertificatesSlow, OfFtrlHoldTheTruth) { run_study<Ftrl<ControlVariate::on>>(kFtrlCce, kMany); }
TEST(CertificatesSlow, OfTsallisHoldTheTruth) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisCce, kMany);
}
TEST(CertificatesSlow, OfFtrlHoldTheDualityGap) {
  run_study<Ftrl<ControlVariate::on>>(kFtrlNash, kMany);
}
TEST(CertificatesSlow, OfTsallisHoldTheDualityGap) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisNash, kMany);
}
TEST(CertificatesSlow, OfFtrlSwapHoldTheTruth) {
  run_study<FtrlSwap<ControlVariate::on>>(kSwapCe, kMany);
}
TEST(CertificatesSlow, OfTsallisHoldTheTruthOfModifications) {
  run_study<Tsallis<ControlVariate::on>>(kTsallisCe, kMany);
}

// What two players who draw independently are worth is known only by trying everything.
TEST(Certificates, BoundTheValueOfIndependentDraws) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomSizes sizes = {
        .players = {2, 2}, .horizon = {2, 2}, .states = {1, 2}, .zero_sum = true};
    const AnyGame any = random_game(seed, sizes);
    const auto& game = std::get<DenseGame>(any);
    const RecordedRun run =
        learned<Ftrl<ControlVariate::on>>(game, Target::nash, RuleName::ftrl, 7);
    const MixtureRecord record(game, run, 2);
    for (const Certificate& certificate : certificates_of(any, Target::nash, run)) {
      const StartRule start = start_of(certificate);
      const DrawLaw law = independent_draws(record, start);
      Judged judged;
      double largest = 0.0;
      for (const Player player : all<Player>(2)) {
        const PlayerCertificate& one = certificate.players[player.index()];
        const double value = BruteForce(game, law, player, Told::nothing).value();
        const double gap = ExactDeviation(record, player, Told::nothing).value(start) - value;
        expect_within(judged, one.value_lower - one.rounding, value,
                      one.value_upper + one.rounding);
        expect_within(judged, one.gap_lower.value_or(gap), gap, one.gap_upper);
        largest = std::max(largest, gap);
      }
      expect_within(judged, *certificate.gap_lower, largest, certificate.gap_upper);
      EXPECT_TRUE(judged.holds);
    }
  }
}

}  // namespace
}  // namespace vlearn::test
