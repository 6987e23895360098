// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole files in, whole files out. Reading takes regular files of a bounded size only; writing is
// atomic: after a crash at any moment the old file or the new one is there, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "vlearn/core/error.h"

namespace vlearn {

/// The Error for a system call that failed with `code` (of errno): "problem: what the system says".
/// Its kind is resource if the disk is full or the system is in trouble (no descriptors, no memory,
/// a failing disk), which is no fault of the file; then its fix says what to do about that.
[[nodiscard]] Error system_error(ErrorKind kind,
                                 const std::filesystem::path& path,
                                 const std::string& problem,
                                 int code,
                                 std::string fix = {});

/// A regular file that is read from its begin to its end. Opening a FIFO or a folder fails instead
/// of waiting; a file that changes its size meanwhile is an Error.
class InputFile {
 public:
  /// Throws Error (input) when it is missing or not a regular file, and Error (resource) when it is
  /// larger than `max_bytes`.
  InputFile(std::filesystem::path path, std::uint64_t max_bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Fills the buffer with the bytes that come next; throws Error (input) when there are fewer.
  void read(std::span<std::byte> buffer);
  /// Throws Error (input) when more bytes follow. The last call.
  void finish();

 private:
  friend class FileBytes;
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The bytes of one file, kept as long as this object lives; aligned to 16 bytes at least.
class FileBytes {
 public:
  /// Reads the file into memory. Throws Error (input) when it is missing, not a regular file, or
  /// changes its size meanwhile, and Error (resource) when it is larger than `max_bytes`.
  [[nodiscard]] static FileBytes read(const std::filesystem::path& path, std::uint64_t max_bytes);

  /// Looks at the first bytes of a file, `head_bytes` or all it has, and at its size; throws when
  /// the rest is not worth reading.
  using Check = std::function<void(std::span<const std::byte> head, std::uint64_t file_size)>;

  /// As read(), but nothing beyond the head is allocated or read unless `check` agrees. The head
  /// that it saw is the head that is kept.
  [[nodiscard]] static FileBytes read_checked(const std::filesystem::path& path,
                                              std::uint64_t max_bytes,
                                              std::size_t head_bytes,
                                              const Check& check);

  /// Maps the file instead: nothing is copied, pages come in as they are looked at, and a file
  /// takes no descriptor. For files that nobody else changes (our own histories): whoever reads
  /// beyond the end of one that has shrunk gets the signal SIGBUS. An AppendFile does not cut it
  /// meanwhile: the map holds a lock.
  [[nodiscard]] static FileBytes map(const std::filesystem::path& path, std::uint64_t max_bytes);

  /// Bytes that are in memory already.
  [[nodiscard]] static FileBytes copy(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(data_.get()), size_};
  }

 private:
  struct Release {
    std::size_t mapped_size = 0;  // 0: from the heap
    int descriptor = -1;          // of the mapped file, if it is kept open for its lock
    void operator()(const std::byte* data) const noexcept;
  };
  using Data = std::unique_ptr<const std::byte[], Release>;

  FileBytes(Data data, std::size_t size) noexcept : data_(std::move(data)), size_(size) {}

  Data data_;
  std::size_t size_ = 0;
};

/// A file being written beside its final place. commit() makes it durable and puts it there in one
/// move; without commit() it vanishes with this object. A file that is replaced hands on its mode;
/// where `path` is a symbolic link to a file, that file is replaced and the link stays.
class AtomicFile {
 public:
  /// Creates a temporary file in the folder of `path`, which must exist. Throws Error: usage when
  /// that is no place to write to, resource when the disk is full or fails.
  /// A secret one can be read by its owner alone, whatever was there before.
  enum class Privacy : std::uint8_t { open, secret };
  explicit AtomicFile(std::filesystem::path path, Privacy privacy = Privacy::open);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// Throws Error (resource) when the disk is full or fails; the old file stays.
  void write(std::span<const std::byte> bytes);
  /// fsync, rename, fsync of the folder. The last call.
  void commit();

 private:
  void discard() noexcept;

  std::filesystem::path path_;    // as given, for messages
  std::filesystem::path target_;  // without symbolic links
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// A new file that grows line by line while a run lasts. What was appended stays when the program
/// ends in any way; it is on the disk after sync(), and the name of a new file after sync_folder().
class AppendFile {
 public:
  /// Throws Error (usage) when the file is there already or cannot be made.
  explicit AppendFile(std::filesystem::path path);
  /// Goes on with a file after its first `size` bytes. Throws Error (input) when it has fewer, and
  /// Error (usage) when it has more and somebody has mapped it.
  AppendFile(std::filesystem::path path, std::uint64_t size);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  AppendFile(AppendFile&&) = delete;
  AppendFile& operator=(AppendFile&&) = delete;

  /// Throws Error (resource) when the disk is full or fails.
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Does nothing if nothing was appended since the last time.
  void sync();
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  bool synced_ = true;
};

/// Brings to the disk what is in a file, whoever wrote it.
void sync_file(const std::filesystem::path& path);
/// Brings the names in a folder to the disk: of files that were made, moved or removed.
void sync_folder(const std::filesystem::path& folder);
/// Makes a folder, and those above it that are missing; all of them are on the disk then. Throws
/// Error (usage) if that is no place for it.
void make_folders(const std::filesystem::path& folder);

/// A folder that one process at a time works in: the lock lasts as long as this object, and ends
/// with the process however it ends.
class FolderLock {
 public:
  /// Throws Error (usage) when another process has it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock(FolderLock&&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a file is what an AtomicFile leaves whose process is killed.
[[nodiscard]] bool is_temporary(const std::filesystem::path& path);
/// Removes all such files from a folder.
void remove_temporary_files(const std::filesystem::path& folder);

/// Puts the bytes at `path`, in place of what was there, or leaves it as it was.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path,
                std::string_view text,
                AtomicFile::Privacy privacy = AtomicFile::Privacy::open);

}  // namespace vlearn
