// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A policy file as docs/reference/policy_format.md describes it, read by who trusts neither the
// file nor the program that wrote it: sizes are checked before anything is allocated, checksums and
// ranges before anything is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/id.h"
#include "vlearn/core/target.h"
#include "vlearn/verify/rules.h"

namespace vlearn {

class PolicyLog {
 public:
  /// Throws Error (input) that names the file and what is wrong.
  [[nodiscard]] static PolicyLog read(const std::filesystem::path& path);
  [[nodiscard]] static PolicyLog parse(FileBytes bytes, const std::string& source);

  /// The visits of one cell in one segment. Arrays of a segment are in the order of cells.
  struct Run {
    std::uint32_t cell = 0;
    std::uint32_t segment = 0;
    std::uint64_t begin = 0;  ///< among the visits of the segment
    std::uint64_t count = 0;
    std::uint64_t snapshots_begin = 0;  ///< among the numbers of the segment
  };
  struct Segment {
    std::uint64_t first_episode = 0;
    std::uint64_t episodes = 0;
    std::span<const double> snapshots = {};
    std::span<const std::uint32_t> directory = {};  ///< cell and number of visits of each run
    std::span<const float> scores = {};
    std::span<const float> means = {};                    ///< none without control variates
    std::span<const std::uint16_t> episode_offsets = {};  ///< from the first episode on
    std::span<const std::uint8_t> actions = {};           ///< one or two bytes each
    std::size_t runs_begin = 0;                           ///< among runs()
  };

  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const std::string& hash() const noexcept { return hash_; }  ///< SHA-256, hex digits
  [[nodiscard]] Player player() const noexcept { return player_; }
  [[nodiscard]] std::size_t num_players() const noexcept { return num_players_; }
  [[nodiscard]] Target target() const noexcept { return target_; }
  [[nodiscard]] std::uint64_t weights() const noexcept { return weights_; }
  [[nodiscard]] bool tapered() const noexcept { return tapered_; }
  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }  ///< K
  [[nodiscard]] const ReplayedRule& rule() const noexcept { return *rule_; }
  /// Of each step; at last the number of all cells.
  [[nodiscard]] std::span<const std::size_t> first_cell() const noexcept { return first_cell_; }
  [[nodiscard]] std::span<const std::uint32_t> num_actions() const noexcept { return num_actions_; }
  [[nodiscard]] std::span<const Segment> segments() const noexcept { return segments_; }
  /// Of all segments, one after the other; within a segment by rising cell.
  [[nodiscard]] std::span<const Run> runs() const noexcept { return runs_; }
  [[nodiscard]] ReplayedRule::Logged logged(const Segment& segment,
                                            std::uint64_t place) const noexcept;
  [[nodiscard]] Error error(std::string problem) const;

 private:
  PolicyLog(FileBytes bytes, std::string source);
  std::size_t read_header();
  void read_segment(std::span<const std::byte>& rest);
  void read_runs(const Segment& segment);

  FileBytes bytes_;
  std::string source_;
  std::string hash_;
  Player player_;
  std::size_t num_players_ = 0;
  Target target_ = Target::cce;
  std::uint64_t weights_ = 0;
  bool tapered_ = false;
  std::uint64_t segment_episodes_ = 0;
  std::uint64_t episodes_ = 0;
  bool control_variate_ = false;
  bool wide_ = false;  // actions take two bytes
  std::optional<ReplayedRule> rule_;
  std::vector<std::size_t> first_cell_ = {0};
  std::vector<std::uint32_t> num_actions_;
  std::vector<Segment> segments_;
  std::vector<Run> runs_;
  std::unordered_map<std::uint32_t, std::uint64_t> visits_;  // of cells so far, while reading
};

}  // namespace vlearn
