// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Markov outputs that are certified while they are learned, against the same from the log.
#include "vlearn/certify/markov_certifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/certify/certify.h"
#include "vlearn/policy/average.h"
#include "vlearn/run/learn.h"
#include "vlearn/run/trainer.h"

namespace vlearn::test {
namespace {

struct Learned {
  const char* game;
  Target target;
  CertifiedOutput output;
  bool taper = false;
};
constexpr Learned kLearned[] = {
    {"random:players=3,states=3,actions=2,horizon=3,seed=2", Target::cce, CertifiedOutput::markov},
    {"random:players=2,states=3,actions=3,horizon=2,seed=3", Target::ce, CertifiedOutput::markov},
    {"grid-game-1:horizon=4", Target::cce, CertifiedOutput::markov},
    {"grid-game-2:horizon=3", Target::ce, CertifiedOutput::markov},
    {"lock:horizon=4", Target::optimal, CertifiedOutput::markov},
    {"random:players=2,states=3,actions=3,horizon=3,seed=4,kind=zero-sum", Target::nash,
     CertifiedOutput::marginals},
    {"pursuit:size=3,horizon=3", Target::nash, CertifiedOutput::marginals},
    {"random:players=3,states=3,actions=2,horizon=3,seed=2", Target::cce, CertifiedOutput::markov,
     true},
    {"random:players=2,states=3,actions=3,horizon=2,seed=3", Target::ce, CertifiedOutput::markov,
     true},
    {"pursuit:size=3,horizon=3", Target::nash, CertifiedOutput::marginals, true},
};

constexpr std::uint64_t kWeights = 2;

/// A run that is looked at by a certifier, and its log.
struct Watched {
  Watched(const Learned& learned, std::uint64_t episodes)
      : game(make_game(learned.game)),
        certifier(game,
                  learned.target,
                  {kWeights, learned.taper},
                  learned.output,
                  RunCertifier::Stream::hashed) {
    LearnerOptions options = preset_options(Preset::fast, learned.target);
    options.output_weights = kWeights;
    options.output_taper = learned.taper;
    trainer = std::visit(
        [&](const auto& model) { return make_trainer(GameRef(model), options, 3); }, game);
    for (const Player player : all<Player>(frame_of(game).num_players())) {
      const std::string header = encode_header(trainer->policy_header(player));
      append(bytes.emplace_back(), std::as_bytes(std::span(header)));
    }
    trainer->keep_history([&](Player player, std::span<const std::byte> more) {
      append(bytes[player.index()], more);
    });
    trainer->watch(
        [&](Step h, State s, const Profile& profile) { certifier.visit(h, s, profile); });
    trainer->play_until(episodes, {});
  }
  static void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  [[nodiscard]] std::vector<PolicyFile> files() {
    trainer->hand_out_rest();
    std::vector<PolicyFile> files;
    for (const std::vector<std::byte>& own : bytes) {
      files.push_back(PolicyFile::parse(FileBytes::copy(own), "policy", make_replayer));
    }
    return files;
  }

