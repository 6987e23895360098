// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/container.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <tuple>

#include "vlearn/core/checked.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and read in place");

constexpr const char* kRestore = "restore it from a copy";
constexpr std::string_view kMetadataName = "__metadata__";
constexpr std::string_view kCommitKind = "sha256";  // announced in the metadata
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kCommitBytes = sizeof(Sha256Digest);

struct TypeInfo {
  ElementType type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<TypeInfo, 11> kTypes = {{
    {ElementType::f64, "F64", 8},
    {ElementType::f32, "F32", 4},
    {ElementType::i64, "I64", 8},
    {ElementType::u64, "U64", 8},
    {ElementType::i32, "I32", 4},
    {ElementType::u32, "U32", 4},
    {ElementType::i16, "I16", 2},
    {ElementType::u16, "U16", 2},
    {ElementType::i8, "I8", 1},
    {ElementType::u8, "U8", 1},
    {ElementType::boolean, "BOOL", 1},
}};

const TypeInfo& info_of(ElementType type) noexcept {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const TypeInfo& info) { return info.type == type; });
}

Error array_error(const std::string& source,
                  std::string_view array,
                  std::string problem,
                  std::string fix) {
  return {ErrorKind::input, source + ": array '" + printable(array, 100) + "'", std::move(problem),
          std::move(fix)};
}

std::optional<std::uint64_t> bytes_needed(const ArrayInfo& info) {
  const std::optional<std::uint64_t> count = checked_product(info.shape);
  return count ? checked_multiply(*count, size_of(info.type)) : std::nullopt;
}

ElementType parse_type(const JsonValue& value) {
  for (const TypeInfo& info : kTypes) {
    if (info.name == value.string()) return info.type;
  }
  throw value.error("is '" + printable(value.string(), 20) + "', which is not a type read here",
                    "store F64, F32 or an integer type");
}

/// One entry of the header; data_offsets count from data_begin.
ArrayInfo parse_entry(const JsonValue& entry, std::uint64_t data_begin, std::uint64_t file_size) {
  entry.allow_keys({"dtype", "shape", "data_offsets"});
  ArrayInfo info;
  info.name = entry.key();
  info.type = parse_type(entry.at("dtype"));
  const JsonValue shape = entry.at("shape");
  if (!shape.is_array() || shape.size() > kMaxArrayRank) {
    throw shape.error("wants an array of at most " + std::to_string(kMaxArrayRank) + " sizes");
  }
  for (const JsonValue size : shape.items()) info.shape.push_back(size.natural(UINT64_MAX));

  const JsonValue offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) throw offsets.error("wants [begin, end]");
  const std::uint64_t data_size = file_size - data_begin;
  const std::uint64_t begin = offsets.at(0U).natural(data_size);
  const std::uint64_t end = offsets.at(1U).natural(data_size);
  const std::optional<std::uint64_t> needed = bytes_needed(info);
  if (!needed) throw shape.error("has sizes whose product overflows 64 bits", kRestore);
  if (end < begin || end - begin != *needed) {
    throw offsets.error("spans " + std::to_string(begin) + " to " + std::to_string(end) +
                        ", but its shape and type need " + std::to_string(*needed) + " bytes");
  }
  info.offset = data_begin + begin;
  info.bytes = *needed;
  return info;
}

/// The arrays, in the order of their offsets, must fill the file from data_begin to its end.
void check_tiling(std::span<const ArrayInfo> arrays,
                  std::uint64_t data_begin,
                  std::uint64_t file_size,
                  const std::string& source) {
  constexpr const char* tile = "arrays must tile the file exactly";
  std::uint64_t end = data_begin;
  for (const ArrayInfo& array : arrays) {
    if (array.offset != end) {
      throw array_error(
          source, array.name,
          array.offset > end ? "leaves a gap before it" : "overlaps the array before it", tile);
    }
    end += array.bytes;
  }
  if (end != file_size) {
    throw Error(ErrorKind::input, source,
                "has " + std::to_string(file_size - end) + " bytes after its last array", tile);
  }
}

}  // namespace

std::size_t size_of(ElementType type) noexcept { return info_of(type).size; }
std::string_view name_of(ElementType type) noexcept { return info_of(type).name; }

// ------------------------------------------------------------------------------------ writing

ContainerWriter::ContainerWriter(std::string format) {
  metadata("format", std::move(format));
  metadata(std::string(kCommitName), std::string(kCommitKind));
}

