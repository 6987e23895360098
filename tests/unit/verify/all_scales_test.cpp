// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates of games at all scales of rewards and sizes: what is written is accepted, and what
// is changed by more than the bounds of docs/theory/certificate_rounding.md is refuted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/policy_files.h"
#include "support/random_tables.h"
#include "support/scaled_game.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/hash.h"
#include "vlearn/policy/average.h"
#include "vlearn/verify/verify.h"

namespace vlearn {
namespace {

using test::ScaledGames;
using test::ScaledKind;
using test::TrainedRun;

/// A certificate, and the files that it is about.
struct Certified {
  AnyGame game;
  std::vector<std::filesystem::path> paths;
  Certificate certificate;
  double policy_error = 0.0;  ///< e of docs/reference/certificate.md
  double defect = 0.0;        ///< |sum - 1| of rows, or more
};

/// What is executed of a game.
struct Asked {
  Target target = Target::cce;
  CertifiedOutput output = CertifiedOutput::nested;
  CertifiedStart start = CertifiedStart::last;
};

CertificateTitle title_of(const AnyGame& game, std::vector<std::string> policy_hashes) {
  CertificateTitle title{"test", to_hex(law_hash_of(game)), {}, std::move(policy_hashes)};
  for (std::size_t j = 0; j < frame_of(game).num_players(); ++j) {
    title.player_names.push_back("player " + std::to_string(j + 1));
  }
  return title;
}

/// Who learned: the certificate of `vlearn certify`.
Certificate certify(const TrainedRun& run, const Asked& asked) {
  const AnyGame& game = run.game();
  const Frame& frame = frame_of(game);
  std::vector<std::string> hashes;
  for (std::size_t j = 0; j < run.files().size(); ++j) {
    hashes.push_back(to_hex(sha256(run.bytes(j))));
  }
  const CertificateTitle title = title_of(game, std::move(hashes));
  const std::uint64_t weights = run.files().front().header().weights;
  const std::uint64_t episodes = run.files().front().episodes();
  // Of Markov outputs: any look may be the best.
  const std::uint64_t start = asked.start == CertifiedStart::best ? 1 + episodes / 2 : 0;
  if (asked.output == CertifiedOutput::markov) {
    return certify_markov(game, title, asked.target, run.files(), {.threads = 1}, start);
  }
  if (asked.output == CertifiedOutput::marginals) {
    ReplayMemory memory;
    CellAverage average;
    const auto policy = [&](Player player, Step h, State s) -> std::span<const double> {
      const PolicyFile& file = run.files()[player.index()];
      const std::size_t cell = file.header().seat.cell(h, s);
      const std::uint64_t end = start == 0 ? episodes : start - 1;
      average = average_of(file, cell, file.visits_before(cell, end), memory);
      return average.averaged;
    };
    return certify_marginals(game, title, asked.target, weights, episodes, policy, start);
  }
  RunCertifier certifier(game, asked.target, weights);
  certify_history(certifier, frame, run.files(), [](std::uint64_t) { return true; },
                  {.threads = 1});
  return certify_nested(game, title, asked.target, weights, episodes, certifier.at(asked.start),
                        run.files(), {.threads = 1});
}

/// The outputs that a game can have.
std::vector<Asked> choices_of(const Frame& frame) {
  std::vector<Target> targets = {Target::cce};
  if (frame.num_players() == 1) targets = {Target::optimal};
  if (frame.zero_sum()) targets = {Target::nash, Target::cce};
  if (frame.num_players() > 1 && frame.max_actions() <= 32) targets.push_back(Target::ce);
  std::vector<Asked> choices;
  for (const Target target : targets) {
    for (const CertifiedStart start :
         {CertifiedStart::last, CertifiedStart::uniform, CertifiedStart::best}) {
      choices.push_back({target, CertifiedOutput::nested, start});
    }
    for (const CertifiedOutput output :
         {CertifiedOutput::markov, CertifiedOutput::marginals, CertifiedOutput::table}) {
      if (!is_executable(target, output)) continue;
      choices.push_back({target, output});
      if (output != CertifiedOutput::table) {
        choices.push_back({target, output, CertifiedStart::best});
      }
    }
  }
  return choices;
}

double most_joint_of(const Frame& frame) {
  double most = 1.0;
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    most = std::max(most, static_cast<double>(frame.num_joint_actions(cell).value_or(UINT64_MAX)));
  }
  return most;
}

class Sweep {
 public:
  /// Games with this many joint actions at most.
  void run(std::uint64_t seed, std::uint64_t most_joint) {
    constexpr std::array kinds = {
        ScaledKind::dense,      ScaledKind::sparse,  ScaledKind::zero_sum, ScaledKind::alone,
        ScaledKind::dense,      ScaledKind::sparse,  ScaledKind::zero_sum, ScaledKind::congestion,
        ScaledKind::polymatrix, ScaledKind::callback};
    ScaledGames games(seed, kinds[seed % kinds.size()], most_joint);
    const double defect = std::abs(games.defect());
    AnyGame game = games.make();
    const Frame& frame = frame_of(game);
    const std::vector<Asked> choices = choices_of(frame);
    const Asked asked = choices[seed / kinds.size() % choices.size()];
    const double joint = most_joint_of(frame);
    largest_ = std::max(largest_, joint);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(model_of(game)) +
                 ", joint actions " + std::to_string(joint) + ", target " +
                 std::string(name_of(asked.target)) + ", output " +
                 std::string(kCertifiedOutputNames.at(static_cast<std::size_t>(asked.output))));
    ++outputs_[{asked.target, asked.output}];
    ++models_[std::string(model_of(game))];
    if (asked.output == CertifiedOutput::table) {
      return judge_table(std::move(game), asked, seed, defect);
    }
    const test::Training training{
        .target = asked.target,
        .rule = asked.target == Target::ce ? RuleName::ftrl_swap : RuleName::ftrl,
        .episodes = joint > 1e5 ? 2 : 1 + seed % 20};
    const TrainedRun run(std::move(game), training);
    const double actions = static_cast<double>(frame_of(run.game()).max_actions());
    judge({run.game(), run.paths(), certify(run, asked),
           1e-12 * (asked.target == Target::ce ? actions : 1.0) + 0x1p-51 * actions, defect});
  }

