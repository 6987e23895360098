// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The recursions of derive.h, for either kind of numbers.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "derive.h"
#include "law.h"
#include "numbers.h"
#include "replay.h"

namespace vlearn {

template <class Num>
class Derivation {
 public:
  using Mean = typename Numbers<Num>::Mean;

  explicit Derivation(const DeriveTask& task)
      : task_(task),
        frame_(frame_of(*task.game)),
        law_(law_of<Num>(*task.game)),
        players_(frame_.num_players()) {
    for (const Step h : all<Step>(frame_.horizon())) {
      for (const State s : all<State>(frame_.num_states(h))) places_.push_back({h, s});
      first_cell_.push_back(places_.size());
    }
    visits_.resize(places_.size(), 0);
    for (const Player player : all<Player>(players_.size())) {
      PlayerTables& own = players_[player.index()];
      for (const auto& [h, s] : places_) {
        const std::size_t n = frame_.num_actions(player, h, s);
        own.answers_begin.push_back(own.answers_begin.back() + (swap() ? n * n : n));
        own.actions_begin.push_back(own.actions_begin.back() + n);
      }
      own.answers.resize(own.answers_begin.back());
      for (Worth* const worth : {&own.follow, &own.earned}) {
        worth->means.resize(places_.size());
        worth->values.resize(places_.size());
      }
      own.deviate.resize(places_.size());
    }
  }

  std::vector<Derived> run() {
    play_uniformly();
    std::vector<Interval> optimum;
    for (const Player player : all<Player>(players_.size())) {
      const PlayerTables& own = players_[player.index()];
      optimum.push_back(at_start([&](std::size_t s) -> const Num& { return own.deviate[s]; }));
    }
    if (task_.output == CertifiedOutput::nested) {
      visit_in_order_of_play();
    } else if (task_.output == CertifiedOutput::table) {
      take_tables();
    } else {
      visit_cell_by_cell();
    }
    std::vector<Derived> derived;
    for (const Player player : all<Player>(players_.size())) {
      derived.push_back(result(player));
      derived.back().optimum = optimum[player.index()];
    }
    return derived;
  }

 private:
  struct Place {
    Step h;
    State s;
  };
  /// A value of each cell, and the mean that it is.
  struct Worth {
    std::vector<Mean> means;
    std::vector<Num> values;
  };
  /// Means over the episodes that an execution may begin with.
  struct StartMeans {
    std::uint64_t episodes = 0;  // that are in the means
    Mean follow;
    Mean earned;
    std::vector<Mean> answers;
  };
  struct PlayerTables {
    Worth follow;
    Worth earned;
    std::vector<Num> deviate;   // W
    std::vector<Mean> answers;  // Q or C
    std::vector<std::size_t> answers_begin = {0};
    std::vector<std::size_t> actions_begin = {0};
    std::vector<StartMeans> starts;  // of each first state, where the start is uniform
  };
  struct Memory {
    std::vector<Num> policies;
    std::vector<Num> q;
    std::vector<std::span<const Num>> next;
    LawMemory<Num> law;
  };

  [[nodiscard]] bool swap() const { return task_.target == Target::ce; }
  [[nodiscard]] bool averages_start() const {
    return task_.output == CertifiedOutput::nested && !task_.start_episode;
  }
  /// Visits of episodes below it count.
  [[nodiscard]] std::uint64_t end() const {
    return task_.start_episode ? *task_.start_episode - 1 : task_.logs.front().episodes();
  }
  /// Players who draw their indices independently have no joint value that is cheap to compute.
  [[nodiscard]] bool follows() const {
    return task_.target != Target::nash || task_.output != CertifiedOutput::nested;
  }
  [[nodiscard]] std::span<const std::uint32_t> witness(std::size_t j) const {
    return task_.witnesses.empty() ? std::span<const std::uint32_t>() : task_.witnesses[j];
  }
  [[nodiscard]] std::span<const Num> next(const std::vector<Num>& values, Step h) const {
    if (frame_.is_last(h)) return {};
    const std::size_t begin = first_cell_[h.index() + 1];
    return std::span(values).subspan(begin, first_cell_[h.index() + 2] - begin);
  }