ContainerWriter& ContainerWriter::metadata(std::string key, std::string value) {
  const std::string place = "metadata '" + printable(key, 100) + "'";
  if (!is_utf8(key) || !is_utf8(value)) {
    throw Error(ErrorKind::usage, place, "key and value must be UTF-8");
  }
  for (const auto& [name, unused] : metadata_) {
    if (name == key) throw Error(ErrorKind::usage, place, "stands twice");
  }
  metadata_.emplace_back(std::move(key), std::move(value));
  return *this;
}

ContainerWriter& ContainerWriter::add_bytes(ArrayInfo info,
                                            std::vector<std::span<const std::byte>> parts) {
  const auto refuse = [&](std::string problem) {
    throw Error(ErrorKind::usage, "array '" + printable(info.name, 100) + "'", std::move(problem));
  };
  if (info.name.empty() || info.name.size() > kMaxArrayNameBytes || !is_utf8(info.name)) {
    refuse("its name must be 1 to 255 bytes of UTF-8");
  }
  if (info.name == kCommitName || info.name == kMetadataName) refuse("this name is taken");
  if (info.shape.size() > kMaxArrayRank) refuse("it has too many dimensions");
  if (bytes_needed(info) != info.bytes) refuse("its shape does not match the number of values");
  if (entries_.size() + 1 == kMaxArrays) refuse("there are 4095 arrays already");  // and commit
  for (const Entry& entry : entries_) {
    if (entry.info.name == info.name) refuse("this name stands twice");
  }
  entries_.push_back({std::move(info), std::move(parts)});
  return *this;
}

std::string ContainerWriter::header(const std::vector<Entry>& entries) const {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().key(kMetadataName).begin_object();
  for (const auto& [key, value] : metadata_) json.member(key, value);
  json.end_object();
  std::uint64_t offset = 0;
  for (const Entry& entry : entries) {
    json.key(entry.info.name).begin_object().member("dtype", name_of(entry.info.type));
    json.key("shape").begin_array();
    for (const std::uint64_t size : entry.info.shape) json.value(size);
    json.end_array().key("data_offsets").begin_array().value(offset);
    offset += entry.info.bytes;
    json.value(offset).end_array().end_object();
  }
  std::string text = json.end_object().text();
  // Spaces up to a multiple of eight: the first array starts aligned.
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  return text;
}

void ContainerWriter::write(const std::filesystem::path& path) const {
  std::vector<Entry> entries = entries_;
  // Wide elements first, so that every array is aligned for its type.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return size_of(a.info.type) > size_of(b.info.type);
  });
  Sha256Digest commit{};
  entries.push_back(
      {{std::string(kCommitName), ElementType::u8, {kCommitBytes}, 0, kCommitBytes}, {commit}});

  const std::string text = header(entries);
  if (text.size() > kMaxHeaderBytes) {
    throw Error(ErrorKind::resource, path.string(), "its header would be larger than 1 MiB");
  }
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  Sha256 hash;
  const auto put = [&](std::span<const std::byte> bytes) {
    hash.update(bytes);
    file.write(bytes);
  };
  put(std::as_bytes(std::span(&length, 1)));
  put(std::as_bytes(std::span(text)));
  for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
    for (const std::span<const std::byte> part : entries[i].parts) put(part);
  }
  commit = hash.finish();
  file.write(commit);
  file.commit();
}

// ------------------------------------------------------------------------------------ reading

