// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/nested_bounds.h"
#include "support/plain_certificate.h"
#include "support/policy_files.h"
#include "support/random_tables.h"
#include "support/raw_markov.h"
#include "support/recorded_run.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/hash.h"

namespace vlearn {
namespace {

using test::error_of;
using test::PlainCertifier;
using test::TrainedRun;
using test::Training;
using Choice = PlainCertifier::Choice;

const char* const kGeneral = "random:players=2,states=3,actions=3,horizon=3,seed=2";
const char* const kZeroSum = "random:players=2,states=3,actions=3,horizon=3,seed=2,kind=zero-sum";

/// A deviation that is none in particular.
std::vector<PlainCertifier::Plan> some_plans(const TrainedRun& run, Target target) {
  std::vector<PlainCertifier::Plan> plans;
  for (const PolicyFile& file : run.files()) {
    PlainCertifier::Plan& plan = plans.emplace_back();
    for (const std::uint32_t n : file.header().seat.num_actions) {
      for (std::uint32_t b = 0; b < (target == Target::ce ? n : 1); ++b) {
        plan.push_back(static_cast<std::uint32_t>((7 * plan.size() + 3) % n));
      }
    }
  }
  return plans;
}

Certificate certify(const TrainedRun& run, const Choice& choice, bool with_plans = true) {
  PlainCertifier certifier(run.game(), run.files(), choice);
  Certificate certificate = certifier.certificate(with_plans ? some_plans(run, choice.target)
                                                             : std::vector<PlainCertifier::Plan>());
  for (std::size_t j = 0; j < run.paths().size(); ++j) {
    certificate.policy_hashes.push_back(to_hex(sha256(run.bytes(j))));
  }
  return certificate;
}

double width(const Interval& interval) { return interval.high - interval.low; }

/// A certificate allows itself ten times as much.
double widest(const TrainedRun& run) {
  const Frame& frame = frame_of(run.game());
  const RewardRange& range = frame.range(Player(0));
  return 1e-10 * static_cast<double>(frame.horizon()) * (range.high - range.low);
}

void expect_accepted(const TrainedRun& run,
                     const Certificate& certificate,
                     const VerifyOptions& options = {}) {
  const Verdict verdict = verify(run.game(), run.paths(), certificate, options);
  EXPECT_TRUE(verdict.accepted) << verdict.refuted << "\n" << to_json(certificate);
  EXPECT_EQ(verdict.refuted, "");
  for (const VerifiedPlayer& player : verdict.players) {
    EXPECT_LT(width(player.deviation_upper), widest(run));
    EXPECT_LT(width(player.value_lower), widest(run));
  }
}

const std::vector<Choice>& starts_of(Target target) {
  static std::vector<Choice> choices;
  choices = {{target, CertifiedOutput::nested, CertifiedStart::last, 0},
             {target, CertifiedOutput::nested, CertifiedStart::best, 1},
             {target, CertifiedOutput::nested, CertifiedStart::best, 17},
             {target, CertifiedOutput::nested, CertifiedStart::uniform, 0},
             {target, target == Target::nash ? CertifiedOutput::marginals : CertifiedOutput::markov,
              CertifiedStart::last, 0}};
  return choices;
}

TEST(Verify, AcceptsWhatTheDefinitionGives) {
  struct Case {
    Training training;
    Target target;
  };
  const std::vector<Case> cases = {
      {{.game = kGeneral}, Target::cce},
      {{.game = kGeneral, .rule = RuleName::tsallis, .control_variate = true}, Target::cce},
      {{.game = kGeneral, .target = Target::ce, .rule = RuleName::ftrl_swap}, Target::ce},
      {{.game = kGeneral, .rule = RuleName::log_barrier, .weights = 7}, Target::ce},
      {{.game = kGeneral, .weights = 3, .taper = true}, Target::cce},
      {{.game = kGeneral, .weights = 1, .taper = true}, Target::ce},
      {{.game = kZeroSum, .target = Target::nash}, Target::nash},
      {{.game = kZeroSum, .target = Target::nash, .weights = 3, .taper = true}, Target::nash},
      {{.game = "random:players=3,states=2,actions=2,horizon=2,seed=3"}, Target::cce},
      {{.game = "random:players=1,states=4,actions=3,horizon=4,seed=3", .target = Target::optimal},
       Target::optimal},
      {{.game = "random:players=1,states=4,actions=3,horizon=4,seed=3"}, Target::cce},
      {{.game = "random:players=3,states=2,actions=2,horizon=2,seed=3,kind=polymatrix"},
       Target::cce},
      {{.game = "congestion:players=4,routes=3,states=2,horizon=2,seed=5"}, Target::cce},
      {{.game = "congestion:players=4,routes=3,states=2,horizon=2,seed=5"}, Target::ce},
      {{.game = "pursuit:size=2,horizon=3", .target = Target::nash}, Target::nash},
      {{.game = "grid-game-2:horizon=3"}, Target::cce},
      {{.game = "lock:horizon=4", .target = Target::optimal}, Target::optimal},
  };
  for (const Case& each : cases) {
    const TrainedRun run(each.training);
    for (const Choice& choice : starts_of(each.target)) {
      SCOPED_TRACE(each.training.game + " " + std::string(name_of(each.target)) + " output " +
                   std::to_string(static_cast<int>(choice.output)) + " start " +
                   std::to_string(static_cast<int>(choice.start)));
      // What the best policy earns is known without a witness; that of a poor one is not the best.
      const bool plans = each.target != Target::optimal && choice.output == CertifiedOutput::nested;
      expect_accepted(run, certify(run, choice, plans),
                      {.numbers = VerifyNumbers::intervals, .parallel = {.threads = 2}});
      expect_accepted(run, certify(run, choice, false),
                      {.numbers = VerifyNumbers::intervals, .parallel = {.threads = 1}});
    }
  }
}

TEST(Verify, AcceptsWhatWasWrittenAndRead) {
  const TrainedRun run({.game = kGeneral});
  const Certificate certificate = certify(run, {});
  const Certificate read = certificate_from_json(to_json(certificate), "c.json");
  expect_accepted(run, read);
  // The order of the files does not matter.
  const std::vector<std::filesystem::path> reversed = {run.paths()[1], run.paths()[0]};
  EXPECT_TRUE(verify(run.game(), reversed, read).accepted);
}

TEST(Verify, RationalsLieInTheIntervals) {
  struct Case {
    Training training;
    Target target;
  };
  for (const Case& each :
       {Case{{.game = "random:players=2,states=2,actions=2,horizon=3,seed=6"}, Target::cce},
        Case{{.game = "random:players=2,states=2,actions=2,horizon=3,seed=6"}, Target::ce},
        Case{{.game = "random:players=2,states=2,actions=2,horizon=2,seed=6,kind=zero-sum",
        .target = Target::nash},
             Target::nash},
        Case{{.game = "grid-game-2:horizon=2", .episodes = 20}, Target::cce}}) {
    const TrainedRun run(each.training);
    for (const Choice& choice : starts_of(each.target)) {
      const Certificate certificate = certify(run, choice, false);
      const Verdict exact =
          verify(run.game(), run.paths(), certificate, {.numbers = VerifyNumbers::rationals});
      const Verdict intervals =
          verify(run.game(), run.paths(), certificate, {.numbers = VerifyNumbers::intervals});
      EXPECT_TRUE(exact.accepted) << exact.refuted;
      EXPECT_TRUE(exact.rationals);
      EXPECT_FALSE(intervals.rationals);
      ASSERT_EQ(exact.players.size(), intervals.players.size());
      for (std::size_t j = 0; j < exact.players.size(); ++j) {
        const auto expect_inside = [&](const Interval& inner, const Interval& outer) {
          EXPECT_LE(outer.low, inner.low);
          EXPECT_GE(outer.high, inner.high);
          EXPECT_LT(width(outer), widest(run));
        };
        const VerifiedPlayer& inner = exact.players[j];
        const VerifiedPlayer& outer = intervals.players[j];
        expect_inside(inner.value_lower, outer.value_lower);
        expect_inside(inner.value_upper, outer.value_upper);
        expect_inside(inner.deviation_upper, outer.deviation_upper);
      }
    }
  }
  const TrainedRun small({.game = "random:players=2,states=2,actions=2,horizon=3,seed=6"});
  EXPECT_TRUE(verify(small.game(), small.paths(), certify(small, {})).rationals);
  const TrainedRun longer(
      {.game = "random:players=2,states=2,actions=2,horizon=3,seed=6", .episodes = 400});
  EXPECT_FALSE(verify(longer.game(), longer.paths(), certify(longer, {})).rationals);
}

/// Everything that may stand in a certificate, changed a little.
TEST(Verify, RefutesEveryFalseNumber) {
  struct Lie {
    std::string says;
    std::function<void(Certificate&)> tell;
  };
  std::vector<Lie> lies = {
      {"game_hash: stated",
       [](Certificate& c) { c.game_hash[0] = c.game_hash[0] == 'a' ? 'b' : 'a'; }},
      {"policy_hashes[1]: stated", [](Certificate& c) { c.policy_hashes[1] = c.policy_hashes[0]; }},
      {"policy_hashes: stated 1", [](Certificate& c) { c.policy_hashes.pop_back(); }},
      {"weights: stated 4, derived 3", [](Certificate& c) { c.weights = 4; }},
      {"episodes: stated 41, derived 40", [](Certificate& c) { c.episodes = 41; }},
      {"players: stated 1, derived 2", [](Certificate& c) { c.players.pop_back(); }},
      {"gap.upper: stated", [](Certificate& c) { c.gap_upper -= 1e-7; }},
      {"gap.lower: stated", [](Certificate& c) { *c.gap_lower += 1e-7; }},
      {"sum.upper: stated", [](Certificate& c) { c.sum_upper -= 1e-7; }},
      {"sum.lower: stated", [](Certificate& c) { *c.sum_lower += 1e-7; }},
      {"gap.upper: stated",
       [](Certificate& c) { c.gap_upper = std::numeric_limits<double>::quiet_NaN(); }},
  };
  for (const std::size_t j : {std::size_t{0}, std::size_t{1}}) {
    const std::string place = "players[" + std::to_string(j) + "].";
    const auto change = [&](const std::string& says, double PlayerCertificate::*number, double by) {
      lies.push_back(
          {place + says + ": stated", [=](Certificate& c) { c.players[j].*number += by; }});
    };
    for (const double by : {1e-7, -1e-7, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
      change("value.lower", &PlayerCertificate::value_lower, by);
      change("value.upper", &PlayerCertificate::value_upper, by);
      change("deviation.upper", &PlayerCertificate::deviation_upper, by);
      change("gap.upper", &PlayerCertificate::gap_upper, by);
      lies.push_back({place + "deviation.lower: stated",
                      [=](Certificate& c) { *c.players[j].deviation_lower += by; }});
      lies.push_back(
          {place + "gap.lower: stated", [=](Certificate& c) { *c.players[j].gap_lower += by; }});
    }
    change("rounding", &PlayerCertificate::rounding, 1e-3);
    change("rounding", &PlayerCertificate::rounding, -1e-3);
    change("gap.upper", &PlayerCertificate::rounding, 1e-10);
    lies.push_back(
        {place + "witness: stated", [=](Certificate& c) { c.players[j].witness.pop_back(); }});
    lies.push_back(
        {place + "witness[2]: stated 4", [=](Certificate& c) { c.players[j].witness[2] = 3; }});
    lies.push_back({place + "deviation.lower: stated", [=](Certificate& c) {
                      std::uint32_t& action = c.players[j].witness[0];
                      action = action == 0 ? 1 : 0;
                    }});
  }
  const TrainedRun run({.game = kGeneral});
  const Certificate truth = certify(run, {});
  expect_accepted(run, truth);
  for (const Lie& lie : lies) {
    Certificate certificate = truth;
    lie.tell(certificate);
    const Verdict verdict =
        verify(run.game(), run.paths(), certificate, {.numbers = VerifyNumbers::intervals});
    EXPECT_FALSE(verdict.accepted) << lie.says;
    EXPECT_TRUE(verdict.refuted.starts_with(lie.says)) << lie.says << ": " << verdict.refuted;
  }
}

TEST(Verify, RefutesAnotherMeaningOfTheSameNumbers) {
  const TrainedRun run({.game = kGeneral});
  const auto expect_refuted = [&](const Choice& choice, const auto& change) {
    Certificate certificate = certify(run, choice);
    change(certificate);
    EXPECT_FALSE(verify(run.game(), run.paths(), certificate).accepted);
  };
  expect_refuted({}, [](Certificate& c) { c.target = Target::ce; });
  expect_refuted({}, [](Certificate& c) { c.target = Target::nash; });
  expect_refuted({}, [](Certificate& c) { c.target = Target::optimal; });
  expect_refuted({}, [](Certificate& c) { c.output = CertifiedOutput::markov; });
  expect_refuted({}, [](Certificate& c) { c.output = CertifiedOutput::marginals; });
  expect_refuted({}, [](Certificate& c) { c.start = CertifiedStart::uniform; });
  expect_refuted({}, [](Certificate& c) { c.start_episode = 40; });
  expect_refuted({}, [](Certificate& c) {
    c.start = CertifiedStart::best;
    c.start_episode = 40;
  });
  for (const std::uint64_t episode : {0U, 16U, 42U}) {
    expect_refuted({.start = CertifiedStart::best, .start_episode = 17},
                   [&](Certificate& c) { c.start_episode = episode; });
  }
  // The last episode may be called the best.
  Certificate certificate = certify(run, {});
  certificate.start = CertifiedStart::best;
  expect_accepted(run, certificate);
}

TEST(Verify, RefutesAnotherTaper) {
  const auto choice = [](Target target) {
    return Choice{target,
                  target == Target::nash ? CertifiedOutput::marginals : CertifiedOutput::markov,
                  CertifiedStart::last, 0};
  };
  for (const bool taper : {false, true}) {
    for (const Target target : {Target::cce, Target::ce, Target::nash}) {
      const Training training{.game = target == Target::nash ? kZeroSum : kGeneral,
                              .target = target == Target::nash ? target : Target::cce,
                              .weights = 3,
                              .taper = taper};
      const TrainedRun run(training);
      Certificate certificate = certify(run, choice(target), false);
      certificate.taper = !taper;
      const Verdict verdict = verify(run.game(), run.paths(), certificate);
      EXPECT_FALSE(verdict.accepted);
      EXPECT_EQ(verdict.refuted, taper ? "taper: stated false, but the files say true"
                                       : "taper: stated true, but the files say false");
      // What the certificate says of the files is true, but not its numbers.
      Training other = training;
      other.taper = !taper;
      Certificate wrong = certify(TrainedRun(other), choice(target), false);
      wrong.taper = taper;
      wrong.policy_hashes = certificate.policy_hashes;
      EXPECT_FALSE(verify(run.game(), run.paths(), wrong).accepted);
    }
  }
}

/// True numbers of a policy that the players do not play.
TEST(Verify, RefutesWhatTheFilesAreNotExecutedFor) {
  const auto expect_refuted = [](const Training& training, const Choice& choice,
                                 const std::string& says) {
    const TrainedRun run(training);
    const Verdict verdict = verify(run.game(), run.paths(), certify(run, choice, false));
    EXPECT_FALSE(verdict.accepted) << says;
    EXPECT_EQ(verdict.refuted, says);
  };
  const auto choice = [](Target target, CertifiedOutput output) {
    return Choice{target, output, CertifiedStart::last, 0};
  };
  const std::string alone = "random:players=1,states=4,actions=3,horizon=4,seed=3";
  expect_refuted({.game = kGeneral}, choice(Target::cce, CertifiedOutput::marginals),
                 "output: stated marginals, which players of cce cannot execute");
  expect_refuted({.game = kGeneral, .target = Target::ce, .rule = RuleName::ftrl_swap},
                 choice(Target::ce, CertifiedOutput::marginals),
                 "output: stated marginals, which players of ce cannot execute");
  expect_refuted({.game = alone, .target = Target::optimal},
                 choice(Target::optimal, CertifiedOutput::marginals),
                 "output: stated marginals, which players of optimal cannot execute");
  expect_refuted({.game = kZeroSum, .target = Target::nash},
                 choice(Target::nash, CertifiedOutput::markov),
                 "output: stated markov, which players of nash cannot execute");
  // Those who learned a cce share their indices, and do not play averages.
  expect_refuted({.game = kZeroSum}, choice(Target::nash, CertifiedOutput::marginals),
                 "target: stated nash, but the files are executed for cce");
}

TEST(Verify, RefutesTheGapOfNashUnlessItIsBothPlayers) {
  const TrainedRun run({.game = kZeroSum, .target = Target::nash});
  const Certificate truth = certify(run, {.target = Target::nash});
  expect_accepted(run, truth);
  const auto expect_refuted = [&](const char* says, const auto& change) {
    Certificate certificate = truth;
    change(certificate);
    const Verdict verdict = verify(run.game(), run.paths(), certificate);
    EXPECT_FALSE(verdict.accepted);
    EXPECT_TRUE(verdict.refuted.starts_with(says)) << verdict.refuted;
  };
  expect_refuted("players[0].gap.upper", [](Certificate& c) { c.players[0].gap_upper *= 0.5; });
  expect_refuted("players[0].value.lower",
                 [](Certificate& c) { c.players[0].value_lower += 1e-7; });
  expect_refuted("sum.upper", [](Certificate& c) { c.sum_upper *= 0.5; });
  expect_refuted("sum.upper", [](Certificate& c) { c.sum_upper *= 2.0; });
  expect_refuted("sum.lower", [](Certificate& c) { *c.sum_lower += 1e-7; });
  expect_refuted("gap.lower", [](Certificate& c) { *c.gap_lower += 1e-7; });
  expect_refuted("target", [](Certificate& c) { c.target = Target::cce; });
}

/// A lower bound may stand without its witness where one is found that earns as much.
TEST(Verify, LooksForAWitness) {
  const TrainedRun run({.game = kGeneral});
  Certificate certificate = certify(run, {});
  for (PlayerCertificate& player : certificate.players) player.witness.clear();
  expect_accepted(run, certificate);  // some plan's value: the tables know a better one
  PlayerCertificate& own = certificate.players[0];
  own.deviation_lower = own.deviation_upper + 1e-6;
  own.gap_lower = *own.deviation_lower - own.value_upper - 2.0 * own.rounding;
  const Verdict verdict = verify(run.game(), run.paths(), certificate);
  EXPECT_TRUE(verdict.refuted.starts_with("players[0].deviation.lower: stated")) << verdict.refuted;
}

TEST(Verify, RefutesAnotherGameAndAnotherPolicy) {
  const TrainedRun run({.game = kGeneral});
  const Certificate certificate = certify(run, {});
  const AnyGame other = make_game("random:players=2,states=3,actions=3,horizon=3,seed=3");
  EXPECT_TRUE(verify(other, run.paths(), certificate).refuted.starts_with("game_hash: stated"));
  const TrainedRun again({.game = kGeneral, .rule = RuleName::exp3_ix});
  EXPECT_TRUE(verify(run.game(), again.paths(), certificate)
                  .refuted.starts_with("policy_hashes[0]: stated"));
  // Whoever gives the other files' hashes too is caught by the numbers.
  Certificate forged = certificate;
  for (std::size_t j = 0; j < 2; ++j) forged.policy_hashes[j] = to_hex(sha256(again.bytes(j)));
  EXPECT_TRUE(verify(run.game(), again.paths(), forged).refuted.starts_with("players[0]."));
}

TEST(Verify, RefusesFilesThatDoNotFit) {
  const TrainedRun run({.game = kGeneral});
  const Certificate certificate = certify(run, {});
  const auto error = [&](const AnyGame& game, std::vector<std::filesystem::path> paths) {
    return error_of(ErrorKind::input, [&] { static_cast<void>(verify(game, paths, certificate)); });
  };
  const auto& paths = run.paths();
  EXPECT_NE(error(run.game(), {paths[0]}).find("want one for each of the 2 players"),
            std::string::npos);
  EXPECT_NE(error(run.game(), {paths[0], paths[0]}).find("has a file already"), std::string::npos);
  EXPECT_NE(error(run.game(), {paths[0], "/nowhere"}).find("/nowhere"), std::string::npos);
  const TrainedRun other({.game = kGeneral, .episodes = 41});
  EXPECT_NE(error(run.game(), {paths[0], other.paths()[1]}).find("is not of the same run"),
            std::string::npos);
  for (const char* name : {"random:players=2,states=3,actions=2,horizon=3,seed=2",
                           "random:players=2,states=2,actions=3,horizon=3,seed=2",
                           "random:players=2,states=3,actions=3,horizon=2,seed=2"}) {
    EXPECT_NE(error(make_game(name), paths).find("does not fit the game"), std::string::npos);
  }
  Certificate other_kind = certificate;
  other_kind.output = CertifiedOutput::table;
  error_of(ErrorKind::input, [&] { static_cast<void>(verify(run.game(), paths, other_kind)); });
  other_kind = certificate;
  other_kind.stream_hash = certificate.game_hash;
  error_of(ErrorKind::input, [&] { static_cast<void>(verify(run.game(), paths, other_kind)); });
  other_kind = certificate;
  other_kind.method = {MethodName::sampled, 0.95, 300, 8};
  const std::string sampled =
      error_of(ErrorKind::usage, [&] { static_cast<void>(verify(run.game(), paths, other_kind)); });
  EXPECT_NE(sampled.find("--method sampled --samples 300 --confidence 0.95 --seed 8"),
            std::string::npos)
      << sampled;
}

/// Tables in files, and what is certified of them.
struct TableRun {
  TableRun(const std::string& name, Target target, std::size_t parts)
      : game(make_game(name)),
        tables(test::random_tables(frame_of(game), target, parts, 1, to_hex(law_hash_of(game)))) {
    CertificateTitle title{name, to_hex(law_hash_of(game)), {}, {}};
    for (const MarkovTable& table : tables) {
      paths.push_back(folder / ("player-" + std::to_string(table.player.number()) + ".markov"));
      write_markov(paths.back(), table);
      title.player_names.push_back("somebody");
      title.policy_hashes.push_back(
          to_hex(sha256(FileBytes::read(paths.back(), 1U << 20U).bytes())));
    }
    certificate = certify_table(game, title, target, tables, {});
  }
  test::TemporaryFolder folder;
  AnyGame game;
  std::vector<MarkovTable> tables;
  std::vector<std::filesystem::path> paths;
  Certificate certificate;
};

TEST(Verify, AcceptsTables) {
  const std::pair<const char*, Target> cases[] = {
      {kGeneral, Target::cce},
      {kGeneral, Target::ce},
      {kZeroSum, Target::nash},
      {"random:players=3,states=2,actions=2,horizon=2,seed=3", Target::cce},
      {"random:players=1,states=4,actions=3,horizon=4,seed=3", Target::optimal},
      {"random:players=3,states=2,actions=2,horizon=2,seed=3,kind=polymatrix", Target::cce},
      {"congestion:players=4,routes=3,states=2,horizon=2,seed=5", Target::ce},
      {"grid-game-2:horizon=3", Target::cce},
  };
  for (const auto& [name, target] : cases) {
    SCOPED_TRACE(name);
    const TableRun run(name, target, target == Target::nash ? 1 : 4);
    for (const VerifyNumbers numbers : {VerifyNumbers::best, VerifyNumbers::intervals}) {
      const Verdict verdict = verify(run.game, run.paths, run.certificate, {.numbers = numbers});
      EXPECT_TRUE(verdict.accepted) << verdict.refuted;
    }
    // The file that is written, and read again.
    const Certificate read = certificate_from_json(to_json(run.certificate), "certificate");
    EXPECT_TRUE(verify(run.game, run.paths, read).accepted);
  }
}

TEST(Verify, RefutesWhatIsNotTrueOfTables) {
  const TableRun run(kGeneral, Target::cce, 4);
  const auto refuted = [&](const auto& change) {
    Certificate changed = run.certificate;
    change(changed);
    return verify(run.game, run.paths, changed).refuted;
  };
  const double step = 4.0 * run.certificate.players[0].rounding;
  EXPECT_EQ(refuted([](Certificate&) {}), "");
  EXPECT_TRUE(refuted([&](Certificate& c) {
                c.players[1].deviation_upper += step;
              }).starts_with("players[1].deviation.upper"));
  EXPECT_TRUE(refuted([&](Certificate& c) {
                *c.players[1].deviation_lower -= step;
              }).starts_with("players[1].deviation.lower"));
  EXPECT_TRUE(refuted([&](Certificate& c) {
                c.players[0].value_lower -= step;
              }).starts_with("players[0].value.lower"));
  EXPECT_TRUE(refuted([](Certificate& c) {
                c.policy_hashes[1] = c.policy_hashes[0];
              }).starts_with("policy_hashes[1]"));
  EXPECT_TRUE(refuted([](Certificate& c) { c.target = Target::nash; }).starts_with("target"));
  // Another part of the same player is another policy.
  MarkovTable other = run.tables[1];
  std::swap(other.policies[0], other.policies[1]);
  write_markov(run.paths[1], other);
  EXPECT_TRUE(refuted([](Certificate&) {}).starts_with("policy_hashes[1]"));
  EXPECT_TRUE(refuted([&](Certificate& c) {
                c.policy_hashes[1] =
                    to_hex(sha256(FileBytes::read(run.paths[1], 1U << 20U).bytes()));
              }).starts_with("players["));
  // Files that are none, or not of each other.
  const auto error = [&] {
    return error_of(ErrorKind::input,
                    [&] { static_cast<void>(verify(run.game, run.paths, run.certificate)); });
  };
  other = run.tables[1];
  ++other.weights[0];
  write_markov(run.paths[1], other);
  EXPECT_NE(error().find("does not have the parts"), std::string::npos);
  const std::pair<std::function<void(MarkovTable&)>, const char*> damages[] = {
      {[](MarkovTable& t) { t.weights[0] = 0; }, "cell 0"},
      {[](MarkovTable& t) { t.weights[0] = kMaxPartWeights + 1; }, "cell 0"},
      {[](MarkovTable& t) { t.policies[0] = -1.0; }, "no chance"},
      {[](MarkovTable& t) { t.policies[0] += 1e-14; }, "cell 0"},
      {[](MarkovTable& t) { t.policies.pop_back(); }, "too few"},
      {[](MarkovTable& t) { t.policies.push_back(1.0); }, "more weights or policies"},
      {[](MarkovTable& t) { t.num_players = 3; }, "another number of players"},
      {[](MarkovTable& t) { t.target = Target::nash; }, "correlates"},
      {[](MarkovTable& t) { t.num_actions[0] = 0; }, "cell 0"},
      {[](MarkovTable& t) {
         t.first_cell = {0, 9};
       },
       "does not fit"},
      {[](MarkovTable& t) {
         t.first_cell = {0, 3};
       },
       "number of actions"},
  };
  for (const auto& [damage, words] : damages) {
    other = run.tables[1];
    damage(other);
    test::write_raw_markov(run.paths[1], other);
    EXPECT_NE(error().find(words), std::string::npos) << words << ": " << error();
  }
}

/// A longer run in several segments, beside bounds that are kept up while it is played.
TEST(Verify, AcceptsWhatTheRecursionsGive) {
  constexpr std::uint64_t episodes = 70'000;
  const AnyGame game = make_game(kGeneral);
  const auto& model = std::get<DenseGame>(game);
  const Frame& frame = model.frame();
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = RuleName::ftrl;
  const test::RecordedRun run =
      test::record(GameRef(model), Ftrl<>(frame.horizon()), options, episodes, 16'384);
  test::NestedBounds<DenseGame> bounds(model);
  const auto& seen = run.visits;  // [player][cell]
  std::vector<std::size_t> next(seen[0].size(), 0);
  for (std::uint64_t k = 0; k < episodes; ++k) {
    std::size_t cell = 0;
    for (const Step h : all<Step>(frame.horizon())) {
      for (const State s : all<State>(frame.num_states(h))) {
        if (next[cell] < seen[0][cell].size() && seen[0][cell][next[cell]].episode == k) {
          std::vector<double> profile = seen[0][cell][next[cell]].policy;
          const std::vector<double>& other = seen[1][cell][next[cell]++].policy;
          profile.insert(profile.end(), other.begin(), other.end());
          bounds.visit(h, s, Profile(frame.action_begins(h, s), profile));
        }
        ++cell;
      }
    }
  }
  const test::TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  Certificate certificate;
  certificate.game_hash = to_hex(law_hash_of(game));
  certificate.weights = frame.horizon();
  certificate.episodes = episodes;
  certificate.start_episode = episodes + 1;
  for (const Player player : all<Player>(2)) {
    paths.push_back(folder / std::to_string(player.number()));
    test::write_bytes(paths.back(), run.files[player.index()]);
    certificate.policy_hashes.push_back(to_hex(sha256(run.files[player.index()])));
  }
  for (const Target target : {Target::cce, Target::ce}) {
    certificate.target = target;
    certificate.players.clear();
    for (const Player player : all<Player>(2)) {
      PlayerCertificate own;
      own.rounding = 1e-11;
      for (const State s : all<State>(frame.initial().size())) {
        const double chance = frame.initial()[s.index()];
        own.value_lower += chance * bounds.value(player, Step(0), s);
        own.deviation_upper +=
            chance * (target == Target::ce ? bounds.modifying(player, Step(0), s)
                                           : bounds.deviating(player, Step(0), s));
      }
      own.value_upper = own.value_lower;
      own.gap_upper = own.deviation_upper - own.value_lower + 2.0 * own.rounding;
      certificate.players.push_back(own);
    }
    certificate.gap_upper =
        std::max(certificate.players[0].gap_upper, certificate.players[1].gap_upper);
    certificate.sum_upper = certificate.players[0].gap_upper + certificate.players[1].gap_upper;
    const Verdict verdict = verify(game, paths, certificate);
    EXPECT_TRUE(verdict.accepted) << verdict.refuted;
  }
}

/// Executions begin at snapshots, so one that is not what its visits lead to plays another policy.
TEST(Verify, RefusesForgedSnapshots) {
  for (const RuleName rule : {RuleName::ftrl, RuleName::ftrl_swap}) {
    const TrainedRun run({.game = "random:players=2,states=1,actions=2,horizon=1,seed=1",
                          .rule = rule,
                          .episodes = 100});
    const Certificate certificate = certify(run, {}, false);
    expect_accepted(run, certificate);
    std::vector<std::byte> bytes(run.bytes(0).begin(), run.bytes(0).end());
    const std::size_t segment = encode_header(run.files()[0].header()).size();
    std::array<std::uint64_t, 5> words{};
    std::memcpy(words.data(), bytes.data() + segment, 40);
    ASSERT_GT(words[3], 0U);  // numbers of snapshots
    double number = 0.0;
    std::memcpy(&number, bytes.data() + segment + 40, 8);
    number += 1e-6;
    std::memcpy(bytes.data() + segment + 40, &number, 8);
    words[4] = xxh3(std::span<const std::byte>(bytes).subspan(segment + 40));
    words[4] = xxh3(std::as_bytes(std::span(words)));
    std::memcpy(bytes.data() + segment + 32, &words[4], 8);
    const test::TemporaryFolder folder;
    const std::filesystem::path forged = folder / "forged.policy";
    test::write_bytes(forged, bytes);
    Certificate about_it = certificate;
    about_it.policy_hashes[0] = to_hex(sha256(bytes));
    const std::vector<std::filesystem::path> paths = {forged, run.paths()[1]};
    const std::string says =
        error_of(ErrorKind::input, [&] { static_cast<void>(verify(run.game(), paths, about_it)); });
    EXPECT_NE(says.find("is not what its visits lead to"), std::string::npos) << says;
  }
}

}  // namespace
}  // namespace vlearn
