// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vlearn {
namespace {

constexpr std::size_t kLongestWord = 64;       // longer ones are not typos
constexpr std::size_t kMostCandidates = 4096;  // of more, only the first are looked at

/// Optimal string alignment distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // row i - 2
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

/// Length of the well-formed UTF-8 sequence at the start of the bytes, 0 if there is none
/// (Unicode standard, table 3-7).
std::size_t sequence_length(std::string_view bytes) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (within(0, 0xC2, 0xDF)) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (within(0, 0xE0, 0xEF)) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (within(0, 0xF0, 0xF4)) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

/// The character that a well-formed sequence stands for.
std::uint32_t character(std::string_view sequence) noexcept {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  std::uint32_t code = lead & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

/// Whether a character steers who shows or reads a text: terminals (C0 and C1), lines, the
/// direction of writing, or nothing that can be seen.
bool steers(std::uint32_t code) noexcept {
  const auto within = [code](std::uint32_t low, std::uint32_t high) {
    return code >= low && code <= high;
  };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x61C || within(0x200B, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF;
}

/// With so many digits at least.
std::string hexadecimal(std::uint32_t number, std::size_t least) {
  std::string digits;
  for (; number > 0; number /= 16) digits += "0123456789ABCDEF"[number % 16];
  digits.resize(std::max(digits.size(), least), '0');
  return {digits.rbegin(), digits.rend()};
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t fewest = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate :
       candidates.first(std::min(candidates.size(), kMostCandidates))) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t count = edits(word, candidate);
    if (count < fewest) {
      fewest = count;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> best = nearest(word, candidates);
  return best ? "did you mean '" + printable(*best, 100) + "'?" : std::string();
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const bool plain = length > 0 && !steers(character(text.substr(0, length)));
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (shown.size() + (plain ? taken : 4 * taken) > max_bytes) return shown + "...";
    for (const char c : text.substr(0, taken)) {
      const auto value = static_cast<unsigned char>(c);
      if (plain) {
        shown += c;
      } else {
        shown += {'\\', 'x', digits[value >> 4U], digits[value & 15U]};
      }
    }
    text.remove_prefix(taken);
  }
  return shown;
}

std::string visible(std::string_view text) {
  // Most texts have nothing to be looked at closely.
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  if (plain) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::uint32_t code =
        length == 0 ? static_cast<unsigned char>(text.front()) : character(text.substr(0, length));
    if (length == 0) {
      shown += "[0x" + hexadecimal(code, 2) + "]";
    } else if (steers(code)) {
      shown += "[U+" + hexadecimal(code, 4) + "]";
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  return is_utf8(text) ? std::string(text) : printable(text, SIZE_MAX);
}

}  // namespace vlearn
