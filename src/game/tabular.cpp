// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/tabular.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "joint_sums.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/compensated.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

/// Numbers: 4 MiB.
constexpr std::size_t kMostCopied = std::size_t{1} << 19U;

/// "[h=2, s=5, a=(1,3)]", counted from one, for messages.
std::string place_of(const Frame& frame, std::size_t cell, std::size_t joint) {
  std::size_t h = 0;
  std::size_t s = cell;
  while (!frame.stationary() && s >= frame.num_states(Step(h))) s -= frame.num_states(Step(h++));
  const std::span<const std::uint32_t> begins = frame.begins_of_cell(cell);
  std::vector<std::size_t> actions(frame.num_players());
  for (std::size_t i = actions.size(); i-- > 0;) {
    const std::size_t count = begins[i + 1] - begins[i];
    actions[i] = joint % count + 1;
    joint /= count;
  }
  const std::string step = frame.stationary() ? "" : fmt::format("h={}, ", h + 1);
  return fmt::format("[{}s={}, a=({})]", step, s + 1, fmt::join(actions, ","));
}

/// Sums out every player but one from values[joint], in the order of tabular.h; q gets the rest.
void contract(std::span<const std::uint32_t> begins,
              const Profile& profile,
              Player player,
              std::span<double> values,
              std::span<double> q) noexcept {
  std::size_t size = values.size();
  const std::size_t own = player.index();
  for (std::size_t i = begins.size() - 2; i > own; --i) {
    const std::span<const double> policy = profile[Player(i)];
    size /= policy.size();
    for (std::size_t x = 0; x < size; ++x) {
      const double* const from = values.data() + x * policy.size();
      double sum = policy[0] * from[0];
      for (std::size_t a = 1; a < policy.size(); ++a) sum += policy[a] * from[a];
      values[x] = sum;
    }
  }
  for (std::size_t i = 0; i < own; ++i) {
    const std::span<const double> policy = profile[Player(i)];
    size /= policy.size();
    for (std::size_t y = 0; y < size; ++y) values[y] *= policy[0];
    for (std::size_t a = 1; a < policy.size(); ++a) {
      for (std::size_t y = 0; y < size; ++y) values[y] += policy[a] * values[a * size + y];
    }
  }
  std::copy_n(values.begin(), q.size(), q.begin());
}

/// sum + sum_i a[i] b[i], added in the order of i.
double add_dot(double sum, const double* a, const double* b, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

/// Next values: of those who follow the policy (for `values`) and of those who deviate (for q).
struct Following {
  const NextValues& follow;
  const NextValues& deviate;
  std::size_t num_states;
};

/// Adds what follows to q, and to `values` unless they are empty: rows[joint][state]. The law of
/// the next state, given an own action or none, comes before the values, so that two next values
/// cost little more than one.
void add_next(const double* rows,
              const JointSums& sums,
              const Following& next,
              std::span<double> values,
              const ActionValues& q) noexcept {
  const auto own = [&](Player player, std::size_t column, std::size_t count, const double* law) {
    const double* const deviate = next.deviate[player].data() + column;
    for (double& value : q[player]) {
      value = add_dot(value, law, deviate, count);
      law += count;
    }
  };
  const auto all = [&](std::size_t column, std::size_t count, const double* law) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[j] = add_dot(values[j], law, next.follow[Player(j)].data() + column, count);
    }
  };
  sums.of_columns(rows, next.num_states, own, all);
}

void add_next(const DenseRows& rows,
              std::size_t cell,
              const JointSums& sums,
              const Following& next,
              std::span<double> values,
              const ActionValues& q) noexcept {
  add_next(rows.row(cell, 0).data(), sums, next, values, q);
}

/// Whether sparse rows are worth spreading over all states: an entry costs about as much for every
/// player as a column for all.
bool few_states(const SparseRows& rows, std::size_t num_states, std::size_t num_players) noexcept {
  return num_states <= 2 * num_players * rows.longest();
}

