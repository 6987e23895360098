// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/policy_parts.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "vlearn/core/hash.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostWeight = std::uint64_t{1} << 50U;

}  // namespace

PolicyParts PolicyParts::read(const std::filesystem::path& path) {
  return parse(FileBytes::map(path, kMostBytes), path.string());
}

PolicyParts PolicyParts::parse(FileBytes bytes, const std::string& source) {
  std::string hash = to_hex(sha256(bytes.bytes()));
  PolicyParts table(Container::parse(std::move(bytes), source), std::move(hash));
  table.read_metadata();
  table.read_shape();
  table.read_parts();
  return table;
}

PolicyParts::PolicyParts(Container container, std::string hash)
    : container_(std::move(container)), hash_(std::move(hash)) {}

Error PolicyParts::error(std::string problem) const {
  return {ErrorKind::input, source(), std::move(problem)};
}

void PolicyParts::read_metadata() {
  const auto text = [&](std::string_view key) {
    const auto value = container_.header().metadata(key);
    if (!value) throw error(fmt::format("lacks '{}' in its metadata", key));
    return *value;
  };
  const auto number = [&](std::string_view key, std::uint64_t most) {
    const std::string_view digits = text(key);
    std::uint64_t value = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure != std::errc() || end != digits.data() + digits.size() || value < 1 ||
        value > most) {
      throw error(fmt::format("has no number from 1 to {} as '{}'", most, key));
    }
    return value;
  };
  if (text("format") != "vlearn.markov/1") throw error("is no Markov policy of this version");
  num_players_ = number("players", std::uint64_t{1} << 24U);
  player_ = Player(number("player", num_players_) - 1);
  const auto target = target_named(text("target"));
  if (!target) throw error("is of no target that is known");
  target_ = *target;
}

void PolicyParts::read_shape() {
  for (const std::uint64_t states : container_.view<std::uint64_t>("states")) {
    if (states == 0 || states > kMostCells - first_cell_.back()) {
      throw error("has a step without states, or too many of them");
    }
    first_cell_.push_back(first_cell_.back() + states);
  }
  num_actions_ = container_.view<std::uint32_t>("actions");
  if (num_actions_.empty() || num_actions_.size() != first_cell_.back()) {
    throw error("does not have a number of actions for each (step, state)");
  }
}

void PolicyParts::read_parts() {
  const auto parts = container_.view<std::uint64_t>("parts");
  weights_ = container_.view<std::uint64_t>("weights");
  policies_ = container_.view<double>("policies");
  if (parts.size() != num_actions_.size()) {
    throw error("does not have a number of parts for each (step, state)");
  }
  for (std::size_t cell = 0; cell < parts.size(); ++cell) {
    const std::size_t first = first_part_.back();
    const std::size_t begin = first_number_.back();
    const std::size_t n = num_actions_[cell];
    if (n == 0 || parts[cell] == 0 || parts[cell] > weights_.size() - first ||
        parts[cell] > (policies_.size() - begin) / n) {
      throw error(fmt::format("cell {}: has too few weights or policies", cell));
    }
    if (target_ == Target::nash && parts[cell] > 1) {
      throw error(fmt::format("cell {}: correlates players of nash", cell));
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t weight : weights_.subspan(first, parts[cell])) {
      if (weight == 0 || weight > kMostWeight - sum) {
        throw error(fmt::format("cell {}: has weights that are 0 or too large", cell));
      }
      sum += weight;
    }
    first_part_.push_back(first + parts[cell]);
    first_number_.push_back(begin + parts[cell] * n);
    for (std::size_t i = 0; i < parts[cell]; ++i) {
      double chances = 0.0;
      for (const double chance : policy(cell, i)) {
        if (!(chance >= 0.0 && chance <= 1.0)) {
          throw error(fmt::format("cell {}: plays with what is no chance", cell));
        }
        chances += chance;
      }
      // In any order of summation.
      if (std::abs(chances - 1.0) > static_cast<double>(n + 2) * 0x1p-51) {
        throw error(fmt::format("cell {}: plays with chances that do not sum to 1", cell));
      }
    }
  }
  if (first_part_.back() != weights_.size() || first_number_.back() != policies_.size()) {
    throw error("has more weights or policies than parts");
  }
}

}  // namespace vlearn
