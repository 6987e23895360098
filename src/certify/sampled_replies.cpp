// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "sampled_parts.h"
#include "vlearn/core/log.h"

namespace vlearn {
namespace {

/// States whose draws are made at the same time.
constexpr std::size_t kStateGroup = 16;

/// Where the sums of a (step, state) are: for each player and reply, for ce for each pair of the
/// action that was drawn and the one that is played.
struct SumsLayout {
  SumsLayout(const Frame& frame, Target target, Step h, State s)
      : pairs(target == Target::ce), actions(frame.action_begins(h, s)) {
    begins.push_back(0);
    for (const Player player : all<Player>(frame.num_players())) {
      const std::size_t n = num_actions(player.index());
      begins.push_back(begins.back() + (pairs ? n * n : n));
    }
  }
  [[nodiscard]] std::size_t num_actions(std::size_t player) const noexcept {
    return actions[player + 1] - actions[player];
  }
  [[nodiscard]] std::size_t row(std::size_t player, Action drawn) const noexcept {
    return begins[player] + (pairs ? drawn.index() * num_actions(player) : 0);
  }

  bool pairs;
  std::span<const std::uint32_t> actions;
  std::vector<std::size_t> begins;  // of each player
};

struct Sums {
  explicit Sums(const SumsLayout& layout)
      : moments(layout.begins.back()), drawn(layout.actions.back()) {}
  void add(const Sums& part) {
    for (std::size_t i = 0; i < moments.size(); ++i) moments[i].add(part.moments[i]);
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] += part.drawn[i];
  }

  std::vector<Moments> moments;
  std::vector<double> drawn;  // how often each action of each player was
};

/// What is known of a player before a step is sampled: W_{h+1}, and the interval of r + W_{h+1}.
struct NextStep {
  std::vector<double> values;  // of each state; empty after the last step
  double centre = 0.5;
  double width = 1.0;

  [[nodiscard]] double from_centre(double reward, State next) const noexcept {
    return (values.empty() ? reward : reward + values[next.index()]) - centre;
  }
};

/// What a player's reply at a (step, state) is worth, and how it spreads.
struct Reply {
  double value = 0.0;
  double variance = 0.0;  ///< no reply's is larger
};

/// Of replies that do not look at what was drawn.
Reply best_action(std::span<const Moments> moments,
                  std::uint64_t n,
                  const NextStep& next,
                  std::span<std::uint32_t> plan) {
  Reply reply;
  std::size_t best = 0;
  for (std::size_t b = 0; b < moments.size(); ++b) {
    if (moments[b].sum > moments[best].sum) best = b;
    reply.variance = std::max(reply.variance, moments[b].variance(n));
  }
  reply.value = next.centre + moments[best].mean(n);
  plan[0] = static_cast<std::uint32_t>(best);
  return reply;
}

/// Of those that do. The variance of a reply is at most its mean square about any number, which is
/// a sum over the actions that were drawn: so each has its largest part.
Reply best_answers(std::span<const Moments> moments,
                   std::span<const double> drawn,
                   std::uint64_t n,
                   const NextStep& next,
                   std::span<std::uint32_t> plan) {
  const std::size_t size = drawn.size();
  double sum = 0.0;
  for (std::size_t a = 0; a < size; ++a) {
    const std::span<const Moments> row = moments.subspan(a * size, size);
    std::size_t best = a;
    for (std::size_t b = 0; b < size; ++b) {
      if (row[b].sum > row[best].sum) best = b;
    }
    plan[a] = static_cast<std::uint32_t>(best);
    sum += row[best].sum;
  }
  const auto count = static_cast<double>(n);
  const double mean = sum / count;
  double squares = 0.0;
  for (std::size_t a = 0; a < size; ++a) {
    double largest = 0.0;
    for (const Moments& pair : moments.subspan(a * size, size)) {
      largest = std::max(largest, pair.squares - 2.0 * mean * pair.sum + mean * mean * drawn[a]);
    }
    squares += largest;
  }
  return {next.centre + mean, squares / (count - 1.0)};
}

class Sweep {
 public:
  Sweep(const SampledSetting& setting,
        const PlanLayout& layout,
        std::uint64_t samples,
        std::uint64_t seed,
        double log_events)
      : setting_(setting),
        frame_(setting.game.frame()),
        layout_(layout),
        samples_(samples),
        seed_(seed),
        log_events_(log_events),
        next_(frame_.num_players()) {}

