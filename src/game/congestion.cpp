// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/congestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

constexpr std::size_t kMaxRoutes = 1024;

/// One more player, who is counted with probability p: to[n] = (1 - p) from[n] + p from[n - 1].
/// `from` has n + 1 entries, `to` one more.
void convolve(std::span<const double> from, double p, std::span<double> to) noexcept {
  const std::size_t size = from.size();
  const double stay = 1.0 - p;
  to[0] = stay * from[0];
  for (std::size_t n = 1; n < size; ++n) to[n] = stay * from[n] + p * from[n - 1];
  to[size] = p * from[size - 1];
}

double dot(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// values[j] = E[reward(1 + number of others on the route)] for every player j, where player i is
/// on it with probability chances[i]: congestion.h has the recursion. `laws` holds F_0, F_1, ...,
/// F_{m-1} one after the other, `given` G_k.
void expected_rewards(std::span<const double> chances,
                      std::span<const double> reward_of_count,
                      std::span<double> laws,
                      std::span<double> given,
                      std::span<double> values) noexcept {
  const std::size_t m = chances.size();
  const auto law = [&](std::size_t k) { return laws.subspan(k * (k + 1) / 2, k + 1); };
  law(0)[0] = 1.0;
  for (std::size_t k = 1; k < m; ++k) convolve(law(k - 1), chances[k - 1], law(k));
  // G_m(n): all others are counted, the player itself makes one more.
  std::copy(reward_of_count.begin(), reward_of_count.end(), given.begin());
  for (std::size_t k = m; k > 0; --k) {
    values[k - 1] = dot(law(k - 1), given);
    // G_{k-1}(n) = (1 - p_k) G_k(n) + p_k G_k(n + 1), for the n <= k - 2 that are still needed.
    const double p = chances[k - 1];
    for (std::size_t n = 0; n + 1 < k; ++n) given[n] = (1.0 - p) * given[n] + p * given[n + 1];
  }
}

}  // namespace

CongestionGame::CongestionGame(Frame frame, CongestionOptions options)
    : frame_(std::move(frame)), options_(std::move(options)), width_(frame_.next_states()) {
  if (options_.base.empty()) options_.base.assign(frame_.num_cells() * num_routes(), 0.0);
  std::size_t transitions = 0;
  std::size_t routes = 0;
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    transition_begin_.push_back(transitions);
    transitions += num_routes() * width_[cell];
    route_begin_.push_back(routes);
    routes += frame_.begins_of_cell(cell).back();
  }
  const auto want = [](const char* what, std::size_t have, std::size_t wanted) {
    if (have != wanted) {
      throw Error(ErrorKind::input, what, fmt::format("has {} numbers, want {}", have, wanted));
    }
  };
  want("rewards", options_.rewards.size(),
       frame_.num_cells() * num_routes() * frame_.num_players());
  want("base", options_.base.size(), frame_.num_cells() * num_routes());
  want("transitions", options_.transitions.size(), transitions);
  if (!options_.routes.empty()) want("routes", options_.routes.size(), routes);
  check();
}

void CongestionGame::check() const {
  const auto refuse = [](std::string place, std::string problem) {
    throw Error(ErrorKind::input, std::move(place), std::move(problem));
  };
  if (num_routes() < 1 || num_routes() > kMaxRoutes) {
    refuse("routes", fmt::format("there are {}, want 1 to {}", num_routes(), kMaxRoutes));
  }
  if (frame_.zero_sum()) refuse("rewards", "a congestion game is not zero-sum");
  for (const Player player : all<Player>(frame_.num_players())) {
    if (frame_.range(player) != frame_.range(Player(0)))
      refuse("rewards", "want one range for all");
  }
  const RewardRange& range = frame_.range(Player(0));
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    for (std::size_t route = 0; route < num_routes(); ++route) {
      const std::string place = fmt::format("[cell {}, route {}]", cell + 1, route + 1);
      for (const double r : rewards_of(cell, route)) {
        if (!(r >= range.low && r <= range.high)) {
          refuse("rewards" + place,
                 fmt::format("{} is outside [{}, {}]", r, range.low, range.high));
        }
      }
      if (!(base_of(cell, route) >= 0.0)) refuse("base" + place, "must not be negative");
      if (width_[cell] > 0) check_distribution("transitions" + place, row_of(cell, route));
    }
    if (!(slope_of(cell) >= 0.0))
      refuse(fmt::format("base[cell {}]", cell + 1), "sums to more than 1");
    // Every action means a route, and no two actions of a player the same one.
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      std::vector<std::size_t> taken;
      for (std::size_t a = begins[i]; a < begins[i + 1]; ++a) {
        taken.push_back(options_.routes.empty() ? a - begins[i] : route_of(cell, a));
      }
      std::sort(taken.begin(), taken.end());
      if (taken.back() >= num_routes() ||
          std::adjacent_find(taken.begin(), taken.end()) != taken.end()) {
        refuse(fmt::format("routes[cell {}, player {}]", cell + 1, i + 1),
               "each action needs a route of its own");
      }
    }
  }
}

