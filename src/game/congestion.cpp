// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/congestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "head_counts.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

constexpr std::size_t kMaxRoutes = 1024;
/// A counter for each member of a crew.
class Counters {
 public:
  explicit Counters(std::size_t num_players) : num_players_(num_players) { make(1); }

  [[nodiscard]] std::size_t size() const noexcept { return num_players_; }
  [[nodiscard]] HeadCounts& of(std::size_t member) noexcept { return counts_[member]; }
  void make(std::size_t members) {
    while (counts_.size() < members) counts_.emplace_back(num_players_);
  }

 private:
  std::size_t num_players_;
  std::vector<HeadCounts> counts_;
};

[[noreturn]] void refuse(std::string place, std::string problem) {
  throw Error(ErrorKind::input, std::move(place), std::move(problem));
}

/// The first `size` numbers of the memory, which is left with the rest.
std::span<double> cut(std::span<double>& memory, std::size_t size) noexcept {
  const std::span<double> part = memory.first(size);
  memory = memory.subspan(size);
  return part;
}

}  // namespace

CongestionGame::CongestionGame(Frame frame, CongestionOptions options)
    : frame_(std::move(frame)), options_(std::move(options)), width_(frame_.next_states()) {
  if (num_routes() < 1 || num_routes() > kMaxRoutes) {
    refuse("routes", fmt::format("there are {}, want 1 to {}", num_routes(), kMaxRoutes));
  }
  TableCursor rewards("rewards", options_.rewards.size());
  rewards.take({frame_.num_cells(), num_routes(), frame_.num_players()});
  rewards.finish();
  if (options_.base.empty()) options_.base.assign(frame_.num_cells() * num_routes(), 0.0);
  TableCursor base("base", options_.base.size());
  base.take({frame_.num_cells(), num_routes()});
  base.finish();
  if (options_.routes.empty()) fill_in_routes();
  TableCursor transitions("transitions", options_.transitions.size());
  TableCursor routes("routes", options_.routes.size());
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    transition_begin_.push_back(transitions.take({num_routes(), width_[cell]}));
    route_begin_.push_back(routes.take({frame_.begins_of_cell(cell).back()}));
  }
  transitions.finish();
  routes.finish();
  check();
  // Counting the players on a route mixes rewards: with those of [0, 1] an offset costs no digits.
  const RewardRange& range = frame_.range(Player(0));
  if (range == RewardRange()) return;
  unit_rewards_.reserve(options_.rewards.size());
  for (const double reward : options_.rewards) unit_rewards_.push_back(range.to_unit(reward));
}

void CongestionGame::fill_in_routes() {
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      for (std::uint32_t a = begins[i]; a < begins[i + 1]; ++a) {
        options_.routes.push_back(a - begins[i]);
      }
    }
  }
}