  AnyGame game;
  RunCertifier certifier;
  std::unique_ptr<Trainer> trainer;
  std::vector<std::vector<std::byte>> bytes;
};

Certificate from_log(const AnyGame& game,
                     const Learned& learned,
                     std::span<const PolicyFile> files,
                     std::uint64_t start = 0) {
  if (learned.output == CertifiedOutput::markov) {
    return certify_markov(game, {}, learned.target, files, {}, start);
  }
  const Frame& frame = frame_of(game);
  const std::uint64_t episodes = start == 0 ? files.front().episodes() : start - 1;
  const AverageTable table = table_of(files, episodes, {});
  const auto policy = [&](Player player, Step h, State s) {
    const std::size_t row =
        (player.index() * frame.horizon() + h.index()) * frame.max_states() + s.index();
    return std::span(table.averaged)
        .subspan(row * frame.max_actions(), frame.num_actions(player, h, s));
  };
  return certify_marginals(game, {}, learned.target, {kWeights, learned.taper},
                           files.front().episodes(), policy, start);
}

TEST(MarkovCertifier, FindsWhatTheLogSays) {
  for (const Learned& learned : kLearned) {
    for (const std::uint64_t episodes : {1U, 7U, 400U}) {
      SCOPED_TRACE(learned.game + (" " + std::to_string(episodes)));
      Watched run(learned, episodes);
      const AssessedStart now = run.certifier.at(CertifiedStart::last);
      const Certificate found =
          certify_played(run.game, {}, learned.target, learned.output, {kWeights, learned.taper},
                         run.certifier.episodes(), now);
      const std::vector<PolicyFile> files = run.files();
      const Certificate wanted = from_log(run.game, learned, files);
      EXPECT_EQ(found.output, wanted.output);
      EXPECT_EQ(found.episodes, wanted.episodes);
      EXPECT_EQ(found.weights, wanted.weights);
      EXPECT_EQ(found.taper, learned.taper);
      EXPECT_EQ(wanted.taper, learned.taper);
      for (std::size_t j = 0; j < found.players.size(); ++j) {
        const PlayerCertificate& own = found.players[j];
        const PlayerCertificate& other = wanted.players[j];
        const double close = own.rounding + other.rounding;
        EXPECT_LT(close, 1e-9);
        EXPECT_NEAR(own.value_upper, other.value_upper, close);
        EXPECT_NEAR(own.deviation_upper, other.deviation_upper, close);
        EXPECT_EQ(own.deviation_lower, own.deviation_upper);
        EXPECT_EQ(own.witness.size(), other.witness.size());
      }
      // What is reported while learning is never less than what the files say.
      EXPECT_GE(run.certifier.record(true).value(), wanted.gap_upper);
    }
  }
}

// What draws from the visits before an episode is what a run returns that ended there.
TEST(MarkovCertifier, StartsFromAnEarlierLook) {
  for (const Learned& learned : kLearned) {
    for (const std::uint64_t start : {1U, 2U, 120U, 301U}) {
      SCOPED_TRACE(learned.game + (" " + std::to_string(start)));
      Watched longer(learned, 300);
      Watched shorter(learned, start - 1);
      const std::vector<PolicyFile> all_files = longer.files();
      const std::vector<PolicyFile> files = shorter.files();
      const Certificate found = from_log(longer.game, learned, all_files, start);
      const Certificate wanted = from_log(shorter.game, learned, files);
      EXPECT_EQ(found.start, CertifiedStart::best);
      EXPECT_EQ(found.start_episode, start);
      EXPECT_EQ(found.episodes, 300U);
      EXPECT_FALSE(has_start(wanted));
      for (std::size_t j = 0; j < found.players.size(); ++j) {
        const PlayerCertificate& own = found.players[j];
        const PlayerCertificate& other = wanted.players[j];
        EXPECT_EQ(own.value_upper, other.value_upper);
        EXPECT_EQ(own.deviation_upper, other.deviation_upper);
        EXPECT_EQ(own.witness, other.witness);
      }
    }
  }
}

// The smallest gap of the looks that are not too old, the last of equals, by trying all.
TEST(MarkovCertifier, ChoosesTheBestOfRecentLooks) {
  struct Seen {
    std::uint64_t start;
    double gap;
  };
  std::size_t earlier = 0;
  std::size_t forgotten = 0;
  for (const Learned& learned : kLearned) {
    SCOPED_TRACE(learned.game);
    Watched run(learned, 0);
    std::vector<Seen> looks;
    for (std::uint64_t played = 1; played < 300; played += 1 + played / 7) {
      run.trainer->play_until(played, {});
      AssessedStart now = run.certifier.at(CertifiedStart::last);
      EXPECT_EQ(now.start_episode, played + 1);
      now.rounding *= 2.0;
      looks.push_back(
          {played + 1,
           gap_in_user_units(frame_of(run.game), learned.target, learned.output, now).largest});
      const AssessedStart soon = run.certifier.best_now(run.certifier.at(CertifiedStart::last));
      const std::optional<double> found = run.certifier.record(true);
      const Seen* best = nullptr;
      bool older_is_better = false;
      for (const Seen& look : looks) {
        if (kLookLife * (look.start - 1) < played) {
          older_is_better = older_is_better || look.gap < looks.back().gap;
        } else if (best == nullptr || look.gap <= best->gap) {
          best = &look;
        }
      }
      ASSERT_NE(best, nullptr);
      earlier += best->start <= played ? 1 : 0;
      forgotten += older_is_better ? 1 : 0;
      EXPECT_EQ(found, best->gap);
      EXPECT_EQ(run.certifier.certified_gap(), best->gap);
      const AssessedStart chosen = run.certifier.at(CertifiedStart::best);
      EXPECT_EQ(chosen.start, CertifiedStart::best);
      EXPECT_EQ(chosen.start_episode, best->start);
      EXPECT_EQ(soon.start_episode, best->start);
      EXPECT_EQ(soon.assessment.deviations, chosen.assessment.deviations);
    }
    // The certificate from the log is of the same choice.
    const AssessedStart chosen = run.certifier.at(CertifiedStart::best);
    const Certificate found =
        certify_played(run.game, {}, learned.target, learned.output, {kWeights, learned.taper},
                       run.certifier.episodes(), chosen);
    const std::vector<PolicyFile> files = run.files();
    const Certificate wanted = from_log(run.game, learned, files, chosen.start_episode);
    EXPECT_EQ(found.start, wanted.start);
    EXPECT_EQ(found.start_episode, wanted.start_episode);
    EXPECT_NEAR(found.gap_upper, wanted.gap_upper, 1e-9);
  }
  EXPECT_GT(earlier, 10U);
  EXPECT_GT(forgotten, 0U);
}

// Chances of joint actions, and the same as profiles of pure actions with their shares.
TEST(MarkovCertifier, ChancesAreMixturesOfPureActions) {
  for (const char* name :
       {"random:players=3,states=3,actions=2,horizon=3,seed=2", "grid-game-1:horizon=3",
        "congestion:players=3,routes=3,states=2,seed=1"}) {
    for (const Target target : {Target::cce, Target::ce}) {
      SCOPED_TRACE(name);
      const AnyGame game = make_game(name);
      const Frame& frame = frame_of(game);
      const auto summed = make_nested_certifier(game, target, 1);
      const auto mixed = make_nested_certifier(game, target, 1);
      Draws draws({.seed = 5, .purpose = Purpose::action});
      std::vector<double> profile(frame.max_profile_size());
      for (std::size_t h = frame.horizon(); h-- > 0;) {
        for (const State s : all<State>(frame.num_states(Step(h)))) {
          const std::span<const std::uint32_t> begins = frame.action_begins(Step(h), s);
          std::vector<double> chances(*frame.num_joint_actions(frame.cell(Step(h), s)));
          double sum = 0.0;
          for (double& chance : chances) {
            chance = draws.below(3) == 0 ? 0.0 : draws.uniform();
            sum += chance;
          }
          if (sum == 0.0) chances.front() = sum = 1.0;
          for (double& chance : chances) chance /= sum;
          summed->set_joint(Step(h), s, chances);
          mixed->set(Step(h), s, [&](const NestedCertifier::Absorb& absorb) {
            double so_far = 0.0;
            for (std::size_t a = 0; a < chances.size(); ++a) {
              if (chances[a] == 0.0) continue;
              put_pure(a, begins, profile);
              const double share = so_far == 0.0 ? 1.0 : chances[a] / (so_far + chances[a]);
              so_far += chances[a];
              absorb(Profile(begins, profile), share);
            }
          });
        }
      }
      const Assessment found = summed->last();
      const Assessment wanted = mixed->last();
      for (const Player player : all<Player>(frame.num_players())) {
        const std::size_t j = player.index();
        EXPECT_NEAR(found.values[j], wanted.values[j], 2.0 * summed->rounding());
        EXPECT_NEAR(found.deviations[j], wanted.deviations[j], 2.0 * summed->rounding());
        // Where answers are equally good, rounding decides.
        if (!std::string_view(name).starts_with("random")) continue;
        EXPECT_EQ(summed->witnesses(player, false), mixed->witnesses(player, false));
      }
    }
  }
}

ContainerArrays saved(const TemporaryFolder& folder, const RunCertifier& certifier) {
  ContainerWriter writer("test");
  certifier.save(writer);
  writer.write(folder / "saved");
  return ContainerArrays::read(folder / "saved", [](const ContainerHeader&) {});
}

TEST(MarkovCertifier, GoesOnFromWhatWasSaved) {
  for (const Learned& learned : kLearned) {
    SCOPED_TRACE(learned.game);
    const TemporaryFolder folder;
    Watched run(learned, 50);
    for (const std::uint64_t played : {50U, 55U, 60U}) {
      run.trainer->play_until(played, {});
      static_cast<void>(run.certifier.record(true));
    }
    RunCertifier again(run.game, learned.target, {kWeights, learned.taper}, learned.output,
                       RunCertifier::Stream::hashed);
    ContainerArrays arrays = saved(folder, run.certifier);
    again.load(arrays);
    EXPECT_EQ(again.episodes(), 60U);
    EXPECT_EQ(again.certified_gap(), run.certifier.certified_gap());
    run.trainer->watch([&](Step h, State s, const Profile& profile) {
      run.certifier.visit(h, s, profile);
      again.visit(h, s, profile);
    });
    run.trainer->play_until(90, {});
    EXPECT_EQ(again.record(), run.certifier.record());
    EXPECT_EQ(again.record(true), run.certifier.record(true));
    EXPECT_EQ(again.stream_hash(), run.certifier.stream_hash());
    const AssessedStart wanted = run.certifier.at(CertifiedStart::last);
    EXPECT_EQ(again.at(CertifiedStart::last).assessment.deviations, wanted.assessment.deviations);
    const AssessedStart best = run.certifier.at(CertifiedStart::best);
    const AssessedStart found = again.at(CertifiedStart::best);
    EXPECT_EQ(found.start_episode, best.start_episode);
    EXPECT_EQ(found.rounding, best.rounding);
    EXPECT_EQ(found.assessment.values, best.assessment.values);
    EXPECT_EQ(found.assessment.deviations, best.assessment.deviations);
    EXPECT_EQ(found.witnesses, best.witnesses);
  }
}

TEST(MarkovCertifier, RefusesWhatNoVisitsLeave) {
  const TemporaryFolder folder;
  const Watched run(kLearned[0], 20);
  const auto refuse = [&](const Learned& other) {
    const AnyGame game = make_game(other.game);
    RunCertifier reader(game, other.target, {kWeights, other.taper}, other.output,
                        RunCertifier::Stream::hashed);
    ContainerArrays arrays = saved(folder, run.certifier);
    error_of(ErrorKind::input, [&] { reader.load(arrays); });
  };
  refuse(kLearned[1]);
  refuse({kLearned[0].game, Target::cce, CertifiedOutput::nested});
  refuse({kLearned[0].game, Target::cce, CertifiedOutput::markov, true});
  // Numbers of the right shape that are no chances, or visits of no episodes.
  const AnyGame game = make_game("random:players=2,states=1,actions=2,horizon=2,seed=1");
  struct Looks {
    std::vector<std::uint64_t> starts;
    std::vector<double> numbers;  // rounding, values and deviations of each
    std::vector<std::uint32_t> witnesses;
  };
  const auto read = [&](std::vector<std::uint64_t> visits, double chance, double lost,
                        Looks looks = {}) {
    ContainerWriter writer("test");
    writer.own("certify.visits", std::move(visits));
    writer.own("certify.mixtures",
               std::vector<double>{chance, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25});
    writer.own("certify.lost", std::vector<double>(8, lost));
    writer.own("certify.stream", std::vector<std::uint8_t>());
    writer.own("certify.last_look", std::vector<std::uint64_t>{0});
    writer.own("certify.looks", std::move(looks.starts));
    writer.own("certify.look_numbers", std::move(looks.numbers));
    writer.own("certify.look_witnesses", std::move(looks.witnesses));
    writer.write(folder / "saved");
    ContainerArrays arrays = ContainerArrays::read(folder / "saved", [](const ContainerHeader&) {});
    RunCertifier reader(game, Target::cce, kWeights, CertifiedOutput::markov);
    reader.load(arrays);
  };
  EXPECT_NO_THROW(read({3, 3}, 0.25, 0.0));
  error_of(ErrorKind::input, [&] { read({3, 4}, 0.25, 0.0); });
  error_of(ErrorKind::input, [&] { read({UINT64_MAX, UINT64_MAX}, 0.25, 0.0); });
  error_of(ErrorKind::input, [&] { read({3, 3}, 0.5, 0.0); });
  error_of(ErrorKind::input, [&] { read({3, 3}, -0.25, 0.0); });
  error_of(ErrorKind::input, [&] { read({3, 3}, std::nan(""), 0.0); });
  error_of(ErrorKind::input, [&] { read({3, 3}, 0.25, 1.0); });
  // Looks at what no run has had, or in another order.
  const Looks good = {{2, 4}, {1e-9, 1, 1, 1.25, 1, 1e-9, 1, 1, 1.5, 1}, {0, 1, 1, 0, 1, 1, 0, 0}};
  const auto refuse_looks = [&](const auto& change) {
    Looks bad = good;
    change(bad);
    error_of(ErrorKind::input, [&] { read({3, 3}, 0.25, 0.0, bad); });
  };
  EXPECT_NO_THROW(read({3, 3}, 0.25, 0.0, good));
  refuse_looks([](Looks& bad) { bad.starts = {2, 5}; });
  refuse_looks([](Looks& bad) { bad.starts = {4, 2}; });
  refuse_looks([](Looks& bad) { bad.starts = {0, 4}; });
  refuse_looks([](Looks& bad) { bad.numbers[0] = std::nan(""); });
  refuse_looks([](Looks& bad) { bad.numbers[0] = -1e-9; });
  refuse_looks([](Looks& bad) { bad.numbers[1] = std::nan(""); });
  refuse_looks([](Looks& bad) { bad.numbers[4] = 1e300; });
  refuse_looks([](Looks& bad) { bad.numbers[3] = 2.0; });  // the first is the best
  refuse_looks([](Looks& bad) { bad.numbers.pop_back(); });
  refuse_looks([](Looks& bad) { bad.witnesses[0] = 2; });
  refuse_looks([](Looks& bad) { bad.witnesses.push_back(0); });
  refuse_looks([](Looks& bad) { bad.witnesses.pop_back(); });
}

// Looking costs a sweep of the whole game: in a large one it waits until enough was learned.
TEST(MarkovCertifier, LooksWhenItIsWorthIt) {
  Watched small({"random:players=2,states=1,actions=2,horizon=1,seed=1", Target::cce,
                 CertifiedOutput::markov},
                1);
  EXPECT_TRUE(small.certifier.record());
  Watched large({"random:players=2,states=200,actions=3,horizon=5,seed=1", Target::cce,
                 CertifiedOutput::markov},
                1);
  EXPECT_FALSE(large.certifier.record());
  EXPECT_FALSE(large.certifier.certified_gap());
  EXPECT_TRUE(large.certifier.record(true));
  large.trainer->play_until(6000, {});
  EXPECT_TRUE(large.certifier.record());
  EXPECT_FALSE(large.certifier.record());  // nothing was learned since
}

TEST(MarkovCertifier, KnowsWhichGamesItCanList) {
  EXPECT_TRUE(MarkovCertifier::can_list(make_game("soccer")));
  EXPECT_TRUE(MarkovCertifier::can_list(
      make_game("random:players=12,states=1,actions=2,horizon=1,seed=1")));
  EXPECT_FALSE(MarkovCertifier::can_list(
      make_game("random:players=13,states=1,actions=2,horizon=1,seed=1")));
  EXPECT_FALSE(MarkovCertifier::can_list(make_game("congestion-10")));
}

}  // namespace
}  // namespace vlearn::test
