// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Named arrays in one file, in the open safetensors layout, so that a NumPy user opens it with one
// call: 8 bytes of header length (little-endian), a JSON header, then the raw little-endian arrays.
//
// What we add without leaving that layout: the last array, `commit` (32 bytes), is the SHA-256 of
// everything before it, header included. Files written here always have it and announce it in the
// metadata ("commit": "sha256"), so that damage to its own entry shows too. A file that has it or
// announces it so is checked against it; one without (from other software, where a metadata key
// `commit` may mean anything) is read and says so.
//
// A file is a security boundary. Accepted are only files whose header has at most 1 MiB, whose at
// most 4096 arrays have names of at most 255 bytes, known types, sizes that multiply without
// overflow, and byte ranges that tile the data exactly, without gaps or overlaps. All of it is
// checked before any array is touched, and before memory for the arrays is taken; reading and
// mapping share this one parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/hash.h"

namespace vlearn {

enum class ElementType : std::uint8_t { f64, f32, i64, u64, i32, u32, i16, u16, i8, u8, boolean };

[[nodiscard]] std::size_t size_of(ElementType type) noexcept;
/// As safetensors spells it: "F64", "I32", "BOOL", ...
[[nodiscard]] std::string_view name_of(ElementType type) noexcept;

/// The element type that stores a T: double, float, the sized integers. (BOOL is read as u8.)
template <class T>
inline constexpr std::optional<ElementType> kElementType = std::nullopt;
template <>
inline constexpr std::optional<ElementType> kElementType<double> = ElementType::f64;
template <>
inline constexpr std::optional<ElementType> kElementType<float> = ElementType::f32;
template <>
inline constexpr std::optional<ElementType> kElementType<std::int64_t> = ElementType::i64;
template <>
inline constexpr std::optional<ElementType> kElementType<std::uint64_t> = ElementType::u64;
template <>
inline constexpr std::optional<ElementType> kElementType<std::int32_t> = ElementType::i32;
template <>
inline constexpr std::optional<ElementType> kElementType<std::uint32_t> = ElementType::u32;
template <>
inline constexpr std::optional<ElementType> kElementType<std::int16_t> = ElementType::i16;
template <>
inline constexpr std::optional<ElementType> kElementType<std::uint16_t> = ElementType::u16;
template <>
inline constexpr std::optional<ElementType> kElementType<std::int8_t> = ElementType::i8;
template <>
inline constexpr std::optional<ElementType> kElementType<std::uint8_t> = ElementType::u8;

template <class T>
concept ArrayElement = kElementType<T>.has_value();

inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{1} << 20U;
inline constexpr std::size_t kMaxArrays = 4096;
inline constexpr std::size_t kMaxArrayNameBytes = 255;
inline constexpr std::size_t kMaxArrayRank = 64;
inline constexpr std::string_view kCommitName = "commit";

struct ArrayInfo {
  std::string name;
  ElementType type = ElementType::u8;
  std::vector<std::uint64_t> shape;  ///< last index fastest; empty for a single number
  std::uint64_t offset = 0;          ///< of its first byte in the file
  std::uint64_t bytes = 0;
};

/// The values of an array, of whatever type.
using ArrayValues = std::variant<std::vector<double>,
                                 std::vector<float>,
                                 std::vector<std::int64_t>,
                                 std::vector<std::uint64_t>,
                                 std::vector<std::int32_t>,
                                 std::vector<std::uint32_t>,
                                 std::vector<std::int16_t>,
                                 std::vector<std::uint16_t>,
                                 std::vector<std::int8_t>,
                                 std::vector<std::uint8_t>>;

/// Collects arrays and writes them. What add() gets is borrowed until write().
class ContainerWriter {
 public:
  /// `format` goes to the metadata under "format": "vlearn.policy/1".
  explicit ContainerWriter(std::string format);

  /// Each key once; "format" and "commit" are taken. Keys and values are UTF-8.
  ContainerWriter& metadata(std::string key, std::string value);

  /// The product of `shape` must be the number of values. Names are UTF-8, at most 255 bytes,
  /// each once; `commit` and `__metadata__` are taken.
  template <ArrayElement T>
  ContainerWriter& add(std::string name,
                       std::vector<std::uint64_t> shape,
                       std::span<const T> values) {
    return add_bytes({std::move(name), *kElementType<T>, std::move(shape), 0, values.size_bytes()},
                     {std::as_bytes(values)});
  }
  template <ArrayElement T>
  ContainerWriter& add(std::string name,
                       std::vector<std::uint64_t> shape,
                       const std::vector<T>& values) {
    return add(std::move(name), std::move(shape), std::span<const T>(values));
  }
  /// A temporary would be gone before write().
  template <ArrayElement T>
  ContainerWriter& add(std::string name,
                       std::vector<std::uint64_t> shape,
                       const std::vector<T>&& values) = delete;

  /// One flat array whose parts lie in several places.
  template <ArrayElement T>
  ContainerWriter& add_parts(std::string name, const std::vector<std::span<const T>>& parts) {
    std::uint64_t count = 0;
    std::vector<std::span<const std::byte>> bytes;
    bytes.reserve(parts.size());
    for (const std::span<const T> part : parts) {
      count += part.size();
      bytes.push_back(std::as_bytes(part));
    }
    return add_bytes({std::move(name), *kElementType<T>, {count}, 0, count * sizeof(T)},
                     std::move(bytes));
  }
  /// A flat array that the writer takes over.
  template <ArrayElement T>
  ContainerWriter& own(std::string name, std::vector<T> values) {
    const auto& kept = std::get<std::vector<T>>(owned_.emplace_back(std::move(values)));
    return add(std::move(name), {kept.size()}, kept);
  }

