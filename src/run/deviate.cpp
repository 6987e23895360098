// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/deviate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "deviation_model.h"
#include "vlearn/certify/certify.h"
#include "vlearn/certify/concentration.h"
#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/core/running_mean.h"
#include "vlearn/policy/profile_replay.h"
#include "vlearn/run/self_play.h"

namespace vlearn {
namespace {

/// All players, each with its policy, in one phase: episodes of different phases have nothing in
/// common.
class Party {
 public:
  virtual ~Party() = default;
  virtual void begin(Episode k) = 0;
  [[nodiscard]] virtual Action act(Player player, Step h, State s) = 0;

  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;
  Party(Party&&) = delete;
  Party& operator=(Party&&) = delete;

 protected:
  Party() = default;
};

template <class One>
class PartyOf final : public Party {
 public:
  explicit PartyOf(std::vector<One> players) : players_(std::move(players)) {}
  void begin(Episode k) override {
    for (One& player : players_) player.begin(k);
  }
  [[nodiscard]] Action act(Player player, Step h, State s) override {
    return players_[player.index()].act(h, s).action;
  }

 private:
  std::vector<One> players_;
};

/// The seeds of a player in a phase, and of the game.
struct Seeds {
  std::uint64_t seed;
  std::string phase;

  /// One for all who correlate.
  [[nodiscard]] PolicySeed index(Target target, Player player) const {
    return derive_seed(seed, "index to " + phase, target == Target::nash ? player.number() : 0);
  }
  [[nodiscard]] PolicySeed own(Player player) const {
    return derive_seed(seed, "private to " + phase, player.number());
  }
  [[nodiscard]] std::uint64_t nature() const {
    return stream_key(derive_seed(seed, "nature to " + phase, 0));
  }
};
using MakeParty = std::function<std::unique_ptr<Party>(const Seeds& seeds)>;

/// Looks for deviations of one game from one set of policies.
class Search {
 public:
  Search(GameRef game, Target target, const DeviateOptions& options, MakeParty make_party)
      : game_(game),
        frame_(game.frame()),
        options_(options),
        recommends_(target == Target::ce),
        make_party_(std::move(make_party)),
        joint_(frame_.num_players()),
        rewards_(frame_.num_players()) {
    check_options();
    for (const Player player : all<Player>(frame_.num_players())) {
      if (!options.player || *options.player == player) players_.push_back(player);
    }
  }

  [[nodiscard]] std::vector<FoundDeviation> find() {
    std::vector<DeviationModel> models;
    models.reserve(players_.size());
    for (const Player player : players_) models.push_back(learn(player));
    const Seeds seeds{options_.seed, "judge deviations"};
    const std::unique_ptr<Party> party = make_party_(seeds);
    std::vector<RunningMean> following(players_.size());
    std::vector<RunningMean> gains(players_.size());
    std::vector<double> earned(frame_.num_players());
    for (std::uint64_t k = 0; k < options_.rollouts; ++k) {
      options_.cancel.check();
      follow(*party, seeds.nature(), Episode(k), earned);
      for (std::size_t i = 0; i < players_.size(); ++i) {
        const double own = earned[players_[i].index()];
        following[i].add(own);
        gains[i].add(deviate(*party, seeds.nature(), Episode(k), players_[i], models[i]) - own);
      }
      count(players_.size() + 1);
    }
    std::vector<FoundDeviation> found;
    for (std::size_t i = 0; i < players_.size(); ++i) {
      found.push_back(judge(players_[i], following[i], gains[i]));
      found.back().plan = plan_of(players_[i], models[i]);
    }
    return found;
  }

