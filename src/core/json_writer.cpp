// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "vlearn/core/assert.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  if (!is_utf8(text)) {
    throw Error(ErrorKind::internal, printable(text, 100), "is not UTF-8 and has no JSON form");
  }
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

}  // namespace

void JsonWriter::new_line() {
  if (layout_ == Layout::compact || depth_ > line_depth_) return;
  text_ += '\n';
  text_.append(2 * depth_, ' ');
}

/// What stands between the previous value and the next one.
void JsonWriter::separate() {
  if (std::exchange(after_key_, false)) return;
  if (!first_) text_ += depth_ > line_depth_ ? ", " : ",";
  if (depth_ > 0) new_line();
  first_ = false;
}

JsonWriter& JsonWriter::on_one_line() {
  if (layout_ == Layout::indented) line_depth_ = std::min(line_depth_, depth_);
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  VLEARN_ASSERT(depth_ > 0 && !after_key_);
  if (--depth_ < line_depth_ && !first_) new_line();
  if (depth_ == line_depth_) line_depth_ = SIZE_MAX;
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  VLEARN_ASSERT(depth_ > 0 && !after_key_);
  separate();
  append_quoted(text_, name);
  text_ += layout_ == Layout::compact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    throw Error(ErrorKind::internal, "JSON output", "a number that is not finite has no JSON form");
  }
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  separate();
  text_ += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  separate();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  text_ += "null";
  return *this;
}

}  // namespace vlearn