ContainerHeader ContainerHeader::parse(std::span<const std::byte> head,
                                       std::uint64_t file_size,
                                       std::string source) {
  std::uint64_t length = 0;
  if (head.size() < kLengthBytes) {
    throw Error(ErrorKind::input, source, "has fewer than 8 bytes",
                "it is truncated or not an array container");
  }
  std::memcpy(&length, head.data(), kLengthBytes);
  if (length > kMaxHeaderBytes || length > file_size - kLengthBytes) {
    throw Error(ErrorKind::input, source,
                "declares a header of " + std::to_string(length) + " bytes; the file has " +
                    std::to_string(file_size) + " and a header at most " +
                    std::to_string(kMaxHeaderBytes),
                "it is truncated or not an array container");
  }
  const std::uint64_t data_begin = kLengthBytes + length;
  const std::string_view text(reinterpret_cast<const char*>(head.data()) + kLengthBytes, length);
  const JsonDocument document = JsonDocument::parse(text, source + " (header)",
                                                    {.max_bytes = kMaxHeaderBytes, .max_depth = 4});
  const JsonValue root = document.root();
  if (!root.is_object()) throw root.error("the header must be an object");
  ContainerHeader header;
  header.source_ = std::move(source);
  for (const JsonValue entry : root.items()) {
    if (entry.key() == kMetadataName) {
      if (!entry.is_object()) throw entry.error("must be an object of strings");
      for (const JsonValue item : entry.items()) {
        header.metadata_.emplace_back(item.key(), item.string());
      }
      continue;
    }
    if (entry.key().empty() || entry.key().size() > kMaxArrayNameBytes) {
      throw entry.error("the name of an array must have 1 to 255 bytes");
    }
    if (header.arrays_.size() == kMaxArrays) {
      throw entry.error("is one array more than the 4096 allowed");
    }
    header.arrays_.push_back(parse_entry(entry, data_begin, file_size));
  }
  // Empty arrays share their offset with a neighbour and come before it.
  std::sort(header.arrays_.begin(), header.arrays_.end(),
            [](const ArrayInfo& a, const ArrayInfo& b) {
              return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
            });
  check_tiling(header.arrays_, data_begin, file_size, header.source_);
  header.set_commit_aside();
  return header;
}

void ContainerHeader::set_commit_aside() {
  const ArrayInfo* const commit = find(kCommitName);
  if (commit == nullptr) {
    if (metadata(kCommitName) != kCommitKind) return;
    throw error(kCommitName, "is announced but missing: the file is damaged", kRestore);
  }
  const std::vector<std::uint64_t> shape = {kCommitBytes};
  if (commit != &arrays_.back() || commit->type != ElementType::u8 || commit->shape != shape) {
    throw error(kCommitName, "must be the last array, of type U8 and shape [32]");
  }
  arrays_.pop_back();
  committed_ = true;
}

void ContainerHeader::check_commit(const Sha256Digest& digest,
                                   std::span<const std::byte> commit) const {
  if (!std::equal(digest.begin(), digest.end(), commit.begin(), commit.end())) {
    throw error(kCommitName, "does not match the contents: the file is damaged", kRestore);
  }
}

std::optional<std::string_view> ContainerHeader::metadata(std::string_view key) const {
  for (const auto& [name, value] : metadata_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

const ArrayInfo* ContainerHeader::find(std::string_view name) const noexcept {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                  [&](const ArrayInfo& array) { return array.name == name; });
  return found == arrays_.end() ? nullptr : &*found;
}

const ArrayInfo& ContainerHeader::at(std::string_view name, ElementType type) const {
  const ArrayInfo* const found = find(name);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(arrays_.size());
    for (const ArrayInfo& array : arrays_) names.emplace_back(array.name);
    throw error(name, "is not in the file", suggestion(name, names));
  }
  if (found->type != type && !(type == ElementType::u8 && found->type == ElementType::boolean)) {
    throw error(name, "has type " + std::string(name_of(found->type)) + ", want " +
                          std::string(name_of(type)));
  }
  return *found;
}

Error ContainerHeader::error(std::string_view array, std::string problem, std::string fix) const {
  return array_error(source_, array, std::move(problem), std::move(fix));
}

Container Container::open(const std::filesystem::path& path, const ContainerOptions& options) {
  std::string source = path.string();
  if (options.mapped) return parse(FileBytes::map(path, options.max_bytes), std::move(source));
  std::optional<ContainerHeader> header;
  FileBytes file =
      FileBytes::read_checked(path, options.max_bytes, kLengthBytes + kMaxHeaderBytes,
                              [&](std::span<const std::byte> head, std::uint64_t file_size) {
                                header = ContainerHeader::parse(head, file_size, std::move(source));
                              });
  return {std::move(file), std::move(*header)};
}

Container Container::parse(FileBytes file, std::string source) {
  ContainerHeader header =
      ContainerHeader::parse(file.bytes(), file.bytes().size(), std::move(source));
  return {std::move(file), std::move(header)};
}

Container::Container(FileBytes file, ContainerHeader header)
    : file_(std::move(file)), header_(std::move(header)) {
  if (!header_.committed()) return;
  const std::span<const std::byte> bytes = file_.bytes();
  header_.check_commit(sha256(bytes.first(bytes.size() - kCommitBytes)), bytes.last(kCommitBytes));
}

