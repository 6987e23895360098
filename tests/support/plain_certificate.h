// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Certificates from the definition of what is executed, by enumeration: draw k, at each (step,
// state) draw a visit i of those before k with probability alpha_t^i, play what was played there,
// and go on from the episode of that visit. Nothing is kept up from visit to visit, so this is slow
// and reads like the definition.
//
//   follow(h, s, k)   = sum_i alpha_t^i E_{a ~ pi^i} [r + follow(h + 1, ., k_i)]
//   deviate           the same for one who is told k, but not i, before choosing an action (for ce
//                     an answer to each own action)
//   earn              the same for one who plays a fixed plan
//
// The Markov output goes on with all visits at every step; marginals play the averages.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/hash.h"
#include "vlearn/game/any_game.h"
#include "vlearn/policy/history.h"

namespace vlearn::test {

class PlainCertifier {
 public:
  struct Choice {
    Target target = Target::cce;
    CertifiedOutput output = CertifiedOutput::nested;
    CertifiedStart start = CertifiedStart::last;
    std::uint64_t start_episode = 0;  ///< of best
  };
  using Plan = std::vector<std::uint32_t>;

  PlainCertifier(const AnyGame& game, std::span<const PolicyFile> files, const Choice& choice)
      : game_(game),
        frame_(frame_of(game)),
        files_(files),
        choice_(choice),
        alpha_(files.front().header().weights),
        tapered_(files.front().header().taper && choice.output != CertifiedOutput::nested) {}

  /// With a plan for each player; none, no lower bounds.
  [[nodiscard]] Certificate certificate(const std::vector<Plan>& plans) {
    const std::uint64_t episodes = files_.front().episodes();
    Certificate certificate;
    certificate.version = "test";
    certificate.game = "test";
    certificate.game_hash = to_hex(law_hash_of(game_));
    certificate.target = choice_.target;
    certificate.output = choice_.output;
    certificate.weights = alpha_.c();
    certificate.taper = tapered_;
    certificate.episodes = episodes;
    certificate.start = choice_.start;
    if (choice_.output == CertifiedOutput::nested) {
      if (choice_.start == CertifiedStart::last) certificate.start_episode = episodes + 1;
      if (choice_.start == CertifiedStart::best) {
        certificate.start_episode = choice_.start_episode;
      }
    }
    for (const Player player : all<Player>(frame_.num_players())) {
      const Plan* const plan = plans.empty() ? nullptr : &plans[player.index()];
      certificate.players.push_back(of_player(player, plan));
    }
    if (independent()) share_gap(certificate);
    add_totals(certificate);
    return certificate;
  }

 private:
  enum class Kind : std::uint8_t { follow, deviate, earn };
  [[nodiscard]] bool independent() const {
    return choice_.target == Target::nash && choice_.output == CertifiedOutput::nested;
  }
  [[nodiscard]] std::size_t cell(Step h, State s) const {
    return files_.front().header().seat.cell(h, s);
  }

  /// Tapered: j is drawn among t with c + 1, and then i among j with c.
  [[nodiscard]] double weight_of(std::uint64_t t, std::uint64_t i) const {
    if (!tapered_) return alpha_.weight(t, i);
    const AlphaWeights first(alpha_.c() + 1);
    double sum = 0.0;
    for (std::uint64_t j = i; j <= t; ++j) sum += first.weight(t, j) * alpha_.weight(j, i);
    return sum;
  }

  /// At the first step, averaged over where and when an execution begins.
  double at_start(Kind kind, Player player) {
    double sum = 0.0;
    const std::uint64_t all_episodes = files_.front().episodes();
    for (std::size_t s = 0; s < frame_.initial().size(); ++s) {
      const std::size_t n = frame_.num_actions(player, Step(0), State(s));
      std::vector<double> answers;
      double value = 0.0;
      std::uint64_t first = all_episodes;
      std::uint64_t last = all_episodes;
      if (choice_.output == CertifiedOutput::nested) {
        if (choice_.start == CertifiedStart::best) first = last = choice_.start_episode - 1;
        if (choice_.start == CertifiedStart::uniform) {
          first = 0;
          last = all_episodes - 1;
        }
      }
      const double weight = 1.0 / static_cast<double>(last - first + 1);
      for (std::uint64_t k = first; k <= last; ++k) {
        // k is not known to a deviator either.
        const std::vector<double> at_k = answers_at(kind, player, Step(0), State(s), k);
        answers.resize(at_k.size(), 0.0);
        for (std::size_t i = 0; i < at_k.size(); ++i) answers[i] += weight * at_k[i];
      }
      value = worth_of(kind, answers, n);
      sum += frame_.initial()[s] * value;
    }
    return sum;
  }