/// Columns of the table [joint][column] that add_next() makes of rows.
std::size_t columns_made_of(const DenseRows& /*rows*/,
                            std::size_t /*num_states*/,
                            std::size_t /*num_players*/) noexcept {
  return 0;
}
std::size_t columns_made_of(const SparseRows& rows,
                            std::size_t num_states,
                            std::size_t num_players) noexcept {
  return few_states(rows, num_states, num_players) ? num_states : num_players;
}

void add_next(const SparseRows& rows,
              std::size_t cell,
              const JointSums& sums,
              const Following& next,
              std::span<double> values,
              const ActionValues& q) noexcept {
  const std::size_t m = q.num_players();
  const std::size_t joints = sums.num_joints();
  double* const table = sums.extra().data();
  if (few_states(rows, next.num_states, m)) {
    std::fill_n(table, joints * next.num_states, 0.0);
    for (std::size_t joint = 0; joint < joints; ++joint) {
      rows.for_each(cell, joint, [&](State s, double probability) {
        table[joint * next.num_states + s.index()] = probability;
      });
    }
    return add_next(table, sums, next, values, q);
  }
  // Otherwise the expectations of rows come first.
  for (std::size_t joint = 0; joint < joints; ++joint) {
    for (const Player player : all<Player>(m)) {
      table[joint * m + player.index()] = rows.expect(cell, joint, next.deviate[player]);
    }
  }
  sums.add_own(table, q);
  if (values.empty()) return;
  double* const lost = table + joints * m;
  std::fill_n(lost, m, 0.0);
  sums.for_each_joint([&](std::size_t joint, double probability) {
    for (std::size_t j = 0; j < m; ++j) {
      add_compensated(values[j], lost[j],
                      probability * rows.expect(cell, joint, next.follow[Player(j)]));
    }
  });
}

}  // namespace

JointIndex::JointIndex(const Frame& frame) : first_(frame.num_cells() + 1, 0) {
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    const std::optional<std::uint64_t> count = frame.num_joint_actions(cell);
    const auto end = count ? checked_add(first_[cell], *count) : std::nullopt;
    if (!end || *end > (std::uint64_t{1} << 48U)) {
      throw Error(ErrorKind::resource, "game",
                  fmt::format("a table over the joint actions of {} players is too large",
                              frame.num_players()),
                  "use a model with structure: congestion, polymatrix or a simulator");
    }
    first_[cell + 1] = *end;
    most_ = std::max<std::size_t>(most_, *count);
  }
}

std::size_t joint_offset(std::span<const std::uint32_t> begins,
                         std::span<const Action> joint) noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < joint.size(); ++i) {
    offset = offset * (begins[i + 1] - begins[i]) + joint[i].index();
  }
  return offset;
}

std::uint16_t RowMarks::mark_of(double sum) noexcept {
  return static_cast<std::uint16_t>(std::min(sum, 1.0 - 0x1p-16) * 0x1p16);
}

void RowMarks::add(std::span<const double> row) {
  double sum = 0.0;
  for (const double p : row) marks_.push_back(mark_of(sum += p));
}

std::size_t RowMarks::sample(std::span<const double> row,
                             std::size_t begin,
                             double u) const noexcept {
  const std::span<const std::uint16_t> marks = std::span(marks_).subspan(begin, row.size());
  const std::uint16_t mark = mark_of(u);
  // Sums of a lower mark are below u, those of a higher one above it.
  std::size_t i = 0;
  if (marks.size() <= 256) {
    std::uint16_t below = 0;  // counted in 16 bits: the compiler makes vectors of it
    for (const std::uint16_t other : marks)
      below = static_cast<std::uint16_t>(below + (other < mark ? 1 : 0));
    i = below;
  } else {
    i = static_cast<std::size_t>(std::lower_bound(marks.begin(), marks.end(), mark) -
                                 marks.begin());
  }
  if (i == marks.size() || marks[i] == mark) [[unlikely]]
    return vlearn::sample(row, u);
  return i;
}

