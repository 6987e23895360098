// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace vlearn {
namespace {

/// "1.20e-06" is 1.2e-6.
std::string tidy(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string digits = text.substr(0, e);
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  int exponent = 0;
  const std::size_t sign = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + sign, text.data() + text.size(), exponent);
  return fmt::format("{}e{}", digits, exponent);
}

double parsed(std::string_view text) {
  double number = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string figure(double number, int digits, Rounding rounding) {
  if (!std::isfinite(number)) return number > 0 ? "∞" : number < 0 ? "−∞" : "?";
  if (number == 0.0) return "0";
  double shown = parsed(fmt::format("{:.{}e}", number, digits - 1));
  const bool wrong = (rounding == Rounding::up && shown < number) ||
                     (rounding == Rounding::down && shown > number);
  if (wrong) {  // one unit of the last digit further, in the decade of the number itself
    const std::string scientific = fmt::format("{:.17e}", number);
    const double decade = parsed("1" + scientific.substr(scientific.find('e')));
    shown += (rounding == Rounding::up ? decade : -decade) / std::pow(10, digits - 1);
  }
  std::string text = tidy(fmt::format("{:.{}g}", shown, digits));
  const double size = std::abs(shown);
  if (size >= 1e-4 && size < 1e7 && text.find('e') != std::string::npos) {
    text = fmt::format("{:.0f}", shown);
  }
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

std::string count(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, "\u202F");
  return text;
}

std::string bounds(double lower, double upper) {
  if (lower == upper) return figure(upper, 6);
  return figure(lower, 6, Rounding::down) + " to " + figure(upper, 6, Rounding::up);
}

std::string confidence_text(double confidence) {
  // Of 0.99 nearly all is left; what is lost to binary digits is no loss of confidence.
  return figure(100.0 * confidence + 1e-9, 6, Rounding::down) + "\u00A0%";
}

std::string percent(double chance) {
  if (chance < 0.0) return "−" + percent(-chance);
  const double hundredths = chance * 100.0;
  if (chance > 0.0 && hundredths < 0.01) return "< 0.01\u00A0%";
  if (hundredths >= 0.01 && hundredths < 9.995) return figure(hundredths, 2) + "\u00A0%";
  return fmt::format("{:.{}f}\u00A0%", hundredths, hundredths > 0.0 && hundredths < 99.95 ? 1 : 0);
}

std::string plural(std::uint64_t number, const std::string& thing) {
  return count(number) + "\u00A0" + thing + (number == 1 ? "" : "s");
}

std::string tick_label(double number) {
  constexpr std::array<std::pair<double, const char*>, 4> units = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [unit, letter] : units) {
    if (std::abs(number) >= unit) return fmt::format("{:g}{}", number / unit, letter);
  }
  std::string text = tidy(fmt::format("{:.6g}", number));
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

}  // namespace vlearn