  /// Of a row of answers, or one for each recommended action; of other kinds there is one number.
  static double worth_of(Kind kind, const std::vector<double>& answers, std::size_t n) {
    if (kind != Kind::deviate) return answers.front();
    double sum = 0.0;
    for (std::size_t i = 0; i < answers.size(); i += n) {
      sum += *std::max_element(answers.begin() + static_cast<std::ptrdiff_t>(i),
                               answers.begin() + static_cast<std::ptrdiff_t>(i + n));
    }
    return sum;
  }

  double value(Kind kind, Player player, Step h, State s, std::uint64_t k) {
    // Depends on k through the visits before it only.
    const std::uint64_t t = files_.front().visits_before(cell(h, s), k);
    const auto key = std::tuple(static_cast<int>(kind), player.index(), cell(h, s), t);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const double worth =
        worth_of(kind, answers_at(kind, player, h, s, k), frame_.num_actions(player, h, s));
    known_[key] = worth;
    return worth;
  }

  std::vector<double> answers_at(Kind kind, Player player, Step h, State s, std::uint64_t k) {
    const std::size_t at = cell(h, s);
    const std::uint64_t t = files_.front().visits_before(at, k);
    const bool nested = choice_.output == CertifiedOutput::nested;
    const bool marginals =
        choice_.output == CertifiedOutput::marginals || (!nested && choice_.target == Target::nash);
    std::vector<double> sum;
    std::vector<double> average(frame_.action_begins(h, s).back(), 0.0);
    for (std::uint64_t i = 1; i <= t; ++i) {
      const std::vector<double> profile = profile_of(h, s, i);
      const double weight = weight_of(t, i);
      if (marginals) {
        for (std::size_t b = 0; b < average.size(); ++b) average[b] += weight * profile[b];
        continue;
      }
      const std::uint64_t after = nested ? files_.front().episode_of(at, i) : k;
      add(kind, player, {h, s, Profile(frame_.action_begins(h, s), profile)}, after, weight, sum);
    }
    if (t == 0) {
      average.clear();
      for (const Player j : all<Player>(frame_.num_players())) {
        const std::size_t n = frame_.num_actions(j, h, s);
        average.insert(average.end(), n, 1.0 / static_cast<double>(n));
      }
    }
    if (t == 0 || marginals) {
      const std::uint64_t after = t == 0 && nested ? 0 : k;  // unvisited: uniform to the end
      add(kind, player, {h, s, Profile(frame_.action_begins(h, s), average)}, after, 1.0, sum);
    }
    return sum;
  }

  /// weight times what a profile makes of all answers.
  void add(Kind kind,
           Player player,
           const Stage& stage,
           std::uint64_t after,
           double weight,
           std::vector<double>& sum) {
    std::vector<double> next;
    if (!frame_.is_last(stage.h)) {
      for (const State s : all<State>(frame_.num_states(stage.h.next()))) {
        next.push_back(value(kind, player, stage.h.next(), s, after));
      }
    }
    const std::span<const double> policy = stage.profile[player];
    const std::size_t n = policy.size();
    std::vector<double> q(n);
    Workspace workspace;
    std::visit([&](const auto& model) { model.backup(stage, player, next, q, workspace); }, game_);
    const bool swap = choice_.target == Target::ce;
    sum.resize(kind != Kind::deviate ? 1 : swap ? n * n : n, 0.0);
    for (std::size_t b = 0; b < n; ++b) {
      switch (kind) {
        case Kind::follow: sum[0] += weight * policy[b] * q[b]; break;
        case Kind::earn: {
          const std::size_t at = cell(stage.h, stage.s);
          if (swap) {
            sum[0] += weight * policy[b] * q[(*plan_)[first_answer(player, at) + b]];
          } else if (b == (*plan_)[at]) {
            sum[0] += weight * q[b];
          }
          break;
        }
        case Kind::deviate:
          if (!swap) sum[b] += weight * q[b];
          for (std::size_t other = 0; swap && other < n; ++other) {
            sum[b * n + other] += weight * policy[b] * q[other];
          }
      }
    }
  }

