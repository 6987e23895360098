// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// A player's past, in a file: what V-learning returns is an execution of it. Kept is for each visit
// of a (step, state) the episode, the action, and the increment that the rule added, and now and
// then a snapshot of the bandit; any past policy comes back by replaying the rule.
// docs/reference/policy_format.md has the bytes.
//
// A file grows by segments of a fixed number of episodes, each with a checksum; the last may be
// shorter. Within a segment the visits of a cell stand together, so that a replay reads on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vlearn/core/alpha.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/id.h"
#include "vlearn/core/target.h"
#include "vlearn/policy/replay.h"
#include "vlearn/policy/seat.h"

namespace vlearn {

/// What a policy file says about itself; enough to execute it.
struct PolicyHeader {
  Player player;
  Seat seat = {};
  Target target = Target::cce;  ///< nash: every player draws its own indices
  std::string rule = {};        ///< as run/dispatch.cpp names it
  bool control_variate = false;
  double rule_parameter = 0.0;  ///< of the rigorous rules: BonusSchedule::log_events()
  std::uint64_t weights = 0;    ///< c of the output weights (c + 1)/(c + n); the paper's is H
  bool taper = false;           ///< of Markov outputs: OutputWeights
  std::uint64_t segment_episodes = 0;
  std::string game_hash = {};
  std::string config_hash = {};

  /// The weights of the Markov outputs.
  [[nodiscard]] OutputWeights markov_weights() const { return {weights, taper}; }

  friend bool operator==(const PolicyHeader&, const PolicyHeader&) = default;
};

inline constexpr std::uint64_t kMaxPolicyBytes = std::uint64_t{1} << 42U;
inline constexpr std::uint64_t kMaxSegmentEpisodes = 65536;
/// (Step, state) pairs of a file. A reader keeps four bytes for each, visited or not.
inline constexpr std::uint64_t kMaxPolicyCells = std::uint64_t{1} << 25U;
/// Numbers in a snapshot, so that a query of a small file cannot ask for all memory.
inline constexpr std::uint64_t kMaxSnapshotNumbers = std::uint64_t{1} << 24U;

/// Episodes of a segment: such that the buffers of all players take some 64 MiB at most, when each
/// visit takes so many bytes of snapshots.
[[nodiscard]] std::uint64_t segment_episodes(std::size_t num_players,
                                             std::size_t horizon,
                                             std::uint64_t snapshot_bytes) noexcept;

/// The first bytes of a policy file. Throws Error (resource) for a game that is too large for one.
[[nodiscard]] std::string encode_header(const PolicyHeader& header);

/// The segment of all players that is being filled. States are alike for all of them.
class VisitLog {
 public:
  /// with_means: rules with control variates log a second number.
  VisitLog(std::span<const Seat> seats, std::uint64_t segment_episodes, bool with_means);

  /// The visit of a cell that comes next, in order of play: all steps of an episode one after the
  /// other.
  void begin_visit(std::size_t cell) noexcept {
    cells_[size_++] = static_cast<std::uint32_t>(cell);
  }
  /// What a player did at it.
  void add(std::size_t player, const LoggedVisit& visit) noexcept {
    Column& column = columns_[player];
    column.actions[size_ - 1] = static_cast<std::uint16_t>(visit.action.value());
    column.scores[size_ - 1] = visit.increment.score;
    if (!column.means.empty()) column.means[size_ - 1] = visit.increment.mean;
  }
  /// Numbers that a replay of this cell may begin with, after the visit that was added last.
  void add_snapshot(std::size_t player, std::span<const double> numbers);

  [[nodiscard]] bool full() const noexcept { return size_ == cells_.size(); }
  [[nodiscard]] std::uint64_t episodes() const noexcept { return size_ / horizon_; }

  /// The segment of one player, and room for the next of all.
  [[nodiscard]] std::vector<std::byte> encode(std::size_t player,
                                              std::uint64_t first_episode) const;
  /// What a checkpoint keeps of it. The log must live on, unchanged, until the file is written.
  void save(ContainerWriter& writer) const;
  /// Goes on from there. Throws Error (input) for arrays of another game or rule.
  void load(ContainerArrays& arrays, std::span<const Seat> seats);
  /// The order of visits that encode() needs: once before it, for all players.
  void sort();
  void clear() noexcept;

