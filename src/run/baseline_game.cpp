// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/baseline_game.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "vlearn/core/cpu_time.h"

namespace vlearn {
namespace {

/// Episodes between two reports of progress.
constexpr std::uint64_t kChunk = 4096;

/// A learner whose output is certified when somebody looks.
class WatchedLearner {
 public:
  WatchedLearner(const AnyGame& game,
                 const BaselineOptions& options,
                 std::uint64_t seed,
                 std::function<bool()> stop)
      : game_(game),
        target_(options.target),
        learner_(ref_of(game), options, seed, std::move(stop)) {}

  [[nodiscard]] const BaselineLearner& learner() const noexcept { return learner_; }

  bool play_until(std::uint64_t episodes) {
    const double begin = thread_seconds();
    const bool whole = learner_.play_until(episodes);
    seconds_ += thread_seconds() - begin;
    return whole;
  }

  struct Seen {
    BaselineLook look;
    std::vector<MarkovTable> tables;
    Certificate certificate;
  };
  /// Nothing where the learner was stopped and has no output.
  std::optional<Seen> look(const CertificateTitle& title, const ParallelOptions& parallel) {
    const double begin = thread_seconds();
    std::optional<BaselinePolicy> policy = learner_.policy(title.game_hash);
    seconds_ += thread_seconds() - begin;
    if (!policy) return std::nullopt;
    Seen seen;
    seen.tables = std::move(policy->tables);
    seen.certificate = certify_table(game_, title, target_, seen.tables, parallel);
    seen.look.episodes = learner_.episodes();
    seen.look.plans = learner_.plans();
    seen.look.gap = {seen.certificate.gap_upper, seen.certificate.sum_upper};
    for (const PlayerCertificate& player : seen.certificate.players) {
      seen.look.values.push_back(player.value_upper);
    }
    seen.look.optimism_gap = policy->optimism_gap;
    seen.look.cpu_seconds = seconds_;
    seen.look.bytes = learner_.bytes();
    return seen;
  }

 private:
  const AnyGame& game_;
  Target target_;
  BaselineLearner learner_;
  double seconds_ = 0.0;
};

}  // namespace

std::uint64_t next_doubling(std::uint64_t episodes) noexcept {
  return std::bit_floor(episodes) == 0 ? 1 : std::bit_floor(episodes) * 2;
}

void follow_baseline(const AnyGame& game,
                     const BaselineOptions& options,
                     std::uint64_t seed,
                     const std::function<std::uint64_t(std::uint64_t episodes)>& next,
                     const std::function<bool(const BaselineLook& look)>& see,
                     const std::function<bool()>& stop) {
  WatchedLearner learner(game, options, seed, stop);
  for (;;) {
    const std::uint64_t until = next(learner.learner().episodes());
    if (until <= learner.learner().episodes() || !learner.play_until(until)) return;
    const auto seen = learner.look({}, {.threads = 1});
    if (!seen || (stop && stop()) || !see(seen->look)) return;
  }
}

std::optional<BaselineResult> learn_baseline(const AnyGame& game,
                                             const CertificateTitle& title,
                                             const BaselineConfig& config,
                                             const BaselineHooks& hooks) {
  const auto late = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - hooks.begin;
    return config.max_seconds && elapsed.count() > *config.max_seconds;
  };
  const std::uint64_t last = config.episodes.value_or(kMaxBaselineEpisodes);
  check_episodes(last);
  WatchedLearner learner(game, config.baseline, config.seed,
                         [&] { return hooks.cancel.requested() || late(); });
  BaselineResult result;
  for (;;) {
    const std::uint64_t played = learner.learner().episodes();
    const std::uint64_t until = std::min(next_doubling(played), last);
    bool whole = true;
    while (whole && learner.learner().episodes() < until) {
      whole = learner.play_until(std::min(until, learner.learner().episodes() + kChunk));
      if (hooks.progress) hooks.progress(learner.learner().episodes());
    }
    result.episodes = learner.learner().episodes();
    // Who was stopped has an older plan than one that was made for a look, and may be worse.
    const bool new_episodes = result.looks.empty() || result.episodes > result.last.episodes;
    auto seen = new_episodes ? learner.look(title, hooks.parallel) : std::nullopt;
    if (seen) {
      result.looks.push_back(seen->look);
      if (whole || result.tables.empty() || seen->look.gap.largest < result.last.gap.largest) {
        result.last = seen->look;
        result.tables = std::move(seen->tables);
        result.certificate = std::move(seen->certificate);
      }
      if (hooks.look) hooks.look(result.looks.back());
    }
    if (result.looks.empty()) return std::nullopt;
    const bool reached = seen && config.until_gap && result.last.gap.largest <= *config.until_gap;
    if (reached || !whole || !seen || result.episodes == last) {
      result.stopped = reached                    ? Stopped::gap
                       : whole && seen            ? Stopped::episodes
                       : hooks.cancel.requested() ? Stopped::interrupt
                                                  : Stopped::time;
      return result;
    }
  }
}

}  // namespace vlearn
