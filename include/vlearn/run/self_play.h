// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// All players of a game learn in one process, each with tables of its own and nothing else (the
// paper's Algorithm 1, run by all at once). Seed and options determine every bit of what is
// learned.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vlearn/agent/options.h"
#include "vlearn/agent/visit_clock.h"
#include "vlearn/agent/vlearner.h"
#include "vlearn/core/container.h"
#include "vlearn/core/crew.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/game_ref.h"
#include "vlearn/policy/history.h"
#include "vlearn/policy/replay.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

/// What a player may know of a game before it begins.
[[nodiscard]] Seat seat_of(const Frame& frame, Player player);

/// A policy for some of the cells.
class PolicyTable {
 public:
  explicit PolicyTable(const Seat& seat) : has_(seat.num_cells(), 0) {
    for (const std::uint32_t n : seat.num_actions) begins_.push_back(begins_.back() + n);
    policies_.resize(begins_.back());
  }
  [[nodiscard]] bool has(std::size_t cell) const noexcept { return has_[cell] != 0; }
  [[nodiscard]] std::span<const double> policy(std::size_t cell) const noexcept {
    return std::span(policies_).subspan(begins_[cell], begins_[cell + 1] - begins_[cell]);
  }
  void put(std::size_t cell, std::span<const double> policy) noexcept {
    std::copy(policy.begin(), policy.end(), policies_.data() + begins_[cell]);
    has_[cell] = 1;
  }
  // What a checkpoint keeps, and puts back.
  [[nodiscard]] std::span<double> policies() noexcept { return policies_; }
  [[nodiscard]] std::span<const double> policies() const noexcept { return policies_; }
  [[nodiscard]] std::span<std::uint8_t> marks() noexcept { return has_; }
  [[nodiscard]] std::span<const std::uint8_t> marks() const noexcept { return has_; }

 private:
  std::vector<std::size_t> begins_ = {0};
  std::vector<double> policies_;
  std::vector<std::uint8_t> has_;
};

/// One visit of all players, played and not yet learned from.
struct JointVisit {
  Episode k;
  Step h;
  State s;
  State next;        ///< means nothing after the last step
  std::size_t cell;  ///< of (h, s), as Seat numbers them
  std::span<const Action> joint;
  std::span<const double> rewards;
};

/// For play_episode() where nobody watches.
struct Unwatched {
  void operator()(const JointVisit& /*visit*/) const noexcept {}
};

template <BanditRule Rule>
class SelfPlay {
 public:
  SelfPlay(GameRef game, const Rule& rule, const LearnerOptions& options, std::uint64_t seed);

  /// One episode. `watch` gets every visit before the players learn from it, so their policies at
  /// its cell are those that were played. Other cells of this episode may or may not have been
  /// learned from.
  template <class Watch = Unwatched>
  void play_episode(Episode k, Watch&& watch = {});

  /// Who plays for the players where they are many; null: the caller for all.
  void use(std::shared_ptr<Crew> crew) noexcept { crew_ = std::move(crew); }

  /// From now on every visit goes into the log too, which must outlive the play. Null ends it.
  void keep_log(VisitLog* log);

  /// Everything that changes, for a checkpoint. The play must live on, unchanged, until the file is
  /// written.
  void save(ContainerWriter& writer) const;
  /// Goes on from there, after so many episodes; the log, where one is kept, is the caller's to
  /// load. Throws Error (input) for arrays that this play cannot have left.
  void load(ContainerArrays& arrays, std::uint64_t episodes);

  [[nodiscard]] const Frame& frame() const noexcept { return game_.frame(); }
  [[nodiscard]] const Rule& rule() const noexcept { return tables_.front().bank().rule(); }
  /// Cells are alike for all players.
  [[nodiscard]] const Seat& seat(Player player = {}) const noexcept {
    return seats_[clock_of_[player.index()]];
  }
  [[nodiscard]] const ValueTable<Rule>& table(Player player) const noexcept {
    return tables_[player.index()];
  }
  [[nodiscard]] std::uint64_t visits(std::size_t cell) const noexcept {
    return clocks_.front().visits(cell);
  }
  /// What each player has earned in all episodes, in units of [0, 1] rewards.
  [[nodiscard]] std::span<const double> earned() const noexcept { return earned_; }
  /// The Markov policy of monotonic V-learning.
  [[nodiscard]] std::span<const double> markov_policy(Player player,
                                                      std::size_t cell) const noexcept {
    const PolicyTable& kept = outputs_[player.index()];
    // Where the other's value has never fallen, any policy will do.
    return kept.has(cell) ? kept.policy(cell) : table(player).mean_policy(cell);
  }