void CongestionGame::check() const {
  if (frame_.zero_sum()) refuse("rewards", "a congestion game is not zero-sum");
  for (const Player player : all<Player>(frame_.num_players())) {
    if (frame_.range(player) != frame_.range(Player(0)))
      refuse("rewards", "want one range for all");
  }
  const RewardRange& range = frame_.range(Player(0));
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    for (std::size_t route = 0; route < num_routes(); ++route) {
      const auto place = [&](const char* what) {
        return fmt::format("{}[cell {}, route {}]", what, cell + 1, route + 1);
      };
      for (const double r : rewards_of(cell, route)) {
        if (!(r >= range.low && r <= range.high)) {
          refuse(place("rewards"), fmt::format("{} is outside [{}, {}]", r, range.low, range.high));
        }
      }
      if (!(base_of(cell, route) >= 0.0)) refuse(place("base"), "must not be negative");
      if (width_[cell] == 0) continue;
      check_distribution([&] { return place("transitions"); }, row_of(cell, route));
    }
    if (!(base_sum(cell) <= 1.0 + kRowTolerance)) {
      refuse(fmt::format("base[cell {}]", cell + 1), "sums to more than 1, want at most 1");
    }
    // Every action means a route, and no two actions of a player the same one.
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      const auto own = routes_of(cell).subspan(begins[i], begins[i + 1] - begins[i]);
      std::vector<std::uint32_t> taken(own.begin(), own.end());
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

std::span<const double> CongestionGame::unit_rewards_of(std::size_t cell, std::size_t route) const {
  if (unit_rewards_.empty()) return rewards_of(cell, route);
  const std::size_t m = frame_.num_players();
  return std::span(unit_rewards_).subspan((cell * num_routes() + route) * m, m);
}

std::span<const double> CongestionGame::row_of(std::size_t cell, std::size_t route) const {
  return std::span(options_.transitions)
      .subspan(transition_begin_[cell] + route * width_[cell], width_[cell]);
}

double CongestionGame::base_of(std::size_t cell, std::size_t route) const noexcept {
  return options_.base[cell * num_routes() + route];
}

double CongestionGame::base_sum(std::size_t cell) const noexcept {
  return fixed_sum(std::span(options_.base).subspan(cell * num_routes(), num_routes()));
}

double CongestionGame::slope_of(std::size_t cell) const noexcept {
  return std::max(1.0 - base_sum(cell), 0.0) / static_cast<double>(frame_.num_players());
}

std::span<const std::uint32_t> CongestionGame::routes_of(std::size_t cell) const noexcept {
  return std::span(options_.routes).subspan(route_begin_[cell], frame_.begins_of_cell(cell).back());
}

State CongestionGame::sample(Step h,
                             State s,
                             std::span<const Action> joint,
                             const Nature& nature,
                             std::span<double> rewards) const noexcept {
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::span<const std::uint32_t> routes = routes_of(cell);
  const auto route = [&](std::size_t i) { return routes[begins[i] + joint[i].index()]; };
  std::array<std::uint32_t, kMaxRoutes> counts;  // only the first num_routes() are used
  std::fill_n(counts.begin(), num_routes(), 0U);
  for (std::size_t i = 0; i < joint.size(); ++i) ++counts[route(i)];
  for (std::size_t i = 0; i < joint.size(); ++i) {
    const std::size_t b = route(i);
    rewards[i] = frame_.range(Player(0)).to_unit(rewards_of(cell, b)[counts[b] - 1]);
  }
  frame_.draw_rewards(nature, rewards);
  if (frame_.is_last(h)) return {};

  // Which route's law rules: one by its base, or else that of a player drawn uniformly. Together
  // that is f_b(n_b).
  Draws draws = nature.transition();
  const double u = draws.uniform();
  std::size_t ruling = 0;
  double total = base_of(cell, 0);
  while (u >= total && ++ruling < num_routes()) total += base_of(cell, ruling);
  if (ruling == num_routes()) ruling = route(draws.below(joint.size()));
  return State(vlearn::sample(row_of(cell, ruling), draws.uniform()));
}

void CongestionGame::fill_chances(std::size_t cell,
                                  const Profile& profile,
                                  std::span<double> chances) const noexcept {
  const std::size_t m = frame_.num_players();
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::span<const std::uint32_t> routes = routes_of(cell);
  std::fill(chances.begin(), chances.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const std::span<const double> policy = profile[Player(i)];
    for (std::size_t a = 0; a < policy.size(); ++a) {
      chances[routes[begins[i] + a] * m + i] = policy[a];
    }
  }
}

void CongestionGame::add_next(std::size_t cell,
                              Player player,
                              std::span<const double> others,
                              std::span<const double> next,
                              std::span<double> q) const noexcept {
  const double slope = slope_of(cell);
  std::array<double, kMaxRoutes> worth;  // of a route's law; only the first num_routes() are used
  double without = 0.0;                  // what all routes are worth without this player
  for (std::size_t b = 0; b < num_routes(); ++b) {
    worth[b] = dot(row_of(cell, b), next);
    without += (base_of(cell, b) + slope * others[b]) * worth[b];
  }
  const std::size_t first = frame_.begins_of_cell(cell)[player.index()];
  for (std::size_t a = 0; a < q.size(); ++a) {
    q[a] += without + slope * worth[routes_of(cell)[first + a]];
  }
}

CongestionGame::Crowd CongestionGame::crowd_at(const Stage& stage, Workspace& workspace) const {
  const std::size_t m = frame_.num_players();
  const std::size_t cell = frame_.cell(stage.h, stage.s);
  std::span<double> memory = workspace.take(3 * num_routes() * m);
  const std::span<double> chances = cut(memory, num_routes() * m);  // [route][player]
  const Crowd crowd{cut(memory, num_routes() * m), cut(memory, num_routes() * m)};
  fill_chances(cell, stage.profile, chances);
  const auto count = [&](HeadCounts& counts, std::size_t b) {
    const std::span<const double> own = chances.subspan(b * m, m);
    const std::span<const double> on_route = counts.expected_rewards(own, unit_rewards_of(cell, b));
    for (std::size_t i = 0; i < m; ++i) crowd.rewards[i * num_routes() + b] = on_route[i];
    // Those before a player, and then those after it: nothing is subtracted.
    double before = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      crowd.others[i * num_routes() + b] = before;
      before += own[i];
    }
    double after = 0.0;
    for (std::size_t i = m; i-- > 0;) {
      crowd.others[i * num_routes() + b] += after;
      after += own[i];
    }
  };
  auto& counters = workspace.keep<Counters>(m);
  if (workspace.crew() == nullptr) {
    for (std::size_t b = 0; b < num_routes(); ++b) count(counters.of(0), b);
  } else {
    counters.make(std::min(workspace.crew()->size(), num_routes()));
    workspace.crew()->run(num_routes(), [&](const Crew::Share& share) {
      for (std::size_t b = share.begin; b < share.end; ++b) count(counters.of(share.member), b);
    });
  }
  return crowd;
}