 private:
  void check_options() const {
    const auto refuse = [](const char* option, const char* problem) {
      throw Error(ErrorKind::usage, option, problem);
    };
    if (options_.player && options_.player->index() >= frame_.num_players()) {
      throw Error(
          ErrorKind::usage, "player",
          fmt::format("is {}, and there are {}", options_.player->number(), frame_.num_players()));
    }
    if (options_.episodes < 1 || options_.episodes >= kMaxEpisodes) {
      refuse("episodes", "must be 1 at least, and below 2^56");
    }
    if (options_.rollouts < 2 || options_.rollouts >= kMaxEpisodes) {
      refuse("rollouts", "must be 2 at least, one has no variance, and below 2^56");
    }
    if (!(options_.confidence > 0.0 && options_.confidence < 1.0)) {
      refuse("confidence", "must lie between 0 and 1");
    }
  }
  /// Tells of episodes that were played, about once in a hundred.
  void count(std::uint64_t episodes) {
    played_ += episodes;
    if (!options_.progress || played_ % 128 >= episodes) return;
    options_.progress(played_);
  }
  /// What the player sees: the state, for ce also what it should do.
  [[nodiscard]] DeviationModel::Observation observe(Party& party, Player player, Step h, State s) {
    if (!recommends_) return s.value();
    return std::uint64_t{s.value()} * frame_.max_actions() + party.act(player, h, s).value();
  }
  void act_all_but(Party& party, Player player, Step h, State s) {
    for (const Player other : all<Player>(frame_.num_players())) {
      if (other != player) joint_[other.index()] = party.act(other, h, s);
    }
  }

  [[nodiscard]] DeviationModel learn(Player player) {
    const Seeds seeds{options_.seed, "find deviations"};
    const std::unique_ptr<Party> party = make_party_(seeds);
    const std::uint64_t nature = seeds.nature();
    DeviationModel model(frame_.horizon());
    std::uint64_t next_plan = 16;
    for (std::uint64_t k = 0; k < options_.episodes; ++k) {
      options_.cancel.check();
      party->begin(Episode(k));
      State s = game_.start(Nature(nature, Episode(k), Step()));
      DeviationModel::Observation seen = observe(*party, player, Step(), s);
      for (const Step h : all<Step>(frame_.horizon())) {
        act_all_but(*party, player, h, s);
        const auto actions = static_cast<std::uint32_t>(frame_.num_actions(player, h, s));
        const std::uint32_t action = model.explore(h, seen, actions);
        joint_[player.index()] = Action(action);
        s = game_.sample(h, s, joint_, Nature(nature, Episode(k), h), rewards_);
        DeviationModel::Observation next = 0;
        if (!frame_.is_last(h)) next = observe(*party, player, h.next(), s);
        model.learn(h, seen, action, rewards_[player.index()], next);
        seen = next;
      }
      count(1);
      if (k + 1 < next_plan) continue;
      model.plan();
      next_plan += std::max<std::uint64_t>(next_plan / 8, 1);
    }
    model.plan();
    model.finish();
    return model;
  }

  void follow(Party& party, std::uint64_t nature, Episode k, std::span<double> earned) {
    std::fill(earned.begin(), earned.end(), 0.0);
    party.begin(k);
    State s = game_.start(Nature(nature, k, Step()));
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const Player player : all<Player>(frame_.num_players())) {
        joint_[player.index()] = party.act(player, h, s);
      }
      s = game_.sample(h, s, joint_, Nature(nature, k, h), rewards_);
      for (std::size_t j = 0; j < earned.size(); ++j) earned[j] += rewards_[j];
    }
  }

  [[nodiscard]] double deviate(
      Party& party, std::uint64_t nature, Episode k, Player player, const DeviationModel& model) {
    double earned = 0.0;
    party.begin(k);
    State s = game_.start(Nature(nature, k, Step()));
    for (const Step h : all<Step>(frame_.horizon())) {
      act_all_but(party, player, h, s);
      const DeviationModel::Observation seen = observe(party, player, h, s);
      joint_[player.index()] = Action(model.best(h, seen, otherwise(seen)));
      s = game_.sample(h, s, joint_, Nature(nature, k, h), rewards_);
      earned += rewards_[player.index()];
    }
    return earned;
  }
  /// Where nothing was seen: what is recommended, if anything is.
  [[nodiscard]] std::uint32_t otherwise(DeviationModel::Observation seen) const {
    return recommends_ ? static_cast<std::uint32_t>(seen % frame_.max_actions()) : 0;
  }