std::span<const double> CongestionGame::rewards_of(std::size_t cell, std::size_t route) const {
  const std::size_t m = frame_.num_players();
  return std::span(options_.rewards).subspan((cell * num_routes() + route) * m, m);
}

std::span<const double> CongestionGame::row_of(std::size_t cell, std::size_t route) const {
  return std::span(options_.transitions)
      .subspan(transition_begin_[cell] + route * width_[cell], width_[cell]);
}

double CongestionGame::base_of(std::size_t cell, std::size_t route) const noexcept {
  return options_.base[cell * num_routes() + route];
}

double CongestionGame::slope_of(std::size_t cell) const noexcept {
  const double base =
      fixed_sum(std::span(options_.base).subspan(cell * num_routes(), num_routes()));
  return (1.0 - base) / static_cast<double>(frame_.num_players());
}

std::size_t CongestionGame::route_of(std::size_t cell, std::size_t row_position) const noexcept {
  return options_.routes[route_begin_[cell] + row_position];
}

State CongestionGame::sample(Step h,
                             State s,
                             std::span<const Action> joint,
                             const Nature& nature,
                             std::span<double> rewards) const noexcept {
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const auto route = [&](std::size_t i) {
    return options_.routes.empty() ? joint[i].index()
                                   : route_of(cell, begins[i] + joint[i].index());
  };
  std::array<std::uint32_t, kMaxRoutes> counts;  // only the first num_routes() are used
  std::fill_n(counts.begin(), num_routes(), 0U);
  for (std::size_t i = 0; i < joint.size(); ++i) ++counts[route(i)];
  for (std::size_t i = 0; i < joint.size(); ++i) {
    const std::size_t b = route(i);
    rewards[i] = frame_.range(Player(0)).to_unit(rewards_of(cell, b)[counts[b] - 1]);
  }
  frame_.draw_rewards(nature, rewards);
  if (frame_.is_last(h)) return {};

  // First the route whose law rules, then the state from it.
  Draws draws = nature.transition();
  const double u = draws.uniform();
  const double slope = slope_of(cell);
  std::size_t ruling = 0;
  double total = base_of(cell, 0) + slope * counts[0];
  while (u >= total && ruling + 1 < num_routes()) {
    ++ruling;
    total += base_of(cell, ruling) + slope * counts[ruling];
  }
  return State(vlearn::sample(row_of(cell, ruling), draws.uniform()));
}

void CongestionGame::fill_chances(std::size_t cell,
                                  std::span<const std::uint32_t> begins,
                                  const Profile& profile,
                                  std::span<double> chances) const noexcept {
  const std::size_t m = frame_.num_players();
  std::fill(chances.begin(), chances.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const std::span<const double> policy = profile[Player(i)];
    for (std::size_t a = 0; a < policy.size(); ++a) {
      const std::size_t b = options_.routes.empty() ? a : route_of(cell, begins[i] + a);
      chances[b * m + i] = policy[a];
    }
  }
}

void CongestionGame::add_transition(std::size_t cell,
                                    std::span<const std::uint32_t> begins,
                                    std::span<const double> chances,
                                    Player player,
                                    std::span<const double> next,
                                    std::span<double> q,
                                    std::span<double> route_values) const noexcept {
  const std::size_t m = frame_.num_players();
  const double slope = slope_of(cell);
  double others = 0.0;  // what the routes are worth without this player
  for (std::size_t b = 0; b < num_routes(); ++b) {
    double mean = 0.0;  // expected number of others on the route
    for (std::size_t i = 0; i < m; ++i) {
      if (i != player.index()) mean += chances[b * m + i];
    }
    route_values[b] = dot(row_of(cell, b), next);
    others += (base_of(cell, b) + slope * mean) * route_values[b];
  }
  for (std::size_t a = 0; a < q.size(); ++a) {
    const std::size_t b = options_.routes.empty() ? a : route_of(cell, begins[player.index()] + a);
    q[a] += others + slope * route_values[b];
  }
}

