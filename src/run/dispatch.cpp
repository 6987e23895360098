// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Trainers and replayers whose rule is chosen at run time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "vlearn/agent/bonus.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/text.h"
#include "vlearn/run/data_certificate.h"
#include "vlearn/run/self_play.h"
#include "vlearn/run/trainer.h"
#include "vlearn/run/with_rule.h"
#include "with_dummy.h"

namespace vlearn {
namespace {

/// What a trainer is made of.
struct Order {
  GameRef game;
  LearnerOptions options;
  std::uint64_t seed;
  std::shared_ptr<WithDummy> dummy;  // where `game` refers to it
  double log_events = 0.0;
};

template <BanditRule Rule>
class RuleTrainer final : public Trainer {
 public:
  RuleTrainer(const Order& order, const Rule& rule)
      : dummy_(order.dummy),
        play_(order.game, rule, order.options, order.seed),
        options_(order.options),
        start_sums_(kSumsOfPlayer * play_.frame().num_players(), 0.0),
        mark_{0, std::vector<double>(play_.frame().num_players(), 0.0)},
        log_events_(order.log_events) {
    const std::span<const double> initial = play_.frame().initial();
    for (std::size_t s = 0; s < initial.size(); ++s) {
      if (initial[s] > 0.0) starts_.push_back(s);
    }
  }

