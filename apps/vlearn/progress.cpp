// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "terminal.h"

namespace vlearn::app {

Progress::Progress(Estimate::Options options) : estimate_(std::move(options)) {
  if (progress_kind() != ProgressKind::bar) return;
  try {
    painter_ = std::thread([this] { draw_now_and_then(); });
  } catch (const std::system_error&) {
    // No more threads to be had: no bar.
  }
}

void Progress::draw_now_and_then() {
  constexpr auto pause = std::chrono::milliseconds(125);
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, pause, [this] { return ended_; })) {
    const Standing standing = estimate_.standing(seconds());
    // Who reports must not wait for a terminal.
    lock.unlock();
    const TerminalState terminal = terminal_state();
    show_bar(bar_line(standing, terminal.columns, terminal.unicode));
    lock.lock();
  }
}

std::string Progress::line_now_and_then() {
  if (progress_kind() != ProgressKind::lines) return "";
  // A line every ten seconds at most, and not before another hundredth is done.
  const double now = seconds();
  if (now < last_line_ + 10.0) return "";
  const double part = estimate_.done(now);
  if (part > 0.0 && part < last_done_ + 0.01) return "";
  last_done_ = part;
  last_line_ = now;
  return "vlearn: " + plain_line(estimate_.standing(now));
}

void Progress::report(std::size_t run, std::uint64_t units) {
  std::string line;
  {
    const std::scoped_lock lock(mutex_);
    estimate_.count(run, units);
    line = line_now_and_then();
  }
  if (!line.empty()) say_if_it_can(line);
}

void Progress::report_gap(std::size_t run, std::uint64_t units, double gap) {
  const std::scoped_lock lock(mutex_);
  estimate_.see_gap(run, units, gap);
}

void Progress::phase(std::size_t run, std::string_view work) {
  const std::scoped_lock lock(mutex_);
  estimate_.begin_phase(run, work, seconds());
}

void Progress::end() {
  if (painter_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    ending_.notify_all();
    painter_.join();
  }
  clear_bar();
}

}  // namespace vlearn::app
