// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a long command is, on stderr: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace vlearn::app {

class Progress {
 public:
  struct Options {
    bool quiet = false;
    std::size_t num_runs = 1;
    std::uint64_t episodes_per_run = 0;   ///< 0: nobody knows
    std::uint64_t steps_per_episode = 1;  ///< agent-steps
    double max_seconds = 0.0;             ///< 0: no limit
  };
  explicit Progress(const Options& options);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  /// From any thread.
  void report(std::size_t run, std::uint64_t episodes);
  /// Removes the bar.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::uint64_t played() const;
  /// How much of the work is done, from 0 to 1; 0 where nobody knows.
  [[nodiscard]] double done(double seconds) const;
  [[nodiscard]] std::string line(double seconds) const;

  Options options_;
  bool terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  double last_done_ = 0.0;  // at the last line
  std::mutex mutex_;
  std::vector<std::uint64_t> episodes_;
  std::vector<std::optional<std::uint64_t>> before_;  // of each run, when it was first heard of
  bool bar_shown_ = false;
};

/// "1.2k", "3.4M": three digits at most.
[[nodiscard]] std::string short_number(double number);
/// "12 s", "3 min", "2.5 h".
[[nodiscard]] std::string short_time(double seconds);

}  // namespace vlearn::app
