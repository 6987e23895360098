// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/polymatrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/law.h"

namespace vlearn {

PolymatrixGame::PolymatrixGame(Frame frame, PolymatrixOptions options)
    : frame_(std::move(frame)), options_(std::move(options)), width_(frame_.next_states()) {
  const std::size_t m = frame_.num_players();
  TableCursor rewards("rewards", options_.rewards.size());
  TableCursor transitions("transitions", options_.transitions.size());
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    const std::uint64_t actions = frame_.begins_of_cell(cell).back();
    reward_begin_.push_back(rewards.take({actions, actions}));
    transition_begin_.push_back(transitions.take({actions, width_[cell]}));
  }
  rewards.finish();
  transitions.finish();
  if (options_.weights.empty()) {
    options_.weights.assign(frame_.num_cells() * m, 1.0 / static_cast<double>(m));
  }
  TableCursor weights("weights", options_.weights.size());
  weights.take({frame_.num_cells(), m});
  weights.finish();
  if (frame_.zero_sum()) {
    throw Error(ErrorKind::input, "rewards", "the zero-sum form is not kept for polymatrix games");
  }
  unit_rewards_.resize(options_.rewards.size());
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) check(cell);
  if (m == 2 && sums_to_constant()) frame_.found_constant_sum();
}

bool PolymatrixGame::sums_to_constant() const {
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
    for (std::size_t first = 0; first < begins[1]; ++first) {
      for (std::size_t second = begins[1]; second < begins[2]; ++second) {
        const auto paid = [&](std::size_t own, std::size_t other) {
          return pay_row(cell, own)[own] + pay_row(cell, own)[other];
        };
        if (!frame_.is_constant_sum(paid(first, second), paid(second, first))) return false;
      }
    }
  }
  return true;
}

void PolymatrixGame::check(std::size_t cell) {
  const std::size_t m = frame_.num_players();
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  check_distribution([&] { return fmt::format("weights[cell {}]", cell + 1); },
                     std::span(options_.weights).subspan(cell * m, m));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t position = begins[i]; position < begins[i + 1]; ++position) {
      const auto place = [&](const char* what) {
        return fmt::format("{}[cell {}, player {}, action {}]", what, cell + 1, i + 1,
                           position - begins[i] + 1);
      };
      if (width_[cell] > 0) {
        check_distribution([&] { return place("transitions"); }, next_row(cell, position));
      }
      check_rewards(cell, Player(i), position, [&] { return place("rewards"); });
      set_unit_rewards(cell, Player(i), position);
    }
  }
}

void PolymatrixGame::check_rewards(std::size_t cell,
                                   Player player,
                                   std::size_t position,
                                   const std::function<std::string()>& place) const {
  const auto refuse = [&](std::string problem) {
    throw Error(ErrorKind::input, place(), std::move(problem));
  };
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::span<const double> row = pay_row(cell, position);
  // The others choose independently, so the extremes of the sum are sums of extremes.
  double low = 0.0;
  double high = 0.0;
  double size = 0.0;  // the largest sum of absolute values
  for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
    const auto pays = row.subspan(begins[j], begins[j + 1] - begins[j]);
    const auto [least, most] = std::minmax_element(pays.begin(), pays.end());
    if (!std::all_of(pays.begin(), pays.end(), [](double r) { return std::isfinite(r); })) {
      refuse(fmt::format("towards player {} is not finite", j + 1));
    }
    if (j == player.index()) {
      const double own = row[position];
      if (std::count(pays.begin(), pays.end(), 0.0) + (own != 0.0 ? 1 : 0) <
          static_cast<std::ptrdiff_t>(pays.size())) {
        refuse("pays for another own action");
      }
      low += own;
      high += own;
      size += std::abs(own);
    } else {
      low += *least;
      high += *most;
      size += std::max(std::abs(*least), std::abs(*most));
    }
  }
  const RewardRange& range = frame_.range(player);
  const double rounding = static_cast<double>(begins.size() + 2) * 0x1p-53 * size;
  if (!(low >= range.low - rounding && high <= range.high + rounding)) {
    refuse(fmt::format("can be {} to {}, outside [{}, {}]", low, high, range.low, range.high));
  }
}

void PolymatrixGame::set_unit_rewards(std::size_t cell, Player player, std::size_t position) {
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::span<const double> pays = pay_row(cell, position);
  const std::span<double> units =
      std::span(unit_rewards_).subspan(reward_begin_[cell] + position * pays.size(), pays.size());
  const RewardRange& range = frame_.range(player);
  const double width = range.high - range.low;
  double rest = pays[position];
  double lost = 0.0;
  double size = std::abs(rest) + std::abs(range.low);
  double most = 0.0;  // that the others can add, in [0, 1]
  for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
    if (j == player.index()) continue;
    const auto [least, largest] =
        std::minmax_element(pays.begin() + begins[j], pays.begin() + begins[j + 1]);
    add_compensated(rest, lost, *least);
    size += std::abs(*least);
    most += (*largest - *least) / width;
    for (std::size_t k = begins[j]; k < begins[j + 1]; ++k) units[k] = (pays[k] - *least) / width;
  }
  add_compensated(rest, lost, -range.low);
  const double unit = (rest + lost) / width;
  units[position] = unit;
  const auto m = static_cast<double>(begins.size());
  const double above = unit + most - 1.0 - 2.0 * m * 0x1p-52;  // less what this sum is rounded
  outside_ = std::max(outside_, std::max({0.0, -unit, above}) + m * 0x1p-102 * (size / width));
}