  std::vector<FoundReplies> run() {
    std::vector<FoundReplies> found(frame_.num_players());
    for (const Player player : all<Player>(found.size())) {
      found[player.index()].plan.assign(layout_.size(player), 0);
    }
    for (std::size_t h = frame_.horizon(); h-- > 0;) step(Step(h), found);
    for (std::size_t j = 0; j < found.size(); ++j) {
      for (std::size_t s = 0; s < frame_.initial().size(); ++s) {
        found[j].best += frame_.initial()[s] * next_[j].values[s];
      }
    }
    return found;
  }

 private:
  /// W_h of all players, from W_{h+1}.
  void step(Step h, std::vector<FoundReplies>& found) {
    const std::size_t m = found.size();
    std::vector<State> states;  // an episode may be in
    for (const State s : all<State>(frame_.num_states(h))) {
      if (h.index() > 0 || frame_.initial()[s.index()] > 0.0) states.push_back(s);
    }
    std::vector<std::vector<double>> values(m, std::vector<double>(frame_.num_states(h), 0.0));
    std::vector<ChainStep> chain(m);
    const std::size_t together = states_together(h, states);
    for (std::size_t begin = 0; begin < states.size(); begin += together) {
      const auto group =
          std::span(states).subspan(begin, std::min(together, states.size() - begin));
      const std::vector<Sums> sums = sample(h, group);
      for (std::size_t g = 0; g < group.size(); ++g) {
        const SumsLayout layout(frame_, setting_.target, h, group[g]);
        for (std::size_t j = 0; j < m; ++j) {
          const Reply reply = best_reply(h, group[g], layout, sums[g], j, found[j].plan);
          values[j][group[g].index()] = reply.value;
          const double replies = log_replies(setting_.target, layout.num_actions(j));
          const double variance = reply.variance + lost_variance(samples_, next_[j].width);
          chain[j].log_choices = std::max(chain[j].log_choices, replies);
          chain[j].spread =
              std::max(chain[j].spread,
                       deviation_bound(variance, samples_, next_[j].width, log_events_ + replies));
        }
      }
    }
    for (std::size_t j = 0; j < m; ++j) {
      chain[j].log_choices += log(static_cast<double>(states.size()));
      chain[j].width = next_[j].width;
      found[j].chain.push_back(chain[j]);
      NextStep& next = next_[j];
      next.values = std::move(values[j]);
      const auto [least, most] = std::minmax_element(next.values.begin(), next.values.end());
      next.centre = 0.5 * (*least + (1.0 + *most));
      next.width = 1.0 + (*most - *least);
    }
  }

  Reply best_reply(Step h,
                   State s,
                   const SumsLayout& layout,
                   const Sums& sums,
                   std::size_t j,
                   WitnessPlan& plan) const {
    const std::size_t size = layout.num_actions(j);
    const auto moments =
        std::span(sums.moments).subspan(layout.begins[j], layout.begins[j + 1] - layout.begins[j]);
    const auto place = std::span(plan).subspan(layout_.begin(Player(j), layout_.cell(h, s)));
    if (!layout.pairs) return best_action(moments, samples_, next_[j], place);
    const auto drawn = std::span(sums.drawn).subspan(layout.actions[j], size);
    return best_answers(moments, drawn, samples_, next_[j], place);
  }

  /// How many states may be sampled at a time: each has its sums and those of a block.
  [[nodiscard]] std::size_t states_together(Step h, std::span<const State> states) const {
    std::size_t most = 1;
    for (const State s : states) {
      most = std::max(most, 4 * SumsLayout(frame_, setting_.target, h, s).begins.back());
    }
    return std::clamp<std::size_t>(kSampleMemory / most, 1, kStateGroup);
  }

  /// N draws at each of some states: first the joint actions, then all that may follow.
  std::vector<Sums> sample(Step h, std::span<const State> states) const {
    std::vector<SumsLayout> layouts;
    std::vector<Sums> sums;
    std::size_t most = frame_.num_players() * kSampleBlock;  // numbers that a block takes
    for (const State s : states) {
      layouts.emplace_back(frame_, setting_.target, h, s);
      sums.emplace_back(layouts.back());
      most = std::max(most, 2 * layouts.back().begins.back());
    }
    const std::size_t blocks = std::max<std::size_t>(1, kSampleMemory / (most * states.size()));
    const std::uint64_t chunk = blocks * kSampleBlock;
    for (std::uint64_t begin = 0; begin < samples_; begin += chunk) {
      add_draws(h, states, layouts, begin, std::min(begin + chunk, samples_), sums);
    }
    return sums;
  }

