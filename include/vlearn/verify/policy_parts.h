// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A Markov policy as docs/reference/markov_format.md describes it, read by who trusts neither the
// file nor the program that wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/id.h"
#include "vlearn/core/target.h"

namespace vlearn {

class PolicyParts {
 public:
  /// Throws Error (input) that names the file and what is wrong.
  [[nodiscard]] static PolicyParts read(const std::filesystem::path& path);
  [[nodiscard]] static PolicyParts parse(FileBytes bytes, const std::string& source);

  [[nodiscard]] const std::string& source() const noexcept { return container_.header().source(); }
  [[nodiscard]] const std::string& hash() const noexcept { return hash_; }  ///< SHA-256, hex digits
  [[nodiscard]] Player player() const noexcept { return player_; }
  [[nodiscard]] std::size_t num_players() const noexcept { return num_players_; }
  [[nodiscard]] Target target() const noexcept { return target_; }
  /// Of each step; at last the number of all cells.
  [[nodiscard]] std::span<const std::size_t> first_cell() const noexcept { return first_cell_; }
  [[nodiscard]] std::span<const std::uint32_t> num_actions() const noexcept { return num_actions_; }
  /// Of each cell; at last the number of all parts.
  [[nodiscard]] std::span<const std::size_t> first_part() const noexcept { return first_part_; }
  /// Of each part: 1 at least, in a cell 2^50 at most.
  [[nodiscard]] std::span<const std::uint64_t> weights() const noexcept { return weights_; }
  /// Of a part of a cell, counted from 0.
  [[nodiscard]] std::span<const double> policy(std::size_t cell, std::size_t part) const noexcept {
    const std::size_t n = num_actions_[cell];
    return policies_.subspan(first_number_[cell] + part * n, n);
  }
  [[nodiscard]] Error error(std::string problem) const;

 private:
  PolicyParts(Container container, std::string hash);
  void read_metadata();
  void read_shape();
  void read_parts();

  Container container_;
  std::string hash_;
  Player player_;
  std::size_t num_players_ = 0;
  Target target_ = Target::cce;
  std::vector<std::size_t> first_cell_ = {0};
  std::span<const std::uint32_t> num_actions_;
  std::vector<std::size_t> first_part_ = {0};
  std::span<const std::uint64_t> weights_;
  std::span<const double> policies_;
  std::vector<std::size_t> first_number_ = {0};
};

}  // namespace vlearn