std::span<const double> PolymatrixGame::pay_row(std::size_t cell, std::size_t position) const {
  const std::size_t actions = frame_.begins_of_cell(cell).back();
  return std::span(options_.rewards).subspan(reward_begin_[cell] + position * actions, actions);
}

std::span<const double> PolymatrixGame::next_row(std::size_t cell, std::size_t position) const {
  return std::span(options_.transitions)
      .subspan(transition_begin_[cell] + position * width_[cell], width_[cell]);
}

State PolymatrixGame::sample(Step h,
                             State s,
                             std::span<const Action> joint,
                             const Nature& nature,
                             std::span<double> rewards) const noexcept {
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const auto position = [&](std::size_t i) { return begins[i] + joint[i].index(); };
  for (std::size_t i = 0; i < joint.size(); ++i) {
    const std::span<const double> row = pay_row(cell, position(i));
    double sum = 0.0;
    for (std::size_t j = 0; j < joint.size(); ++j) sum += row[position(j)];
    rewards[i] = std::clamp(frame_.range(Player(i)).to_unit(sum), 0.0, 1.0);
  }
  frame_.draw_rewards(nature, rewards);
  if (frame_.is_last(h)) return {};
  Draws draws = nature.transition();
  const std::size_t m = frame_.num_players();
  const std::size_t mover =
      vlearn::sample(std::span(options_.weights).subspan(cell * m, m), draws.uniform());
  return State(vlearn::sample(next_row(cell, position(mover)), draws.uniform()));
}

void PolymatrixGame::backup(const Stage& stage,
                            Player player,
                            std::span<const double> next,
                            std::span<double> q,
                            Workspace& /*workspace*/) const {
  const auto& [h, s, profile] = stage;
  const std::size_t cell = frame_.cell(h, s);
  const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
  const std::size_t own = player.index();
  for (std::size_t a = 0; a < q.size(); ++a) {
    const std::size_t actions = begins.back();
    const double* const row =
        unit_rewards_.data() + reward_begin_[cell] + (begins[own] + a) * actions;
    double sum = row[begins[own] + a];
    for (std::size_t j = 0; j < frame_.num_players(); ++j) {
      if (j == own) continue;
      const std::span<const double> policy = profile[Player(j)];
      for (std::size_t b = 0; b < policy.size(); ++b) sum += policy[b] * row[begins[j] + b];
    }
    q[a] = sum;
  }
  if (frame_.is_last(h)) return;
  const auto expect = [&](std::size_t position) { return dot(next_row(cell, position), next); };
  double others = 0.0;
  for (std::size_t j = 0; j < frame_.num_players(); ++j) {
    if (j == own) continue;
    const std::span<const double> policy = profile[Player(j)];
    double mean = 0.0;
    for (std::size_t b = 0; b < policy.size(); ++b) mean += policy[b] * expect(begins[j] + b);
    others += weight(cell, j) * mean;
  }
  for (std::size_t a = 0; a < q.size(); ++a) {
    q[a] += others + weight(cell, own) * expect(begins[own] + a);
  }
}

void PolymatrixGame::backup_all(const Stage& stage,
                                const NextValues& next,
                                const ActionValues& q,
                                Workspace& workspace) const {
  backup_each(*this, stage, next, q, workspace);
}

double PolymatrixGame::backup_error(double largest_next) const noexcept {
  // A sum over all actions of the others, each with a product and four roundings of its own; no
  // term is negative, but for what law_defect() has. The part of the next state: a row, the actions
  // of a player, and the players.
  const auto actions = static_cast<double>(frame_.max_profile_size());
  const auto m = static_cast<double>(frame_.num_players());
  const double rows = static_cast<double>(frame_.max_states()) + actions + m + 6.0;
  return 2.0 * 0x1p-53 * ((actions + 2.0 * m + 8.0) * (1.0 + outside_) + rows * largest_next);
}

double PolymatrixGame::law_defect() const noexcept {
  const std::size_t m = frame_.num_players();
  double rows = 0.0;
  double shares = 0.0;
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    if (width_[cell] == 0) continue;
    shares = std::max(shares, row_defect(std::span(options_.weights).subspan(cell * m, m)));
    for (std::size_t position = 0; position < frame_.begins_of_cell(cell).back(); ++position) {
      rows = std::max(rows, row_defect(next_row(cell, position)));
    }
  }
  return std::max(outside_, (shares + rows) * (1.0 + 0x1p-30));
}

void PolymatrixGame::add_law_to(Sha256& hash) const {
  LawHash law(hash);
  law.add_text("polymatrix").add(std::span<const double>(options_.rewards));
  law.add(std::span<const double>(options_.weights));
  law.add(std::span<const double>(options_.transitions));
}

}  // namespace vlearn
