// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/certify/sampled.h"
#include "vlearn/certify/user_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sampled_parts.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/error.h"
#include "vlearn/core/log.h"
#include "vlearn/policy/execute.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kValuePlays = 8;    // for each sample at a (step, state)
constexpr std::uint64_t kWitnessPlays = 2;  // and for each player
constexpr double kDefaultSteps = 1e7;       // of the game
constexpr std::uint64_t kLeastDefault = 100;
constexpr std::uint64_t kMostDefault = 1'000'000;

/// Logarithms of what shares a failure probability over that probability. A quarter of all is
/// allowed for each of the four.
struct Events {
  Events(const Frame& frame, std::size_t num_cells, double confidence) {
    const auto players = static_cast<double>(frame.num_players());
    const double quarter = (1.0 - confidence) / 4.0;
    chain = log(players / quarter);
    spread = log(players * static_cast<double>(num_cells) / quarter);
    value = log(2.0 * players / quarter);  // two sides
    witness = log(players / quarter);
  }
  double chain;
  double spread;
  double value;
  double witness;
};

/// Steps of the game that one sample at every (step, state) stands for, plays included.
double steps_of_a_sample(const Frame& frame) {
  double steps = 0.0;
  for (const Step h : all<Step>(frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      if (h.index() == 0 && !(frame.initial()[s.index()] > 0.0)) continue;
      steps += 1.0 + static_cast<double>(frame.action_begins(h, s).back() - frame.num_players());
    }
  }
  const auto plays = static_cast<double>(kValuePlays + kWitnessPlays * frame.num_players());
  return steps + plays * static_cast<double>(frame.horizon());
}

std::uint64_t samples_of(const Frame& frame, const SampledOptions& options) {
  if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
    throw Error(ErrorKind::usage, "confidence", fmt::format("is {}", options.confidence),
                "want a number between 0 and 1, such as 0.99");
  }
  if (!frame.start_known()) {
    throw Error(ErrorKind::usage, "sampled certificate",
                "this game can only be played from its start, and the law of that is not known",
                "certify a game that can be started at any step and state");
  }
  if (options.samples == 0) {
    return std::clamp(static_cast<std::uint64_t>(kDefaultSteps / steps_of_a_sample(frame)),
                      kLeastDefault, kMostDefault);
  }
  // All draws have a number of their own.
  const std::uint64_t most = std::max<std::uint64_t>(
      {frame.max_states(), kWitnessPlays * frame.num_players(), kValuePlays});
  const std::optional<std::uint64_t> numbers = checked_multiply(most, options.samples);
  if (options.samples < 2 || !numbers || *numbers >= kMaxEpisodes) {
    throw Error(ErrorKind::usage, "samples", fmt::format("is {}", options.samples),
                options.samples < 2 ? "want 2 at least" : "want fewer");
  }
  return options.samples;
}

/// Streams of the certificate's own: nothing that was learned has seen them.
std::uint64_t seed_for(std::uint64_t seed, std::string_view what) {
  return stream_key(derive_seed(seed, what, 0));
}

/// How far off a number may be, in units of [0, 1] rewards, because doubles are: sums in blocks,
/// and actions that are drawn with multiples of 2^-53.
double rounding_of(const Frame& frame, std::uint64_t samples) {
  const double horizon = horizon_of(frame);
  constexpr auto block = static_cast<double>(kSampleBlock);
  const double terms =
      2.0 * block + static_cast<double>(kValuePlays * samples) / block +
      static_cast<double>(frame.max_profile_size() + frame.num_players() + frame.max_states() + 8);
  double off = 0.0;
  for (const double chance : frame.initial()) off += chance;
  return horizon * (horizon + 1.0) * terms * 0x1p-51 + horizon * std::abs(1.0 - off);
}

/// A state or action of the game is one of every file.
void check_shapes(const Frame& frame, std::span<const PolicyFile> files) {
  constexpr const char* fix = "give the files of all players of a run of this game";
  const PlanLayout layout(frame, Target::cce);
  if (files.size() != frame.num_players()) {
    throw Error(
        ErrorKind::input, "policy files",
        fmt::format("there are {}, and the game has {} players", files.size(), frame.num_players()),
        fix);
  }
  for (std::size_t j = 0; j < files.size(); ++j) {
    const Seat& seat = files[j].header().seat;
    bool fits = seat.horizon == frame.horizon() && seat.num_cells() == layout.num_cells();
    for (std::size_t h = 0; fits && h < frame.horizon(); ++h) {
      fits = seat.first_cell[h] == layout.cell(Step(h), State());
      for (std::size_t s = 0; fits && s < frame.num_states(Step(h)); ++s) {
        fits = seat.num_actions[seat.first_cell[h] + s] ==
               frame.num_actions(Player(j), Step(h), State(s));
      }
    }
    if (!fits) throw Error(ErrorKind::input, files[j].source(), "is of another game", fix);
  }
}

}  // namespace