  [[nodiscard]] std::size_t first_answer(Player player, std::size_t at) const {
    const std::vector<std::uint32_t>& actions = files_[player.index()].header().seat.num_actions;
    std::size_t first = 0;
    for (std::size_t i = 0; i < at; ++i) first += actions[i];
    return first;
  }

  std::vector<double> profile_of(Step h, State s, std::uint64_t visit) {
    std::vector<double> profile;
    for (const PolicyFile& file : files_) {
      std::vector<double> policy(frame_.num_actions(file.header().player, h, s));
      file.policy(cell(h, s), visit, policy, memory_);
      profile.insert(profile.end(), policy.begin(), policy.end());
    }
    return profile;
  }

  PlayerCertificate of_player(Player player, const Plan* plan) {
    const auto horizon = static_cast<double>(frame_.horizon());
    const RewardRange& range = frame_.range(player);
    const auto in_units = [&](double unit) { return range.from_unit(unit, horizon); };
    PlayerCertificate own;
    own.name = "player " + std::to_string(player.number());
    own.rounding = 1e-11 * horizon * (range.high - range.low);
    own.deviation_upper = in_units(at_start(Kind::deviate, player));
    if (plan != nullptr) {
      known_.clear();
      plan_ = plan;
      own.witness = *plan;
      own.deviation_lower = in_units(at_start(Kind::earn, player));
    }
    if (choice_.output != CertifiedOutput::nested || choice_.target == Target::optimal) {
      if (plan == nullptr) own.deviation_lower = own.deviation_upper;
    }
    if (independent()) {
      const Player other(1 - player.index());
      own.value_lower = in_units(horizon - at_start(Kind::deviate, other));
      own.value_upper = own.deviation_upper;
    } else {
      own.value_lower = own.value_upper = in_units(at_start(Kind::follow, player));
    }
    own.gap_upper = own.deviation_upper - own.value_lower + 2.0 * own.rounding;
    if (own.deviation_lower) {
      own.gap_lower = *own.deviation_lower - own.value_upper - 2.0 * own.rounding;
    }
    return own;
  }

  /// Of players who draw independently the gaps are known together only.
  static void share_gap(Certificate& certificate) {
    PlayerCertificate& first = certificate.players[0];
    PlayerCertificate& second = certificate.players[1];
    certificate.sum_upper = std::max(first.gap_upper, second.gap_upper);
    if (first.deviation_lower && second.deviation_lower) {
      // What the second can have is worth so much less to the first.
      const double constant = second.deviation_upper + first.value_lower;
      certificate.sum_lower =
          *first.deviation_lower + *second.deviation_lower - constant - 2.0 * first.rounding;
      certificate.gap_lower = 0.5 * *certificate.sum_lower;
    }
  }

  void add_totals(Certificate& certificate) const {
    certificate.gap_upper = certificate.players.front().gap_upper;
    for (const PlayerCertificate& own : certificate.players) {
      certificate.gap_upper = std::max(certificate.gap_upper, own.gap_upper);
    }
    if (independent()) return;
    bool lower = true;
    for (const PlayerCertificate& own : certificate.players) {
      certificate.sum_upper += own.gap_upper;
      lower = lower && own.gap_lower;
    }
    if (!lower) return;
    certificate.gap_lower = *certificate.players.front().gap_lower;
    certificate.sum_lower = 0.0;
    for (const PlayerCertificate& own : certificate.players) {
      certificate.gap_lower = std::max(*certificate.gap_lower, *own.gap_lower);
      *certificate.sum_lower += *own.gap_lower;
    }
  }

  const AnyGame& game_;
  const Frame& frame_;
  std::span<const PolicyFile> files_;
  Choice choice_;
  AlphaWeights alpha_;
  bool tapered_;
  const Plan* plan_ = nullptr;
  std::map<std::tuple<int, std::size_t, std::size_t, std::uint64_t>, double> known_;
  ReplayMemory memory_;
};

}  // namespace vlearn::test
