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

/// What to do about errors that are no fault of the file; null: it is another error.
const char* fix_of_system(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free some space, or choose another place";
    case EMFILE: return "allow more open files (ulimit -n), or ask for fewer threads";
    case ENFILE: return "the whole system has too many open files: end other programs";
    case ENOMEM: return "free memory, or allow more of it (ulimit -v)";
    case EIO: return "the disk fails: check it, and try again with a copy elsewhere";
    default: return nullptr;
  }
}

[[noreturn]] void throw_write_error(const std::filesystem::path& path, int code) {
  std::string fix = "choose another place";
  switch (code) {
    case EEXIST: fix = "choose another name"; break;
    case ENOENT:
    case ENOTDIR: fix = "make its folder first"; break;
    case EACCES:
    case EPERM:
    case EROFS: fix = "choose a place where you may write"; break;
    case ENAMETOOLONG: fix = "choose a shorter name"; break;
    default: break;
  }
  throw system_error(ErrorKind::usage, path, "cannot be written and is as it was before", code,
                     std::move(fix));
}

/// An open folder; -1 with errno if there is none.
int open_folder(const std::filesystem::path& folder) {
  return retry([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

/// Mapped files that stay open for their locks.
std::atomic<int> kept_descriptors = 0;
constexpr int kMostKeptDescriptors = 16;

}  // namespace

Error system_error(ErrorKind kind,
                   const std::filesystem::path& path,
                   const std::string& problem,
                   int code,
                   std::string fix) {
  const char* const known = fix_of_system(code);
  return {known == nullptr ? kind : ErrorKind::resource, path.string(),
          problem + ": " + reason(code), known == nullptr ? std::move(fix) : std::string(known)};
}

InputFile::InputFile(std::filesystem::path path, std::uint64_t max_bytes) : path_(std::move(path)) {
  // O_NONBLOCK: a FIFO must not hang us.
  descriptor_ = retry([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor_ < 0) {
    throw system_error(ErrorKind::input, path_, "cannot be opened", errno,
                       "give a file that exists and may be read");
  }
  const auto refuse = [&](ErrorKind kind, std::string problem, std::string fix) {
    ::close(descriptor_);
    throw Error(kind, path_.string(), std::move(problem), std::move(fix));
  };
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int code = errno;
    ::close(descriptor_);
    throw system_error(ErrorKind::input, path_, "cannot be examined", code);
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
    if (count < 0) throw system_error(ErrorKind::input, path_, "cannot be read", errno);
    if (count == 0) throw changed(path_);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
}

void InputFile::finish() {
  std::byte beyond{};
  const ssize_t count = retry([&] { return ::read(descriptor_, &beyond, 1); });
  if (count < 0) throw system_error(ErrorKind::input, path_, "cannot be read", errno);
  if (count != 0) throw changed(path_);
}

void FileBytes::Release::operator()(const std::byte* data) const noexcept {
  if (mapped_size > 0) {
    ::munmap(const_cast<std::byte*>(data), mapped_size);
    if (descriptor < 0) return;
    ::close(descriptor);
    --kept_descriptors;
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
  if (::fstat(file.descriptor_, &status) != 0) {
    throw system_error(ErrorKind::input, path, "cannot be examined", errno);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) throw changed(path);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor_, 0);
  if (data == MAP_FAILED) throw system_error(ErrorKind::resource, path, "cannot be mapped", errno);
  // Linux keeps the lock as long as the map, so that a thousand files need no descriptor each. The
  // exception are overlays, which map another file: there the first files, whose locks are looked
  // at first, stay open.
  Release release{size, -1};
  if (kept_descriptors.fetch_add(1) < kMostKeptDescriptors) {
    release.descriptor = std::exchange(file.descriptor_, -1);
  } else {
    --kept_descriptors;
  }
  return {Data(static_cast<const std::byte*>(data), release), size};
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
  if (!replaces && errno != ENOENT) throw_write_error(path_, errno);
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
  // The new name itself must survive a power loss.
  try {
    sync_folder(target_.has_parent_path() ? target_.parent_path() : ".");
  } catch (const Error& error) {
    throw Error(error.kind(), path_.string(), "is written, but its folder " + error.problem(),
                error.fix());
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
  if (::fstat(descriptor_, &status) != 0) {
    const int code = errno;
    ::close(descriptor_);
    throw_write_error(path_, code);
  }
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
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
  synced_ = false;
  if (write_all(descriptor_, bytes)) return;
  throw system_error(ErrorKind::resource, path_, "cannot be written any further", errno);
}

void AppendFile::sync() {
  if (synced_) return;
  if (retry([&] { return ::fsync(descriptor_); }) != 0) {
    throw system_error(ErrorKind::resource, path_, "could not be brought to the disk", errno);
  }
  synced_ = true;
}

void sync_file(const std::filesystem::path& path) {
  const int descriptor =
      retry([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW); });
  const bool synced = descriptor >= 0 && retry([&] { return ::fsync(descriptor); }) == 0;
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (synced) return;
  throw system_error(ErrorKind::resource, path, "could not be brought to the disk", code);
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open_folder(folder);
  const bool synced = descriptor >= 0 && retry([&] { return ::fsync(descriptor); }) == 0;
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  // Some file systems cannot sync a folder (EINVAL).
  if (synced || (descriptor >= 0 && code == EINVAL)) return;
  throw system_error(ErrorKind::resource, folder, "could not be brought to the disk", code);
}

void make_folders(const std::filesystem::path& folder) {
  std::error_code failure;
  if (std::filesystem::is_directory(folder, failure)) return;
  // Of "runs/a/", "runs/a" is the folder, and "runs" is the one above it.
  const std::filesystem::path name =
      folder.has_filename() ? folder : std::filesystem::path(folder).parent_path();
  const std::filesystem::path above = name.has_parent_path() ? name.parent_path() : ".";
  if (above != name) make_folders(above);
  // Another process may make it at the same time.
  const bool made = std::filesystem::create_directory(name, failure);
  if (failure) {
    throw system_error(ErrorKind::usage, folder, "cannot be made", failure.value(),
                       "choose another place");
  }
  if (made) sync_folder(above);
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  descriptor_ = open_folder(folder);
  if (descriptor_ < 0) throw system_error(ErrorKind::usage, folder, "cannot be opened", errno);
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
