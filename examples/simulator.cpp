// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Eight drones share two landing pads: a simulator that can only be reset and stepped, written by
// somebody who knows nothing of this library. Nobody knows its law, so nobody can certify exactly
// what was learned on it; what can be said all the same is printed here.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "vlearn/vlearn.h"

namespace {

constexpr std::size_t kDrones = 8;
constexpr std::size_t kRounds = 4;

/// In every round each drone stays in the air or makes for pad 1 or pad 2. A pad serves three
/// drones a round, whoever else comes waits in its queue, which is shared and gets in the way of
/// later rounds: the longer it was, the less a landing delivers. Wind makes a queue grow by itself.
/// Drones with an odd number carry parcels that are worth more at pad 2.
class LandingPads {
 public:
  [[nodiscard]] std::size_t num_players() const { return kDrones; }
  [[nodiscard]] std::size_t horizon() const { return kRounds; }
  [[nodiscard]] std::uint32_t max_actions(vlearn::Player) const { return 3; }
  [[nodiscard]] std::uint32_t num_actions(vlearn::Player) const { return 3; }
  [[nodiscard]] vlearn::RewardRange reward_range(vlearn::Player) const { return {0.0, 4.0}; }
  /// What every drone sees: how long the queues are.
  [[nodiscard]] std::string state_key() const {
    return std::to_string(queue_[0]) + "/" + std::to_string(queue_[1]);
  }
  void reset(vlearn::Draws& draws) {
    for (std::uint64_t& queue : queue_) queue = draws.below(2);
  }
  bool step(std::span<const vlearn::Action> joint,
            vlearn::Draws& draws,
            std::span<double> rewards) {
    std::array<std::uint64_t, 2> arrivals = {};
    for (const vlearn::Action action : joint) {
      if (action.value() > 0) ++arrivals[action.value() - 1];
    }
    for (std::size_t j = 0; j < kDrones; ++j) {
      const std::uint32_t choice = joint[j].value();
      rewards[j] = 0.5;  // what is saved by staying in the air
      if (choice == 0) continue;
      const std::uint64_t crowd = queue_[choice - 1] + arrivals[choice - 1];
      const double worth = choice == 2 && j % 2 == 0 ? 4.0 : 3.0;
      rewards[j] = crowd <= kServed ? worth : worth * kServed / static_cast<double>(crowd * 2);
    }
    for (std::size_t pad = 0; pad < 2; ++pad) {
      const std::uint64_t waiting = queue_[pad] + arrivals[pad] + draws.below(2);
      queue_[pad] = std::min<std::uint64_t>(waiting - std::min(waiting, kServed), 4);
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kServed = 3;
  std::array<std::uint64_t, 2> queue_ = {};
};

/// A play of all drones with one preset: what it leaves, and how well they did.
std::vector<vlearn::PolicyFile> learn(vlearn::DiscoveredGame<LandingPads>& game,
                                      vlearn::Preset preset,
                                      std::uint64_t episodes) {
  vlearn::LearnConfig config;
  config.learner = vlearn::preset_options(preset, vlearn::Target::cce);
  config.learner.horizon_episodes = episodes;
  config.episodes = episodes;
  const auto trainer = vlearn::make_trainer(vlearn::GameRef(game), config.learner, config.seed);
  vlearn::KeptHistories kept(*trainer);
  const vlearn::LearnResult result = vlearn::learn(*trainer, game.frame(), config);
  double earned = 0.0;
  for (const vlearn::PlayerMetrics& drone : result.last.players) earned += *drone.mean_return;
  std::printf("%llu episodes: a drone delivers %.3f on average\n",
              static_cast<unsigned long long>(episodes), earned / kDrones);
  if (const auto& certificate = result.data_certificate) {
    const double most = static_cast<double>(kRounds) * 4.0;
    std::printf(
        "  from the drones' own data alone, with probability %.2f: nobody gains more than "
        "%.3f%s\n",
        certificate->method->confidence, certificate->gap_upper,
        certificate->gap_upper >= most ? " (which says nothing: there is no more)" : "");
  }
  return kept.policies();
}

/// What drones could gain by deviating, as far as trying shows.
void try_deviations(vlearn::DiscoveredGame<LandingPads>& game,
                    const std::vector<vlearn::PolicyFile>& policies,
                    const vlearn::DeviateOptions& options) {
  for (const auto& found : vlearn::find_deviations(vlearn::GameRef(game), policies, options)) {
    std::printf("  drone %llu: has %.3f, gains %+.3f, and at least %+.3f with probability %.2f\n",
                static_cast<unsigned long long>(found.player.number()), found.following, found.gain,
                found.lower, found.confidence);
  }
}

}  // namespace

int main() {
  // States get their numbers as they are seen: queues of 0 to 4 at two pads, and one for the end.
  vlearn::DiscoveredGame<LandingPads> game(LandingPads(), 26);
  vlearn::DeviateOptions options;
  options.episodes = 1'500;
  options.rollouts = 3'000;

  std::printf("preset rigorous, every bound proven\n");
  const auto slow = learn(game, vlearn::Preset::rigorous, 20'000);
  options.player = vlearn::Player(0);
  try_deviations(game, slow, options);

  std::printf("preset fast, nothing proven beforehand\n");
  const auto fast = learn(game, vlearn::Preset::fast, 20'000);
  options.player.reset();
  try_deviations(game, fast, options);
  return 0;
}