 private:
  /// A step that was taken and is still to be learned from, and then what was learned.
  struct Taken {
    Step h;
    std::size_t cell = 0;
    std::size_t next_cell = 0;
    std::vector<Action> joint;
    std::vector<double> rewards;
    std::vector<Learned> learned;
  };
  void learn(std::span<Taken> steps);
  /// work(begin, end) for parts of all players, who have nothing in common.
  template <class Work>
  void for_players(const Work& work) {
    if (crew_ == nullptr) return work(0, tables_.size());
    crew_->run(tables_.size(), [&](const Crew::Share& part) { work(part.begin, part.end); });
  }
  /// How many steps of an episode are learned from at once. Two make more visits that a rule can
  /// take together; what a value fell by is looked at step by step.
  [[nodiscard]] std::size_t steps_at_once() const noexcept {
    const bool two = ValueTable<Rule>::kTogether && outputs_.empty() && rule().scratch_size(1) == 0;
    return two ? 2 : 1;
  }
  /// Of ValueTable::state(), in a checkpoint.
  static constexpr std::array<const char*, 3> kStateNames = {"play.numbers", "play.bandits",
                                                             "play.mean_policies"};
  void log_visits(const Taken& taken);
  [[nodiscard]] std::uint64_t interval(std::size_t kind, std::size_t cell) const noexcept {
    return rule().snapshot_interval(seats_[kind].num_actions[cell]);
  }
  /// Tables of thousands of players lie far apart in memory: those of players to come are asked for
  /// while others learn.
  static constexpr std::size_t kFarAhead = 8;
  /// Where the draws of a step lie ahead: nature's first, then each player's.
  [[nodiscard]] std::size_t draw_of(Step h) const noexcept {
    return h.index() * (tables_.size() + 1);
  }
  /// V_1 bounds what player 1 can gain against player 2's average policy, and the other way round:
  /// when a value has fallen, the other's average is the one that counts.
  void keep_outputs(const Taken& taken) noexcept {
    for (std::size_t j = 0; j < 2; ++j) {
      if (!taken.learned[1 - j].value_fell) continue;
      outputs_[j].put(taken.cell, tables_[j].mean_policy(taken.cell));
    }
  }

  GameRef game_;
  std::uint64_t seed_;
  std::vector<Seat> seats_;               // the different ones
  std::vector<VisitClock<Rule>> clocks_;  // of each seat
  std::vector<std::uint32_t> clock_of_;   // of each player
  std::vector<ValueTable<Rule>> tables_;  // of each player
  DrawsAhead ahead_;
  std::array<Taken, 4> taken_;  // those of step h at h mod 4
  std::vector<double> earned_;
  VisitLog* log_ = nullptr;
  std::shared_ptr<Crew> crew_;
  std::vector<std::vector<std::uint64_t>> next_snapshot_;  // of each seat and cell: the visit
  // Of monotonic V-learning:
  std::vector<PolicyTable> outputs_;
};

namespace detail {
/// Error (input) for an array of a checkpoint.
[[nodiscard]] Error misfit(const ContainerArrays& arrays, const char* array, const char* problem);

/// Nature's and every player's keys of one episode, step by step.
[[nodiscard]] std::vector<StreamKey> episode_keys(std::size_t num_players, std::size_t horizon);
}  // namespace detail

template <BanditRule Rule>
SelfPlay<Rule>::SelfPlay(GameRef game,
                         const Rule& rule,
                         const LearnerOptions& options,
                         std::uint64_t seed)
    : game_(game),
      seed_(seed),
      ahead_(seed, detail::episode_keys(frame().num_players(), frame().horizon())),
      earned_(frame().num_players(), 0.0) {
  if (options.monotone && frame().num_players() != 2) {
    throw Error(ErrorKind::usage, "monotone", "is for two players; of one, add a dummy");
  }
  for (Taken& taken : taken_) {
    taken.joint.resize(frame().num_players());
    taken.rewards.resize(frame().num_players());
    taken.learned.resize(frame().num_players());
  }
  for (const Player player : all<Player>(frame().num_players())) {
    Seat seat = seat_of(frame(), player);
    std::size_t kind = 0;
    while (kind < seats_.size() && seats_[kind].num_actions != seat.num_actions) ++kind;
    const BonusSchedule bonus(options, seat);
    tables_.emplace_back(rule, options, bonus, seat, player);
    clock_of_.push_back(static_cast<std::uint32_t>(kind));
    if (options.monotone) outputs_.emplace_back(seat);
    if (kind < seats_.size()) continue;
    clocks_.emplace_back(rule, bonus, seat, options.action_draws);
    seats_.push_back(std::move(seat));
  }
}

