// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "vlearn/core/error.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

[[noreturn]] void refuse(std::string place, std::string problem, std::string fix = {}) {
  throw Error(ErrorKind::usage, std::move(place), std::move(problem), std::move(fix));
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_integer(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  // 1e6 is a whole number too, as long as a double holds it exactly.
  const std::optional<double> number = parse_number(text);
  if (!number || *number < 0.0 || *number > 0x1p53 || std::floor(*number) != *number) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

Parameters::Parameters(std::string_view name) {
  const std::size_t colon = name.find(':');
  family_ = name.substr(0, colon);
  if (colon == std::string_view::npos) return;
  std::string_view rest = name.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(printable(name, 200), fmt::format("'{}' is not key=value", printable(part, 100)));
    }
    Entry entry{std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))};
    for (const Entry& other : entries_) {
      if (other.key == entry.key) refuse(printable(name, 200), "names a key twice");
    }
    entries_.push_back(std::move(entry));
  }
}

const std::string* Parameters::find(std::string_view key) {
  asked_.emplace_back(key);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries_.end() ? nullptr : &found->value;
}

std::uint64_t Parameters::integer(std::string_view key,
                                  std::uint64_t fallback,
                                  std::uint64_t smallest,
                                  std::uint64_t largest) {
  const std::string* const text = find(key);
  if (text == nullptr) return fallback;
  const std::optional<std::uint64_t> value = parse_integer(*text);
  if (!value || *value < smallest || *value > largest) {
    refuse(fmt::format("{}: {}", family_, key), fmt::format("is '{}'", printable(*text, 50)),
           fmt::format("want an integer from {} to {}", smallest, largest));
  }
  return *value;
}

double Parameters::number(std::string_view key, double fallback, double smallest, double largest) {
  const std::string* const text = find(key);
  if (text == nullptr) return fallback;
  const std::optional<double> value = parse_number(*text);
  if (!value || *value < smallest || *value > largest) {
    refuse(fmt::format("{}: {}", family_, key), fmt::format("is '{}'", printable(*text, 50)),
           fmt::format("want a number from {} to {}", smallest, largest));
  }
  return *value;
}

std::string Parameters::word(std::string_view key,
                             std::string_view fallback,
                             std::initializer_list<std::string_view> words) {
  const std::string* const text = find(key);
  if (text == nullptr) return std::string(fallback);
  if (std::find(words.begin(), words.end(), *text) == words.end()) {
    const std::string meant = suggestion(*text, words);
    refuse(fmt::format("{}: {}", family_, key), fmt::format("is '{}'", printable(*text, 50)),
           meant.empty() ? fmt::format("want one of {}", fmt::join(words, ", ")) : meant);
  }
  return *text;
}

void Parameters::finish() const {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const Entry& entry : entries_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    std::string fix = suggestion(entry.key, known);
    if (fix.empty()) fix = fmt::format("it knows {}", fmt::join(known, ", "));
    refuse(family_, fmt::format("has no parameter '{}'", printable(entry.key, 50)), fix);
  }
}

}  // namespace vlearn
