// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vlearn/core/assert.h"
#include "vlearn/core/file.h"
#include "vlearn/core/float_environment.h"
#include "vlearn/core/text.h"

#define JSON_ASSERT(condition) VLEARN_ASSERT(condition)
#include <nlohmann/json.hpp>

namespace vlearn {
namespace {

std::string_view name_of(JsonKind kind) {
  switch (kind) {
    case JsonKind::null: return "null";
    case JsonKind::boolean: return "true or false";
    case JsonKind::integer: return "an integer";
    case JsonKind::number: return "a number";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "";
}

/// Walks over the text and knows the line it is in. nlohmann reads through a pair of iterators, at
/// most one character beyond the token it reports.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Iterator(LineCounter* counter, std::size_t position) : counter_(counter), position_(position) {}
    reference operator*() const { return counter_->text_[position_]; }
    Iterator& operator++() {
      counter_->read_to(++position_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return position_ == other.position_; }
    bool operator!=(const Iterator& other) const { return position_ != other.position_; }

   private:
    LineCounter* counter_;
    std::size_t position_;
  };

  [[nodiscard]] Iterator begin() { return {this, 0}; }
  [[nodiscard]] Iterator end() { return {this, text_.size()}; }

  /// The line of the last character read, or of the one before it if that ended a line.
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] std::size_t column() const { return position_ - line_begin_; }