  void expect_all_covered(std::size_t games, double joint) const {
    EXPECT_EQ(accepted_, games);
    EXPECT_GE(largest_, joint);
    EXPECT_EQ(models_.size(), 5U);
    // ce, cce, nash and optimal with three outputs each.
    EXPECT_EQ(outputs_.size(), 12U);
    EXPECT_GE(lies_, 3 * games);
    EXPECT_GE(shrunk_, games / 4);
    EXPECT_GE(unstated_, games / 4);
  }
  void print() const {
    std::printf("%zu games of up to %.3g joint actions accepted, %zu lies refuted\n", accepted_,
                largest_, lies_ + shrunk_ + unstated_);
  }

 private:
  void judge_table(AnyGame game, const Asked& asked, std::uint64_t seed, double defect) {
    const test::TemporaryFolder folder;
    const std::size_t parts = asked.target == Target::nash ? 1 : 3;
    const std::vector<MarkovTable> tables =
        test::random_tables(frame_of(game), asked.target, parts, seed, to_hex(law_hash_of(game)));
    std::vector<std::filesystem::path> paths;
    std::vector<std::string> hashes;
    for (const MarkovTable& table : tables) {
      paths.push_back(folder / (std::to_string(table.player.number()) + ".markov"));
      write_markov(paths.back(), table);
      hashes.push_back(to_hex(sha256(FileBytes::read(paths.back(), 1U << 24U).bytes())));
    }
    const Certificate certificate =
        certify_table(game, title_of(game, hashes), asked.target, tables, {.threads = 1});
    const double actions = static_cast<double>(frame_of(game).max_actions());
    judge({std::move(game), paths, certificate, (actions + 2.0) * 0x1p-50, defect});
  }

