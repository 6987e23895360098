// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/game/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "vlearn/core/checked.h"
#include "vlearn/core/choice.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/game/law.h"

namespace vlearn {
namespace {

[[noreturn]] void refuse(std::string place, std::string problem, std::string fix = {}) {
  throw Error(ErrorKind::input, std::move(place), std::move(problem), std::move(fix));
}

constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 32U;

}  // namespace

RewardRange natural_range(double low, double high) noexcept {
  if (low < high) return {low, high};
  if (low >= 0.0 && low <= 1.0) return {0.0, 1.0};
  // One step of the number itself where it is so large that 1 is lost in it.
  return {low, std::max(low + 1.0, std::nextafter(low, INFINITY))};
}

Frame::Frame(FrameOptions options) : options_(std::move(options)) {
  check_sizes();
  for (const Step h : all<Step>(num_layers())) {
    first_cell_.push_back(num_cells_);
    num_cells_ += num_states(h);
  }
  make_layouts();
  if (options_.initial.empty()) {
    options_.initial.assign(num_states(Step(0)), 0.0);
    options_.initial.front() = 1.0;
  }
  check_start_and_rewards();
  const auto possible = [](double p) { return p > 0.0; };
  if (std::count_if(initial().begin(), initial().end(), possible) == 1) {
    certain_start_ =
        State(std::find_if(initial().begin(), initial().end(), possible) - initial().begin());
  }
  if (options_.ends_early) {
    for (RewardRange& range : options_.ranges) {
      range = {std::min(range.low, 0.0), std::max(range.high, 0.0)};
    }
  }
}

void Frame::check_sizes() const {
  const FrameOptions& o = options_;
  check_choice("noise", o.noise, std::size_t{3});
  if (o.num_players < 1 || o.num_players >= kMaxPlayers) {
    refuse("players", fmt::format("there are {}", o.num_players), "want 1 to 16777215");
  }
  if (o.horizon < 1 || o.horizon >= kMaxSteps) {
    refuse("horizon", fmt::format("is {}", o.horizon), "want 1 to 1048575");
  }
  if (o.num_states.size() != 1 && (o.stationary || o.num_states.size() != o.horizon)) {
    refuse("states", "there must be one number, or in a step-dependent game one for each step");
  }
  std::uint64_t cells = 0;
  for (const Step h : all<Step>(num_layers())) {
    if (num_states(h) < 1)
      refuse("states", fmt::format("step {} has none", h.number()), "give it one");
    cells += num_states(h);
    if (cells > kMaxCells) refuse("states", "there are more than 2^32 (step, state) pairs");
  }
  if (o.num_actions.size() != o.num_players &&
      checked_multiply(cells, o.num_players) != o.num_actions.size()) {
    refuse("actions", "there must be one number per player, or one per player and cell");
  }
  if (std::find(o.num_actions.begin(), o.num_actions.end(), 0U) != o.num_actions.end()) {
    refuse("actions", "a player without any action cannot move", "give it one");
  }
}

void Frame::check_start_and_rewards() const {
  const FrameOptions& o = options_;
  if (o.initial.size() != num_states(Step(0))) {
    refuse("initial", "must have one probability per state of the first step");
  }
  check_distribution([] { return "initial"; }, o.initial);
  if (o.ranges.size() != 1 && o.ranges.size() != o.num_players) {
    refuse("rewards", "there must be one range, or one per player");
  }
  const auto horizon = static_cast<double>(o.horizon);
  for (const RewardRange& range : o.ranges) {
    if (!std::isfinite(range.low) || !std::isfinite(range.high) || !(range.low < range.high) ||
        !std::isfinite(horizon * (range.high - range.low)) || !std::isfinite(horizon * range.low) ||
        !std::isfinite(horizon * range.high)) {
      refuse("rewards", fmt::format("the range [{}, {}] is not one", range.low, range.high),
             "want two numbers, the lower one first, whose difference and sums over an episode are "
             "finite");
    }
  }
  if (!o.zero_sum) return;
  if (o.num_players != 2) {
    refuse("rewards", fmt::format("zero-sum wants 2 players, there are {}", o.num_players));
  }
  const RewardRange& first = range(Player(0));
  const RewardRange& second = range(Player(1));
  const double width = first.high - first.low;
  const double tolerance = 1e-12 * (width + std::abs(first.low) + std::abs(second.low));
  if (std::abs(second.high - second.low - width) > tolerance) {
    refuse("range",
           fmt::format("is [{}, {}] and [{}, {}], and a zero-sum game wants one width", first.low,
                       first.high, second.low, second.high),
           "give player 2 the range [-y, -x] where player 1 has [x, y], or leave the ranges out");
  }
  // An early end pays 0 to both, so the sum must be 0 everywhere.
  if (o.ends_early && std::abs(second.low + first.high) > tolerance) {
    refuse("range", "a zero-sum game that ends early wants the ranges [x, y] and [-y, -x]");
  }
}

bool Frame::is_constant_sum(double first, double second) const noexcept {
  // Decimal numbers are rounded when they are read. Certificates use that what the two get sums to
  // the same at every step, and take both widths for one: twice this is less than they allow for
  // rounding at each step, 32 * 2^-53 times the same number (user_rounding() of user_units.h).
  const RewardRange& one = range(Player(0));
  const RewardRange& other = range(Player(1));
  const double tolerance = 0x1p-51 * std::max(std::abs(one.low), std::abs(one.high));
  const double width = one.high - one.low;
  return std::abs(other.high - other.low - width) <= tolerance &&
         std::abs((first - one.low) + (second - other.low) - width) <= tolerance;
}

void Frame::make_layouts() {
  const std::size_t width = num_players();
  const std::size_t rows = options_.num_actions.size() / width;  // 1, or one per cell
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::uint32_t> begins = {0};
    for (std::size_t player = 0; player < width; ++player) {
      const std::uint64_t end =
          std::uint64_t{begins.back()} + options_.num_actions[row * width + player];
      if (end > UINT32_MAX)
        refuse("actions", "all players together have more than 2^32", "give them fewer");
      begins.push_back(static_cast<std::uint32_t>(end));
    }
    const auto [place, fresh] = known.try_emplace(begins, static_cast<std::uint32_t>(known.size()));
    if (fresh) layouts_.insert(layouts_.end(), begins.begin(), begins.end());
    if (rows > 1) layout_of_cell_.push_back(place->second);
  }
  if (known.size() == 1) layout_of_cell_ = {};
  max_actions_ = *std::max_element(options_.num_actions.begin(), options_.num_actions.end());
  options_.num_actions = {};  // the layouts have it now
}