SampledPlan plan_sampled(const Frame& frame, Target target, const SampledOptions& options) {
  SampledPlan plan;
  plan.samples = samples_of(frame, options);
  plan.game_steps = static_cast<double>(plan.samples) * steps_of_a_sample(frame);
  const PlanLayout layout(frame, target);
  const Events events(frame, layout.num_cells(), options.confidence);
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const double value =
      mean_radius(unknown, kValuePlays * plan.samples, horizon_of(frame), events.value);
  for (const Player player : all<Player>(frame.num_players())) {
    std::vector<ChainStep> chain;
    for (const Step h : all<Step>(frame.horizon())) {
      ChainStep step{static_cast<double>(frame.horizon() - h.index()), unknown, 0.0};
      for (const State s : all<State>(frame.num_states(h))) {
        step.log_choices =
            std::max(step.log_choices, log_replies(target, frame.num_actions(player, h, s)));
      }
      step.log_choices += log(static_cast<double>(frame.num_states(h)));
      chain.push_back(step);
    }
    const double best = chain_radius(chain, plan.samples, horizon_of(frame), events.chain);
    plan.radius = std::max(plan.radius, width_of(frame, player) * (best + value));
  }
  return plan;
}

std::vector<SampledPlayer> assess_sampled(GameRef game,
                                          Target target,
                                          const DrawnPolicy& policy,
                                          const SampledOptions& options) {
  const Frame& frame = game.frame();
  const std::uint64_t samples = samples_of(frame, options);
  const PlanLayout layout(frame, target);
  const Events events(frame, layout.num_cells(), options.confidence);
  const SampledSetting setting{game, target, policy, options.parallel};
  std::vector<FoundReplies> replies = find_replies(
      setting, layout, samples, seed_for(options.seed, "certify replies"), events.spread);
  std::vector<WitnessPlan> plans;
  plans.reserve(replies.size());
  for (FoundReplies& found : replies) plans.push_back(std::move(found.plan));
  const std::uint64_t value_plays = kValuePlays * samples;
  const std::uint64_t witness_plays = kWitnessPlays * samples;
  const std::vector<PlayedSum> values =
      play_along(setting, value_plays, seed_for(options.seed, "certify values"));
  const std::vector<PlayedSum> earned = play_plans(setting, layout, plans, witness_plays,
                                                   seed_for(options.seed, "certify witnesses"));
  const double horizon = horizon_of(frame);
  std::vector<SampledPlayer> players(frame.num_players());
  for (std::size_t j = 0; j < players.size(); ++j) {
    players[j].best = {replies[j].best,
                       chain_radius(replies[j].chain, samples, horizon, events.chain)};
    players[j].value = {values[j].mean,
                        mean_radius(values[j].variance, value_plays, horizon, events.value)};
    players[j].witness = {earned[j].mean,
                          mean_radius(earned[j].variance, witness_plays, horizon, events.witness)};
    players[j].plan = std::move(plans[j]);
  }
  return players;
}

Certificate certify_sampled(GameRef game,
                            std::span<const PolicyFile> files,
                            const SampledOptions& options,
                            const CertificateTitle& title) {
  const Frame& frame = game.frame();
  check_shapes(frame, files);
  const PolicyHeader& header = files.front().header();
  const bool independent = header.target == Target::nash;
  const auto policy =
      independent ? make_drawn_marginals(files, options.parallel) : make_drawn_mixture(files);
  const std::vector<SampledPlayer> found = assess_sampled(game, header.target, *policy, options);

  Certificate certificate = begin_certificate(frame, title, header.target, header.markov_weights(),
                                              files.front().episodes());
  certificate.output = independent ? CertifiedOutput::marginals : CertifiedOutput::markov;
  certificate.method = {MethodName::sampled, options.confidence, samples_of(frame, options),
                        options.seed};
  const double rounding = rounding_of(frame, certificate.method->samples);
  const double most = horizon_of(frame);  // and 0 the least that a play can earn
  certificate.gap_upper = -std::numeric_limits<double>::infinity();
  certificate.gap_lower = certificate.gap_upper;
  certificate.sum_lower = 0.0;
  for (const Player player : all<Player>(frame.num_players())) {
    const SampledPlayer& own = found[player.index()];
    PlayerCertificate& one = certificate.players[player.index()];
    const auto user = [&](double value) { return to_user(frame, player, value); };
    const double value_lower = std::max(0.0, own.value.estimate - own.value.radius);
    const double value_upper = std::min(most, own.value.estimate + own.value.radius);
    const double best = std::min(most, own.best.estimate + own.best.radius);
    // What the witness earns is at most what the best deviation does; if not, a bound has failed.
    const double earned = std::min(std::max(0.0, own.witness.estimate - own.witness.radius), best);
    const double width = width_of(frame, player);
    one.value_lower = user(value_lower);
    one.value_upper = user(value_upper);
    one.deviation_upper = user(best);
    one.deviation_lower = user(earned);
    one.value_estimate = user(own.value.estimate);
    one.deviation_estimate = user(own.witness.estimate);
    one.gap_estimate = width * (own.witness.estimate - own.value.estimate);
    one.rounding = user_rounding(frame, player, rounding);
    one.gap_upper = up(difference_above(width, best - value_lower) + 2.0 * one.rounding);
    one.gap_lower = down(difference_below(width, earned - value_upper) - 2.0 * one.rounding);
    one.witness = own.plan;
    certificate.gap_upper = std::max(certificate.gap_upper, one.gap_upper);
    certificate.gap_lower = std::max(*certificate.gap_lower, *one.gap_lower);
    certificate.sum_upper = up(certificate.sum_upper + one.gap_upper);
    certificate.sum_lower = down(*certificate.sum_lower + *one.gap_lower);
  }
  return certificate;
}

}  // namespace vlearn
