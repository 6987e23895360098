// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace vlearn::app {
namespace {

constexpr std::size_t kWideBar = 24;
constexpr std::size_t kNarrowBar = 10;
constexpr std::size_t kGapsRemembered = 8;
/// Of gap ~ units^exponent: what theory promises, and what is believed of a few gaps.
constexpr double kUsualExponent = -0.5;
constexpr double kSteepest = -2.0;
constexpr double kFlattest = -0.3;
/// Nobody waits longer by the word of a guess.
constexpr double kLongestGuess = 86400.0;

std::string bar(double part, std::size_t width, bool unicode) {
  if (!unicode) {
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
    return "[" + std::string(filled, '#') + std::string(width - filled, ' ') + "]";
  }
  // Eighths of a column.
  constexpr std::array<const char*, 8> parts = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(part * static_cast<double>(8 * width));
  std::string text = "▕";
  for (std::size_t column = 0; column < width; ++column) {
    const std::size_t begin = 8 * column;
    text += eighths >= begin + 8 ? "█" : parts[eighths > begin ? eighths - begin : 0];
  }
  return text + "▏";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string with_wanted(const Standing& standing) {
  return standing.wanted.empty() ? standing.gap : standing.gap + " " + standing.wanted;
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

std::string short_bytes(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < units.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string short_time(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90.0 * 60.0) return fmt::format("{:.0f} min", seconds / 60.0);
  if (seconds < 48.0 * 3600.0) return fmt::format("{:.1f} h", seconds / 3600.0);
  return short_number(seconds / 86400.0) + " days";
}

std::string bar_line(const Standing& standing, std::size_t columns, bool unicode) {
  // The last column stays free: some terminals go to the next line when it is filled.
  const std::size_t room = columns > 1 ? columns - 1 : 0;
  const bool known = standing.part > 0.0;
  const std::string percent = known ? fmt::format("{:3.0f} %  ", 100.0 * standing.part) : "";
  const std::array<std::string, 4> texts = {
      joined({standing.what, standing.rate, with_wanted(standing), standing.time}),
      joined({standing.what, standing.rate, standing.gap, standing.time}),
      joined({standing.what, standing.gap, standing.time}),
      joined({standing.gap, standing.time}),
  };
  constexpr std::size_t worth_a_bar = 3;  // of the texts
  for (std::size_t i = 0; known && i < worth_a_bar; ++i) {
    for (const std::size_t width : {kWideBar, kNarrowBar}) {
      // Two ends and a blank.
      if (width + 3 + percent.size() + texts[i].size() > room) continue;
      return bar(standing.part, width, unicode) + " " + percent + texts[i];
    }
  }
  for (const std::string& text : texts) {
    if (percent.size() + text.size() <= room) return percent + text;
  }
  return (percent + texts.back()).substr(0, room);
}

std::string plain_line(const Standing& standing) {
  std::string text =
      joined({standing.what, standing.rate,
              standing.gap.empty() ? "" : "certified " + with_wanted(standing), standing.time});
  if (standing.part <= 0.0) return text;
  return fmt::format("{:3.0f} %: {}", 100.0 * standing.part, text);
}

Estimate::Estimate(Options options) : options_(std::move(options)), runs_(options_.num_runs) {}

void Estimate::count(std::size_t run, std::uint64_t units) {
  Run& one = runs_[run];
  if (!one.before) one.before = units;
  one.units = units;
}

void Estimate::see_gap(std::size_t run, std::uint64_t units, double gap) {
  Run& one = runs_[run];
  one.gap = gap;
  if (!(gap > 0.0) || units == 0) return;
  one.seen.push_back({std::log(static_cast<double>(units)), std::log(gap)});
  if (one.seen.size() > kGapsRemembered) one.seen.erase(one.seen.begin());
}

void Estimate::begin_phase(std::size_t run, std::string_view work, double seconds) {
  if (std::exchange(runs_[run].counted, true)) return;
  phase_ = work;
  phase_began_ = seconds;
}

double Estimate::exponent(const Run& run) {
  const auto count = static_cast<double>(run.seen.size());
  double units = 0.0;
  double gap = 0.0;
  for (const LogPair& one : run.seen) {
    units += one.units / count;
    gap += one.gap / count;
  }
  double square = 0.0;
  double product = 0.0;
  for (const LogPair& one : run.seen) {
    square += (one.units - units) * (one.units - units);
    product += (one.units - units) * (one.gap - gap);
  }
  if (!(square > 0.0)) return kUsualExponent;
  return std::clamp(product / square, kSteepest, kFlattest);
}

std::optional<double> Estimate::needed(std::size_t run) const {
  const Run& one = runs_[run];
  if (!options_.wanted_gap || !one.gap) return std::nullopt;
  const auto has = static_cast<double>(one.units);
  if (one.counted || *one.gap <= *options_.wanted_gap || one.seen.empty()) return has;
  const LogPair& last = one.seen.back();
  const double needed =
      std::exp(last.units + (std::log(*options_.wanted_gap) - last.gap) / exponent(one));
  const double most = options_.per_run > 0 ? static_cast<double>(options_.per_run) : HUGE_VAL;
  return std::min(std::max(needed, has), most);
}

std::optional<double> Estimate::needed_by_all() const {
  double sum = 0.0;
  std::size_t known = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const std::optional<double> one = needed(run);
    if (!one) continue;
    sum += *one;
    ++known;
  }
  if (known == 0) return std::nullopt;
  return sum * static_cast<double>(runs_.size()) / static_cast<double>(known);
}

double Estimate::done(double seconds) const {
  double played = 0.0;
  for (const Run& run : runs_) played += static_cast<double>(run.units);
  const double wanted = static_cast<double>(options_.per_run) * static_cast<double>(runs_.size());
  double part = 0.0;
  if (wanted > 0.0) part = played / wanted;
  if (options_.max_seconds > 0.0) part = std::max(part, seconds / options_.max_seconds);
  if (const std::optional<double> needed = needed_by_all()) {
    part = std::max(part, played / std::max(*needed, 1.0));
  }
  return std::min(part, 1.0);
}

Standing Estimate::standing(double seconds) const {
  if (!options_.work.empty()) return {.what = options_.work, .time = short_time(seconds)};
  if (std::all_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.counted; })) {
    return {.what = phase_, .time = short_time(seconds - phase_began_)};
  }
  double played = 0.0;
  double before = 0.0;
  std::optional<double> gap;  // the worst
  for (const Run& run : runs_) {
    played += static_cast<double>(run.units);
    before += static_cast<double>(run.before.value_or(0));
    if (run.gap) gap = std::max(gap.value_or(0.0), *run.gap);
  }
  const double per_second = (played - before) / std::max(seconds, 1e-3);
  Standing now;
  now.part = done(seconds);
  now.what = short_number(played) + " " + options_.unit;
  if (!options_.rate.empty()) {
    now.rate = short_number(per_second * static_cast<double>(options_.steps_per_unit)) + " " +
               options_.rate;
  }
  if (gap) now.gap = fmt::format("gap {:.3g}", *gap);
  if (gap && options_.wanted_gap) now.wanted = fmt::format("(want {:.3g})", *options_.wanted_gap);

  double left = HUGE_VAL;
  bool guessed = false;
  const auto consider = [&](double time, bool guess) {
    if (!(time < left)) return;
    left = time;
    guessed = guess;
  };
  if (options_.max_seconds > 0.0) consider(options_.max_seconds - seconds, false);
  if (per_second > 0.0) {
    const double wanted = static_cast<double>(options_.per_run) * static_cast<double>(runs_.size());
    if (wanted > 0.0) consider((wanted - played) / per_second, false);
    if (const std::optional<double> needed = needed_by_all()) {
      consider((*needed - played) / per_second, true);
    }
  }
  if (left < HUGE_VAL && !(guessed && left > kLongestGuess)) {
    now.time = (guessed ? "about " : "") + short_time(std::max(left, 0.0)) + " left";
  }
  return now;
}

}  // namespace vlearn::app
