// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of zero-sum runs against the truth: the exact value of what both players execute,
// and the exact best reply to each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/exact_deviation.h"
#include "support/independent_value.h"
#include "support/learned_run.h"
#include "support/markov_mixture.h"
#include "support/mixture_record.h"
#include "support/temporary_folder.h"
#include "vlearn/run/stored_policies.h"

namespace vlearn::test {
namespace {

const std::vector<std::string>& games() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all = {"rps", "matching-pennies", "random-zero-sum"};
    for (int seed = 1; seed <= 15; ++seed) {
      all.push_back("random:players=2,states=" + std::to_string(1 + seed % 3) + ",actions=" +
                    std::to_string(2 + seed % 2) + ",horizon=" + std::to_string(2 + seed % 3) +
                    ",kind=zero-sum,seed=" + std::to_string(seed));
    }
    return all;
  }();
  return words;
}

/// The visits of the first episodes, as many as these.
RecordedRun recorded(std::span<const PolicyFile> files, std::uint64_t episodes) {
  RecordedRun run;
  ReplayMemory memory;
  for (const PolicyFile& file : files) {
    auto& cells = run.visits.emplace_back(file.header().seat.num_cells());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const std::uint64_t visits = file.visits_before(cell, episodes);
      for (std::uint64_t i = 1; i <= visits; ++i) {
        std::vector<double> policy(file.header().seat.num_actions[cell]);
        file.policy(cell, i, policy, memory);
        cells[cell].push_back({file.episode_of(cell, i), Action(), std::move(policy)});
      }
    }
  }
  return run;
}

/// Of both players, in units of [0, 1] rewards.
struct Truth {
  std::array<double, 2> values = {};
  std::array<double, 2> deviations = {};

  [[nodiscard]] double gap(std::size_t j) const { return deviations[j] - values[j]; }
  [[nodiscard]] double largest() const { return std::max(gap(0), gap(1)); }
};

Truth truth_of(const DenseGame& game, const MixtureRecord& record, const Certificate& certificate) {
  Truth truth;
  if (certificate.output == CertifiedOutput::nested) {
    const StartRule start{StartRule::Kind::at, certificate.start_episode};
    const double value = independent_value(record, start);
    truth.values = {value, static_cast<double>(game.frame().horizon()) - value};
    for (std::size_t j = 0; j < 2; ++j) {
      truth.deviations[j] = ExactDeviation(record, Player(j), Told::nothing).value(start);
    }
    return truth;
  }
  const MarkovMixture mixture = marginal_mixture(record);
  for (std::size_t j = 0; j < 2; ++j) {
    const MarkovPlayer player(game, mixture, Player(j));
    truth.values[j] = player.value();
    truth.deviations[j] = player.best(Told::nothing);
  }
  return truth;
}

/// A run, its policies and its game.
struct Learned {
  Learned(const std::string& word,
          Preset preset,
          std::uint64_t episodes,
          std::optional<CertifiedOutput> output = std::nullopt)
      : loaded(load_game(word)) {
    LearnedRun run = learned_run(word, preset, Target::nash, episodes);
    if (output) run.config.output = *output;
    const Frame& frame = game().frame();
    run.config.learner.output_weights = natural_weights(preset, run.config.output, frame.horizon());
    run.config.learner.output_taper = natural_taper(preset, run.config.output);
    run.start = CertifiedStart::best;
    write_run(folder / "run", run);
    const std::vector<PolicyFile> files = open_policies(read_run(folder / "run"), frame);
    // A Markov output draws from the visits before its start.
    const Certificate its = certificate();
    const bool all = its.output == CertifiedOutput::nested || !has_start(its);
    visits = recorded(files, all ? files.front().episodes() : its.start_episode - 1);
    record.emplace(game(), visits, files.front().header().markov_weights());
  }
  [[nodiscard]] const DenseGame& game() const { return std::get<DenseGame>(loaded.game); }
  /// As the run has left it.
  [[nodiscard]] Certificate certificate() const {
    return read_certificate(folder / "run" / "certificate.json");
  }
  /// What an episode can pay at most between its best and its worst.
  [[nodiscard]] double horizon() const { return static_cast<double>(game().frame().horizon()); }
  [[nodiscard]] double width() const {
    const RewardRange& range = game().frame().range(Player(0));
    return range.high - range.low;
  }

  TemporaryFolder folder;
  LoadedGame loaded;
  RecordedRun visits;
  std::optional<MixtureRecord> record;
};

/// Of a share of what an episode can pay.
constexpr double kRounding = 1e-9;