DenseRows::DenseRows(const Frame& frame, const JointIndex& joints, Tables probabilities)
    : width_(frame.next_states()), probabilities_(std::move(probabilities)) {
  TableCursor cursor("transition", probabilities_.size());
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    begin_.push_back(cursor.take({joints.count(cell), width_[cell]}));
    if (width_[cell] == 0) continue;
    for (std::size_t joint = 0; joint < joints.count(cell); ++joint) {
      check_distribution([&] { return "transition" + place_of(frame, cell, joint); },
                         row(cell, joint));
    }
  }
  cursor.finish();
  longest_ = *std::max_element(width_.begin(), width_.end());
  marks_.reserve(probabilities_.size());
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    for (std::size_t joint = 0; joint < joints.count(cell); ++joint) marks_.add(row(cell, joint));
  }
}

double DenseRows::expect(std::size_t cell,
                         std::size_t joint,
                         std::span<const double> values) const noexcept {
  return dot(row(cell, joint), values);
}

double DenseRows::defect() const noexcept {
  double largest = 0.0;
  for (std::size_t cell = 0; cell < width_.size(); ++cell) {
    if (width_[cell] == 0) continue;
    const std::size_t end = cell + 1 < begin_.size() ? begin_[cell + 1] : probabilities_.size();
    const std::size_t rows = (end - begin_[cell]) / width_[cell];
    for (std::size_t joint = 0; joint < rows; ++joint) {
      largest = std::max(largest, row_defect(row(cell, joint)));
    }
  }
  return largest;
}

State DenseRows::draw(std::size_t cell, std::size_t joint, double u) const noexcept {
  return State(marks_.sample(row(cell, joint), begin_[cell] + joint * width_[cell], u));
}

SparseRows::SparseRows(const Frame& frame, const JointIndex& joints, Tables tables)
    : tables_(std::move(tables)) {
  const std::vector<std::uint64_t>& begins = tables_.begins;
  const auto refuse = [](std::string place, std::string problem, std::string fix = {}) {
    throw Error(ErrorKind::input, std::move(place), std::move(problem), std::move(fix));
  };
  if (begins.size() != joints.size() + 1 || begins.front() != 0 ||
      begins.back() != tables_.successors.size() ||
      tables_.successors.size() != tables_.probabilities.size() ||
      !std::is_sorted(begins.begin(), begins.end())) {
    refuse("transition", "its rows do not fit its lists of successors and probabilities",
           fmt::format("want {} rows whose begins rise from 0 to the length of both lists",
                       joints.size()));
  }
  const std::vector<std::uint32_t> width = frame.next_states();
  for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
    first_row_.push_back(joints.first(cell));
    for (std::size_t joint = 0; joint < joints.count(cell); ++joint) {
      const std::size_t row = joints.first(cell) + joint;
      const std::size_t size = begins[row + 1] - begins[row];
      const std::span states = std::span(tables_.successors).subspan(begins[row], size);
      const auto place = [&] { return "transition" + place_of(frame, cell, joint); };
      for (std::size_t i = 0; i < size; ++i) {
        if (states[i] >= width[cell] || (i > 0 && states[i] <= states[i - 1])) {
          refuse(place(), fmt::format("its successors must be states from 1 to {} in rising order",
                                      width[cell]));
        }
      }
      longest_ = std::max(longest_, size);
      if (width[cell] == 0) continue;
      check_distribution(place, std::span(tables_.probabilities).subspan(begins[row], size));
    }
  }
}

double SparseRows::expect(std::size_t cell,
                          std::size_t joint,
                          std::span<const double> values) const noexcept {
  const std::size_t row = first_row_[cell] + joint;
  double sum = 0.0;
  for (std::size_t i = tables_.begins[row]; i < tables_.begins[row + 1]; ++i) {
    sum += tables_.probabilities[i] * values[tables_.successors[i]];
  }
  return sum;
}

double SparseRows::defect() const noexcept {
  double largest = 0.0;
  for (std::size_t number = 0; number + 1 < tables_.begins.size(); ++number) {
    // Rows of the last step are empty.
    if (!row(number).empty()) largest = std::max(largest, row_defect(row(number)));
  }
  return largest;
}

State SparseRows::draw(std::size_t cell, std::size_t joint, double u) const noexcept {
  const std::size_t number = first_row_[cell] + joint;
  return State(tables_.successors[tables_.begins[number] + vlearn::sample(row(number), u)]);
}

