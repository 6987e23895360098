// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "nfg_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vlearn/core/error.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

using Kind = NfgToken::Kind;

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kWordEnds = " \t\n\v\f\r{}\",";

std::string described(const NfgToken& token) {
  if (token.is(Kind::end)) return "the end";
  if (token.is(Kind::text)) return printable(token.raw, 60);
  return fmt::format("'{}'", printable(token.raw, 60));
}

}  // namespace

std::string NfgToken::text() const {
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  std::string result;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    // The last character is no lone backslash: it would have hidden the closing quote.
    if (inside[i] == '\\' && (inside[i + 1] == '\\' || inside[i + 1] == '"')) ++i;
    result.push_back(inside[i]);
  }
  return result;
}

std::string nfg_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  result.push_back('"');
  return result;
}

NfgTokens::NfgTokens(std::string_view text, const std::string& source)
    : text_(text), source_(source), next_(read()) {}

NfgToken NfgTokens::take() {
  const NfgToken taken = next_;
  next_ = read();
  return taken;
}

NfgToken NfgTokens::take(Kind kind, std::string_view wanted) {
  if (!next_is(kind)) refuse_found(next_, wanted);
  return take();
}

NfgToken NfgTokens::read() {
  position_ = std::min(text_.find_first_not_of(kBlanks, position_), text_.size());
  const std::size_t begin = position_;
  if (begin == text_.size()) return {Kind::end, text_.substr(begin)};
  if (text_[begin] == '"') return read_text(begin);
  const std::size_t mark = std::string_view("{},").find(text_[begin]);
  if (mark != std::string_view::npos) {
    ++position_;
    constexpr Kind kinds[] = {Kind::open, Kind::close, Kind::comma};
    return {kinds[mark], text_.substr(begin, 1)};
  }
  position_ = std::min(text_.find_first_of(kWordEnds, begin), text_.size());
  return {Kind::word, text_.substr(begin, position_ - begin)};
}

NfgToken NfgTokens::read_text(std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text_.size() && text_[end] != '"') {
    const bool escape = text_[end] == '\\' && end + 1 < text_.size() &&
                        (text_[end + 1] == '\\' || text_[end + 1] == '"');
    end += escape ? 2 : 1;
  }
  if (end >= text_.size()) {
    refuse({Kind::text, text_.substr(begin)}, "a text begins here and does not end",
           "close it with a quote (one inside a text is written \\\")");
  }
  position_ = end + 1;
  const NfgToken token{Kind::text, text_.substr(begin, position_ - begin)};
  if (!is_utf8(token.raw)) {
    refuse(token, fmt::format("the text {} is not UTF-8", printable(token.raw, 60)));
  }
  return token;
}

void NfgTokens::refuse(const NfgToken& at, std::string problem, std::string fix) const {
  const auto lines = std::count(text_.data(), at.raw.data(), '\n');
  throw Error(ErrorKind::input, fmt::format("{}:{}", source_, lines + 1), std::move(problem),
              std::move(fix));
}

void NfgTokens::refuse_found(const NfgToken& found, std::string_view wanted) const {
  refuse(found, "found " + described(found), fmt::format("want {}", wanted));
}

}  // namespace vlearn
