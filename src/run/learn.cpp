// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/learn.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/run/data_certificate.h"

namespace vlearn {
namespace {

/// Agent-steps between two looks at the clock and the cancel token: some milliseconds.
constexpr std::uint64_t kChunk = 100'000;

/// A sum of rewards over an episode, and a difference of two such sums, in the user's units.
double to_user(const Frame& frame, Player player, double value) {
  return frame.range(player).from_unit(value, static_cast<double>(frame.horizon()));
}
double to_user_difference(const Frame& frame, Player player, double difference) {
  return (frame.range(player).high - frame.range(player).low) * difference;
}

/// The state of a trainer. Returns are since the row before, or since the beginning.
MetricsRow row_of(const Trainer& trainer,
                  const Frame& frame,
                  const LearnConfig& config,
                  bool since_the_beginning) {
  MetricsRow row;
  row.episode = trainer.episodes();
  for (std::size_t i = 0; i < trainer.seat(Player(0)).num_cells(); ++i) {
    if (trainer.visits(i) > 0) ++row.visited_cells;
  }
  const std::uint64_t since = since_the_beginning ? 0 : trainer.mark().episodes;
  const auto episodes = static_cast<double>(std::max<std::uint64_t>(row.episode - since, 1));
  for (const Player player : all<Player>(frame.num_players())) {
    PlayerMetrics& metrics = row.players.emplace_back();
    const double earned = trainer.earned(player) -
                          (since_the_beginning ? 0.0 : trainer.mark().earned[player.index()]);
    metrics.value = to_user(frame, player, trainer.at_start(trainer.estimates(player)));
    metrics.upper = to_user(frame, player, trainer.at_start(trainer.values(player)));
    if (row.episode > since) metrics.mean_return = to_user(frame, player, earned / episodes);
    if (!trainer.low_values(player).empty()) {
      metrics.lower = to_user(frame, player, trainer.at_start(trainer.low_values(player)));
    }
    const bool bounded = config.output == CertifiedOutput::nested;
    if (const std::optional<double> bound = trainer.gap_bound(player); bound && bounded) {
      metrics.gap_bound = to_user_difference(frame, player, *bound);
    }
  }
  return row;
}

}  // namespace

std::string_view name_of(Stopped stopped) noexcept {
  constexpr std::array<std::string_view, 4> names = {"episodes", "time", "interrupt", "gap"};
  return names[static_cast<std::size_t>(stopped)];
}

void check_choices(const LearnConfig& config) {
  check_choices(config.learner);
  check_choice("output", config.output, kCertifiedOutputNames);
}

CertifiedOutput natural_output(const AnyGame& game, Preset preset, Target target) {
  // What is proven of these is proven of the nested policy.
  if (preset == Preset::paper || preset == Preset::rigorous || preset == Preset::proven) {
    return CertifiedOutput::nested;
  }
  if (target == Target::nash) return CertifiedOutput::marginals;
  if (preset != Preset::fast) return CertifiedOutput::nested;
  return MarkovCertifier::can_list(game) ? CertifiedOutput::markov : CertifiedOutput::nested;
}

std::optional<std::uint64_t> natural_weights(Preset preset,
                                             CertifiedOutput output,
                                             std::size_t horizon) {
  // The constants of docs/sample_efficiency.md.
  if (preset != Preset::fast) return std::nullopt;
  if (output != CertifiedOutput::nested) return 3;
  return std::min<std::uint64_t>((3 * horizon + 1) / 2, kMaxSteps - 1);
}

bool natural_taper(Preset preset, CertifiedOutput output) noexcept {
  return preset == Preset::fast && output != CertifiedOutput::nested;
}

OutputWeights output_weights(const LearnerOptions& options, const Frame& frame) {
  return {options.output_weights.value_or(frame.horizon()), options.output_taper};
}

LearnConfig preset_config(
    const AnyGame& game, Preset preset, Target target, std::uint64_t episodes, std::uint64_t seed) {
  LearnConfig config;
  config.learner = preset_options(preset, target);
  config.learner.horizon_episodes = episodes;
  config.output = natural_output(game, preset, target);
  config.learner.output_weights = natural_weights(preset, config.output, frame_of(game).horizon());
  config.learner.output_taper = natural_taper(preset, config.output);
  config.seed = seed;
  return config;
}

void check_executable(Target target, CertifiedOutput output) {
  check_choice("target", target, kTargetNames);
  check_choice("output", output, kCertifiedOutputNames);
  if (is_executable(target, output)) return;
  if (target == Target::nash) {
    throw Error(ErrorKind::usage, "--output markov",
                "the players of nash draw indices of their own: they play the product of their "
                "averages",
                "use --output marginals");
  }
  throw Error(ErrorKind::usage, "--output marginals",
              "is for nash; others play by shared indices, not by averages", "use --output markov");
}

void check_output(Target target, CertifiedOutput output) {
  check_executable(target, output);
  if (output == CertifiedOutput::table) {
    throw Error(ErrorKind::usage, "--output table",
                "only runs that were planned or learned with --monotone have one");
  }
}

void check_certifiable(const AnyGame& game, CertifiedOutput output) {
  if (output != CertifiedOutput::markov || MarkovCertifier::can_list(game)) return;
  throw Error(ErrorKind::usage, "--output markov",
              "there are too many joint actions to certify it while it is learned",
              "use --output nested");
}

std::string guarantee_of(const LearnConfig& config, std::uint64_t episodes) {
  LearnerOptions learner = config.learner;
  // Theorems are about the nested output, and of monotone learners about their table.
  const bool proven = config.output == CertifiedOutput::nested || learner.monotone;
  if (!proven) learner.bonus = Bonus::none;
  return guarantee_of(learner, episodes);
}

std::uint64_t next_row_episode(std::uint64_t episodes) noexcept {
  if (episodes < 6) return episodes + 1;
  constexpr std::array<std::uint64_t, 11> steps = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100};
  for (std::uint64_t power = 1; power <= std::numeric_limits<std::uint64_t>::max() / 100;
       power *= 10) {
    for (const std::uint64_t step : steps) {
      // Tenths at first: 10 and 12 stand for 1 and 1.2, and only whole numbers count.
      const std::uint64_t tenths = step * power;
      if (tenths % 10 == 0 && tenths / 10 > episodes) return tenths / 10;
    }
  }
  return std::numeric_limits<std::uint64_t>::max();
}

