// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "game_instances.h"

#include <algorithm>
#include <map>
#include <memory>

#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"

namespace vlearn::test {
namespace {

Draws draws_of(std::uint64_t seed) { return Draws({.seed = seed, .purpose = Purpose::test}); }

/// A random distribution, some of its entries 0.
std::vector<double> random_row(Draws& draws, std::size_t size) {
  std::vector<double> row(size);
  for (double& p : row) p = draws.below(3) == 0 ? 0.0 : draws.uniform();
  row[draws.below(size)] += 0.5;
  static_cast<void>(normalise(row));
  return row;
}

/// Shapes that between them have everything: stationary or not, players with different and varying
/// numbers of actions, different numbers of states, random starts, all kinds of noise.
std::vector<FrameOptions> shapes(const RewardUnits& units, bool anonymous) {
  const std::vector<RewardRange> ranges = {{units.shift, units.shift + units.scale}};
  std::vector<RewardRange> own_ranges = ranges;  // of three players
  for (int player = 1; player < 3; ++player) {
    const RewardRange& last = own_ranges.back();
    own_ranges.push_back({last.high, last.high + 2.0 * (last.high - last.low)});
  }
  std::vector<FrameOptions> list;
  list.push_back({.num_players = 1,
                  .horizon = 3,
                  .stationary = true,
                  .num_states = {3},
                  .num_actions = {2},
                  .ranges = ranges});
  list.push_back({.num_players = 2,
                  .horizon = 3,
                  .stationary = false,
                  .num_states = {2, 3, 1},
                  .num_actions = {3, 1, 2, 2, /**/ 1, 1, 2, 3, 4, 1, /**/ 2, 2},
                  .initial = {0.25, 0.75},
                  .ranges = ranges,
                  .noise = RewardNoise::uniform});
  list.push_back({.num_players = 3,
                  .horizon = 2,
                  .stationary = true,
                  .num_states = {2},
                  .num_actions = {2, 3, 2},
                  .ranges = anonymous ? ranges : own_ranges,
                  .noise = RewardNoise::bernoulli});
  list.push_back({.num_players = 4,
                  .horizon = 1,
                  .stationary = true,
                  .num_states = {2},
                  .num_actions = {2, 3, 1, 3, /**/ 3, 2, 2, 1},
                  .initial = {0.5, 0.5},
                  .ranges = ranges});
  if (!anonymous) {
    list.push_back({.num_players = 2,
                    .horizon = 2,
                    .stationary = false,
                    .num_states = {2},
                    .num_actions = {2, 3},
                    .ranges = ranges,
                    .noise = RewardNoise::bernoulli,
                    .zero_sum = true});
    // More of everything than tables are worked on at once.
    list.push_back({.num_players = 5,
                    .horizon = 2,
                    .stationary = true,
                    .num_states = {7},
                    .num_actions = {2, 5, 1, 3, 2},
                    .ranges = ranges});
  }
  return list;
}

/// A random table game as numbers: the plain law reads them in its own way.
struct Tables {
  std::map<std::vector<std::size_t>, PlainOutcome> outcomes;  // [h or 0, s, a1, ..., am]

  [[nodiscard]] const PlainOutcome& at(const Frame& frame,
                                       Step h,
                                       State s,
                                       const std::vector<Action>& joint) const {
    std::vector<std::size_t> key = {frame.stationary() ? 0 : h.index(), s.index()};
    for (const Action a : joint) key.push_back(a.index());
    return outcomes.at(key);
  }
};

Tables random_tables(const Frame& frame, std::uint64_t seed) {
  Tables tables;
  Draws draws = draws_of(seed);
  for (const Step h : all<Step>(frame.stationary() ? 1 : frame.horizon())) {
    const bool last = !frame.stationary() && frame.is_last(h);
    const std::size_t next = last ? 0 : frame.num_states(frame.stationary() ? h : h.next());
    for (const State s : all<State>(frame.num_states(h))) {
      for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
        PlainOutcome outcome;
        for (std::size_t i = 0; i < frame.num_players(); ++i) {
          // Multiples of 1/8, so that changing units and back is exact.
          outcome.rewards.push_back(static_cast<long double>(draws.below(9)) / 8.0L);
        }
        if (frame.zero_sum()) outcome.rewards[1] = 1.0L - outcome.rewards[0];
        if (next > 0) {
          const std::vector<double> row = random_row(draws, next);
          outcome.next.assign(row.begin(), row.end());
        }
        std::vector<std::size_t> key = {h.index(), s.index()};
        for (const Action a : joint) key.push_back(a.index());
        tables.outcomes[key] = outcome;
      });
    }
  }
  return tables;
}

