// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a long command is, on stderr: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "progress_text.h"

namespace vlearn::app {

class Progress {
 public:
  explicit Progress(Estimate::Options options);
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  /// From any thread.
  void report(std::size_t run, std::uint64_t units);
  /// The certified gap of a run after so many units.
  void report_gap(std::size_t run, std::uint64_t units, double gap);
  /// A run has counted its last unit and goes on with work that nobody can count, as "certifying".
  /// Shown once all runs do.
  void phase(std::size_t run, std::string_view work);
  /// Removes the bar.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  void draw_now_and_then();
  /// What there is to say, or nothing.
  [[nodiscard]] std::string line_now_and_then();

  Estimate estimate_;
  Clock::time_point begin_ = Clock::now();
  double last_line_ = 0.0;  // seconds
  double last_done_ = 0.0;  // at the last line
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread painter_;  // of the bar
};

}  // namespace vlearn::app