 private:
  void read_to(std::size_t position) {
    // The newline just before `position` counts only once something after it has been read.
    if (position >= 2 && text_[position - 2] == '\n') {
      ++line_;
      line_begin_ = position - 1;
    }
    position_ = position;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

/// Receives nlohmann's events and builds the nodes. A false return stops the parser.
class JsonBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  JsonBuilder(JsonDocument& document, LineCounter& lines, const JsonLimits& limits)
      : document_(document), lines_(lines), limits_(limits) {}

  // The names and signatures of these events are nlohmann's.
  bool null() { return add(JsonKind::null) != nullptr; }
  bool boolean(bool flag) {
    JsonDocument::Node* const node = add(JsonKind::boolean);
    if (node != nullptr) node->magnitude = flag ? 1 : 0;
    return node != nullptr;
  }
  bool number_integer(number_integer_t value) {  // negative ones, and -0
    const double number = value == 0 ? -0.0 : static_cast<double>(value);
    return add_integer(value < 0, 0 - static_cast<std::uint64_t>(value), number);
  }
  bool number_unsigned(number_unsigned_t value) {
    return add_integer(false, value, static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) {
    JsonDocument::Node* const node = add(JsonKind::number);
    if (node != nullptr) node->number = value;
    return node != nullptr;
  }
  bool string(string_t& text) {
    JsonDocument::Node* const node = add(JsonKind::string);
    if (node != nullptr) node->text = store(text);
    return node != nullptr;
  }
  bool binary(binary_t& /*value*/) { return false; }  // not a thing of JSON texts
  bool key(string_t& name) {
    key_ = store(name);
    return true;
  }
  bool start_object(std::size_t /*size*/) { return open(JsonKind::object); }
  bool start_array(std::size_t /*size*/) { return open(JsonKind::array); }
  bool end_array() { return close(); }
  bool end_object() { return has_unique_keys() && close(); }
  bool parse_error(std::size_t /*position*/,
                   const std::string& /*token*/,
                   const nlohmann::detail::exception& exception) {
    // "[json.exception...] parse error at line 1, column 2: what": only the last part is news.
    std::string_view what = exception.what();
    for (const std::string_view before : {"] ", ": "}) {
      const std::size_t at = what.find(before);
      if (at != std::string_view::npos) what.remove_prefix(at + before.size());
    }
    const bool overflow = what.starts_with("number overflow");
    fail(ErrorKind::input, lines_.line(),
         "column " + std::to_string(lines_.column()) + ": " + printable(what, 200),
         overflow ? "numbers go up to 1.8e308" : "");
    return false;
  }

  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  void fail(ErrorKind kind, std::uint32_t line, std::string problem, std::string fix = {}) {
    failure_.emplace(kind, document_.source_ + ":" + std::to_string(line), std::move(problem),
                     std::move(fix));
  }

  JsonDocument::Text store(std::string_view text) {
    // The bound on the input keeps this below 2^32: escapes only shrink.
    const JsonDocument::Text stored{static_cast<std::uint32_t>(document_.strings_.size()),
                                    static_cast<std::uint32_t>(text.size())};
    document_.strings_ += text;
    return stored;
  }

  /// Appends a value to the open array or object; null when there are too many.
  JsonDocument::Node* add(JsonKind kind) {
    std::vector<JsonDocument::Node>& nodes = document_.nodes_;
    if (nodes.size() >= limits_.max_values) {
      fail(ErrorKind::resource, lines_.line(),
           "more than " + std::to_string(limits_.max_values) + " values",
           "use the array container for large data");
      return nullptr;
    }
    const auto index = static_cast<std::uint32_t>(nodes.size());
    JsonDocument::Node node;
    node.kind = kind;
    node.line = lines_.line();
    node.key = std::exchange(key_, {});
    if (!open_.empty()) {
      Level& level = open_.back();
      node.parent = level.index;
      (level.last == JsonDocument::kNone ? nodes[level.index].first : nodes[level.last].next) =
          index;
      level.last = index;
      ++nodes[level.index].count;
    }
    nodes.push_back(node);
    return &nodes.back();
  }

  bool add_integer(bool negative, std::uint64_t magnitude, double number) {
    JsonDocument::Node* const node = add(JsonKind::integer);
    if (node == nullptr) return false;
    node->negative = negative;
    node->magnitude = magnitude;
    node->number = number;
    return true;
  }

  bool open(JsonKind kind) {
    if (open_.size() >= limits_.max_depth) {
      fail(ErrorKind::input, lines_.line(),
           "nested deeper than " + std::to_string(limits_.max_depth) + " levels",
           "nothing that is read here needs so many");
      return false;
    }
    if (add(kind) == nullptr) return false;
    open_.push_back({static_cast<std::uint32_t>(document_.nodes_.size() - 1), JsonDocument::kNone});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool has_unique_keys() {
    const std::vector<JsonDocument::Node>& nodes = document_.nodes_;
    std::vector<std::uint32_t> members;
    members.reserve(nodes[open_.back().index].count);
    for (std::uint32_t i = nodes[open_.back().index].first; i != JsonDocument::kNone;
         i = nodes[i].next) {
      members.push_back(i);
    }
    const auto key_of = [&](std::uint32_t i) { return document_.view(nodes[i].key); };
    std::sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(key_of(a), a) < std::pair(key_of(b), b);
    });
    const auto twice = std::adjacent_find(
        members.begin(), members.end(),
        [&](std::uint32_t a, std::uint32_t b) { return key_of(a) == key_of(b); });
    if (twice == members.end()) return true;
    fail(ErrorKind::input, nodes[*(twice + 1)].line,
         "key '" + printable(key_of(*twice), 100) + "' stands twice in one object, first in line " +
             std::to_string(nodes[*twice].line),
         "keep one of them");
    return false;
  }

  struct Level {
    std::uint32_t index;  // of the array or object
    std::uint32_t last;   // its latest child
  };

  JsonDocument& document_;
  LineCounter& lines_;
  const JsonLimits& limits_;
  std::vector<Level> open_;
  JsonDocument::Text key_;
  std::optional<Error> failure_;
};

JsonDocument JsonDocument::parse(std::string_view text,
                                 std::string source,
                                 const JsonLimits& limits) {
  if (text.size() > std::min<std::uint64_t>(limits.max_bytes, UINT32_MAX - 1)) {
    throw Error(ErrorKind::resource, source,
                "has " + std::to_string(text.size()) + " bytes, the limit for JSON is " +
                    std::to_string(limits.max_bytes),
                "use the array container for large data");
  }
  // nlohmann's lexer takes a NUL for the end of the text and would not look behind it.
  const std::string_view before = text.substr(0, text.find('\0'));
  if (before.size() < text.size()) {
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Error(ErrorKind::input, source + ":" + std::to_string(line), "contains a NUL byte",
                "JSON is text: remove it");
  }
  const DefaultFloatEnvironment environment;  // strtod obeys the rounding mode
  JsonDocument document;
  document.source_ = std::move(source);
  LineCounter lines(text);
  JsonBuilder builder(document, lines, limits);
  const bool parsed = nlohmann::json::sax_parse(lines.begin(), lines.end(), &builder);
  if (builder.failure()) throw Error(*builder.failure());
  VLEARN_ASSERT(parsed && !document.nodes_.empty());
  return document;
}

JsonDocument JsonDocument::read(const std::filesystem::path& path, const JsonLimits& limits) {
  return parse(FileBytes::read(path, limits.max_bytes).text(), path.string(), limits);
}

JsonValue JsonDocument::root() const { return {*this, 0}; }

Error JsonValue::error(std::string problem, std::string fix) const {
  return {ErrorKind::input, place(), std::move(problem), std::move(fix)};
}

Error JsonValue::wrong_kind(std::string_view wanted) const {
  return error("is " + std::string(name_of(kind())) + ", want " + std::string(wanted));
}

Error JsonValue::out_of_range(const std::string& smallest, const std::string& largest) const {
  return error("is " + std::string(node().negative ? "-" : "") + std::to_string(node().magnitude) +
               ", want an integer from " + smallest + " to " + largest);
}

bool JsonValue::boolean() const {
  if (kind() != JsonKind::boolean) throw wrong_kind("true or false");
  return node().magnitude != 0;
}

double JsonValue::number() const {
  if (!is_number()) throw wrong_kind("a number");
  return node().number;
}

std::int64_t JsonValue::integer(std::int64_t smallest, std::int64_t largest) const {
  if (kind() != JsonKind::integer) throw wrong_kind("an integer");
  const std::uint64_t magnitude = node().magnitude;
  const bool fits = magnitude <= static_cast<std::uint64_t>(INT64_MAX) + (node().negative ? 1 : 0);
  const auto value = static_cast<std::int64_t>(node().negative ? 0 - magnitude : magnitude);
  if (!fits || value < smallest || value > largest) {
    throw out_of_range(std::to_string(smallest), std::to_string(largest));
  }
  return value;
}

std::uint64_t JsonValue::natural(std::uint64_t largest) const {
  if (kind() != JsonKind::integer) throw wrong_kind("an integer");
  if (node().negative || node().magnitude > largest) {
    throw out_of_range("0", std::to_string(largest));
  }
  return node().magnitude;
}

std::string_view JsonValue::string() const {
  if (!is_string()) throw wrong_kind("a string");
  return document_->view(node().text);
}

std::uint32_t JsonValue::size() const {
  if (!is_array() && !is_object()) throw wrong_kind("an array or object");
  return node().count;
}

JsonItems JsonValue::items() const {
  if (!is_array() && !is_object()) throw wrong_kind("an array or object");
  return {*document_, node().first};
}

JsonValue JsonValue::at(std::uint32_t position) const {
  for (const JsonValue item : items()) {
    if (position-- == 0) return item;
  }
  throw error("has only " + std::to_string(size()) + " items");
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is_object()) throw wrong_kind("an object");
  for (const JsonValue item : items()) {
    if (item.key() == key) return item;
  }
  return std::nullopt;
}

JsonValue JsonValue::at(std::string_view key) const {
  const std::optional<JsonValue> found = find(key);
  if (!found) throw error("lacks the key '" + std::string(key) + "'", "add it");
  return *found;
}

void JsonValue::allow_keys(std::span<const std::string_view> keys) const {
  if (!is_object()) throw wrong_kind("an object");
  for (const JsonValue item : items()) {
    if (std::find(keys.begin(), keys.end(), item.key()) != keys.end()) continue;
    std::string fix = suggestion(item.key(), keys);
    if (fix.empty()) fix = fmt::format("want one of {}", fmt::join(keys, ", "));
    throw item.error("is not a key that may stand here", std::move(fix));
  }
}

std::string JsonValue::path() const {
  if (node().parent == JsonDocument::kNone) return {};
  const JsonValue parent(*document_, node().parent);
  std::string text = parent.path();
  if (parent.is_object()) {
    if (!text.empty()) text += '.';
    return text + printable(key(), 100);
  }
  std::size_t position = 0;
  for (std::uint32_t i = parent.node().first; i != index_; i = document_->nodes_[i].next) {
    ++position;
  }
  return text + "[" + std::to_string(position) + "]";
}

std::string JsonValue::place() const {
  std::string text = document_->source_ + ":" + std::to_string(line());
  const std::string keys = path();
  if (!keys.empty()) text += ": " + keys;
  return text;
}

}  // namespace vlearn