std::size_t Frame::max_states() const noexcept {
  return *std::max_element(options_.num_states.begin(), options_.num_states.end());
}

std::vector<std::uint32_t> Frame::next_states() const {
  std::vector<std::uint32_t> next;
  next.reserve(num_cells());
  for (const Step h : all<Step>(num_layers())) {
    std::size_t count = 0;
    if (stationary()) {
      count = num_states(h);
    } else if (!is_last(h)) {
      count = num_states(h.next());
    }
    next.insert(next.end(), num_states(h), static_cast<std::uint32_t>(count));
  }
  return next;
}

std::size_t Frame::max_profile_size() const noexcept {
  std::uint32_t largest = 0;
  const std::size_t width = num_players() + 1;
  for (std::size_t end = width; end <= layouts_.size(); end += width) {
    largest = std::max(largest, layouts_[end - 1]);
  }
  return largest;
}

std::optional<std::uint64_t> Frame::num_joint_actions(std::size_t cell) const noexcept {
  const std::span<const std::uint32_t> begins = begins_of_cell(cell);
  std::optional<std::uint64_t> product = 1;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    product = checked_multiply(*product, begins[i + 1] - begins[i]);
    if (!product) break;
  }
  return product;
}

State Frame::draw_start(const Nature& nature) const noexcept {
  if (certain_start_) return *certain_start_;  // what any u selects
  return State(vlearn::sample(initial(), nature.start().uniform()));
}

void Frame::draw_rewards(const Nature& nature, std::span<double> rewards) const noexcept {
  if (noise() == RewardNoise::none) return;
  for (const Player player : all<Player>(zero_sum() ? 1 : num_players())) {
    double& reward = rewards[player.index()];
    const double u = nature.reward(player).uniform();
    if (noise() == RewardNoise::bernoulli) {
      reward = u < reward ? 1.0 : 0.0;
    } else {
      const double width = std::min(reward, 1.0 - reward);
      reward = std::clamp(reward + width * (2.0 * u - 1.0), 0.0, 1.0);
    }
  }
  if (zero_sum()) rewards[1] = 1.0 - rewards[0];
}

void Frame::add_to(Sha256& hash) const {
  LawHash law(hash);
  law.add_text("vlearn.law/1").add(num_players()).add(horizon()).add(stationary());
  for (const Step h : all<Step>(num_layers())) law.add(num_states(h));
  for (std::size_t cell = 0; cell < num_cells(); ++cell) {
    for (const std::uint32_t begin : begins_of_cell(cell)) law.add(begin);
  }
  law.add(initial());
  for (const Player player : all<Player>(num_players())) {
    law.add(range(player).low).add(range(player).high);
  }
  law.add(static_cast<std::uint8_t>(noise())).add(zero_sum());
}

}  // namespace vlearn