  void judge(const Certified& one) {
    // As it is written to a file, and read again.
    const Certificate truth = certificate_from_json(to_json(one.certificate), "certificate");
    const auto refuted = [&](const Certificate& certificate,
                             VerifyNumbers numbers = VerifyNumbers::intervals) {
      return verify(one.game, one.paths, certificate,
                    {.numbers = numbers, .parallel = {.threads = 1}})
          .refuted;
    };
    const Frame& frame = frame_of(one.game);
    // Exact rationals take long where rewards are of many sizes.
    const bool tiny = most_joint_of(frame) * static_cast<double>(frame.horizon()) <= 50.0;
    const std::string refusal =
        refuted(truth, tiny ? VerifyNumbers::best : VerifyNumbers::intervals);
    EXPECT_EQ(refusal, "") << to_json(truth);
    if (refusal.empty()) ++accepted_;
    if (most_joint_of(frame) > 2e4) return;  // lies take as long as the truth
    const auto horizon = static_cast<double>(frame.horizon());
    const double margin = 1.01 * static_cast<double>(frame.num_players()) * one.policy_error *
                          horizon * (horizon + 1.0) / 2.0;
    const auto width = [&](std::size_t j) {
      return frame.range(Player(j)).high - frame.range(Player(j)).low;
    };
    for (std::size_t j = 0; j < truth.players.size(); ++j) {
      const RewardRange& range = frame.range(Player(j));
      const double rounding = truth.players[j].rounding;
      const double step = 10.0 * rounding + 4.0 * margin * width(j) +
                          0x1p-46 * horizon * std::abs(range.low) +
                          0x1p-46 * horizon * std::abs(range.high);
      const auto expect_lie = [&](const auto& tell) {
        Certificate lie = truth;
        tell(lie.players[j]);
        EXPECT_NE(refuted(lie), "") << j << "\n" << to_json(truth);
        ++lies_;
      };
      expect_lie([&](PlayerCertificate& own) {
        own.value_lower += step;
        own.value_upper += step;
      });
      expect_lie([&](PlayerCertificate& own) { own.deviation_upper -= step; });
      expect_lie([&](PlayerCertificate& own) {
        own.rounding = 1.1 * width(j) * horizon * (1e-9 + horizon * 1e-11);
      });
    }
    // All gaps smaller by the same share, so that nothing but the law speaks against them.
    const auto gap_is_clear = [&](std::size_t j) {
      return 0.01 * truth.players[j].gap_upper >
             10.0 * truth.players[j].rounding +
                 width(j) * (8.0 * margin + 1e-12 * horizon * horizon);
    };
    if (gap_is_clear(0)) {
      Certificate lie = truth;
      const auto shrink = [](double& upper, std::optional<double>& lower) {
        upper *= 0.99;
        if (lower) *lower *= 0.99;
      };
      for (PlayerCertificate& own : lie.players) shrink(own.gap_upper, own.gap_lower);
      shrink(lie.gap_upper, lie.gap_lower);
      shrink(lie.sum_upper, lie.sum_lower);
      EXPECT_TRUE(refuted(lie).starts_with("players[0].gap.")) << to_json(truth);
      ++shrunk_;
    }
    // A certificate that says nothing of rows which sum to one only nearly.
    if (one.defect == 0.0 || frame.horizon() == 1) return;
    Certificate lie = truth;
    lie.players[0].rounding = 0.99 * one.defect * horizon * horizon * width(0);
    EXPECT_TRUE(refuted(lie).starts_with("players[0].rounding")) << to_json(truth);
    ++unstated_;
  }

  std::size_t accepted_ = 0;
  std::size_t lies_ = 0;
  std::size_t shrunk_ = 0;
  std::size_t unstated_ = 0;
  double largest_ = 0.0;
  std::map<std::pair<Target, CertifiedOutput>, std::size_t> outputs_;
  std::map<std::string, std::size_t> models_;
};

