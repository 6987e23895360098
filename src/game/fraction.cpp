// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "fraction.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vlearn {
namespace {

constexpr std::size_t kMaxDigits = 1000;
constexpr std::size_t kExactDigits = 15;  // so many fit a double exactly

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_integer(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits &&
         std::all_of(text.begin(), text.end(), is_digit);
}

/// A whole number of any size, from 0 up.
class Natural {
 public:
  explicit Natural(std::string_view digits) {
    for (const char c : digits) {
      auto carry = static_cast<std::uint64_t>(c - '0');
      for (std::uint32_t& limb : limbs_) {
        carry += std::uint64_t{limb} * 10;
        limb = static_cast<std::uint32_t>(carry);
        carry >>= 32U;
      }
      if (carry > 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
    }
  }

  [[nodiscard]] bool is_zero() const noexcept { return limbs_.empty(); }

  [[nodiscard]] std::int64_t bits() const noexcept {
    if (is_zero()) return 0;
    return static_cast<std::int64_t>(32 * (limbs_.size() - 1)) +
           static_cast<std::int64_t>(std::bit_width(limbs_.back()));
  }

  void double_it() {
    std::uint32_t carry = 0;
    for (std::uint32_t& limb : limbs_) {
      const std::uint32_t top = limb >> 31U;
      limb = (limb << 1U) | carry;
      carry = top;
    }
    if (carry > 0) limbs_.push_back(carry);
  }

  /// Times 2^count.
  void shift(std::int64_t count) {
    limbs_.insert(limbs_.begin(), static_cast<std::size_t>(count / 32), 0U);
    for (std::int64_t i = 0; i < count % 32; ++i) double_it();
  }

  [[nodiscard]] bool at_least(const Natural& other) const noexcept {
    if (limbs_.size() != other.limbs_.size()) return limbs_.size() > other.limbs_.size();
    return !std::lexicographical_compare(limbs_.rbegin(), limbs_.rend(), other.limbs_.rbegin(),
                                         other.limbs_.rend());
  }

  /// `other` is not larger.
  void subtract(const Natural& other) noexcept {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      const std::uint64_t theirs = borrow + (i < other.limbs_.size() ? other.limbs_[i] : 0U);
      borrow = limbs_[i] < theirs ? 1 : 0;
      limbs_[i] = static_cast<std::uint32_t>(limbs_[i] - theirs);
    }
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

 private:
  std::vector<std::uint32_t> limbs_;  // the lowest first, the last one not 0
};

/// The double nearest to (digits + x) 2^exponent, where x is 0 if the last binary digit is 0 and
/// some number in (-1, 1) else; digits >= 2^54.
double rounded(std::uint64_t digits, std::int64_t exponent) {
  // What a double drops: all but 53 digits, and whatever is below 2^-1074.
  const std::int64_t surplus = static_cast<std::int64_t>(std::bit_width(digits)) - 53;
  const std::int64_t drop = std::max(surplus, -1074 - exponent);
  if (drop > 63) return 0.0;
  const std::uint64_t unit = std::uint64_t{1} << static_cast<unsigned>(drop);
  const std::uint64_t rest = digits % unit;
  std::uint64_t kept = digits / unit;
  if (rest > unit / 2 || (rest == unit / 2 && kept % 2 == 1)) ++kept;
  return std::ldexp(static_cast<double>(kept), static_cast<int>(exponent + drop));
}

/// Long division in binary: 56 digits, of which the first or the second is a one, and the last also
/// stands for a remainder that is left.
double quotient(Natural dividend, Natural divisor) {
  if (dividend.is_zero()) return 0.0;
  const std::int64_t scale = dividend.bits() - divisor.bits();
  if (scale > 0) divisor.shift(scale);
  if (scale < 0) dividend.shift(-scale);
  std::uint64_t digits = 0;
  for (int i = 0; i < 56; ++i) {
    digits *= 2;
    if (dividend.at_least(divisor)) {
      dividend.subtract(divisor);
      ++digits;
    }
    dividend.double_it();
  }
  if (!dividend.is_zero()) digits |= 1U;
  return rounded(digits, scale - 55);
}

std::optional<double> parse_quotient(std::string_view dividend, std::string_view divisor) {
  if (!is_integer(dividend) || !is_integer(divisor)) return std::nullopt;
  if (divisor.find_first_not_of('0') == std::string_view::npos) return std::nullopt;
  if (std::max(dividend.size(), divisor.size()) > kExactDigits) {
    return quotient(Natural(dividend), Natural(divisor));
  }
  // The division of two doubles is rounded once.
  double a = 0.0;
  double b = 0.0;
  std::from_chars(dividend.data(), dividend.data() + dividend.size(), a);
  std::from_chars(divisor.data(), divisor.data() + divisor.size(), b);
  return a / b;
}

/// Of a decimal that is beyond what doubles hold: whether it is too small, not too large.
bool is_tiny(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, end);
  const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  std::string_view power = text.substr(std::min(end + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (result.ec == std::errc::result_out_of_range) return power.starts_with('-');
  // At most 1000 digits: no exponent of this size is made up for.
  exponent = std::clamp<std::int64_t>(exponent, -1'000'000, 1'000'000);
  return point - first + exponent < 0;
}

std::optional<double> parse_decimal(std::string_view text) {
  // No second sign, no "inf", no "nan".
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.')) return std::nullopt;
  if (std::count_if(text.begin(), text.end(), is_digit) > std::ptrdiff_t{kMaxDigits}) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end) return std::nullopt;
  if (error == std::errc::result_out_of_range && is_tiny(text)) return 0.0;
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_fraction(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t slash = text.find('/');
  const std::optional<double> size =
      slash == std::string_view::npos
          ? parse_decimal(text)
          : parse_quotient(text.substr(0, slash), text.substr(slash + 1));
  if (!size || !std::isfinite(*size)) return std::nullopt;
  return negative && *size > 0.0 ? -*size : *size;
}

}  // namespace vlearn