  /// W of a row of means, or of a table with a row for each recommended action.
  [[nodiscard]] Num best_of(std::span<const Mean> answers, std::size_t n) const {
    Num total = Numbers<Num>::of(0.0);
    for (std::size_t begin = 0; begin < answers.size(); begin += n) {
      Num best = answers[begin].value();
      for (std::size_t b = 1; b < n; ++b) best = larger(best, answers[begin + b].value());
      total += best;
    }
    return total;
  }
  [[nodiscard]] std::span<Mean> answers_of(PlayerTables& own, std::size_t cell) const {
    const std::size_t begin = own.answers_begin[cell];
    return std::span(own.answers).subspan(begin, own.answers_begin[cell + 1] - begin);
  }

  /// Players whose tables are kept up together: one, or all where that saves work.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] std::vector<Group> groups() const {
    if (law_->shares_work()) return {{0, players_.size()}};
    std::vector<Group> single;
    for (std::size_t j = 0; j < players_.size(); ++j) single.push_back({j, j + 1});
    return single;
  }

  /// memory.q[player][b] of what `values` has for the next step.
  template <class Values>
  void ask(const Group& group, std::size_t cell, const Values& values, Memory& memory) const {
    const auto& [h, s] = places_[cell];
    const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
    memory.q.resize(begins.back());
    const PlayerRows<Num> q(begins, memory.q);
    const PlayedStage<Num> stage{h, s, PlayerRows<const Num>(begins, memory.policies)};
    if (group.end - group.begin < players_.size() || players_.size() == 1) {
      for (std::size_t j = group.begin; j < group.end; ++j) {
        law_->backup(stage, Player(j), next(values(players_[j]), h), q[Player(j)], memory.law);
      }
      return;
    }
    memory.next.clear();
    for (const PlayerTables& own : players_) memory.next.push_back(next(values(own), h));
    law_->backup_all(stage, memory.next, q, memory.law);
  }