template <class Rows>
TabularGame<Rows>::TabularGame(Frame frame,
                               std::vector<double> rewards,
                               typename Rows::Tables tables)
    : frame_(std::move(frame)),
      joints_(frame_),
      rewards_(std::move(rewards)),
      rows_(frame_, joints_, std::move(tables)) {
  const std::size_t players = frame_.zero_sum() ? 1 : frame_.num_players();
  TableCursor cursor("reward", rewards_.size());
  cursor.take({joints_.size(), players});
  cursor.finish();
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    for (const Player player : all<Player>(players)) {
      const RewardRange& range = frame_.range(player);
      for (std::size_t joint = 0; joint < joints_.count(cell); ++joint) {
        const double r =
            rewards_[joints_.first(cell) * players + player.index() * joints_.count(cell) + joint];
        if (!(r >= range.low && r <= range.high)) {
          throw Error(
              ErrorKind::input,
              fmt::format("reward of player {}", player.number()) + place_of(frame_, cell, joint),
              fmt::format("is {}", r),
              fmt::format("want a number from {} to {}", range.low, range.high));
        }
      }
    }
  }
  if (players == 2 && sums_to_constant()) frame_.found_constant_sum();
  // A second copy makes backups faster; large games are not kept twice.
  const std::size_t m = frame_.num_players();
  if (joints_.size() > kMostCopied / m) return;
  unit_rewards_.resize(joints_.size() * m);
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    put_unit_rewards(
        cell, std::span(unit_rewards_).subspan(joints_.first(cell) * m, joints_.count(cell) * m));
  }
}

template <class Rows>
bool TabularGame<Rows>::sums_to_constant() const noexcept {
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    for (std::size_t joint = 0; joint < joints_.count(cell); ++joint) {
      if (!frame_.is_constant_sum(user_reward(Player(0), cell, joint),
                                  user_reward(Player(1), cell, joint))) {
        return false;
      }
    }
  }
  return true;
}

template <class Rows>
double TabularGame<Rows>::unit_reward(Player player,
                                      std::size_t cell,
                                      std::size_t joint) const noexcept {
  const std::size_t payers = frame_.zero_sum() ? 1 : frame_.num_players();
  const Player given_for = frame_.zero_sum() ? Player(0) : player;
  const std::size_t place =
      joints_.first(cell) * payers + given_for.index() * joints_.count(cell) + joint;
  const double r = frame_.range(given_for).to_unit(rewards_[place]);
  return given_for == player ? r : 1.0 - r;
}

template <class Rows>
void TabularGame<Rows>::put_unit_rewards(std::size_t cell,
                                         std::span<double> rewards) const noexcept {
  const std::size_t m = frame_.num_players();
  for (std::size_t joint = 0; joint < joints_.count(cell); ++joint) {
    for (const Player player : all<Player>(m)) {
      rewards[joint * m + player.index()] = unit_reward(player, cell, joint);
    }
  }
}

template <class Rows>
double TabularGame<Rows>::user_reward(Player player,
                                      std::size_t cell,
                                      std::size_t joint) const noexcept {
  if (!frame_.zero_sum()) {
    const std::size_t begin =
        joints_.first(cell) * frame_.num_players() + player.index() * joints_.count(cell);
    return rewards_[begin + joint];
  }
  const double r = rewards_[joints_.first(cell) + joint];
  if (player.index() == 0) return r;
  const RewardRange& first = frame_.range(Player(0));
  const RewardRange& second = frame_.range(Player(1));
  if (second.low == -first.high && second.high == -first.low) return -r;
  return second.low + (first.high - r);
}

template <class Rows>
State TabularGame<Rows>::sample(Step h,
                                State s,
                                std::span<const Action> joint,
                                const Nature& nature,
                                std::span<double> rewards) const noexcept {
  const std::size_t cell = frame_.cell(h, s);
  const std::size_t offset = joint_offset(frame_.begins_of_cell(cell), joint);
  for (const Player player : all<Player>(frame_.num_players())) {
    rewards[player.index()] = reward(player, cell, offset);
  }
  frame_.draw_rewards(nature, rewards);
  if (frame_.is_last(h)) return {};
  return rows_.draw(cell, offset, nature.transition().uniform());
}

