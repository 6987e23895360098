// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What certifiers keep up visit by visit, against the same recursions written plainly, in every
// model.
#include "vlearn/certify/nested.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "conformance/game_instances.h"
#include "support/expect_error.h"
#include "support/long_bounds.h"
#include "support/nested_bounds.h"
#include "support/temporary_folder.h"
#include "vlearn/certify/certify.h"
#include "vlearn/core/random.h"
#include "vlearn/game/game_io.h"

namespace vlearn::test {
namespace {

struct Visit {
  Step h;
  State s;
  std::vector<double> policies;
};

/// Any states and any policies, the first states more often than others.
std::vector<Visit> random_visits(const Frame& frame, std::uint64_t episodes, std::uint64_t seed) {
  Draws draws({.seed = seed, .purpose = Purpose::test});
  std::vector<Visit> visits;
  for (std::uint64_t k = 0; k < episodes; ++k) {
    for (const Step h : all<Step>(frame.horizon())) {
      const State s(draws.below(draws.below(frame.num_states(h)) + 1));
      Visit& visit = visits.emplace_back(Visit{h, s, {}});
      for (const Player player : all<Player>(frame.num_players())) {
        std::vector<double> policy(frame.num_actions(player, h, s));
        for (double& p : policy) p = draws.uniform() * draws.uniform();
        if (draws.below(4) == 0) {
          policy.assign(policy.size(), 0.0);
          policy[draws.below(policy.size())] = 1.0;
        }
        const double sum = std::accumulate(policy.begin(), policy.end(), 0.0);
        for (const double p : policy) visit.policies.push_back(p / sum);
      }
    }
  }
  return visits;
}

Profile profile_of(const Frame& frame, const Visit& visit) {
  return {frame.action_begins(visit.h, visit.s), visit.policies};
}

/// What the certifier of such a target can be asked in a game.
bool has(const Frame& frame, Target target) {
  if (target == Target::nash) return frame.num_players() == 2;
  if (target == Target::optimal) return frame.num_players() == 1;
  return true;
}

constexpr Target kTargets[] = {Target::optimal, Target::nash, Target::cce, Target::ce};

/// Calls use(game, law, name) for the small instances of a model, in units of their own.
template <KnownGame G, class Use>
void for_instances(const Use& use) {
  for (Instance<G>& instance : instances_of<G>({.scale = 4.0, .shift = -1.0})) {
    SCOPED_TRACE(instance.name);
    use(AnyGame(std::move(instance.game)), instance.law);
  }
}

ContainerArrays saved(const TemporaryFolder& folder, const auto& certifier) {
  ContainerWriter writer("test");
  certifier.save(writer);
  writer.write(folder / "saved");
  return ContainerArrays::read(folder / "saved", [](const ContainerHeader&) {});
}

/// U, and Q or C, of every state.
template <KnownGame G>
void expect_all_cells(const NestedCertifier& certifier,
                      const NestedBounds<G>& plain,
                      const Frame& frame,
                      Target target) {
  const TemporaryFolder folder;
  ContainerArrays arrays = saved(folder, certifier);
  const auto values = arrays.take<double>("certify.values");
  const auto answers = arrays.take<double>("certify.answers");
  const double close = 2.0 * certifier.rounding();
  std::size_t value = 0;
  std::size_t answer = 0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const Player player : all<Player>(frame.num_players())) {
      for (const State s : all<State>(frame.num_states(h))) {
        const double x = values.at(value++);
        if (target == Target::nash) continue;
        EXPECT_NEAR(x, plain.value(player, h, s), close);
        EXPECT_GE(plain.modifying(player, h, s), plain.value(player, h, s) - close);
        EXPECT_GE(plain.modifying(player, h, s), plain.deviating(player, h, s) - close);
      }
    }
    for (const State s : all<State>(frame.num_states(h))) {
      for (const Player player : all<Player>(frame.num_players())) {
        for (const Action b : all<Action>(frame.num_actions(player, h, s))) {
          if (target != Target::ce) {
            EXPECT_NEAR(answers.at(answer++), plain.answer(player, h, s, b), close);
            continue;
          }
          for (const Action other : all<Action>(frame.num_actions(player, h, s))) {
            EXPECT_NEAR(answers.at(answer++), plain.modification(player, h, s, b, other), close);
          }
        }
      }
    }
  }
  EXPECT_EQ(value, values.size());
  EXPECT_EQ(answer, answers.size());
}

