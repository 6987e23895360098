// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of a .nfg text: braces, commas, texts in quotes, and everything else up to the next
// blank. Inside quotes \" stands for " and \\ for \; a backslash before anything else is itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vlearn {

struct NfgToken {
  enum class Kind : std::uint8_t { open, close, comma, text, word, end };

  Kind kind = Kind::end;
  /// A part of the whole text, quotes included.
  std::string_view raw;

  [[nodiscard]] bool is(Kind other) const noexcept { return kind == other; }
  /// What a text in quotes says.
  [[nodiscard]] std::string text() const;
};

/// In quotes, as text() reads it.
[[nodiscard]] std::string nfg_quoted(std::string_view text);

class NfgTokens {
 public:
  /// Both are borrowed.
  NfgTokens(std::string_view text, const std::string& source);

  /// What comes next.
  [[nodiscard]] const NfgToken& next() const noexcept { return next_; }
  [[nodiscard]] bool next_is(NfgToken::Kind kind) const noexcept { return next_.is(kind); }

  NfgToken take();
  /// Throws Error (input) that says what was found and that `wanted` was wanted.
  NfgToken take(NfgToken::Kind kind, std::string_view wanted);

  /// Throws Error (input) with the line of the token.
  [[noreturn]] void refuse(const NfgToken& at, std::string problem, std::string fix = {}) const;
  [[noreturn]] void refuse_found(const NfgToken& found, std::string_view wanted) const;

 private:
  [[nodiscard]] NfgToken read();
  [[nodiscard]] NfgToken read_text(std::size_t begin);

  std::string_view text_;
  const std::string& source_;
  std::size_t position_ = 0;
  NfgToken next_;
};

}  // namespace vlearn