template <BanditRule Rule>
template <class Watch>
void SelfPlay<Rule>::play_episode(Episode k, Watch&& watch) {
  const Seat& seat = seats_.front();
  const std::size_t at_once = steps_at_once();
  const auto learn_before = [&](std::size_t h, std::size_t count) {
    learn(std::span(taken_).subspan((h - count) % taken_.size(), count));
  };
  ahead_.fill(k);
  State s = game_.start(Nature(seed_, k, Step()));  // 3: receive s_1
  for (const Step h : all<Step>(seat.horizon)) {    // 4
    Taken& now = taken_[h.index() % taken_.size()];
    now.h = h;
    now.cell = seat.cell(h, s);
    // 5: take actions, observe rewards and the next state
    const std::size_t draw = draw_of(h);
    for_players([&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        if (j + kFarAhead < end) tables_[j + kFarAhead].fetch(now.cell);
        const VisitPlan& plan = clocks_[clock_of_[j]].plan(now.cell);
        now.joint[j] = tables_[j].act(now.cell, plan, ahead_.uniform(draw + 1 + j));
      }
    });
    const PhiloxBlock transition = ahead_.block(draw);
    const Nature nature(seed_, k, h, transition);
    const State next = game_.sample(h, s, now.joint, nature, now.rewards);
    watch(JointVisit{k, h, s, next, now.cell, now.joint, now.rewards});
    // Learning is a step or more behind: it needs no more of this step than its state, so that it
    // fills the time in which memory answers where the game goes next.
    if (h.index() > 0 && h.index() % at_once == 0) learn_before(h.index(), at_once);
    const bool last = h.index() + 1 == seat.horizon;
    now.next_cell = last ? seat.num_cells() : seat.cell(h.next(), next);
    s = next;
  }
  learn_before(seat.horizon, (seat.horizon - 1) % at_once + 1);
}

/// Lines 6 to 9, each player for itself. A visit needs V of the next step as it was before the
/// visit there, and nothing else that one step changes and another reads.
template <BanditRule Rule>
void SelfPlay<Rule>::learn(std::span<Taken> steps) {
  for_players([&](std::size_t begin, std::size_t end) {
    typename ValueTable<Rule>::Batch batch;
    for (Taken& taken : steps) {
      for (std::size_t j = begin; j < end; ++j) {
        if (j + kFarAhead < end) tables_[j + kFarAhead].fetch(taken.cell);
        batch.add(tables_[j], clocks_[clock_of_[j]].plan(taken.cell),
                  {taken.h, taken.cell, taken.joint[j], taken.rewards[j], taken.next_cell},
                  taken.learned[j]);
        earned_[j] += taken.rewards[j];
      }
    }
    batch.finish();
  });
  for (const Taken& taken : steps) {
    const std::size_t cell = taken.cell;
    if (!outputs_.empty()) keep_outputs(taken);
    if (log_ != nullptr) log_visits(taken);
    for (std::size_t kind = 0; kind < clocks_.size(); ++kind) {
      if (log_ != nullptr && clocks_[kind].plan(cell).visit == next_snapshot_[kind][cell]) {
        next_snapshot_[kind][cell] += interval(kind, cell);
      }
      clocks_[kind].advance(taken.h, cell);
    }
  }
}

template <BanditRule Rule>
void SelfPlay<Rule>::keep_log(VisitLog* log) {
  log_ = log;
  next_snapshot_.assign(clocks_.size(), {});
  for (std::size_t kind = 0; kind < clocks_.size(); ++kind) {
    for (std::size_t cell = 0; cell < seats_[kind].num_cells(); ++cell) {
      const std::uint64_t every = interval(kind, cell);
      next_snapshot_[kind].push_back((clocks_[kind].visits(cell) / every + 1) * every);
    }
  }
}