template <class G>
class Nested : public testing::Test {};
using Models = testing::Types<DenseGame, SparseGame, CongestionGame, PolymatrixGame, CallbackGame>;
TYPED_TEST_SUITE(Nested, Models);

TYPED_TEST(Nested, EqualsThePlainRecursionAtEveryVisit) {
  for_instances<TypeParam>([](const AnyGame& any, const PlainLaw&) {
    const auto& game = std::get<TypeParam>(any);
    const Frame& frame = game.frame();
    for (const Target target : kTargets) {
      if (!has(frame, target)) continue;
      SCOPED_TRACE(name_of(target));
      for (const std::uint64_t c : {std::uint64_t{1}, frame.horizon(), std::size_t{7}}) {
        NestedBounds<TypeParam> plain(game, c);
        const auto certifier = make_nested_certifier(any, target, c);
        const auto expect_equal = [&](const Assessment& found, const auto& from) {
          const double close = 2.0 * certifier->rounding();
          ASSERT_LT(close, 1e-11);
          for (const Player player : all<Player>(frame.num_players())) {
            const auto wanted = from(player);
            EXPECT_NEAR(found.deviations[player.index()],
                        target == Target::ce ? wanted.modifying : wanted.deviating, close);
            EXPECT_GE(wanted.modifying, wanted.deviating - close);
            EXPECT_GE(wanted.modifying, wanted.value - close);
            if (target == Target::nash) continue;
            EXPECT_NEAR(found.values[player.index()], wanted.value, close);
          }
        };
        const auto from_now = [&](Player player) { return plain.from_now(player); };
        expect_equal(certifier->last(), from_now);
        std::size_t number = 0;
        for (const Visit& visit : random_visits(frame, 150, c)) {
          if (visit.h.index() == 0) plain.add_start();
          certifier->visit(visit.h, visit.s, profile_of(frame, visit));
          plain.visit(visit.h, visit.s, profile_of(frame, visit));
          expect_equal(certifier->last(), from_now);
          if (++number % 211 == 0) expect_all_cells(*certifier, plain, frame, target);
          if (!frame.is_last(visit.h)) continue;
          expect_equal(certifier->uniform(),
                       [&](Player player) { return plain.from_uniform(player); });
        }
        EXPECT_EQ(certifier->episodes(), 150U);
      }
    }
  });
}