template <class Rows>
void TabularGame<Rows>::backup(const Stage& stage,
                               Player player,
                               std::span<const double> next,
                               std::span<double> q,
                               Workspace& workspace) const {
  const auto& [h, s, profile] = stage;
  const std::size_t cell = frame_.cell(h, s);
  const std::span<double> values = workspace.take(joints_.count(cell));
  const bool last = frame_.is_last(h);
  for (std::size_t joint = 0; joint < values.size(); ++joint) {
    values[joint] = reward(player, cell, joint);
    if (!last) values[joint] += rows_.expect(cell, joint, next);
  }
  contract(frame_.begins_of_cell(cell), profile, player, values, q);
}

template <class Rows>
void TabularGame<Rows>::backup_all(const Stage& stage,
                                   const NextValues& next,
                                   const ActionValues& q,
                                   Workspace& workspace) const {
  backup_both(stage, next, next, {}, q, workspace);
}

template <class Rows>
void TabularGame<Rows>::backup_both(const Stage& stage,
                                    const NextValues& follow,
                                    const NextValues& deviate,
                                    std::span<double> values,
                                    const ActionValues& q,
                                    Workspace& workspace) const {
  const std::size_t m = frame_.num_players();
  const std::size_t cell = frame_.cell(stage.h, stage.s);
  const std::size_t states = frame_.is_last(stage.h) ? 0 : frame_.num_states(stage.h.next());
  const std::size_t room = joints_.count(cell) * columns_made_of(rows_, states, m) + m;
  const std::size_t made = unit_rewards_.empty() ? joints_.count(cell) * m : 0;
  const JointSums sums(stage.profile, room + made, workspace);
  if (made > 0) put_unit_rewards(cell, sums.extra().subspan(room));
  const double* const rewards =
      made > 0 ? sums.extra().data() + room : unit_rewards_.data() + joints_.first(cell) * m;
  for (const Player player : all<Player>(m)) std::fill(q[player].begin(), q[player].end(), 0.0);
  sums.add_own(rewards, q);
  for (const Player player : all<Player>(values.size())) {
    values[player.index()] = dot(stage.profile[player], q[player]);
  }
  if (states > 0) add_next(rows_, cell, sums, {follow, deviate, states}, values, q);
}

template <class Rows>
double TabularGame<Rows>::backup_error(double largest_next) const noexcept {
  // All terms are non-negative, so what counts is the roundings on the longest way from a number
  // of the tables into a result, each at most 2^-53 of what it rounds; no partial sum is above
  // 1 + largest_next but for the roundings before it, which the factor 2 covers. On that way lie:
  //   the reward map (4) or the product with a next value (1);
  //   in backup, for each other player a product and as many additions as it has actions;
  //   in one sweep, for each player after the own one the same, for each before it a product, and
  //   as many additions as those have joint actions, but no more than a block of joint_sums.h and
  //   two; to values, also for the own player a product and its actions. A sparse row into values:
  //   a product for each player, and two additions, because what they lose is kept;
  //   an addition for each of a row's states.
  // The sums over joint actions and over actions share no player, so all is at most
  const double roundings = 5.0 + static_cast<double>(rows_.longest()) +
                           static_cast<double>(frame_.num_players() + frame_.max_profile_size()) +
                           static_cast<double>(std::min(joints_.most(), JointSums::kBlock + 2));
  return 2.0 * roundings * 0x1p-53 * (1.0 + largest_next);
}

template <class Rows>
double TabularGame<Rows>::law_defect() const noexcept {
  return rows_.defect();
}

template <class Rows>
void TabularGame<Rows>::add_law_to(Sha256& hash) const {
  // Dense and sparse tables of one law have one hash: only what can happen counts.
  LawHash law(hash);
  law.add_text("table").add(std::span<const double>(rewards_));
  for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
    for (std::size_t joint = 0; joint < joints_.count(cell); ++joint) {
      rows_.for_each(cell, joint, [&](State next, double probability) {
        law.add(next.value()).add(probability);
      });
      law.add(UINT64_MAX);  // end of the row
    }
  }
}

template class TabularGame<DenseRows>;
template class TabularGame<SparseRows>;

}  // namespace vlearn