  /// Of all arrays.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) sum += entry.info.bytes;
    return sum;
  }
  /// Atomically: the whole new file, or what was there before.
  void write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    ArrayInfo info;
    std::vector<std::span<const std::byte>> parts;
  };
  ContainerWriter& add_bytes(ArrayInfo info, std::vector<std::span<const std::byte>> parts);
  [[nodiscard]] std::string header(const std::vector<Entry>& entries) const;

  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Entry> entries_;
  std::deque<ArrayValues> owned_;  // entries look at them
};

struct ContainerOptions {
  /// The largest file that is opened.
  std::uint64_t max_bytes = std::uint64_t{1} << 40U;
  /// Map instead of read: for files that nobody else changes, see FileBytes.
  bool mapped = false;
};

/// What a file says about its arrays.
class ContainerHeader {
 public:
  /// `head` has the whole header, or all of a shorter file. `source` stands in front of every
  /// message.
  [[nodiscard]] static ContainerHeader parse(std::span<const std::byte> head,
                                             std::uint64_t file_size,
                                             std::string source);

  /// Whether the file carries a commit.
  [[nodiscard]] bool committed() const noexcept { return committed_; }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// Keys and values, in the order of the file.
  [[nodiscard]] std::span<const std::pair<std::string, std::string>> metadata() const noexcept {
    return metadata_;
  }
  [[nodiscard]] std::optional<std::string_view> metadata(std::string_view key) const;
  /// In file order, without `commit`.
  [[nodiscard]] std::span<const ArrayInfo> arrays() const noexcept { return arrays_; }
  /// Null when there is none.
  [[nodiscard]] const ArrayInfo* find(std::string_view name) const noexcept;
  /// Throws Error where there is none, or where it is of another type (BOOL is read as U8).
  [[nodiscard]] const ArrayInfo& at(std::string_view name, ElementType type) const;
  [[nodiscard]] Error error(std::string_view array,
                            std::string problem,
                            std::string fix = {}) const;
  /// Throws Error unless `digest`, of all bytes before the commit, is what the commit says.
  void check_commit(const Sha256Digest& digest, std::span<const std::byte> commit) const;

 private:
  void set_commit_aside();

  std::string source_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<ArrayInfo> arrays_;
  bool committed_ = false;
};

/// A file of arrays, checked as a whole when it is opened, and looked at in place.
class Container {
 public:
  [[nodiscard]] static Container open(const std::filesystem::path& path,
                                      const ContainerOptions& options = {});
  /// `source` stands in front of every message.
  [[nodiscard]] static Container parse(FileBytes file, std::string source);

  [[nodiscard]] const ContainerHeader& header() const noexcept { return header_; }

  /// The values of an array, in place. Throws Error when it is missing, of another type, or not
  /// aligned for T (files from other software need not be).
  template <ArrayElement T>
  [[nodiscard]] std::span<const T> view(std::string_view name) const {
    const std::span<const std::byte> bytes = bytes_of(name, *kElementType<T>, alignof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  Container(FileBytes file, ContainerHeader header);
  [[nodiscard]] std::span<const std::byte> bytes_of(std::string_view name,
                                                    ElementType type,
                                                    std::size_t alignment) const;

  FileBytes file_;
  ContainerHeader header_;
};

/// A file of arrays to be taken out one by one, for a program that goes on to own them: each lies
/// in a vector of its own, so that nothing is in memory twice.
class ContainerArrays {
 public:
  /// Checks the file as a whole, as Container::open does. `check` may look at the header and throw,
  /// before memory for the arrays is taken.
  using Check = std::function<void(const ContainerHeader&)>;
  [[nodiscard]] static ContainerArrays read(const std::filesystem::path& path,
                                            const Check& check,
                                            std::uint64_t max_bytes = ContainerOptions{}.max_bytes);
  /// The same for bytes in memory.
  [[nodiscard]] static ContainerArrays copy(std::span<const std::byte> bytes,
                                            std::string source,
                                            const Check& check);

  [[nodiscard]] const ContainerHeader& header() const noexcept { return header_; }

  /// Hands an array over; what is left of it is empty. Throws Error when it is missing or of
  /// another type.
  template <ArrayElement T>
  [[nodiscard]] std::vector<T> take(std::string_view name) {
    const ArrayInfo& info = header_.at(name, *kElementType<T>);
    return std::exchange(std::get<std::vector<T>>(
                             values_[static_cast<std::size_t>(&info - header_.arrays().data())]),
                         {});
  }
  /// Copies an array to the places that its parts came from, see ContainerWriter::add_parts().
  /// Throws Error where there is not as much room as it has values.
  template <ArrayElement T>
  void take_parts(std::string_view name, const std::vector<std::span<T>>& places) {
    const std::vector<T> values = take<T>(name);
    std::span<const T> rest = values;
    for (const std::span<T> place : places) {
      if (rest.size() < place.size()) throw wrong_size(name);
      std::copy_n(rest.begin(), place.size(), place.begin());
      rest = rest.subspan(place.size());
    }
    if (!rest.empty()) throw wrong_size(name);
  }

 private:
  explicit ContainerArrays(ContainerHeader header) : header_(std::move(header)) {}
  [[nodiscard]] Error wrong_size(std::string_view name) const;
  static ArrayValues make_values(const ArrayInfo& info);
  /// `read` fills a buffer with the bytes that come next.
  using Read = std::function<void(std::span<std::byte>)>;
  static ContainerArrays gather(const Read& read,
                                std::uint64_t file_size,
                                std::string source,
                                const Check& check);

  ContainerHeader header_;
  std::vector<ArrayValues> values_;  // as header_.arrays()
};

}  // namespace vlearn
