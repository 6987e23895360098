// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Histories: what keeping one costs a run, how large it is, and how long a past policy takes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "measure.h"
#include "vlearn/core/random.h"
#include "vlearn/game/any_game.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/walk.h"
#include "vlearn/run/trainer.h"

namespace vlearn::bench {
namespace {

constexpr std::uint64_t kEpisodes = 100'000;

struct Subject {
  RuleName rule;
  bool variates;
  std::size_t actions;
};

LearnerOptions options_of(const Subject& subject) {
  LearnerOptions options = preset_options(Preset::practical, Target::cce);
  options.rule = subject.rule;
  options.control_variate = subject.variates;
  return options;
}

std::string name_of(const Subject& subject) {
  return fmt::format("{}{}, {} actions", kRuleNames[static_cast<std::size_t>(subject.rule)],
                     subject.variates ? " + variates" : "", subject.actions);
}

DenseGame game_of(std::size_t actions) {
  return std::get<DenseGame>(
      make_game(fmt::format("random:players=2,states=4,actions={},horizon=5", actions)));
}

/// A trainer that goes on from call to call, its history thrown away.
Work training(const DenseGame& game, const Subject& subject, bool history) {
  const std::shared_ptr<Trainer> trainer = make_trainer(GameRef(game), options_of(subject), 1);
  if (history) trainer->keep_history([](Player, std::span<const std::byte>) {});
  return [trainer](std::size_t operations) {
    trainer->play_until(trainer->episodes() + (operations + 9) / 10, {});
    return trainer->earned(Player(0));
  };
}

/// The first player's file.
std::vector<std::byte> history_of(const DenseGame& game,
                                  const Subject& subject,
                                  std::uint64_t episodes) {
  const std::unique_ptr<Trainer> trainer = make_trainer(GameRef(game), options_of(subject), 1);
  const std::string header = encode_header(trainer->policy_header(Player(0)));
  const std::span<const std::byte> head = std::as_bytes(std::span(header));
  std::vector<std::byte> bytes(head.begin(), head.end());
  trainer->keep_history([&](Player player, std::span<const std::byte> more) {
    if (player == Player(0)) bytes.insert(bytes.end(), more.begin(), more.end());
  });
  trainer->play_until(episodes, {});
  trainer->hand_out_rest();
  return bytes;
}

/// Random visits of random cells.
Measurement queries(const Subject& subject) {
  const DenseGame game = game_of(subject.actions);
  const bool slow = has_swap_regret(subject.rule) && subject.actions > 10;
  const std::uint64_t episodes = slow ? kEpisodes / 50 : kEpisodes;
  const std::vector<std::byte> bytes = history_of(game, subject, episodes);
  const auto file = std::make_shared<PolicyFile>(
      PolicyFile::parse(FileBytes::copy(bytes), "bench", make_replayer));
  const double size = static_cast<double>(bytes.size()) / static_cast<double>(5 * episodes);
  return measure(fmt::format("{}: query, {:.1f} B", name_of(subject), size),
                 [file, actions = subject.actions](std::size_t operations) {
                   Draws draws({.seed = 1, .purpose = Purpose::test});
                   std::vector<double> policy(actions);
                   ReplayMemory memory;
                   double sum = 0.0;
                   for (std::size_t i = 0; i < operations; ++i) {
                     if (i % 1'000'000 == 0) draws = Draws({.seed = i, .purpose = Purpose::test});
                     const std::size_t cell = draws.below(file->header().seat.num_cells());
                     const std::uint64_t visits = file->visits_before(cell, file->episodes());
                     if (visits == 0) continue;
                     file->policy(cell, 1 + draws.below(visits), policy, memory);
                     sum += policy[0];
                   }
                   return sum;
                 });
}

/// Visits of the first cell, one after the other and from the beginning again.
Measurement walks(const Subject& subject) {
  const DenseGame game = game_of(subject.actions);
  const std::vector<std::byte> bytes = history_of(game, subject, kEpisodes / 50);
  const auto file = std::make_shared<PolicyFile>(
      PolicyFile::parse(FileBytes::copy(bytes), "bench", make_replayer));
  return measure(name_of(subject) + ": walk", [file](std::size_t operations) {
    ReplayMemory memory;
    double sum = 0.0;
    for (std::size_t done = 0; done < operations;) {
      const std::uint64_t n = std::min<std::uint64_t>(operations - done, kEpisodes / 50);
      for_each_policy(*file, 0, n, memory,
                      [&](std::uint64_t, std::span<const double> policy) { sum += policy[0]; });
      done += n;
    }
    return sum;
  });
}

Measurement cost(const Subject& subject) {
  const auto game = std::make_shared<DenseGame>(game_of(subject.actions));
  return compare(name_of(subject) + ": with history", training(*game, subject, true), "without",
                 training(*game, subject, false));
}

}  // namespace

std::vector<Measurement> policy() {
  std::vector<Measurement> measurements;
  for (const std::size_t actions : {4U, 10U, 64U}) {
    measurements.push_back(cost({RuleName::ftrl, false, actions}));
  }
  measurements.push_back(cost({RuleName::tsallis, true, 10}));
  measurements.push_back(cost({RuleName::optimistic, true, 10}));
  const std::vector<std::pair<RuleName, bool>> rules = {
      {RuleName::ftrl, false},          {RuleName::ftrl, true},
      {RuleName::exp3_ix, false},       {RuleName::tsallis, false},
      {RuleName::tsallis, true},        {RuleName::log_barrier, false},
      {RuleName::log_barrier, true},    {RuleName::ftrl_swap, false},
      {RuleName::ftrl_swap, true},      {RuleName::optimistic, true},
      {RuleName::optimistic_swap, true}};
  for (const auto& [rule, variates] : rules) {
    for (const std::size_t actions : {10U, 64U}) {
      measurements.push_back(queries({rule, variates, actions}));
      measurements.push_back(walks({rule, variates, actions}));
    }
  }
  return measurements;
}

}  // namespace vlearn::bench