  /// Maurer and Pontil's bound, in the user's units.
  [[nodiscard]] FoundDeviation judge(Player player,
                                     const RunningMean& following,
                                     const RunningMean& gains) const {
    const RewardRange& range = frame_.range(player);
    const double width = range.high - range.low;
    const auto horizon = static_cast<double>(frame_.horizon());
    const double events = log(static_cast<double>(players_.size()) / (1.0 - options_.confidence));
    const double radius =
        bernstein_radius(gains.variance(), options_.rollouts, 2.0 * horizon, events);
    FoundDeviation found;
    found.player = player;
    found.following = range.from_unit(following.mean(), horizon);
    found.gain = width * gains.mean();
    found.standard_error = width * gains.standard_error();
    // Sums of rewards are rounded; nobody loses more than everything.
    found.lower = width * std::max(gains.mean() - radius - 1e-12 * horizon, -horizon);
    found.confidence = options_.confidence;
    found.episodes = options_.episodes + 2 * options_.rollouts;
    return found;
  }

  [[nodiscard]] std::vector<std::uint32_t> plan_of(Player player,
                                                   const DeviationModel& model) const {
    std::vector<std::uint32_t> plan;
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) {
        const std::size_t answers = recommends_ ? frame_.num_actions(player, h, s) : 1;
        for (std::size_t b = 0; b < answers; ++b) {
          const DeviationModel::Observation seen =
              recommends_ ? std::uint64_t{s.value()} * frame_.max_actions() + b : s.value();
          plan.push_back(model.best(h, seen, otherwise(seen)));
        }
      }
    }
    return plan;
  }

  GameRef game_;
  const Frame& frame_;
  DeviateOptions options_;
  bool recommends_;
  MakeParty make_party_;
  std::vector<Player> players_;
  std::vector<Action> joint_;
  std::vector<double> rewards_;
  std::uint64_t played_ = 0;  // episodes
};

}  // namespace

std::vector<FoundDeviation> find_deviations(GameRef game,
                                            std::span<const PolicyFile> policies,
                                            const DeviateOptions& options) {
  const auto refuse = [](const std::string& whose) {
    throw Error(ErrorKind::input, whose, "is of another game or another run",
                "want the policies of all players of one run, in their order");
  };
  if (policies.size() != game.frame().num_players()) refuse("policy files");
  for (const Player player : all<Player>(policies.size())) {
    const PolicyHeader& header = policies[player.index()].header();
    const Seat seat = seat_of(game.frame(), player);
    if (header.player != player || header.seat.first_cell != seat.first_cell ||
        header.seat.num_actions != seat.num_actions) {
      refuse(policies[player.index()].source());
    }
  }
  check_one_run(policies, policies[0].episodes());
  const Target target = policies[0].header().target;
  Search search(game, target, options, [&](const Seeds& seeds) {
    std::vector<PolicyPlayer> players;
    players.reserve(policies.size());
    for (const PolicyFile& policy : policies) {
      const Player player = policy.header().player;
      players.emplace_back(policy, ExecuteOptions{options.start, options.output,
                                                  seeds.index(target, player), seeds.own(player)});
    }
    return std::make_unique<PartyOf<PolicyPlayer>>(std::move(players));
  });
  return search.find();
}

std::vector<FoundDeviation> find_deviations(GameRef game,
                                            std::span<const MarkovTable> policies,
                                            const DeviateOptions& options) {
  const Target target = policies.empty() ? Target::cce : policies[0].target;
  check_tables(game.frame(), target, policies);
  Search search(game, target, options, [&](const Seeds& seeds) {
    std::vector<MarkovPlayer> players;
    players.reserve(policies.size());
    for (const MarkovTable& policy : policies) {
      players.emplace_back(policy, seeds.index(target, policy.player), seeds.own(policy.player));
    }
    return std::make_unique<PartyOf<MarkovPlayer>>(std::move(players));
  });
  return search.find();
}

}  // namespace vlearn
