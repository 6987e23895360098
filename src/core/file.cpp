// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "vlearn/core/error.h"

namespace vlearn {
namespace {

constexpr const char* kTemporaryStem = ".vlearn-tmp-";

std::string reason(int code) { return std::generic_category().message(code); }

/// A system call that signals may interrupt, until it was not.
template <class Call>
auto retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// False with errno when the system takes no more.
bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = retry([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Error changed(const std::filesystem::path& path) {
  return {ErrorKind::input, path.string(), "changed its size while it was read", "try again"};
}

[[noreturn]] void throw_write_error(const std::filesystem::path& path, int code) {
  ErrorKind kind = ErrorKind::usage;
  std::string fix = "choose another place";
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      kind = ErrorKind::resource;
      fix = "free some space, or choose another place";
      break;
    case EIO:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      kind = ErrorKind::resource;
      fix = "the system is in trouble: try again later, or choose another place";
      break;
    case EEXIST: fix = "choose another name"; break;
    case ENOENT:
    case ENOTDIR: fix = "make its folder first"; break;
    case EACCES:
    case EPERM:
    case EROFS: fix = "choose a place where you may write"; break;
    case ENAMETOOLONG: fix = "choose a shorter name"; break;
    default: break;
  }
  throw Error(kind, path.string(), "cannot be written and is as it was before: " + reason(code),
              std::move(fix));
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, std::uint64_t max_bytes) : path_(std::move(path)) {
  // O_NONBLOCK: a FIFO must not hang us.
  descriptor_ = retry([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor_ < 0) {
    throw Error(ErrorKind::input, path_.string(), "cannot be opened: " + reason(errno),
                "give a file that exists and may be read");
  }
  const auto refuse = [&](ErrorKind kind, std::string problem, std::string fix) {
    ::close(descriptor_);
    throw Error(kind, path_.string(), std::move(problem), std::move(fix));
  };
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    refuse(ErrorKind::input, "cannot be examined: " + reason(errno), "");
  }
  if (!S_ISREG(status.st_mode)) refuse(ErrorKind::input, "is not a regular file", "give a file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ > max_bytes) {
    refuse(ErrorKind::resource,
           "has " + std::to_string(size_) + " bytes, the limit is " + std::to_string(max_bytes),
           "");
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(std::span<std::byte> buffer) {
  while (!buffer.empty()) {
    const ssize_t count = retry([&] { return ::read(descriptor_, buffer.data(), buffer.size()); });
    if (count < 0) {
      throw Error(ErrorKind::input, path_.string(), "cannot be read: " + reason(errno));
    }
    if (count == 0) throw changed(path_);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
}

void InputFile::finish() {
  std::byte beyond{};
  if (retry([&] { return ::read(descriptor_, &beyond, 1); }) != 0) throw changed(path_);
}

void FileBytes::Release::operator()(const std::byte* data) const noexcept {
  if (mapped_size > 0) {
    ::munmap(const_cast<std::byte*>(data), mapped_size);
    ::close(descriptor);
  } else {
    delete[] data;
  }
}

FileBytes FileBytes::read(const std::filesystem::path& path, std::uint64_t max_bytes) {
  return read_checked(path, max_bytes, 0, [](std::span<const std::byte>, std::uint64_t) {});
}

FileBytes FileBytes::read_checked(const std::filesystem::path& path,
                                  std::uint64_t max_bytes,
                                  std::size_t head_bytes,
                                  const Check& check) {
  InputFile file(path, max_bytes);
  const std::size_t size = file.size();
  std::vector<std::byte> head(std::min(head_bytes, size));
  file.read(head);
  check(head, size);
  auto buffer = std::make_unique_for_overwrite<std::byte[]>(size);
  const std::span<std::byte> bytes(buffer.get(), size);
  std::copy(head.begin(), head.end(), bytes.begin());
  file.read(bytes.subspan(head.size()));
  file.finish();
  return {Data(buffer.release(), Release{}), size};
}

FileBytes FileBytes::map(const std::filesystem::path& path, std::uint64_t max_bytes) {
  InputFile file(path, max_bytes);
  if (file.size() == 0) return {Data(nullptr, Release{}), 0};
  // Some file systems have no locks. Whoever is cutting the file right now has it for a moment.
  retry([&] { return ::flock(file.descriptor_, LOCK_SH); });
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0) throw changed(path);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor_, 0);
  if (data == MAP_FAILED) {
    throw Error(ErrorKind::resource, path.string(), "cannot be mapped: " + reason(errno));
  }
  return {
      Data(static_cast<const std::byte*>(data), Release{size, std::exchange(file.descriptor_, -1)}),
      size};
}

FileBytes FileBytes::copy(std::span<const std::byte> bytes) {
  auto buffer = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), buffer.get());
  return {Data(buffer.release(), Release{}), bytes.size()};
}

AtomicFile::AtomicFile(std::filesystem::path path, Privacy privacy) : path_(std::move(path)) {
  if (path_.filename().empty()) {
    throw Error(ErrorKind::usage, path_.string(), "is not a file name");
  }
  std::error_code resolved;
  target_ = std::filesystem::weakly_canonical(path_, resolved);
  if (resolved) throw_write_error(path_, resolved.value());
  struct stat status {};
  const bool replaces = ::stat(target_.c_str(), &status) == 0;
  if (replaces && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::usage, path_.string(), "is not a regular file", "choose another name");
  }
  // Unique in this process by the count and among processes by the id. A process of the same id
  // that was killed may have left one behind: then the next count.
  static std::atomic<std::uint64_t> count = 0;
  const std::string stem = kTemporaryStem + std::to_string(::getpid()) + "-";
  do {
    temporary_ = target_;
    temporary_.replace_filename(stem + std::to_string(count++));
    const mode_t mode = privacy == Privacy::secret ? 0600 : 0666;
    descriptor_ = retry(
        [&] { return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw_write_error(path_, errno);
  const bool hands_on = replaces && privacy == Privacy::open;
  if (hands_on && ::fchmod(descriptor_, status.st_mode & 07777U) != 0) {
    const int code = errno;
    discard();
    throw_write_error(path_, code);
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_, bytes)) throw_write_error(path_, errno);
}

void AtomicFile::commit() {
  // A failed fsync is final: the kernel may have dropped the dirty pages.
  if (retry([&] { return ::fsync(descriptor_); }) != 0) throw_write_error(path_, errno);
  // Linux has released the descriptor even when close reports an error.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    throw_write_error(path_, code);
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    throw_write_error(path_, code);
  }
  // The new name itself must survive a power loss. Some file systems cannot sync a folder (EINVAL).
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int directory =
      retry([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  int failure = directory < 0 ? errno : 0;
  if (directory >= 0) {
    if (retry([&] { return ::fsync(directory); }) != 0 && errno != EINVAL) failure = errno;
    ::close(directory);
  }
  if (failure != 0) {
    throw Error(ErrorKind::resource, path_.string(),
                "is written, but its folder could not be synced: " + reason(failure));
  }
}

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = retry([&] {
    return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  });
  if (descriptor_ < 0) throw_write_error(path_, errno);
}

AppendFile::AppendFile(std::filesystem::path path, std::uint64_t size)
    : path_(std::move(path)), size_(size) {
  descriptor_ = retry([&] {
    return ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  });
  if (descriptor_ < 0) {
    if (errno != ENOENT) throw_write_error(path_, errno);
    throw Error(ErrorKind::input, path_.string(), "is missing", "restore it from a copy");
  }
  const auto refuse = [&](std::string problem) {
    ::close(descriptor_);
    throw Error(ErrorKind::input, path_.string(), std::move(problem), "restore it from a copy");
  };
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    refuse("is not a regular file");
  }
  const auto has = static_cast<std::uint64_t>(status.st_size);
  if (has < size) {
    refuse("has " + std::to_string(has) + " bytes where " + std::to_string(size) +
           " had been written");
  }
  if (has == size) return;
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw Error(ErrorKind::usage, path_.string(), "is being read by another process",
                "wait until it has ended");
  }
  if (retry([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size)); }) != 0) {
    const int code = errno;
    ::close(descriptor_);
    throw_write_error(path_, code);
  }
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (write_all(descriptor_, bytes)) return;
  throw Error(ErrorKind::resource, path_.string(),
              "cannot be written any further: " + reason(errno),
              "free some space, or choose another place");
}

void AppendFile::sync() {
  if (retry([&] { return ::fsync(descriptor_); }) == 0) return;
  throw Error(ErrorKind::resource, path_.string(),
              "could not be brought to the disk: " + reason(errno));
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  descriptor_ = retry([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor_ < 0) {
    throw Error(ErrorKind::usage, folder.string(), "cannot be opened: " + reason(errno));
  }
  // Some file systems have no locks: then nothing is locked.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw Error(ErrorKind::usage, folder.string(), "is in use by another process",
              "wait until it has ended, or choose another place");
}

FolderLock::~FolderLock() { ::close(descriptor_); }

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().starts_with(kTemporaryStem);
}

void remove_temporary_files(const std::filesystem::path& folder) {
  std::error_code failure;
  for (auto entry = std::filesystem::directory_iterator(folder, failure);
       !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    if (!is_temporary(entry->path())) continue;
    std::error_code ignored;
    std::filesystem::remove(entry->path(), ignored);
  }
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file(const std::filesystem::path& path,
                std::string_view text,
                AtomicFile::Privacy privacy) {
  AtomicFile file(path, privacy);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace vlearn