/// Rewards of all cells in the order of TabularGame, in the user's units.
std::vector<double> table_rewards(const Frame& frame, const Tables& tables) {
  std::vector<double> rewards;
  for (const Step h : all<Step>(frame.stationary() ? 1 : frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      for (const Player player : all<Player>(frame.zero_sum() ? 1 : frame.num_players())) {
        for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
          const auto r = static_cast<double>(tables.at(frame, h, s, joint).rewards[player.index()]);
          rewards.push_back(frame.range(player).from_unit(r, 1.0));
        });
      }
    }
  }
  return rewards;
}

template <class G, class Make>
std::vector<Instance<G>> table_instances(const RewardUnits& units, const Make& make) {
  std::vector<Instance<G>> list;
  for (const FrameOptions& options : shapes(units, false)) {
    const Frame frame(options);
    const auto tables = std::make_shared<Tables>(random_tables(frame, list.size() + 1));
    list.push_back({"shape " + std::to_string(list.size() + 1), make(frame, *tables),
                    [frame, tables](Step h, State s, const std::vector<Action>& joint) {
                      return tables->at(frame, h, s, joint);
                    }});
  }
  return list;
}

template <class Add>
void for_each_row(const Frame& frame, const Tables& tables, const Add& add) {
  for (const Step h : all<Step>(frame.stationary() ? 1 : frame.horizon())) {
    for (const State s : all<State>(frame.num_states(h))) {
      for_each_joint(frame, h, s, [&](const std::vector<Action>& joint) {
        add(tables.at(frame, h, s, joint).next);
      });
    }
  }
}

}  // namespace

template <>
std::vector<Instance<DenseGame>> instances_of<DenseGame>(const RewardUnits& units) {
  return table_instances<DenseGame>(units, [](const Frame& frame, const Tables& tables) {
    std::vector<double> probabilities;
    for_each_row(frame, tables, [&](const std::vector<long double>& row) {
      for (const long double p : row) probabilities.push_back(static_cast<double>(p));
    });
    return DenseGame(frame, table_rewards(frame, tables), std::move(probabilities));
  });
}

template <>
std::vector<Instance<SparseGame>> instances_of<SparseGame>(const RewardUnits& units) {
  return table_instances<SparseGame>(units, [](const Frame& frame, const Tables& tables) {
    SparseRows::Tables rows;
    for_each_row(frame, tables, [&](const std::vector<long double>& row) {
      for (std::uint32_t s = 0; s < row.size(); ++s) {
        if (row[s] == 0.0L) continue;
        rows.successors.push_back(s);
        rows.probabilities.push_back(static_cast<double>(row[s]));
      }
      rows.begins.push_back(rows.successors.size());
    });
    return SparseGame(frame, table_rewards(frame, tables), std::move(rows));
  });
}

template <>
std::vector<Instance<CallbackGame>> instances_of<CallbackGame>(const RewardUnits& units) {
  return table_instances<CallbackGame>(units, [](const Frame& frame, const Tables& tables) {
    return CallbackGame(
        frame, "test",
        [frame, tables](Step h, State s, std::span<const Action> joint, Outcome& outcome) {
          const PlainOutcome& plain =
              tables.at(frame, h, s, std::vector<Action>(joint.begin(), joint.end()));
          for (const Player player : all<Player>(plain.rewards.size())) {
            const auto r = static_cast<double>(plain.rewards[player.index()]);
            outcome.rewards[player.index()] = frame.range(player).from_unit(r, 1.0);
          }
          // Only the first player of a zero-sum game is asked.
          if (frame.zero_sum()) outcome.rewards[1] = 1e9;
          for (std::size_t state = 0; state < plain.next.size(); ++state) {
            outcome.successors.emplace_back(State(state), static_cast<double>(plain.next[state]));
          }
        });
  });
}