  void add_draws(Step h,
                 std::span<const State> states,
                 std::span<const SumsLayout> layouts,
                 std::uint64_t begin,
                 std::uint64_t end,
                 std::vector<Sums>& sums) const {
    const std::size_t m = frame_.num_players();
    const std::size_t count = end - begin;
    std::vector<std::vector<Action>> joint(states.size());
    parallel_for(states.size(), setting_.parallel, [&](std::size_t g) {
      std::vector<std::uint64_t> numbers(count);
      std::iota(numbers.begin(), numbers.end(), number(states[g], begin));
      joint[g].resize(count * m);
      setting_.policy.draw(h, states[g], seed_, numbers, joint[g]);
    });
    const std::size_t blocks = (count + kSampleBlock - 1) / kSampleBlock;
    std::vector<Sums> parts;
    parts.reserve(states.size() * blocks);
    for (std::size_t i = 0; i < states.size() * blocks; ++i) {
      parts.emplace_back(layouts[i / blocks]);
    }
    parallel_for(parts.size(), setting_.parallel, [&](std::size_t i) {
      const std::size_t g = i / blocks;
      const std::size_t first = (i % blocks) * kSampleBlock;
      const std::size_t size = std::min(kSampleBlock, count - first);
      const auto actions = std::span(joint[g]).subspan(first * m, size * m);
      add_block(h, states[g], layouts[g], number(states[g], begin + first), actions, parts[i]);
    });
    for (std::size_t i = 0; i < parts.size(); ++i) sums[i / blocks].add(parts[i]);
  }

  /// Draws of different states have different numbers.
  [[nodiscard]] std::uint64_t number(State s, std::uint64_t draw) const noexcept {
    return s.index() * samples_ + draw;
  }

  void add_block(Step h,
                 State s,
                 const SumsLayout& layout,
                 std::uint64_t first_number,
                 std::span<Action> actions,
                 Sums& sums) const {
    const std::size_t m = frame_.num_players();
    std::vector<double> rewards(m);
    for (std::size_t i = 0; i < actions.size() / m; ++i) {
      const std::span<Action> joint = actions.subspan(i * m, m);
      const Nature nature(seed_, Episode(first_number + i), h);
      // What was drawn is a reply of every player,
      const State after = setting_.game.sample(h, s, joint, nature, rewards);
      for (std::size_t j = 0; j < m; ++j) {
        sums.moments[layout.row(j, joint[j]) + joint[j].index()].add(
            next_[j].from_centre(rewards[j], after));
        sums.drawn[layout.actions[j] + joint[j].index()] += 1.0;
      }
      // and so is each other action of a player, while the others go on.
      for (std::size_t j = 0; j < m; ++j) {
        const Action drawn = joint[j];
        Moments* const row = sums.moments.data() + layout.row(j, drawn);
        for (std::size_t b = 0; b < layout.num_actions(j); ++b) {
          if (b == drawn.index()) continue;
          joint[j] = Action(b);
          const State other = setting_.game.sample(h, s, joint, nature, rewards);
          row[b].add(next_[j].from_centre(rewards[j], other));
        }
        joint[j] = drawn;
      }
    }
  }

  const SampledSetting& setting_;
  const Frame& frame_;
  const PlanLayout& layout_;
  std::uint64_t samples_;
  std::uint64_t seed_;
  double log_events_;
  std::vector<NextStep> next_;  // of each player
};

}  // namespace

double log_replies(Target target, std::size_t num_actions) noexcept {
  const auto n = static_cast<double>(num_actions);
  return (target == Target::ce ? n : 1.0) * log(n);
}

std::vector<FoundReplies> find_replies(const SampledSetting& setting,
                                       const PlanLayout& layout,
                                       std::uint64_t samples,
                                       std::uint64_t seed,
                                       double log_events) {
  return Sweep(setting, layout, samples, seed, log_events).run();
}

}  // namespace vlearn