void CongestionGame::backup(Step h,
                            State s,
                            const Profile& profile,
                            Player player,
                            std::span<const double> next,
                            std::span<double> q,
                            Workspace& workspace) const {
  const std::size_t m = frame_.num_players();
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::size_t needed = num_routes() * (m + 1) + 2 * (m + 1);
  workspace.values.resize(std::max(workspace.values.size(), needed));
  const std::span<double> chances = std::span(workspace.values).first(num_routes() * m);
  std::span<double> law(workspace.values.data() + num_routes() * (m + 1), m + 1);
  std::span<double> longer(law.data() + m + 1, m + 1);
  fill_chances(cell, begins, profile, chances);
  for (std::size_t a = 0; a < q.size(); ++a) {
    const std::size_t b = options_.routes.empty() ? a : route_of(cell, begins[player.index()] + a);
    law[0] = 1.0;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < m; ++i) {
      if (i == player.index()) continue;
      convolve(law.first(counted + 1), chances[b * m + i], longer);
      std::swap(law, longer);
      ++counted;
    }
    q[a] = frame_.range(Player(0)).to_unit(dot(law.first(m), rewards_of(cell, b)));
  }
  if (frame_.is_last(h)) return;
  const std::span<double> route_values(workspace.values.data() + num_routes() * m, num_routes());
  add_transition(cell, begins, chances, player, next, q, route_values);
}

void CongestionGame::backup_all(Step h,
                                State s,
                                const Profile& profile,
                                const NextValues& next,
                                const ActionValues& q,
                                Workspace& workspace) const {
  const std::size_t m = frame_.num_players();
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  workspace.values.resize(std::max(workspace.values.size(), num_routes() * (2 * m + 1) + m));
  workspace.more_values.resize(std::max(workspace.more_values.size(), m * (m + 1) / 2));
  double* memory = workspace.values.data();
  const auto take = [&](std::size_t size) {
    return std::span(std::exchange(memory, memory + size), size);
  };
  const std::span<double> chances = take(num_routes() * m);
  const std::span<double> values = take(num_routes() * m);  // [route][player]
  const std::span<double> route_values = take(num_routes());
  const std::span<double> given = take(m);

  fill_chances(cell, begins, profile, chances);
  for (std::size_t b = 0; b < num_routes(); ++b) {
    expected_rewards(chances.subspan(b * m, m), rewards_of(cell, b), workspace.more_values, given,
                     values.subspan(b * m, m));
  }
  const RewardRange& range = frame_.range(Player(0));
  for (const Player player : all<Player>(m)) {
    const std::span<double> own = q[player];
    for (std::size_t a = 0; a < own.size(); ++a) {
      const std::size_t b =
          options_.routes.empty() ? a : route_of(cell, begins[player.index()] + a);
      own[a] = range.to_unit(values[b * m + player.index()]);
    }
    if (!frame_.is_last(h)) {
      add_transition(cell, begins, chances, player, next[player], own, route_values);
    }
  }
}

double CongestionGame::backup_error(double largest_next) const noexcept {
  // Rewards: each player adds at most three roundings to F and to G (1 - p, two products, a sum,
  // on non-negative numbers if rewards are; shifting the range costs its size over its width), and
  // the sum over n at most m more. The transition: m additions for a mean, the row, the routes.
  const auto m = static_cast<double>(frame_.num_players());
  const RewardRange& range = frame_.range(Player(0));
  const double size =
      std::max(std::abs(range.low), std::abs(range.high)) / (range.high - range.low);
  const auto longest = static_cast<double>(frame_.max_states() + num_routes());
  return 2.0 * 0x1p-53 *
         ((7.0 * m + 4.0) * std::max(size, 1.0) + (m + longest + 8.0) * largest_next);
}

void CongestionGame::add_law_to(Sha256& hash) const {
  LawHash law(hash);
  law.add("congestion").add(num_routes());
  law.add(std::span<const double>(options_.rewards)).add(std::span<const double>(options_.base));
  law.add(std::span<const double>(options_.transitions)).add(options_.routes.size());
  for (const std::uint32_t route : options_.routes) law.add(route);
}

}  // namespace vlearn