TEST(AllScales, AcceptsWhatIsWrittenAndRefutesWhatIsNot) {
  Sweep sweep;
  for (std::uint64_t seed = 0; seed < 200; ++seed) sweep.run(seed, seed % 4 == 0 ? 10'000 : 300);
  sweep.expect_all_covered(200, 5'000.0);
  sweep.print();
}

/// Most games are small: with ten million joint actions one takes seconds and 1 GB.
TEST(AllScalesSlow, AcceptsWhatIsWrittenAndRefutesWhatIsNot) {
  Sweep sweep;
  for (std::uint64_t seed = 1'000; seed < 3'000; ++seed) {
    std::uint64_t most = 1'000;
    if (seed % 11 == 0) most = 100'000;
    if (seed % 67 == 0) most = 1'000'000;
    if (seed % 167 == 0) most = 10'000'000;
    sweep.run(seed, most);
  }
  sweep.expect_all_covered(2'000, 5e6);
  sweep.print();
}

/// Two players and one step: the first chooses a row.
AnyGame bimatrix(std::array<double, 4> first, std::array<double, 4> second) {
  FrameOptions options;
  options.num_players = 2;
  options.horizon = 1;
  options.num_states = {1};
  options.num_actions = {2, 2};
  const auto range = [](const std::array<double, 4>& numbers) {
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    return natural_range(*low, *high);
  };
  options.ranges = {range(first), range(second)};
  std::vector<double> rewards(first.begin(), first.end());
  rewards.insert(rewards.end(), second.begin(), second.end());
  return DenseGame(Frame(options), std::move(rewards), {1.0, 1.0, 1.0, 1.0});
}

/// A gain is a difference: what is added to all rewards is not in it, to the last bit, and what
/// they are multiplied by is, if that is a power of two.
TEST(AllScales, GapsDoNotDependOnWhereRewardsLie) {
  const auto moved = [](double low, double scale) {
    const TrainedRun run(
        bimatrix({low + scale, low, low, low + scale}, {low, low + scale, low + scale, low}),
        {.episodes = 50});
    const Certificate certificate = certify(run, {});
    const Verdict verdict = verify(run.game(), run.paths(), certificate);
    EXPECT_EQ(verdict.refuted, "") << to_json(certificate);
    return certificate;
  };
  const Certificate plain = moved(0.0, 1.0);
  EXPECT_GT(plain.gap_upper, 1e-3);
  for (const auto& [low, scale] :
       {std::pair{1e7, 1.0}, std::pair{-1e7, 1.0}, std::pair{0x1p900, 0x1p850},
        std::pair{-0x1p990, 0x1p990}, std::pair{0.0, 0x1p-900}, std::pair{0x1p-900, 0x1p-950}}) {
    const Certificate certificate = moved(low, scale);
    for (std::size_t j = 0; j < 2; ++j) {
      const PlayerCertificate& own = certificate.players[j];
      const PlayerCertificate& other = plain.players[j];
      EXPECT_EQ(own.gap_upper, scale * other.gap_upper);
      EXPECT_EQ(*own.gap_lower, scale * *other.gap_lower);
      EXPECT_EQ(own.rounding, scale * other.rounding);
      EXPECT_NEAR(own.value_lower, low + scale * other.value_lower,
                  0x1p-50 * (std::abs(low) + scale));
    }
  }
  // Constants, as far from 0 as may be.
  for (const double all : {1e300, -1e300, 7.0}) {
    const TrainedRun run(bimatrix({all, all, all, all}, {all, all, all, all}), {.episodes = 10});
    const Certificate certificate = certify(run, {});
    EXPECT_EQ(verify(run.game(), run.paths(), certificate).refuted, "") << to_json(certificate);
    EXPECT_EQ(certificate.players[0].value_lower, all);
  }
}

/// Where doubles end: rewards with few digits or a single one, and as large as there are.
TEST(AllScales, AcceptsTheSmallestAndTheLargestRewards) {
  constexpr double largest = std::numeric_limits<double>::max();
  for (const auto& [low, high] :
       {std::pair{0.0, 1e-310}, std::pair{-1e-318, 1e-318}, std::pair{0.0, 0x1p-1074},
        std::pair{-0.4 * largest, 0.4 * largest}, std::pair{0.0, 0.4 * largest}}) {
    const TrainedRun run(bimatrix({high, low, low, high}, {low, high, high, low}),
                         {.episodes = 20});
    const Certificate certificate = certify(run, {});
    EXPECT_EQ(verify(run.game(), run.paths(), certificate).refuted, "") << to_json(certificate);
    EXPECT_GT(certificate.gap_upper, 0.0);
  }
  // Each gains half of the largest number by its first action, and no number states the sum.
  const TrainedRun run(bimatrix({largest, largest, 0.0, 0.0}, {largest, 0.0, largest, 0.0}),
                       {.episodes = 1});
  const std::string error =
      test::error_of(ErrorKind::input, [&] { static_cast<void>(certify(run, {})); });
  EXPECT_NE(error.find("rewards: are so large"), std::string::npos) << error;
}

/// One player, a step of reward 1 after the other: whatever law is meant by a row that sums to
/// 1 + 9e-13, it is worth H, and nothing can be gained.
TEST(AllScales, RowsThatDoNotSumToOneAreInTheRounding) {
  constexpr double kDefect = 9e-13;
  for (const double defect : {kDefect, -kDefect}) {
    FrameOptions options;
    options.num_players = 1;
    options.horizon = 1'000;
    options.num_states = {2};
    options.num_actions = {1};
    options.initial = {0.25 + defect, 0.75};
    std::vector<double> rows = {0.5, 0.5 + defect, 0.5, 0.5 + defect};
    const AnyGame game = DenseGame(Frame(options), {1.0, 1.0}, rows);
    const test::TemporaryFolder folder;
    const std::vector<MarkovTable> tables =
        test::random_tables(frame_of(game), Target::optimal, 1, 1, to_hex(law_hash_of(game)));
    const std::vector<std::filesystem::path> paths = {folder / "1.markov"};
    write_markov(paths[0], tables[0]);
    const std::string hash = to_hex(sha256(FileBytes::read(paths[0], 1U << 20U).bytes()));
    Certificate certificate =
        certify_table(game, title_of(game, {hash}), Target::optimal, tables, {});
    PlayerCertificate& own = certificate.players[0];
    EXPECT_GT(std::abs(own.value_lower - 1'000.0), 4e-7);  // rows are used as they are
    EXPECT_LE(std::abs(own.value_lower - 1'000.0), own.rounding);
    EXPECT_LE(std::abs(own.deviation_upper - 1'000.0), own.rounding);
    EXPECT_GE(own.rounding, kDefect * 1e6);
    EXPECT_LE(own.rounding, 1.1 * kDefect * 1e6);
    EXPECT_LE(*own.gap_lower, 0.0);
    EXPECT_GE(own.gap_upper, 0.0);
    EXPECT_EQ(verify(game, paths, certificate).refuted, "");
    // A smaller rounding is refuted, though all numbers follow from each other.
    for (const double rounding : {9e-9, 8.9e-7}) {
      own.rounding = rounding;
      own.gap_upper = own.deviation_upper - own.value_lower + 2.0 * rounding;
      own.gap_lower = *own.deviation_lower - own.value_upper - 2.0 * rounding;
      certificate.gap_upper = certificate.sum_upper = own.gap_upper;
      certificate.gap_lower = certificate.sum_lower = own.gap_lower;
      const std::string refuted = verify(game, paths, certificate).refuted;
      EXPECT_TRUE(refuted.starts_with("players[0].rounding: stated")) << refuted;
    }
  }
}

TEST(AllScales, AMillionJointActionsAreAccepted) {
  const TrainedRun run({.game = "random:players=3,states=1,actions=110,horizon=1", .episodes = 2});
  const Certificate certificate = certify(run, {});
  EXPECT_EQ(verify(run.game(), run.paths(), certificate).refuted, "");
  EXPECT_LT(certificate.players[0].rounding, 1e-12);
}

}  // namespace
}  // namespace vlearn
