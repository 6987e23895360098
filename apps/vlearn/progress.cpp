// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace vlearn::app {
namespace {

constexpr std::size_t kBarWidth = 24;

void say(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

std::string short_number(double number) {
  constexpr std::array<const char*, 6> units = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < units.size()) {
    number /= 1000.0;
    ++unit;
  }
  return fmt::format("{:.3g}{}", number, units[unit]);
}

std::string short_time(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90.0 * 60.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

Progress::Progress(const Options& options)
    : options_(options),
      terminal_(isatty(STDERR_FILENO) != 0),
      episodes_(options.num_runs, 0),
      before_(options.num_runs) {}

std::uint64_t Progress::played() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t episodes : episodes_) sum += episodes;
  return sum;
}

double Progress::done(double seconds) const {
  const std::uint64_t wanted = options_.episodes_per_run * options_.num_runs;
  double part = 0.0;
  if (wanted > 0) part = static_cast<double>(played()) / static_cast<double>(wanted);
  if (options_.max_seconds > 0.0) part = std::max(part, seconds / options_.max_seconds);
  return std::min(part, 1.0);
}

std::string Progress::line(double seconds) const {
  const auto episodes = static_cast<double>(played());
  const double part = done(seconds);
  // What was played before this process began took no time of it.
  std::uint64_t before = 0;
  for (const std::optional<std::uint64_t>& run : before_) before += run.value_or(0);
  const double new_episodes = episodes - static_cast<double>(before);
  const double rate =
      new_episodes * static_cast<double>(options_.steps_per_episode) / std::max(seconds, 1e-3);
  std::string text =
      fmt::format("{} episodes, {} agent-steps/s", short_number(episodes), short_number(rate));
  if (part <= 0.0) return text;
  if (new_episodes > 0.0) {
    const double share = new_episodes / std::max(episodes, 1.0) * part;  // done by this process
    text += fmt::format(", {} left", short_time(seconds * (1.0 - part) / share));
  }
  if (!terminal_) return fmt::format("{:3.0f} %: {}", 100.0 * part, text);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return fmt::format("[{}{}] {:3.0f} %  {}", std::string(filled, '#'),
                     std::string(kBarWidth - filled, ' '), 100.0 * part, text);
}

void Progress::report(std::size_t run, std::uint64_t episodes) {
  if (options_.quiet) return;
  const std::scoped_lock lock(mutex_);
  if (!before_[run]) before_[run] = episodes;
  episodes_[run] = episodes;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> since = now - last_;
  const std::chrono::duration<double> seconds = now - begin_;
  if (terminal_) {
    if (since.count() < 0.1) return;
    say(fmt::format("\r\033[K{}", line(seconds.count())));
    bar_shown_ = true;
  } else {
    // A line every ten seconds at most, and not before another hundredth is done.
    const double part = done(seconds.count());
    if (since.count() < 10.0 || (part > 0.0 && part < last_done_ + 0.01)) return;
    last_done_ = part;
    say(fmt::format("vlearn: {}\n", line(seconds.count())));
  }
  last_ = now;
}

void Progress::end() {
  if (bar_shown_) say("\r\033[K");
  bar_shown_ = false;
}

}  // namespace vlearn::app
