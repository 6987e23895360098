// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a progress bar says: how far the work is, how fast, and how much longer. Numbers in, words
// out; progress.h shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlearn::app {

/// "1.2k", "3.4M": three digits at most.
[[nodiscard]] std::string short_number(double number);
/// "1.5 GiB".
[[nodiscard]] std::string short_bytes(double bytes);
/// "12 s", "3 min", "2.5 h".
[[nodiscard]] std::string short_time(double seconds);

/// How far the work is, in words.
struct Standing {
  double part = 0.0;        ///< from 0 to 1; 0 where nobody knows
  std::string what = {};    ///< "1.2M episodes"
  std::string rate = {};    ///< "3.4M agent-steps/s", or nothing; as all below
  std::string gap = {};     ///< "gap 0.012"
  std::string wanted = {};  ///< "(want 0.01)"
  std::string time = {};    ///< "12 s left", "about 20 s left"; of work that nobody counts "12 s"
};

/// One line of so many columns at most: where there is little room, the less important goes first.
[[nodiscard]] std::string bar_line(const Standing& standing, std::size_t columns, bool unicode);
/// " 12 %: 1.2M episodes, ...", for files.
[[nodiscard]] std::string plain_line(const Standing& standing);

/// Several runs that count the same thing, say episodes, until there are enough of it, their gap is
/// small enough, or time is up.
class Estimate {
 public:
  struct Options {
    /// Of work that nobody can count, as "certifying": then only its time is shown.
    std::string work = {};
    std::string unit = "episodes";
    std::string rate = "agent-steps/s";  ///< empty: not shown
    std::size_t num_runs = 1;
    std::uint64_t per_run = 0;         ///< 0: nobody knows
    std::uint64_t steps_per_unit = 1;  ///< for the rate
    double max_seconds = 0.0;          ///< 0: no limit
    std::optional<double> wanted_gap = std::nullopt;
  };
  explicit Estimate(Options options);

  void count(std::size_t run, std::uint64_t units);
  /// The gap of a run after so many.
  void see_gap(std::size_t run, std::uint64_t units, double gap);
  /// A run counts no more: it goes on with other work, since so many seconds.
  void begin_phase(std::size_t run, std::string_view work, double seconds);

  /// After so many seconds.
  [[nodiscard]] Standing standing(double seconds) const;
  [[nodiscard]] double done(double seconds) const;

  /// How many units a run will need to reach the gap that is wanted, if it goes on to fall like a
  /// power of the units, as the last gaps did; those it has where it is there. Nothing before the
  /// first gap.
  [[nodiscard]] std::optional<double> needed(std::size_t run) const;

 private:
  struct LogPair {
    double units;
    double gap;
  };
  struct Run {
    std::uint64_t units = 0;
    std::optional<std::uint64_t> before;  // when it was first heard of: took no time of ours
    std::optional<double> gap;
    std::vector<LogPair> seen;  // the last gaps
    bool counted = false;       // begin_phase() was called
  };
  /// Of the power law that fits the gaps best; the usual one where there is only one gap.
  [[nodiscard]] static double exponent(const Run& run);
  /// Of all runs; those that have no gap yet need what the others need on average.
  [[nodiscard]] std::optional<double> needed_by_all() const;

  Options options_;
  std::vector<Run> runs_;
  std::string phase_;
  double phase_began_ = 0.0;  // seconds
};

}  // namespace vlearn::app
