// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON in, with limits, and JSON out. The grammar is nlohmann's; what it lacks is here: a bound on
// bytes, depth and values, no duplicate keys, and errors that name the file, the line and the key
// ("game.json:12: rules[3].reward: is a string, want a number").
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vlearn/core/error.h"

namespace vlearn {

struct JsonLimits {
  std::uint64_t max_bytes = std::uint64_t{32} << 20U;
  std::uint32_t max_depth = 64;
  std::uint32_t max_values = std::uint32_t{1} << 21U;
};

enum class JsonKind : std::uint8_t { null, boolean, integer, number, string, array, object };

class JsonValue;
class JsonItems;

/// A parsed text. Values are views into it: it must stay where it is as long as they are used.
class JsonDocument {
 public:
  /// `source` stands in front of every message: the file's name. Throws Error: resource for too
  /// many bytes or values, input for everything else.
  [[nodiscard]] static JsonDocument parse(std::string_view text,
                                          std::string source,
                                          const JsonLimits& limits = {});
  [[nodiscard]] static JsonDocument read(const std::filesystem::path& path,
                                         const JsonLimits& limits = {});

  [[nodiscard]] JsonValue root() const;
  [[nodiscard]] const std::string& source() const noexcept { return source_; }

 private:
  friend class JsonValue;
  friend class JsonItems;
  friend class JsonBuilder;
  JsonDocument() = default;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Text {  // a part of strings_
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Node {
    JsonKind kind = JsonKind::null;
    bool negative = false;  // integers keep sign and magnitude: both int64 and uint64 fit
    std::uint32_t line = 1;
    std::uint32_t parent = kNone;
    std::uint32_t next = kNone;   // sibling
    std::uint32_t first = kNone;  // child
    std::uint32_t count = 0;      // children
    Text key;                     // in an object
    Text text;                    // of a string
    double number = 0.0;          // of a number or integer
    std::uint64_t magnitude = 0;  // of an integer; 1 for true
  };

  [[nodiscard]] std::string_view view(Text text) const {
    return std::string_view(strings_).substr(text.begin, text.size);
  }

  std::string source_;
  std::string strings_;
  std::vector<Node> nodes_;
};

/// One value of a document, with its place. Every accessor that meets another kind than it wants
/// throws an Error naming that place.
class JsonValue {
 public:
  [[nodiscard]] JsonKind kind() const { return node().kind; }
  [[nodiscard]] bool is_object() const { return kind() == JsonKind::object; }
  [[nodiscard]] bool is_array() const { return kind() == JsonKind::array; }
  [[nodiscard]] bool is_string() const { return kind() == JsonKind::string; }
  [[nodiscard]] bool is_number() const {
    return kind() == JsonKind::number || kind() == JsonKind::integer;
  }

  [[nodiscard]] bool boolean() const;
  /// Always finite.
  [[nodiscard]] double number() const;
  /// An integer written as one (3, not 3.0), within [smallest, largest].
  [[nodiscard]] std::int64_t integer(std::int64_t smallest, std::int64_t largest) const;
  /// The same for values up to 2^64 - 1.
  [[nodiscard]] std::uint64_t natural(std::uint64_t largest) const;
  [[nodiscard]] std::string_view string() const;

  /// Children of an array or object.
  [[nodiscard]] std::uint32_t size() const;
  /// They, in the order of the text: `for (const JsonValue item : value.items())`.
  [[nodiscard]] JsonItems items() const;
  /// The child at a position; counts its way there.
  [[nodiscard]] JsonValue at(std::uint32_t position) const;
  /// Under which key this stands in its object; empty elsewhere.
  [[nodiscard]] std::string_view key() const { return document_->view(node().key); }

  /// The value under a key of an object: at() wants it to be there.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;
  [[nodiscard]] JsonValue at(std::string_view key) const;
  /// Throws for a key that is not in the list, and suggests the nearest that is.
  void allow_keys(std::span<const std::string_view> keys) const;
  void allow_keys(std::initializer_list<std::string_view> keys) const {
    allow_keys(std::span(keys.begin(), keys.size()));
  }

  [[nodiscard]] std::uint32_t line() const { return node().line; }
  /// "rules[3].reward"; empty for the root.
  [[nodiscard]] std::string path() const;
  /// "game.json:12: rules[3].reward".
  [[nodiscard]] std::string place() const;
  [[nodiscard]] Error error(std::string problem, std::string fix = {}) const;

 private:
  friend class JsonDocument;
  friend class JsonItems;
  JsonValue(const JsonDocument& document, std::uint32_t index)
      : document_(&document), index_(index) {}
  [[nodiscard]] const JsonDocument::Node& node() const { return document_->nodes_[index_]; }
  [[nodiscard]] Error wrong_kind(std::string_view wanted) const;
  [[nodiscard]] Error out_of_range(const std::string& smallest, const std::string& largest) const;

  const JsonDocument* document_;
  std::uint32_t index_;
};

/// The children of one value, as a range.
class JsonItems {
 public:
  class Iterator {
   public:
    using value_type = JsonValue;
    using difference_type = std::ptrdiff_t;
    Iterator(const JsonDocument& document, std::uint32_t index)
        : document_(&document), index_(index) {}
    JsonValue operator*() const { return {*document_, index_}; }
    Iterator& operator++() {
      index_ = document_->nodes_[index_].next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const JsonDocument* document_;
    std::uint32_t index_;
  };

  [[nodiscard]] Iterator begin() const { return {*document_, first_}; }
  [[nodiscard]] Iterator end() const { return {*document_, JsonDocument::kNone}; }

 private:
  friend class JsonValue;
  JsonItems(const JsonDocument& document, std::uint32_t first)
      : document_(&document), first_(first) {}
  const JsonDocument* document_;
  std::uint32_t first_;
};

/// Builds a JSON text. Keys and values come in the order in which they shall stand; doubles are
/// written with the fewest digits that read back as the same bits. A number that is not finite and
/// a text that is not UTF-8 have no JSON form: writing one throws Error (internal).
class JsonWriter {
 public:
  enum class Layout { compact, indented };
  explicit JsonWriter(Layout layout = Layout::indented) : layout_(layout) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  /// In an indented text: the array or object that opens next stays on one line.
  JsonWriter& on_one_line();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(bool flag);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  /// null: a member that has no value here.
  JsonWriter& null();

  /// key() and value() at once.
  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// The finished text, without a newline at the end.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void new_line();

  Layout layout_;
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t line_depth_ = SIZE_MAX;  // levels from this one on stay on one line
  bool first_ = true;                  // nothing yet at this level
  bool after_key_ = false;             // the next value completes a member
};

}  // namespace vlearn