TYPED_TEST(Nested, WitnessesAreTheFirstBestAnswers) {
  for_instances<TypeParam>([](const AnyGame& any, const PlainLaw&) {
    const auto& game = std::get<TypeParam>(any);
    const Frame& frame = game.frame();
    NestedBounds<TypeParam> plain(game, 2);
    const auto cce = make_nested_certifier(any, Target::cce, 2);
    const auto ce = make_nested_certifier(any, Target::ce, 2);
    for (const Visit& visit : random_visits(frame, 100, 3)) {
      for (NestedCertifier* certifier : {cce.get(), ce.get()}) {
        certifier->visit(visit.h, visit.s, profile_of(frame, visit));
      }
      plain.visit(visit.h, visit.s, profile_of(frame, visit));
    }
    for (const Player player : all<Player>(frame.num_players())) {
      const std::vector<WitnessPlan> ignoring = cce->witnesses(player, false);
      ASSERT_EQ(ignoring.size(), 1U);
      const WitnessPlan& mu = ignoring[0];
      const std::vector<WitnessPlan> both = ce->witnesses(player, false);
      ASSERT_EQ(both.size(), 2U);
      const WitnessPlan& phi = both[0];
      const WitnessPlan& blind = both[1];
      ASSERT_EQ(blind.size(), phi.size());
      std::size_t next_mu = 0;
      std::size_t next_phi = 0;
      for (const Step h : all<Step>(frame.horizon())) {
        for (const State s : all<State>(frame.num_states(h))) {
          const Action answer(mu.at(next_mu++));
          EXPECT_NEAR(plain.answer(player, h, s, answer), plain.deviating(player, h, s), 1e-12);
          const std::size_t n = frame.num_actions(player, h, s);
          // One answer to everything that is recommended, and no other would be better.
          const auto to_all = [&](Action b) {
            double sum = 0.0;
            for (const Action told : all<Action>(n)) {
              sum += plain.modification(player, h, s, told, b);
            }
            return sum;
          };
          for (const Action b : all<Action>(n)) {
            EXPECT_EQ(blind.at(next_phi + b.index()), blind.at(next_phi));
            EXPECT_LE(to_all(b), to_all(Action(blind.at(next_phi))) + 1e-12);
          }
          double sum = 0.0;
          for (const Action b : all<Action>(n)) {
            sum += plain.modification(player, h, s, b, Action(phi.at(next_phi++)));
          }
          EXPECT_NEAR(sum, plain.modifying(player, h, s), 1e-12);
        }
      }
      EXPECT_EQ(next_mu, mu.size());
      EXPECT_EQ(next_phi, phi.size());
    }
  });
}

/// Witnesses as they lie in certificates.
LongBounds::Witness witness_of(const Frame& frame,
                               Target target,
                               const std::vector<WitnessPlan>& witnesses) {
  return [&frame, target, &witnesses](Player player, Step h, State s, std::size_t b) {
    std::size_t place = 0;
    for (const Step step : all<Step>(h.index() + 1)) {
      const std::size_t end = step == h ? s.index() : frame.num_states(step);
      for (const State state : all<State>(end)) {
        place += target == Target::ce ? frame.num_actions(player, step, state) : 1;
      }
    }
    return witnesses[player.index()].at(place + (target == Target::ce ? b : 0));
  };
}