void CongestionGame::fill_rewards(std::size_t cell,
                                  const Crowd& crowd,
                                  Player player,
                                  std::span<double> q) const noexcept {
  const std::span<const std::uint32_t> routes =
      routes_of(cell).subspan(frame_.begins_of_cell(cell)[player.index()], q.size());
  const double* const rewards = crowd.rewards.data() + player.index() * num_routes();
  for (std::size_t a = 0; a < q.size(); ++a) q[a] = rewards[routes[a]];
}

void CongestionGame::backup(const Stage& stage,
                            Player player,
                            std::span<const double> next,
                            std::span<double> q,
                            Workspace& workspace) const {
  const std::size_t cell = frame_.cell(stage.h, stage.s);
  const Crowd crowd = crowd_at(stage, workspace);
  fill_rewards(cell, crowd, player, q);
  if (!frame_.is_last(stage.h)) add_next(cell, player, others_of(crowd, player), next, q);
}

void CongestionGame::backup_all(const Stage& stage,
                                const NextValues& next,
                                const ActionValues& q,
                                Workspace& workspace) const {
  const std::size_t cell = frame_.cell(stage.h, stage.s);
  const Crowd crowd = crowd_at(stage, workspace);
  for (const Player player : all<Player>(frame_.num_players())) {
    fill_rewards(cell, crowd, player, q[player]);
    if (frame_.is_last(stage.h)) continue;
    add_next(cell, player, others_of(crowd, player), next[player], q[player]);
  }
}

void CongestionGame::backup_both(const Stage& stage,
                                 const NextValues& follow,
                                 const NextValues& deviate,
                                 std::span<double> values,
                                 const ActionValues& q,
                                 Workspace& workspace) const {
  const std::size_t cell = frame_.cell(stage.h, stage.s);
  const Crowd crowd = crowd_at(stage, workspace);
  const bool last = frame_.is_last(stage.h);
  for (const Player player : all<Player>(frame_.num_players())) {
    const std::span<double> own = q[player];
    fill_rewards(cell, crowd, player, own);
    if (!last) add_next(cell, player, others_of(crowd, player), follow[player], own);
    values[player.index()] = dot(stage.profile[player], own);
    if (last) continue;
    fill_rewards(cell, crowd, player, own);
    add_next(cell, player, others_of(crowd, player), deviate[player], own);
  }
}

double CongestionGame::backup_error(double largest_next) const noexcept {
  // Rewards: four roundings of the map to [0, 1], each player adds at most three to F and to G
  // (1 - p, two products, a sum, on non-negative numbers), the sum over n at most m more, and
  // counts that are dropped less than one. The transition: m additions for a mean, the row, the
  // routes.
  const auto m = static_cast<double>(frame_.num_players());
  const auto longest = static_cast<double>(frame_.max_states() + num_routes());
  return 2.0 * 0x1p-53 * (7.0 * m + 5.0 + (m + longest + 8.0) * largest_next);
}

double CongestionGame::law_defect() const noexcept {
  double rows = 0.0;
  double shares = 0.0;  // the f_b sum to more than one where their bases do
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    if (width_[cell] == 0) continue;
    for (std::size_t b = 0; b < num_routes(); ++b) {
      rows = std::max(rows, row_defect(row_of(cell, b)));
    }
    if (slope_of(cell) > 0.0) continue;
    const auto base = std::span(options_.base).subspan(cell * num_routes(), num_routes());
    shares = std::max(shares, row_defect(base));
  }
  return (shares + rows) * (1.0 + 0x1p-30);
}

void CongestionGame::add_law_to(Sha256& hash) const {
  LawHash law(hash);
  law.add_text("congestion").add(num_routes());
  law.add(std::span<const double>(options_.rewards)).add(std::span<const double>(options_.base));
  law.add(std::span<const double>(options_.transitions));
  for (const std::uint32_t route : options_.routes) law.add(route);
}

}  // namespace vlearn
