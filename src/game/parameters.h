// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads "family:key=value,key=value".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace vlearn {

class Parameters {
 public:
  /// Throws Error (usage) when the text is not of that form or names a key twice.
  explicit Parameters(std::string_view name);

  [[nodiscard]] const std::string& family() const noexcept { return family_; }

  /// The value of a key, or the default when it is absent. Throws Error (usage) when it is not an
  /// integer in the range (1e6 counts as one), not a number in the range, not one of the words.
  [[nodiscard]] std::uint64_t integer(std::string_view key,
                                      std::uint64_t fallback,
                                      std::uint64_t smallest,
                                      std::uint64_t largest);
  [[nodiscard]] double number(std::string_view key,
                              double fallback,
                              double smallest,
                              double largest);
  [[nodiscard]] std::string word(std::string_view key,
                                 std::string_view fallback,
                                 std::initializer_list<std::string_view> words);
  /// Throws Error (usage) for a key that nobody asked for; call it last.
  void finish() const;

 private:
  struct Entry {
    std::string key;
    std::string value;
  };
  [[nodiscard]] const std::string* find(std::string_view key);

  std::string family_;
  std::vector<Entry> entries_;
  std::vector<std::string> asked_;
};

}  // namespace vlearn