// Every shape with four routes; a player with fewer actions has some of them, in any order.
template <>
std::vector<Instance<CongestionGame>> instances_of<CongestionGame>(const RewardUnits& units) {
  constexpr std::size_t routes = 4;
  std::vector<Instance<CongestionGame>> list;
  for (const FrameOptions& frame_options : shapes(units, true)) {
    const Frame frame(frame_options);
    Draws draws = draws_of(100 + list.size());
    const std::size_t m = frame.num_players();
    CongestionOptions options{.num_routes = routes};
    const std::vector<std::uint32_t> width = frame.next_states();
    std::vector<double> unit_rewards;
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      for (std::size_t i = 0; i < routes * m; ++i) {
        unit_rewards.push_back(static_cast<double>(draws.below(9)) / 8.0);
        options.rewards.push_back(units.shift + units.scale * unit_rewards.back());
      }
      for (std::size_t b = 0; b < routes; ++b) {
        options.base.push_back(list.size() % 2 == 0 ? 0.0 : 0.2 * draws.uniform());
        if (width[cell] == 0) continue;
        const std::vector<double> row = random_row(draws, width[cell]);
        options.transitions.insert(options.transitions.end(), row.begin(), row.end());
      }
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      for (std::size_t i = 0; i < m; ++i) {
        std::vector<std::uint32_t> order = {0, 1, 2, 3};
        for (std::size_t a = 0; a + 1 < routes; ++a) {
          std::swap(order[a], order[a + draws.below(routes - a)]);
        }
        options.routes.insert(options.routes.end(), order.begin(),
                              order.begin() + (begins[i + 1] - begins[i]));
      }
    }
    const PlainLaw law = [=](Step h, State s, const std::vector<Action>& joint) {
      const std::size_t cell = frame.cell(h, s);
      std::size_t first_route = 0;
      for (std::size_t c = 0; c < cell; ++c) first_route += frame.begins_of_cell(c).back();
      std::size_t first_transition = 0;
      for (std::size_t c = 0; c < cell; ++c) first_transition += routes * width[c];
      std::vector<std::size_t> taken;
      std::vector<std::size_t> counts(routes, 0);
      for (std::size_t i = 0; i < joint.size(); ++i) {
        taken.push_back(
            options.routes[first_route + frame.begins_of_cell(cell)[i] + joint[i].index()]);
        ++counts[taken.back()];
      }
      PlainOutcome outcome;
      for (const std::size_t b : taken) {
        outcome.rewards.push_back(unit_rewards[(cell * routes + b) * m + counts[b] - 1]);
      }
      outcome.next.assign(width[cell], 0.0L);
      long double base = 0.0L;
      for (std::size_t b = 0; b < routes; ++b) base += options.base[cell * routes + b];
      for (std::size_t b = 0; b < routes; ++b) {
        const long double f =
            options.base[cell * routes + b] +
            (1.0L - base) * static_cast<long double>(counts[b]) / static_cast<long double>(m);
        for (std::size_t state = 0; state < width[cell]; ++state) {
          outcome.next[state] +=
              f * options.transitions[first_transition + b * width[cell] + state];
        }
      }
      return outcome;
    };
    const std::string name = "shape " + std::to_string(list.size() + 1);
    list.push_back({name, CongestionGame(frame, options), law});
  }
  return list;
}

template <>
std::vector<Instance<PolymatrixGame>> instances_of<PolymatrixGame>(const RewardUnits& units) {
  std::vector<Instance<PolymatrixGame>> list;
  for (const FrameOptions& frame_options : shapes(units, false)) {
    if (frame_options.zero_sum) continue;  // this model keeps no zero-sum form
    const Frame frame(frame_options);
    Draws draws = draws_of(200 + list.size());
    const std::size_t m = frame.num_players();
    const std::vector<std::uint32_t> width = frame.next_states();
    PolymatrixOptions options;
    // [cell][i, a_i][j, a_j] in [0, 1/m]; the player's own term too, so that sums stay in [0, 1].
    std::vector<std::vector<std::vector<double>>> unit_rewards(frame.num_cells());
    for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      const auto player_of = [&](std::size_t position) {
        return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), position) -
                                        begins.begin() - 1);
      };
      for (std::size_t p = 0; p < begins.back(); ++p) {
        std::vector<double> row;
        for (std::size_t r = 0; r < begins.back(); ++r) {
          const bool same_player = player_of(p) == player_of(r);
          const double u = draws.uniform() / static_cast<double>(m);
          row.push_back(same_player && p != r ? 0.0 : u);
          // The low end of the range is paid once, with the own term.
          const RewardRange& range = frame.range(Player(player_of(p)));
          options.rewards.push_back((range.high - range.low) * row.back() +
                                    (p == r ? range.low : 0.0));
        }
        unit_rewards[cell].push_back(row);
      }
      const std::vector<double> weights = random_row(draws, m);
      options.weights.insert(options.weights.end(), weights.begin(), weights.end());
      for (std::size_t p = 0; width[cell] > 0 && p < begins.back(); ++p) {
        const std::vector<double> row = random_row(draws, width[cell]);
        options.transitions.insert(options.transitions.end(), row.begin(), row.end());
      }
    }
    const PlainLaw law = [=](Step h, State s, const std::vector<Action>& joint) {
      const std::size_t cell = frame.cell(h, s);
      const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
      std::size_t first = 0;
      for (std::size_t c = 0; c < cell; ++c) first += frame.begins_of_cell(c).back() * width[c];
      PlainOutcome outcome;
      outcome.next.assign(width[cell], 0.0L);
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t own = begins[i] + joint[i].index();
        long double sum = 0.0L;
        for (std::size_t j = 0; j < m; ++j) {
          sum += unit_rewards[cell][own][begins[j] + joint[j].index()];
        }
        outcome.rewards.push_back(sum);
        for (std::size_t state = 0; state < width[cell]; ++state) {
          outcome.next[state] += static_cast<long double>(options.weights[cell * m + i]) *
                                 options.transitions[first + own * width[cell] + state];
        }
      }
      return outcome;
    };
    const std::string name = "shape " + std::to_string(list.size() + 1);
    list.push_back({name, PolymatrixGame(frame, options), law});
  }
  return list;
}

}  // namespace vlearn::test