template <BanditRule Rule>
void SelfPlay<Rule>::save(ContainerWriter& writer) const {
  std::vector<std::uint64_t> visits;
  for (std::size_t i = 0; i < seat().num_cells(); ++i) visits.push_back(this->visits(i));
  writer.own("play.visits", std::move(visits));
  std::vector<double> sums;
  for (const VisitClock<Rule>& clock : clocks_) {
    for (const VisitSums& sum : clock.sums()) {
      sums.insert(sums.end(), {sum.inverse_roots, sum.squares});
    }
  }
  writer.own("play.sums", std::move(sums));
  for (std::size_t part = 0; part < kStateNames.size(); ++part) {
    std::vector<std::span<const double>> parts;
    parts.reserve(tables_.size());
    for (const ValueTable<Rule>& table : tables_) parts.push_back(table.state()[part]);
    writer.add_parts(kStateNames[part], parts);
  }
  std::vector<std::span<const double>> policies;
  std::vector<std::span<const std::uint8_t>> marks;
  for (const PolicyTable& output : outputs_) {
    policies.push_back(output.policies());
    marks.push_back(output.marks());
  }
  writer.add_parts("play.outputs", policies).add_parts("play.output_marks", marks);
  writer.add("play.earned", {earned_.size()}, earned_);
}

template <BanditRule Rule>
void SelfPlay<Rule>::load(ContainerArrays& arrays, std::uint64_t episodes) {
  std::vector<std::uint64_t> visits(seat().num_cells());
  arrays.take_parts<std::uint64_t>("play.visits", {visits});
  for (std::size_t h = 0; h < seat().horizon; ++h) {
    std::uint64_t left = episodes;  // each has one visit at every step
    for (std::size_t i = seat().first_cell[h]; i < seat().first_cell[h + 1]; ++i) {
      if (visits[i] > left) throw detail::misfit(arrays, "play.visits", "are too many");
      left -= visits[i];
    }
    if (left != 0) throw detail::misfit(arrays, "play.visits", "are too few");
  }
  std::vector<double> flat;
  for (const VisitClock<Rule>& clock : clocks_) flat.resize(flat.size() + 2 * clock.sums().size());
  arrays.take_parts<double>("play.sums", {flat});
  std::span<const double> rest = flat;
  for (VisitClock<Rule>& clock : clocks_) {
    std::vector<VisitSums> own(clock.sums().size());
    for (VisitSums& sum : own) {
      sum = {rest[0], rest[1]};
      if (!(sum.inverse_roots >= 0.0 && sum.inverse_roots <= 2.0 && sum.squares >= 0.0 &&
            sum.squares <= 2.0)) {
        throw detail::misfit(arrays, "play.sums", "are not those of any visits");
      }
      rest = rest.subspan(2);
    }
    clock.restore(visits, own);
  }
  for (std::size_t part = 0; part < kStateNames.size(); ++part) {
    std::vector<std::span<double>> parts;
    parts.reserve(tables_.size());
    for (ValueTable<Rule>& table : tables_) parts.push_back(table.state()[part]);
    arrays.take_parts<double>(kStateNames[part], parts);
  }
  std::vector<std::span<double>> policies;
  std::vector<std::span<std::uint8_t>> marks;
  for (PolicyTable& output : outputs_) {
    policies.push_back(output.policies());
    marks.push_back(output.marks());
  }
  arrays.take_parts<double>("play.outputs", policies);
  arrays.take_parts<std::uint8_t>("play.output_marks", marks);
  arrays.take_parts<double>("play.earned", {earned_});
  for (std::size_t j = 0; j < tables_.size(); ++j) {
    if (!tables_[j].sound(seats_[clock_of_[j]])) {
      throw detail::misfit(arrays, "play", "is a state that no play leaves");
    }
  }
  const auto is_earned = [&](double x) {
    return x >= 0.0 && x <= static_cast<double>(episodes) * static_cast<double>(seat().horizon);
  };
  if (!std::all_of(earned_.begin(), earned_.end(), is_earned)) {
    throw detail::misfit(arrays, "play.earned", "is nothing that can be earned");
  }
  for (const std::span<double> row : policies) {
    if (!std::all_of(row.begin(), row.end(), [](double p) { return p >= 0.0 && p <= 1.0; })) {
      throw detail::misfit(arrays, "play.outputs", "are no policies");
    }
  }
  if (log_ != nullptr) keep_log(log_);
}

template <BanditRule Rule>
void SelfPlay<Rule>::log_visits(const Taken& taken) {
  log_->begin_visit(taken.cell);
  for_players([&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      log_->add(j, {taken.joint[j], taken.learned[j].increment});
      const std::size_t kind = clock_of_[j];
      if (clocks_[kind].plan(taken.cell).visit != next_snapshot_[kind][taken.cell]) continue;
      const std::span<const double> state = tables_[j].bank().state(taken.cell);
      const std::size_t forgettable = rule().forgettable(seats_[kind].num_actions[taken.cell]);
      log_->add_snapshot(j, state.subspan(forgettable));
    }
  });
}

}  // namespace vlearn