TYPED_TEST(Nested, IsNoFurtherOffThanItSays) {
  double worst = 0.0;
  for_instances<TypeParam>([&](const AnyGame& any, const PlainLaw& law) {
    const Frame& frame = frame_of(any);
    // 10^4 visits.
    const std::vector<Visit> visits = random_visits(frame, 10'000 / frame.horizon(), 5);
    for (const Target target : kTargets) {
      if (!has(frame, target)) continue;
      SCOPED_TRACE(name_of(target));
      const std::uint64_t c = target == Target::ce ? 1 : frame.horizon();
      const auto certifier = make_nested_certifier(any, target, c);
      for (const Visit& visit : visits) {
        certifier->visit(visit.h, visit.s, profile_of(frame, visit));
      }
      std::vector<WitnessPlan> witnesses;
      for (const Player player : all<Player>(frame.num_players())) {
        witnesses.push_back(certifier->witnesses(player, false).back());
      }
      const auto witness = make_nested_witness(any, target, c, witnesses);
      const auto again = make_nested_certifier(any, target, c);
      LongBounds exact(frame, law, c, witness_of(frame, target, witnesses));
      const auto expect_close = [&](double number, long double wanted) {
        const auto error = static_cast<double>(std::abs(static_cast<long double>(number) - wanted));
        EXPECT_LE(error, again->rounding());
        worst = std::max(worst, error / again->rounding());
      };
      const auto expect_all = [&](bool uniform) {
        const Assessment found = uniform ? again->uniform() : again->last();
        const std::vector<double> fixed = uniform ? witness->uniform() : witness->last();
        for (const Player player : all<Player>(frame.num_players())) {
          const std::size_t j = player.index();
          const LongBounds::Numbers wanted =
              uniform ? exact.from_uniform(player) : exact.from_now(player);
          expect_close(found.deviations[j],
                       wanted[target == Target::ce ? LongBounds::kModify : LongBounds::kIgnore]);
          expect_close(fixed[j], wanted[LongBounds::kWitness]);
          if (target != Target::nash) expect_close(found.values[j], wanted[LongBounds::kFollow]);
        }
      };
      for (const Visit& visit : visits) {
        if (visit.h.index() == 0) exact.add_start();
        exact.visit(visit.h, visit.s, visit.policies);
        again->visit(visit.h, visit.s, profile_of(frame, visit));
        witness->visit(visit.h, visit.s, profile_of(frame, visit));
        if (!frame.is_last(visit.h)) continue;
        expect_all(false);
        if (again->episodes() % 10 == 1) expect_all(true);
      }
      expect_all(true);
    }
  });
  std::printf("off by at most %.4f of what is said\n", worst);
}

TYPED_TEST(Nested, KnowsWhatIsOptimal) {
  for_instances<TypeParam>([](const AnyGame& any, const PlainLaw& law) {
    const Frame& frame = frame_of(any);
    if (frame.num_players() > 1) return;
    std::vector<long double> next;
    for (std::size_t step = frame.horizon(); step-- > 0;) {
      const Step h(step);
      std::vector<long double> now;
      for (const State s : all<State>(frame.num_states(h))) {
        long double best = 0.0L;
        for (const Action b : all<Action>(frame.num_actions(Player(0), h, s))) {
          const PlainOutcome outcome = law(h, s, {b});
          long double value = outcome.rewards[0];
          for (std::size_t to = 0; to < next.size(); ++to) value += outcome.next[to] * next[to];
          best = std::max(best, value);
        }
        now.push_back(best);
      }
      next = std::move(now);
    }
    long double wanted = 0.0L;
    for (std::size_t s = 0; s < next.size(); ++s) {
      wanted += static_cast<long double>(frame.initial()[s]) * next[s];
    }
    const auto certifier = make_nested_certifier(any, Target::optimal, frame.horizon());
    for (const Visit& visit : random_visits(frame, 300, 1)) {
      certifier->visit(visit.h, visit.s, profile_of(frame, visit));
      const Assessment found = certifier->last();
      EXPECT_NEAR(found.deviations[0], static_cast<double>(wanted), certifier->rounding());
      EXPECT_LE(found.values[0], found.deviations[0] + 2.0 * certifier->rounding());
    }
    EXPECT_NEAR(certifier->uniform().deviations[0], static_cast<double>(wanted),
                certifier->rounding());
  });
}

std::string bytes_of(const RunCertifier& certifier) {
  const TemporaryFolder folder;
  static_cast<void>(saved(folder, certifier));
  return std::string(FileBytes::read(folder / "saved", 1U << 24U).text());
}

TYPED_TEST(Nested, GoesOnFromWhatWasSaved) {
  for_instances<TypeParam>([](const AnyGame& any, const PlainLaw&) {
    const Frame& frame = frame_of(any);
    const std::vector<Visit> visits = random_visits(frame, 120, 9);
    for (const Target target : kTargets) {
      if (!has(frame, target)) continue;
      for (const std::uint64_t cut : {0U, 1U, 57U}) {
        RunCertifier whole(any, target, 3);
        RunCertifier rest(any, target, 3);
        for (const Visit& visit : visits) {
          if (visit.h.index() == 0 && whole.episodes() == cut) {
            const TemporaryFolder folder;
            ContainerArrays arrays = saved(folder, whole);
            rest.load(arrays);
            EXPECT_EQ(bytes_of(rest), bytes_of(whole));
          }
          const bool goes_on = whole.episodes() >= cut;
          whole.visit(visit.h, visit.s, profile_of(frame, visit));
          if (goes_on) rest.visit(visit.h, visit.s, profile_of(frame, visit));
          if (!frame.is_last(visit.h) || whole.episodes() % 2 != 0) continue;
          const auto gap = whole.record();
          if (goes_on) {
            EXPECT_EQ(rest.record(), gap);
          }
        }
        EXPECT_EQ(rest.episodes(), whole.episodes());
        EXPECT_EQ(rest.certified_gap(), whole.certified_gap());
        EXPECT_EQ(bytes_of(rest), bytes_of(whole));
        for (const CertifiedStart start :
             {CertifiedStart::uniform, CertifiedStart::last, CertifiedStart::best}) {
          const AssessedStart wanted = whole.at(start);
          const AssessedStart found = rest.at(start);
          EXPECT_EQ(found.start, wanted.start);
          EXPECT_EQ(found.start_episode, wanted.start_episode);
          EXPECT_EQ(found.assessment.values, wanted.assessment.values);
          EXPECT_EQ(found.assessment.deviations, wanted.assessment.deviations);
          EXPECT_EQ(found.rounding, wanted.rounding);
          EXPECT_EQ(found.witnesses, wanted.witnesses);
        }
      }
    }
  });
}

TEST(NestedFiles, OfAnotherRunAreRefused) {
  const TemporaryFolder folder;
  const AnyGame game = make_game("random:players=2,states=2,actions=2,horizon=2,seed=1");
  const AnyGame wider = make_game("random:players=2,states=2,actions=3,horizon=2,seed=1");
  RunCertifier certifier(game, Target::cce, 2);
  for (const Visit& visit : random_visits(frame_of(game), 10, 1)) {
    certifier.visit(visit.h, visit.s, profile_of(frame_of(game), visit));
  }
  certifier.record();
  const auto refuse = [&](const AnyGame& other, Target target) {
    ContainerArrays arrays = saved(folder, certifier);
    RunCertifier reader(other, target, 2);
    error_of(ErrorKind::input, [&] { reader.load(arrays); });
  };
  refuse(wider, Target::cce);
  refuse(game, Target::ce);
}

TEST(StartBest, IsTheRecordWithTheSmallestGap) {
  const AnyGame game = make_game("random:players=3,states=2,actions=2,horizon=3,seed=4");
  const Frame& frame = frame_of(game);
  RunCertifier certifier(game, Target::cce, 3);
  double smallest = std::numeric_limits<double>::infinity();
  std::optional<AssessedStart> wanted;
  EXPECT_FALSE(certifier.certified_gap());
  for (const Visit& visit : random_visits(frame, 200, 2)) {
    certifier.visit(visit.h, visit.s, profile_of(frame, visit));
    if (!frame.is_last(visit.h) || certifier.episodes() % 3 != 0) continue;
    const double gap = certifier.record().value();
    if (gap < smallest) {
      smallest = gap;
      wanted = certifier.at(CertifiedStart::last);
    }
    EXPECT_EQ(certifier.certified_gap(), smallest);
    const AssessedStart best = certifier.at(CertifiedStart::best);
    EXPECT_EQ(best.start, CertifiedStart::best);
    EXPECT_EQ(best.start_episode, wanted->start_episode);
    EXPECT_EQ(best.assessment.deviations, wanted->assessment.deviations);
    EXPECT_EQ(best.witnesses, wanted->witnesses);
    // The gap is the certificate's, without what files can tell.
    const Certificate certificate =
        certify_nested(game, {}, Target::cce, 3, certifier.episodes(), best, {}, {});
    EXPECT_EQ(certificate.gap_upper, smallest);
    EXPECT_FALSE(certificate.gap_lower);
    EXPECT_FALSE(certificate.players[0].deviation_lower);
  }
}

}  // namespace
}  // namespace vlearn::test