  void play_until(std::uint64_t episodes, const CancelToken& cancel) override {
    for (; episodes_ < episodes && !cancel.requested(); ++episodes_) {
      const bool bounds = has_bounds(options_);
      if (bounds && play_.frame().start_known()) {
        add_start([this](std::span<const double> of_cells) { return at_start(of_cells); });
      }
      // Where nobody knows the law of the first state, it is known when it is seen.
      const bool waits = bounds && !play_.frame().start_known();
      if (watch_ || waits) {
        play_.play_episode(Episode(episodes_), [&](const JointVisit& visit) {
          // Nobody has learned from it yet.
          if (waits && visit.h == Step()) {
            add_start([&](std::span<const double> of_cells) { return of_cells[visit.cell]; });
          }
          if (watch_) show(visit);
        });
      } else {
        play_.play_episode(Episode(episodes_));
      }
      if (log_ && log_->full()) {
        hand_out(episodes_ + 1 - log_->episodes());
        log_->clear();
      }
    }
  }
  void watch(Watch watch) override { watch_ = std::move(watch); }
  void use(std::shared_ptr<Crew> crew) override { play_.use(std::move(crew)); }
  void keep_history(Sink sink) override {
    const std::vector<Seat> seats = this->seats();
    if (snapshot_size() > kMaxSnapshotNumbers) {
      throw Error(ErrorKind::resource, "history",
                  fmt::format("snapshots of a bandit with {} actions would have {} numbers, and {} "
                              "is the most",
                              seats.front().max_actions, snapshot_size(), kMaxSnapshotNumbers),
                  "train with --history none, or with another rule");
    }
    log_.emplace(seats, segment(), options_.control_variate);
    sink_ = std::move(sink);
    play_.keep_log(&*log_);
  }
  void hand_out_rest() override {
    if (log_ && log_->episodes() > 0) hand_out(episodes_ - log_->episodes());
  }
  [[nodiscard]] PolicyHeader policy_header(Player player) const override {
    const Seat& seat = play_.seat(player);
    PolicyHeader header;
    header.player = player;
    header.seat = seat;
    header.target = options_.target;
    header.rule = kRuleNames[static_cast<std::size_t>(options_.rule)];
    header.control_variate = options_.control_variate;
    header.rule_parameter = log_events_;
    header.weights = options_.output_weights.value_or(seat.horizon);
    header.taper = options_.output_taper;
    header.segment_episodes = segment();
    return header;
  }
  void save(ContainerWriter& writer) const override {
    writer.own("run.episodes", std::vector<std::uint64_t>{episodes_, mark_.episodes});
    writer.add("run.earned_at_mark", {mark_.earned.size()}, mark_.earned);
    writer.add("run.start_sums", {start_sums_.size()}, start_sums_);
    play_.save(writer);
    if (log_) log_->save(writer);
  }
  void load(ContainerArrays& arrays) override {
    std::vector<std::uint64_t> counts(2);
    arrays.take_parts<std::uint64_t>("run.episodes", {counts});
    if (counts[0] >= kMaxEpisodes || counts[1] > counts[0]) {
      throw detail::misfit(arrays, "run.episodes", "are impossible");
    }
    episodes_ = counts[0];
    mark_.episodes = counts[1];
    arrays.take_parts<double>("run.earned_at_mark", {mark_.earned});
    arrays.take_parts<double>("run.start_sums", {start_sums_});
    // Sums of what lies between 0 and H, one for each episode.
    const double most = to_double(episodes_) * static_cast<double>(play_.seat().horizon);
    bool fits = std::all_of(mark_.earned.begin(), mark_.earned.end(),
                            [&](double x) { return x >= 0.0 && x <= most; });
    for (const Player player : all_players()) fits = fits && sums_fit(player, most);
    if (!fits) throw detail::misfit(arrays, "run", "has sums that no episodes leave");
    play_.load(arrays, episodes_);
    if (!log_) return;
    log_->load(arrays, seats());
    if (log_->episodes() != episodes_ % segment()) {
      throw detail::misfit(arrays, "log.cells", "do not end with the last episode");
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
  [[nodiscard]] const Mark& mark() const noexcept override { return mark_; }
  void set_mark() override {
    mark_.episodes = episodes_;
    mark_.earned.assign(play_.earned().begin(), play_.earned().end());
  }
  [[nodiscard]] std::optional<StartMeans> start_means(Player player) const noexcept override {
    if (!are_bounds() || options_.monotone) return std::nullopt;
    const auto episodes = to_double(episodes_);
    const std::span<const double> sums = sums_of(player);
    StartMeans means{(sums[0] + sums[1]) / episodes};
    if (options_.pessimistic) means.lower = (sums[2] + sums[3]) / episodes;
    return means;
  }
  [[nodiscard]] std::optional<double> gap_bound(Player player) const noexcept override {
    if (options_.monotone) {
      if (!are_bounds() || !play_.frame().start_known()) return std::nullopt;
      return duality_gap();
    }
    const std::optional<StartMeans> own = start_means(player);
    if (!own) return std::nullopt;
    const double radius = start_radius(play_.frame(), options_, episodes_);
    const auto horizon = static_cast<double>(play_.frame().horizon());
    if (options_.target == Target::nash) {
      const std::optional<StartMeans> other = start_means(Player(1 - player.index()));
      return vlearn::duality_gap(*own, *other, radius, horizon);
    }
    if (!own->lower) return std::nullopt;
    return own_gap(*own, radius, horizon);
  }
  [[nodiscard]] std::uint64_t signature() const override {
    std::vector<std::uint64_t> parts = {episodes_};
    for (std::size_t i = 0; i < play_.seat().num_cells(); ++i) parts.push_back(play_.visits(i));
    for (const Player player : all_players()) {
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
  void show(const JointVisit& visit) {
    const Frame& frame = play_.frame();
    profile_.resize(frame.max_profile_size());
    const PlayerRows<double> rows(frame.action_begins(visit.h, visit.s), profile_);
    for (const Player player : all<Player>(frame.num_players())) {
      const std::span<const double> policy = play_.table(player).policy(visit.cell);
      std::copy(policy.begin(), policy.end(), rows[player].begin());
    }
    watch_(visit.h, visit.s, rows);
  }
  [[nodiscard]] std::vector<Seat> seats() const {
    std::vector<Seat> seats;
    for (const Player player : all_players()) seats.push_back(play_.seat(player));
    return seats;
  }
  /// Episodes of a segment.
  [[nodiscard]] std::uint64_t segment() const noexcept {
    const Seat& seat = play_.seat();
    const std::uint64_t per_visit =
        8 * snapshot_size() / play_.rule().snapshot_interval(seat.max_actions);
    return segment_episodes(seat.num_players, seat.horizon, per_visit);
  }
  /// Numbers of the largest snapshot.
  [[nodiscard]] std::uint64_t snapshot_size() const noexcept {
    const std::size_t n = play_.seat().max_actions;
    return play_.rule().memory_size(n) - play_.rule().forgettable(n);
  }
  void hand_out(std::uint64_t first_episode) {
    log_->sort();
    for (const Player player : all_players()) {
      sink_(player, log_->encode(player.index(), first_episode));
    }
  }

  /// V_1 + V_2 - H at the start, of zero-sum games.
  [[nodiscard]] double duality_gap() const noexcept {
    return at_start(values(Player(0))) + at_start(values(Player(1))) -
           static_cast<double>(play_.frame().horizon());
  }
  /// Whether V and V from below bound anything now.
  [[nodiscard]] bool are_bounds() const noexcept {
    return has_bounds(options_) && episodes_ > 0 && episodes_ <= options_.horizon_episodes;
  }
  /// Of V and of V from below, each with what its sum has lost (core/compensated.h).
  static constexpr std::size_t kSumsOfPlayer = 4;
  [[nodiscard]] std::span<const double> sums_of(Player player) const noexcept {
    return std::span(start_sums_).subspan(kSumsOfPlayer * player.index(), kSumsOfPlayer);
  }
  /// What an episode begins with, each player for itself. V from below is cut at V: where it is
  /// larger one of them bounds nothing, and what is cut lies between 0 and H for sure.
  template <class Begin>
  void add_start(const Begin& begin) noexcept {
    for (const Player player : all_players()) {
      double* const sums = start_sums_.data() + kSumsOfPlayer * player.index();
      const double upper = begin(values(player));
      add_compensated(sums[0], sums[1], upper);
      if (!options_.pessimistic) continue;
      add_compensated(sums[2], sums[3], std::min(begin(low_values(player)), upper));
    }
  }
  /// For those that come from outside.
  [[nodiscard]] bool sums_fit(Player player, double most) const noexcept {
    const std::span<const double> sums = sums_of(player);
    const double rounding = 1e-9 * most;
    return sums[0] >= 0.0 && sums[0] <= most + rounding && sums[2] >= 0.0 &&
           sums[2] <= sums[0] + rounding && std::abs(sums[1]) <= rounding &&
           std::abs(sums[3]) <= rounding;
  }
  [[nodiscard]] auto all_players() const noexcept {
    return all<Player>(play_.frame().num_players());
  }

  std::shared_ptr<WithDummy> dummy_;  // play_ refers to it
  SelfPlay<Rule> play_;
  LearnerOptions options_;
  std::vector<std::size_t> starts_;  // first states that are possible
  std::vector<double> start_sums_;   // kSumsOfPlayer of each player
  Mark mark_;
  std::uint64_t episodes_ = 0;
  double log_events_;
  std::optional<VisitLog> log_;
  Sink sink_;
  Watch watch_;
  std::vector<double> profile_;
};

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
  order.log_events = BonusSchedule(options, seat_of(order.game.frame(), Player(0))).log_events();
  const RuleChoice choice{options.rule, options.control_variate, game.frame().horizon(),
                          order.log_events};
  return with_rule(choice, [&](const auto& rule) -> std::unique_ptr<Trainer> {
    return std::make_unique<RuleTrainer<std::remove_cvref_t<decltype(rule)>>>(order, rule);
  });
}

std::unique_ptr<Replayer> make_replayer(const PolicyHeader& header) {
  const auto* const name = std::find(kRuleNames.begin(), kRuleNames.end(), header.rule);
  if (name == kRuleNames.end()) {
    throw Error(ErrorKind::input, "rule", "'" + printable(header.rule, 100) + "' is not known",
                "the file may be of a later version");
  }
  const auto rule_name = static_cast<RuleName>(name - kRuleNames.begin());
  if (needs_control_variate(rule_name) && !header.control_variate) {
    throw Error(ErrorKind::input, "control_variate", "is false, but the rule has them",
                "the file is damaged");
  }
  const RuleChoice choice{rule_name, header.control_variate, header.seat.horizon,
                          header.rule_parameter};
  return with_rule(choice, [](const auto& rule) -> std::unique_ptr<Replayer> {
    return std::make_unique<RuleReplayer<std::remove_cvref_t<decltype(rule)>>>(rule);
  });
}

}  // namespace vlearn