  /// A visit of the cell that played memory.policies and counts part/whole from now on.
  void average(const Group& group,
               std::size_t cell,
               std::uint64_t part,
               std::uint64_t whole,
               Memory& memory) {
    const auto& [h, s] = places_[cell];
    const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
    const PlayerRows<const Num> policies(begins, memory.policies);
    const auto keep = [&](Worth& worth, const Num& value) {
      worth.means[cell].move(value, part, whole);
      worth.values[cell] = worth.means[cell].value();
    };
    // update(tables, policy, q of each own action) for each player of the group.
    const auto for_each = [&](const auto& update) {
      const PlayerRows<const Num> q(begins, memory.q);
      for (std::size_t j = group.begin; j < group.end; ++j) {
        update(players_[j], policies[Player(j)], q[Player(j)]);
      }
    };
    if (follows()) {
      ask(
          group, cell, [](const PlayerTables& own) -> const auto& { return own.follow.values; },
          memory);
      for_each([&](PlayerTables& own, std::span<const Num> policy, std::span<const Num> q) {
        Num value = policy[0] * q[0];
        for (std::size_t b = 1; b < q.size(); ++b) value += policy[b] * q[b];
        keep(own.follow, value);
      });
    }
    ask(
        group, cell, [](const PlayerTables& own) -> const auto& { return own.deviate; }, memory);
    for_each([&](PlayerTables& own, std::span<const Num> policy, std::span<const Num> q) {
      const std::size_t n = q.size();
      const std::span<Mean> answers = answers_of(own, cell);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        answers[i].move(swap() ? Num(policy[i / n] * q[i % n]) : q[i], part, whole);
      }
      own.deviate[cell] = best_of(answers, n);
    });
    if (task_.witnesses.empty()) return;
    ask(
        group, cell, [](const PlayerTables& own) -> const auto& { return own.earned.values; },
        memory);
    for_each([&](PlayerTables& own, std::span<const Num> policy, std::span<const Num> q) {
      const auto plan = witness(static_cast<std::size_t>(&own - players_.data()));
      if (plan.empty()) return;
      if (!swap()) return keep(own.earned, q[plan[cell]]);
      const std::span<const std::uint32_t> reply = plan.subspan(own.actions_begin[cell], q.size());
      Num value = policy[0] * q[reply[0]];
      for (std::size_t b = 1; b < q.size(); ++b) value += policy[b] * q[reply[b]];
      keep(own.earned, value);
    });
  }

  void set_uniform(std::size_t cell, Memory& memory) const {
    const auto& [h, s] = places_[cell];
    const std::span<const std::uint32_t> begins = frame_.action_begins(h, s);
    memory.policies.resize(begins.back());
    for (std::size_t j = 0; j < players_.size(); ++j) {
      const std::size_t n = begins[j + 1] - begins[j];
      std::fill_n(memory.policies.begin() + begins[j], n,
                  Numbers<Num>::of(1.0 / static_cast<double>(n)));
    }
  }

  void play_uniformly() {
    const std::vector<Group> groups = this->groups();
    parallel_for(groups.size(), task_.parallel, [&](std::size_t i) {
      Memory memory;
      for (std::size_t cell = places_.size(); cell-- > 0;) {
        set_uniform(cell, memory);
        average(groups[i], cell, 1, 1, memory);
      }
    });
  }

  // The nested output.

  static constexpr unsigned kPlaceBits = 36;  // 2^16 episodes of 2^20 steps; 2^25 cells

  /// What a chunk of episodes visits, in the order of play.
  struct Chunk {
    std::vector<std::uint32_t> cells;
    std::vector<std::uint64_t> places;   // among the visits of the segment
    std::vector<std::uint64_t> numbers;  // n
    std::vector<double> policies;        // [visit][profile]
  };

  void visit_in_order_of_play() {
    const PolicyLog& log = task_.logs.front();
    const std::size_t horizon = frame_.horizon();
    const std::uint64_t end = this->end();
    if (averages_start()) make_start_means();
    const std::vector<Group> groups = this->groups();
    std::vector<std::vector<Replay>> replays(players_.size());
    for (std::vector<Replay>& own : replays) own.resize(places_.size());
    const std::size_t width = frame_.max_profile_size();
    const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 20U) / (width * horizon));
    for (std::size_t g = 0; g < log.segments().size(); ++g) {
      const PolicyLog::Segment& segment = log.segments()[g];
      if (segment.first_episode >= end) break;
      const std::vector<std::uint64_t> path = path_of(segment);
      for (std::size_t j = 0; j < players_.size(); ++j) enter(task_.logs[j], g, replays[j]);
      const std::size_t episodes = std::min(segment.episodes, end - segment.first_episode);
      for (std::size_t first = 0; first < episodes; first += most) {
        const std::size_t last = std::min<std::size_t>(episodes, first + most);
        Chunk chunk;
        for (std::size_t i = first * horizon; i < last * horizon; ++i) {
          chunk.cells.push_back(static_cast<std::uint32_t>(path[i] >> kPlaceBits));
          chunk.places.push_back(path[i] & ((std::uint64_t{1} << kPlaceBits) - 1));
          chunk.numbers.push_back(++visits_[chunk.cells.back()]);
        }
        chunk.policies.resize(chunk.cells.size() * width);
        parallel_for(players_.size(), task_.parallel, [&](std::size_t j) {
          replay(task_.logs[j], task_.logs[j].segments()[g], replays[j], chunk);
        });
        parallel_for(groups.size(), task_.parallel, [&](std::size_t i) {
          learn(groups[i], segment.first_episode + first, chunk);
        });
      }
    }
    if (!averages_start()) return;
    for (PlayerTables& own : players_) {
      for (std::size_t s = 0; s < own.starts.size(); ++s) count_start(own, s, log.episodes());
    }
  }

  /// For each visit of the segment in the order of play its cell and, in the last kPlaceBits bits,
  /// its place.
  [[nodiscard]] std::vector<std::uint64_t> path_of(const PolicyLog::Segment& segment) const {
    const std::size_t horizon = frame_.horizon();
    std::vector<std::uint64_t> path(segment.scores.size());
    std::uint64_t place = 0;
    for (std::size_t r = 0; r < segment.directory.size(); r += 2) {
      const std::uint64_t cell = segment.directory[r];
      for (std::uint32_t i = 0; i < segment.directory[r + 1]; ++i, ++place) {
        path[segment.episode_offsets[place] * horizon + places_[cell].h.index()] =
            cell << kPlaceBits | place;
      }
    }
    return path;
  }

  static void enter(const PolicyLog& log, std::size_t g, std::vector<Replay>& replays) {
    const PolicyLog::Segment& segment = log.segments()[g];
    for (std::size_t r = 0; r < segment.directory.size() / 2; ++r) {
      const PolicyLog::Run& run = log.runs()[segment.runs_begin + r];
      replays[run.cell].enter(log, run);
    }
  }

  void replay(const PolicyLog& log,
              const PolicyLog::Segment& segment,
              std::vector<Replay>& replays,
              Chunk& chunk) const {
    const std::size_t width = frame_.max_profile_size();
    for (std::size_t i = 0; i < chunk.cells.size(); ++i) {
      const auto& [h, s] = places_[chunk.cells[i]];
      Replay& bandit = replays[chunk.cells[i]];
      const std::size_t begin = frame_.action_begins(h, s)[log.player().index()];
      const std::span<const double> policy = bandit.policy();
      std::copy(policy.begin(), policy.end(),
                chunk.policies.begin() + static_cast<std::ptrdiff_t>(i * width + begin));
      bandit.advance(log, segment, chunk.places[i]);
    }
  }

  void learn(const Group& group, std::uint64_t first_episode, const Chunk& chunk) {
    const std::size_t width = frame_.max_profile_size();
    const std::size_t horizon = frame_.horizon();
    Memory memory;
    memory.policies.resize(width);
    for (std::size_t i = 0; i < chunk.cells.size(); ++i) {
      const std::size_t cell = chunk.cells[i];
      if (averages_start() && i % horizon == 0) {
        for (std::size_t j = group.begin; j < group.end; ++j) {
          count_start(players_[j], cell, first_episode + i / horizon + 1);
        }
      }
      for (std::size_t b = 0; b < width; ++b) {
        memory.policies[b] = Numbers<Num>::of(chunk.policies[i * width + b]);
      }
      average(group, cell, task_.weights + 1, task_.weights + chunk.numbers[i], memory);
    }
  }

  void make_start_means() {
    for (PlayerTables& own : players_) {
      own.starts.resize(frame_.num_states(Step(0)));
      for (std::size_t s = 0; s < own.starts.size(); ++s) {
        own.starts[s].answers.resize(answers_of(own, s).size());
      }
    }
  }

  /// The state stood as it stands now at the beginning of all episodes up to k that are not in the
  /// means yet.
  void count_start(PlayerTables& own, std::size_t s, std::uint64_t k) const {
    StartMeans& start = own.starts[s];
    const std::uint64_t part = k - start.episodes;
    if (part == 0) return;
    start.follow.move(own.follow.values[s], part, k);
    start.earned.move(own.earned.values[s], part, k);
    const std::span<const Mean> answers = answers_of(own, s);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      start.answers[i].move(answers[i].value(), part, k);
    }
    start.episodes = k;
  }

  // The Markov outputs.

  void take_tables() {
    const PolicyParts& first = task_.tables.front();
    for (std::size_t h = frame_.horizon(); h-- > 0;) {
      const std::size_t begin = first_cell_[h];
      parallel_for(first_cell_[h + 1] - begin, task_.parallel, [&](std::size_t s) {
        const std::size_t cell = begin + s;
        Memory memory;
        std::uint64_t sum = 0;
        for (std::size_t i = first.first_part()[cell]; i < first.first_part()[cell + 1]; ++i) {
          memory.policies.clear();
          for (const PolicyParts& table : task_.tables) {
            for (const double chance : table.policy(cell, i - first.first_part()[cell])) {
              memory.policies.push_back(Numbers<Num>::of(chance));
            }
          }
          sum += first.weights()[i];
          average({0, players_.size()}, cell, first.weights()[i], sum, memory);
        }
      });
    }
  }

  void visit_cell_by_cell() {
    // Runs by cell, those of a cell in the order of segments; alike in all logs.
    const std::span<const PolicyLog::Run> runs = task_.logs.front().runs();
    std::vector<std::size_t> order(runs.size());
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return runs[a].cell < runs[b].cell; });
    for (std::size_t h = frame_.horizon(); h-- > 0;) {
      const std::size_t first = first_cell_[h];
      parallel_for(first_cell_[h + 1] - first, task_.parallel, [&](std::size_t s) {
        const std::size_t cell = first + s;
        const auto below = [&](std::size_t r, std::size_t other) { return runs[r].cell < other; };
        const auto begin = std::lower_bound(order.begin(), order.end(), cell, below);
        const auto end = std::lower_bound(begin, order.end(), cell + 1, below);
        visit_cell(cell, std::span(begin, end));
      });
    }
  }

  /// What the n-th of so many visits counts among the first n, as a fraction. With w_n = C(c+n-1,
  /// c) and the sums C(c+n, c+1) of w, C(c+n, c+2) of these sums, tapered weights (all + 1 - n) w_n
  /// have the sums (all + 1 - n) C(c+n, c+1) + C(c+n, c+2).
  struct Share {
    std::uint64_t part;
    std::uint64_t whole;
  };
  /// That they are below 2^63.
  void check_shares(std::uint64_t all) const {
    const auto c = static_cast<double>(task_.weights);
    const auto most = static_cast<double>(all + 1);
    if (task_.tapered && (c + 2.0) * most * (c + most) > 0x1p62) {
      throw Error(ErrorKind::resource, "verify",
                  fmt::format("a state has {} visits, too many for weights with a taper", all));
    }
  }
  [[nodiscard]] Share share_of(std::uint64_t n, std::uint64_t all) const noexcept {
    const std::uint64_t c = task_.weights;
    if (!task_.tapered) return {c + 1, c + n};
    const std::uint64_t left = (c + 2) * (all + 1 - n);
    return {(c + 1) * left, (c + n) * (left + n - 1)};
  }

  /// Visits of a run before the start.
  [[nodiscard]] std::uint64_t counted(const PolicyLog::Run& run) const {
    const PolicyLog::Segment& segment = task_.logs.front().segments()[run.segment];
    if (segment.first_episode >= end()) return 0;
    const std::uint64_t left = end() - segment.first_episode;
    const auto offsets = segment.episode_offsets.subspan(run.begin, run.count);
    const auto after = std::lower_bound(offsets.begin(), offsets.end(), left);
    return static_cast<std::uint64_t>(after - offsets.begin());
  }

  void visit_cell(std::size_t cell, std::span<const std::size_t> runs) {
    Memory memory;
    set_uniform(cell, memory);
    const auto average_all = [&](std::uint64_t part, std::uint64_t whole) {
      average({0, players_.size()}, cell, part, whole, memory);
    };
    std::uint64_t all = 0;
    for (const std::size_t r : runs) all += counted(task_.logs.front().runs()[r]);
    if (all == 0) return average_all(1, 1);
    check_shares(all);
    const bool joint = task_.output == CertifiedOutput::markov && task_.target != Target::nash;
    std::vector<Mean> marginals(memory.policies.size());
    std::vector<Replay> replays(players_.size());
    std::uint64_t n = 0;
    for (const std::size_t r : runs) {
      const std::uint64_t count = counted(task_.logs.front().runs()[r]);
      if (count == 0) break;
      for (std::size_t j = 0; j < replays.size(); ++j) {
        replays[j].enter(task_.logs[j], task_.logs[j].runs()[r]);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        std::size_t at = 0;
        for (std::size_t j = 0; j < replays.size(); ++j) {
          const PolicyLog& log = task_.logs[j];
          const PolicyLog::Run& run = log.runs()[r];
          for (const double chance : replays[j].policy()) {
            memory.policies[at++] = Numbers<Num>::of(chance);
          }
          replays[j].advance(log, log.segments()[run.segment], run.begin + i);
        }
        ++n;
        const auto [part, whole] = share_of(n, all);
        if (joint) {
          average_all(part, whole);
        } else {
          for (std::size_t b = 0; b < at; ++b) marginals[b].move(memory.policies[b], part, whole);
        }
      }
    }
    if (joint) return;
    for (std::size_t b = 0; b < marginals.size(); ++b) memory.policies[b] = marginals[b].value();
    average_all(1, 1);
  }

  // What comes out.

  /// The mean over the first state of what `worth` gives for it.
  template <class WorthOf>
  [[nodiscard]] Interval at_start(const WorthOf& worth) const {
    Num sum = Numbers<Num>::of(0.0);
    for (std::size_t s = 0; s < frame_.initial().size(); ++s) {
      if (frame_.initial()[s] > 0.0) sum += Numbers<Num>::of(frame_.initial()[s]) * worth(s);
    }
    return Numbers<Num>::enclose(sum);
  }

  [[nodiscard]] Derived result(Player player) {
    PlayerTables& own = players_[player.index()];
    const bool mean = averages_start();
    Derived derived;
    derived.follow = at_start([&](std::size_t s) {
      return mean ? Num(own.starts[s].follow.value()) : own.follow.values[s];
    });
    derived.deviate = at_start([&](std::size_t s) {
      const std::size_t n = frame_.num_actions(player, Step(0), State(s));
      return mean ? best_of(own.starts[s].answers, n) : own.deviate[s];
    });
    if (!witness(player.index()).empty()) {
      derived.earned = at_start([&](std::size_t s) {
        return mean ? Num(own.starts[s].earned.value()) : own.earned.values[s];
      });
    }
    for (std::size_t cell = 0; cell < places_.size(); ++cell) {
      const std::size_t n = own.actions_begin[cell + 1] - own.actions_begin[cell];
      const std::span<const Mean> answers = answers_of(own, cell);
      for (std::size_t begin = 0; begin < answers.size(); begin += n) {
        const auto better = [](const Mean& a, const Mean& b) {
          return Numbers<Num>::enclose(a.value()).middle() <
                 Numbers<Num>::enclose(b.value()).middle();
        };
        const std::span<const Mean> row = answers.subspan(begin, n);
        const auto best = std::max_element(row.begin(), row.end(), better);
        derived.best.push_back(static_cast<std::uint32_t>(best - row.begin()));
      }
    }
    return derived;
  }

  const DeriveTask& task_;
  const Frame& frame_;
  std::unique_ptr<Law<Num>> law_;
  std::vector<std::size_t> first_cell_ = {0};
  std::vector<std::uint64_t> visits_;  // n of each cell
  std::vector<PlayerTables> players_;
  std::vector<Place> places_;  // of each cell
};

template <class Num>
std::vector<Derived> derive(const DeriveTask& task) {
  return Derivation<Num>(task).run();
}

}  // namespace vlearn