LearnResult learn(Trainer& trainer,
                  const Frame& frame,
                  const LearnConfig& config,
                  const LearnHooks& hooks) {
  check_choices(config);
  using Clock = std::chrono::steady_clock;
  const std::uint64_t steps_per_episode = frame.num_players() * frame.horizon();
  const std::uint64_t chunk = std::max<std::uint64_t>(kChunk / steps_per_episode, 1);
  const std::uint64_t wanted = config.episodes.value_or(kMaxEpisodes - 1);
  LearnResult result;
  std::uint64_t next_row = next_row_episode(trainer.episodes());
  // Checkpoints come at multiples of a number of episodes, and by the clock: nothing that is
  // learned depends on them.
  const std::uint64_t stride = hooks.checkpoint ? hooks.checkpoint_episodes.value_or(0) : 0;
  Clock::time_point last_checkpoint = Clock::now();
  const auto seconds_since = [](Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  };
  const auto is_close = [&] {
    return config.until_gap && hooks.certifier != nullptr && hooks.certifier->certified_gap() &&
           *hooks.certifier->certified_gap() <= *config.until_gap;
  };
  while (trainer.episodes() < wanted) {
    if (is_close()) {
      result.stopped = Stopped::gap;
      break;
    }
    if (hooks.cancel.requested()) {
      result.stopped = Stopped::interrupt;
      break;
    }
    if (config.max_seconds && seconds_since(hooks.begin) >= *config.max_seconds) {
      result.stopped = Stopped::time;
      break;
    }
    std::uint64_t until = std::min({wanted, next_row, trainer.episodes() + chunk});
    if (stride > 0) until = std::min(until, (trainer.episodes() / stride + 1) * stride);
    trainer.play_until(until, hooks.cancel);
    const std::uint64_t episodes = trainer.episodes();
    if (episodes == next_row || episodes == wanted) {
      MetricsRow row = row_of(trainer, frame, config, false);
      if (hooks.certifier != nullptr)
        row.certified_gap = hooks.certifier->record(episodes == wanted);
      if (hooks.row) hooks.row(row);
      trainer.set_mark();
      next_row = next_row_episode(episodes);
    }
    const bool due =
        (stride > 0 && episodes % stride == 0) ||
        (hooks.checkpoint_seconds && seconds_since(last_checkpoint) >= *hooks.checkpoint_seconds);
    if (hooks.checkpoint && due && episodes < wanted) {
      hooks.checkpoint();
      last_checkpoint = Clock::now();
    }
    if (hooks.progress) hooks.progress(episodes);
  }
  if (is_close()) result.stopped = Stopped::gap;
  result.last = row_of(trainer, frame, config, true);
  if (config.output == CertifiedOutput::nested) {
    result.data_certificate = data_certificate(trainer, frame, config.learner);
  }
  result.agent_steps = trainer.episodes() * steps_per_episode;
  result.signature = trainer.signature();
  return result;
}

}  // namespace vlearn