std::span<const std::byte> Container::bytes_of(std::string_view name,
                                               ElementType type,
                                               std::size_t alignment) const {
  const ArrayInfo& array = header_.at(name, type);
  if (array.offset % alignment != 0) {
    throw header_.error(name,
                        "starts at byte " + std::to_string(array.offset) +
                            ", which is not a multiple of its element size",
                        "write it with the safetensors package, which aligns arrays");
  }
  return file_.bytes().subspan(array.offset, array.bytes);
}

ArrayValues ContainerArrays::make_values(const ArrayInfo& info) {
  const std::uint64_t count = info.bytes / size_of(info.type);
  switch (info.type) {
    case ElementType::f64: return std::vector<double>(count);
    case ElementType::f32: return std::vector<float>(count);
    case ElementType::i64: return std::vector<std::int64_t>(count);
    case ElementType::u64: return std::vector<std::uint64_t>(count);
    case ElementType::i32: return std::vector<std::int32_t>(count);
    case ElementType::u32: return std::vector<std::uint32_t>(count);
    case ElementType::i16: return std::vector<std::int16_t>(count);
    case ElementType::u16: return std::vector<std::uint16_t>(count);
    case ElementType::i8: return std::vector<std::int8_t>(count);
    case ElementType::u8:
    case ElementType::boolean: return std::vector<std::uint8_t>(count);
  }
  return {};
}

Error ContainerArrays::wrong_size(std::string_view name) const {
  return header_.error(name, "has another size than is wanted here",
                       "the file is damaged or of another game");
}

ContainerArrays ContainerArrays::gather(const Read& read,
                                        std::uint64_t file_size,
                                        std::string source,
                                        const Check& check) {
  std::vector<std::byte> head(std::min<std::uint64_t>(kLengthBytes, file_size));
  read(head);
  std::uint64_t length = 0;
  if (head.size() == kLengthBytes) std::memcpy(&length, head.data(), kLengthBytes);
  // A length that the header's parser refuses is not read at all.
  if (length <= kMaxHeaderBytes && length <= file_size - head.size()) {
    head.resize(head.size() + length);
    read(std::span(head).last(length));
  }
  ContainerArrays arrays(ContainerHeader::parse(head, file_size, std::move(source)));
  check(arrays.header_);
  const bool committed = arrays.header_.committed();
  Sha256 hash;
  hash.update(head);
  for (const ArrayInfo& info : arrays.header_.arrays()) {
    try {
      arrays.values_.push_back(make_values(info));
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::resource, arrays.header_.source(),
                  "its array '" + printable(info.name, 100) + "' takes " +
                      std::to_string(info.bytes) + " bytes of memory, which are not there");
    }
    const auto fill = [&](auto& values) {
      // In pieces that stay in the cache between reading and hashing.
      constexpr std::size_t piece_bytes = std::size_t{1} << 18U;
      std::span<std::byte> rest = std::as_writable_bytes(std::span(values));
      while (!rest.empty()) {
        const std::span<std::byte> piece = rest.first(std::min(rest.size(), piece_bytes));
        read(piece);
        if (committed) hash.update(piece);
        rest = rest.subspan(piece.size());
      }
    };
    std::visit(fill, arrays.values_.back());
  }
  if (committed) {
    Sha256Digest commit{};
    read(commit);
    arrays.header_.check_commit(hash.finish(), commit);
  }
  return arrays;
}

ContainerArrays ContainerArrays::read(const std::filesystem::path& path,
                                      const Check& check,
                                      std::uint64_t max_bytes) {
  InputFile file(path, max_bytes);
  ContainerArrays arrays = gather([&](std::span<std::byte> buffer) { file.read(buffer); },
                                  file.size(), path.string(), check);
  file.finish();
  return arrays;
}

ContainerArrays ContainerArrays::copy(std::span<const std::byte> bytes,
                                      std::string source,
                                      const Check& check) {
  std::span<const std::byte> rest = bytes;
  const auto read = [&](std::span<std::byte> buffer) {
    std::copy_n(rest.begin(), buffer.size(), buffer.begin());
    rest = rest.subspan(buffer.size());
  };
  return gather(read, bytes.size(), std::move(source), check);
}

}  // namespace vlearn