 private:
  struct Snapshot {
    std::uint32_t position;  // of its visit
    std::size_t begin;       // among the numbers
    std::size_t size;
  };
  struct Column {
    std::vector<std::uint16_t> actions;
    std::vector<float> scores;
    std::vector<float> means;
    std::vector<Snapshot> snapshots;
    std::vector<double> numbers;
    bool wide_actions = false;
  };

  std::size_t horizon_;
  std::size_t num_cells_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> cells_;
  std::vector<Column> columns_;
  std::vector<std::uint32_t> order_;  // positions by cell, then by episode
};

/// A policy file, mapped and checked as a whole when it is opened. Throws Error that names file,
/// segment and problem.
class PolicyFile {
 public:
  /// make_replayer knows the rules by name; it throws Error for one that it does not know.
  using MakeReplayer = std::function<std::unique_ptr<Replayer>(const PolicyHeader&)>;
  [[nodiscard]] static PolicyFile open(const std::filesystem::path& path,
                                       const MakeReplayer& make_replayer);
  [[nodiscard]] static PolicyFile parse(FileBytes bytes,
                                        const std::string& source,
                                        const MakeReplayer& make_replayer);

  /// The header alone. Segments are not looked at.
  [[nodiscard]] static PolicyHeader read_header(const std::filesystem::path& path);

  [[nodiscard]] const PolicyHeader& header() const noexcept { return header_; }
  /// Where it was read from, for messages.
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// K.
  [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }
  /// How often the cell was visited before an episode (counted from 0): N^k_h(s).
  [[nodiscard]] std::uint64_t visits_before(std::size_t cell, std::uint64_t episode) const noexcept;
  /// k^i, counted from 0, of visit i = 1, 2, ...
  [[nodiscard]] std::uint64_t episode_of(std::size_t cell, std::uint64_t visit) const noexcept;
  /// The i-th visit as it was logged.
  [[nodiscard]] LoggedVisit logged(std::size_t cell, std::uint64_t visit) const noexcept;
  /// The policy that was played at visit i = 1, 2, ..., `visits_before(cell, K)` + 1 (the last one
  /// would be played next).
  void policy(std::size_t cell,
              std::uint64_t visit,
              std::span<double> policy,
              ReplayMemory& memory) const;

 private:
  friend class PolicyWalk;
  struct Segment {
    std::uint64_t first_episode = 0;
    std::uint64_t episodes = 0;
    std::span<const double> snapshots;
    std::span<const float> scores;
    std::span<const float> means;
    std::span<const std::uint16_t> episode_offsets;
    std::span<const std::uint8_t> actions;  // two bytes each where there are many
  };
  /// The visits of a cell in one segment.
  struct Run {
    std::uint64_t visits_before = 0;
    std::uint64_t begin = 0;            // among the segment's visits
    std::uint64_t snapshots_begin = 0;  // among the segment's numbers
    std::uint32_t segment = 0;
    std::uint32_t count = 0;
  };

  PolicyFile(FileBytes bytes, std::string source);
  [[nodiscard]] Error error(std::string problem) const;
  /// Returns where segments begin.
  std::size_t take_header();
  void read_segments(std::size_t begin);
  void read_segment(std::span<const std::byte>& rest);
  [[nodiscard]] std::span<const Run> runs(std::size_t cell) const noexcept;
  [[nodiscard]] static const Run& run_of(std::span<const Run> runs, std::uint64_t visit) noexcept;
  [[nodiscard]] static LoggedVisit logged_at(const Segment& segment, std::uint64_t i) noexcept;

  FileBytes bytes_;
  std::string source_;
  PolicyHeader header_;
  std::uint64_t episodes_ = 0;
  std::vector<Segment> segments_;
  std::unordered_map<std::uint32_t, std::vector<Run>> runs_;  // of each cell that was visited
  std::unique_ptr<Replayer> replayer_;
};

}  // namespace vlearn
