// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Words for people: suggestions for typos, and names from outside made safe to print.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vlearn {

/// The candidate that `word` most likely meant: fewest single-letter edits (insert, delete,
/// replace, swap of neighbours), at most a third of its length and at least one; the first of
/// equals. Nothing when none is near.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

/// "did you mean 'x'?", safe to print, or nothing to say.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string_view> candidates);

/// The text with what steers a reader instead of being read written as \xNN: control characters
/// (terminal escapes among them), marks of writing direction, characters without width. Cut with
/// "..." after `max_bytes`; for anything that came from a file or a command line and is shown.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 2000);

/// The same for pages, as [U+202E]; a byte that is not UTF-8 is [0xFF]. Nothing is cut.
[[nodiscard]] std::string visible(std::string_view text);

/// Whether the bytes are well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// The text itself if it is UTF-8, else as printable() shows it, uncut: names of files may have any
/// bytes, results have UTF-8 only.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace vlearn