// The certificates of these presets were off by 0.088 (practical) in the median, and had no lower
// end for a player, when they were of the nested output.
TEST(Nash, CertificatesOfRunsAreTheTruth) {
  for (const Preset preset : {Preset::practical, Preset::fast}) {
    for (const std::string& word : games()) {
      SCOPED_TRACE(word);
      const Learned run(word, preset, 60);
      const Certificate certificate = run.certificate();
      ASSERT_EQ(certificate.output, CertifiedOutput::marginals);
      const Truth truth = truth_of(run.game(), *run.record, certificate);
      const double scale = run.width();
      const double room = kRounding * run.horizon() * scale;
      EXPECT_NEAR(certificate.gap_upper, scale * truth.largest(), room);
      EXPECT_NEAR(certificate.gap_lower.value(), scale * truth.largest(), room);
      for (std::size_t j = 0; j < 2; ++j) {
        const PlayerCertificate& player = certificate.players[j];
        EXPECT_GE(player.gap_upper, scale * truth.gap(j) - 1e-15);
        EXPECT_NEAR(player.gap_upper, scale * truth.gap(j), room);
        EXPECT_NEAR(player.gap_lower.value(), scale * truth.gap(j), room);
      }
    }
  }
}

TEST(Nash, NestedBoundsHoldTheTruth) {
  for (const std::string& word : games()) {
    SCOPED_TRACE(word);
    const Learned run(word, Preset::paper, 60);
    const Certificate certificate = run.certificate();
    ASSERT_EQ(certificate.output, CertifiedOutput::nested);
    const Truth truth = truth_of(run.game(), *run.record, certificate);
    const double scale = run.width();
    EXPECT_GE(certificate.gap_upper, scale * truth.largest());
    EXPECT_LE(certificate.gap_lower.value(), scale * truth.largest());
    EXPECT_GE(certificate.sum_upper, scale * (truth.gap(0) + truth.gap(1)));
    EXPECT_LE(certificate.sum_lower.value(), scale * (truth.gap(0) + truth.gap(1)));
    for (std::size_t j = 0; j < 2; ++j) {
      const PlayerCertificate& player = certificate.players[j];
      const RewardRange& range = run.game().frame().range(Player(j));
      const double value = range.from_unit(truth.values[j], run.horizon());
      EXPECT_LE(player.value_lower - player.rounding, value);
      EXPECT_GE(player.value_upper + player.rounding, value);
      EXPECT_GE(player.gap_upper, scale * truth.gap(j));
      EXPECT_GE(truth.gap(j), -1e-12) << "the own policy is one of the deviations";
    }
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Prints how far the nested certificate is from the truth and why, as shares of what an episode
/// can pay; and how much worse averages are than the nested mixtures of the same visits.
TEST(NashSlow, HowLooseTheNestedCertificateIs) {
  for (const std::uint64_t episodes : {std::uint64_t{60}, std::uint64_t{300}}) {
    for (const Preset preset : {Preset::practical, Preset::fast, Preset::paper}) {
      std::vector<double> gaps;
      std::vector<double> excess;
      std::vector<double> of_the_other;
      std::vector<double> of_knowing_more;
      std::vector<double> averages;
      for (const std::string& word : games()) {
        const Learned run(word, preset, episodes, CertifiedOutput::nested);
        const Certificate nested = run.certificate();
        const Certificate marginals = certify_stored(read_run(run.folder / "run"), run.loaded,
                                                     {.output = CertifiedOutput::marginals});
        const Truth truth = truth_of(run.game(), *run.record, nested);
        const Truth other = truth_of(run.game(), *run.record, marginals);
        const double sum = truth.gap(0) + truth.gap(1);
        gaps.push_back(truth.largest() / run.horizon());
        excess.push_back((nested.gap_upper / run.width() - truth.largest()) / run.horizon());
        of_the_other.push_back((sum - truth.largest()) / run.horizon());
        of_knowing_more.push_back((nested.sum_upper / run.width() - sum) / run.horizon());
        averages.push_back((other.largest() - truth.largest()) / run.horizon());
        EXPECT_GE(excess.back(), 0.0);
      }
      std::printf(
          "%3u episodes, %-9s: %zu games, medians: gap %.4f, certificate above it %.4f (most "
          "%.4f), of which the other player's gap %.4f, what deviators are told %.4f; averages "
          "above nested %.4f\n",
          static_cast<unsigned>(episodes), kPresetNames[static_cast<std::size_t>(preset)].data(),
          gaps.size(), median(gaps), median(excess),
          *std::max_element(excess.begin(), excess.end()), median(of_the_other),
          median(of_knowing_more), median(averages));
    }
  }
}

}  // namespace
}  // namespace vlearn::test
