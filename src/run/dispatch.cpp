// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// From the name of a rule to its type: the only place that knows all of them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/bandit/exp3_ix.h"
#include "vlearn/bandit/ftrl.h"
#include "vlearn/bandit/ftrl_swap.h"
#include "vlearn/bandit/log_barrier.h"
#include "vlearn/bandit/rigorous.h"
#include "vlearn/bandit/tsallis.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"
#include "with_dummy.h"

namespace vlearn {
namespace {

/// What a trainer is made of.
struct Order {
  GameRef game;
  LearnerOptions options;
  std::uint64_t seed;
  std::shared_ptr<WithDummy> dummy;  // where `game` refers to it
};

template <BanditRule Rule>
class RuleTrainer final : public Trainer {
 public:
  RuleTrainer(const Order& order, const Rule& rule)
      : dummy_(order.dummy),
        play_(order.game, rule, order.options, order.seed),
        options_(order.options),
        gap_sums_(play_.frame().num_players(), 0.0) {
    const std::span<const double> initial = play_.frame().initial();
    for (std::size_t s = 0; s < initial.size(); ++s) {
      if (initial[s] > 0.0) starts_.push_back(s);
    }
  }

  void play_until(std::uint64_t episodes, const CancelToken& cancel) override {
    for (; episodes_ < episodes && !cancel.requested(); ++episodes_) {
      if (has_bounds(options_)) add_gaps();
      play_.play_episode(Episode(episodes_));
    }
  }
  [[nodiscard]] std::uint64_t episodes() const noexcept override { return episodes_; }
  [[nodiscard]] const Seat& seat(Player player) const noexcept override {
    return play_.seat(player);
  }
  [[nodiscard]] std::uint64_t visits(std::size_t cell) const noexcept override {
    return play_.visits(cell);
  }
  [[nodiscard]] std::span<const double> values(Player player) const noexcept override {
    return play_.table(player).values();
  }
  [[nodiscard]] std::span<const double> estimates(Player player) const noexcept override {
    return play_.table(player).estimates();
  }
  [[nodiscard]] std::span<const double> low_values(Player player) const noexcept override {
    return play_.table(player).low_values();
  }
  [[nodiscard]] std::span<const double> policy(Player player,
                                               std::size_t cell) const noexcept override {
    return play_.table(player).policy(cell);
  }
  [[nodiscard]] std::span<const double> markov_policy(Player player,
                                                      std::size_t cell) const noexcept override {
    return play_.markov_policy(player, cell);
  }
  [[nodiscard]] double at_start(std::span<const double> of_cells) const noexcept override {
    double sum = 0.0;
    if (play_.frame().start_known()) {
      for (const std::size_t s : starts_) sum += play_.frame().initial()[s] * of_cells[s];
      return sum;
    }
    for (std::size_t s = 0; s < play_.frame().num_states(Step()); ++s) {
      sum += static_cast<double>(play_.visits(s)) * of_cells[s];
    }
    return sum / static_cast<double>(std::max<std::uint64_t>(episodes_, 1));
  }
  [[nodiscard]] double earned(Player player) const noexcept override {
    return play_.earned()[player.index()];
  }
  [[nodiscard]] std::optional<double> gap_bound(Player player) const noexcept override {
    if (!has_bounds(options_) || episodes_ == 0 || episodes_ > options_.horizon_episodes ||
        !play_.frame().start_known()) {
      return std::nullopt;
    }
    if (options_.monotone) return duality_gap();
    if (options_.target != Target::nash && !options_.pessimistic) return std::nullopt;
    return gap_sums_[player.index()] / static_cast<double>(episodes_);
  }
  [[nodiscard]] std::uint64_t signature() const override {
    std::vector<std::uint64_t> parts = {episodes_};
    for (std::size_t i = 0; i < play_.seat().num_cells(); ++i) parts.push_back(play_.visits(i));
    for (const Player player : all<Player>(gap_sums_.size())) {
      const ValueTable<Rule>& table = play_.table(player);
      for (const std::span<const double> numbers :
           {table.values(), table.averages(), table.estimates(), table.low_values(),
            table.bank().memory()}) {
        parts.push_back(xxh3(std::as_bytes(numbers)));
      }
    }
    parts.push_back(xxh3(std::as_bytes(play_.earned())));
    return xxh3(std::as_bytes(std::span(parts)));
  }

 private:
  /// V_1 + V_2 - H at the start, of zero-sum games.
  [[nodiscard]] double duality_gap() const noexcept {
    return at_start(values(Player(0))) + at_start(values(Player(1))) -
           static_cast<double>(play_.frame().horizon());
  }
  void add_gaps() noexcept {
    for (const Player player : all<Player>(gap_sums_.size())) {
      double& sum = gap_sums_[player.index()];
      if (options_.target == Target::nash) {
        sum += duality_gap();
      } else if (options_.pessimistic) {
        sum += at_start(values(player)) - at_start(low_values(player));
      }
    }
  }

  std::shared_ptr<WithDummy> dummy_;  // play_ refers to it
  SelfPlay<Rule> play_;
  LearnerOptions options_;
  std::vector<std::size_t> starts_;  // first states that are possible
  std::vector<double> gap_sums_;
  std::uint64_t episodes_ = 0;
};

/// The rule with or without control variates, its steps made by the caller.
template <template <ControlVariate> class Rule, class... Steps>
std::unique_ptr<Trainer> build(const Order& order, const Steps&... steps) {
  const std::uint64_t horizon = order.game.frame().horizon();
  const auto trainer = [&](const auto& rule) -> std::unique_ptr<Trainer> {
    return std::make_unique<RuleTrainer<std::remove_cvref_t<decltype(rule)>>>(order, rule);
  };
  if (order.options.control_variate) return trainer(Rule<ControlVariate::on>(horizon, steps...));
  return trainer(Rule<ControlVariate::off>(horizon, steps...));
}

}  // namespace

std::unique_ptr<Trainer> make_trainer(GameRef game,
                                      const LearnerOptions& options,
                                      std::uint64_t seed) {
  if (const std::optional<std::string> flaw = flaw_of(options)) {
    throw Error(ErrorKind::usage, "learner", *flaw);
  }
  if (const std::optional<std::string> reason = why_not(game.frame(), options)) {
    throw Error(ErrorKind::usage, fmt::format("--target {}", name_of(options.target)), *reason);
  }
  Order order{game, options, seed, nullptr};
  if (options.monotone && game.frame().num_players() == 1) {
    order.dummy = std::make_shared<WithDummy>(game);
    order.game = GameRef(*order.dummy);
  }
  const double log_events =
      BonusSchedule(options, seat_of(order.game.frame(), Player(0))).log_events();
  switch (options.rule) {
    case RuleName::ftrl: return build<Ftrl>(order);
    case RuleName::ftrl_predictive: return build<Ftrl>(order, FtrlSteps{FtrlIndex::predictive});
    case RuleName::ftrl_rigorous:
      return build<FtrlRigorous>(order, RigorousSteps<Regret::external>{log_events});
    case RuleName::ftrl_swap: return build<FtrlSwap>(order);
    case RuleName::ftrl_swap_rigorous:
      return build<FtrlSwapRigorous>(order, RigorousSteps<Regret::swap>{log_events});
    case RuleName::exp3_ix: return build<Exp3Ix>(order);
    case RuleName::tsallis: return build<Tsallis>(order);
    case RuleName::log_barrier: return build<LogBarrier>(order);
  }
  throw Error(ErrorKind::internal, "rule", "has no type");
}

}  // namespace vlearn
