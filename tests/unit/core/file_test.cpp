// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace vlearn {
namespace {

using test::error_of;
using test::TemporaryFolder;

constexpr std::uint64_t kLimit = 1U << 20U;

std::string content(const std::filesystem::path& path) {
  return std::string(FileBytes::read(path, kLimit).text());
}

TEST(WriteFile, ReplacesTheWholeFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "a long first version");
  write_file(folder / "a", "second");
  EXPECT_EQ(content(folder / "a"), "second");
  write_file(folder / "empty", "");
  EXPECT_EQ(content(folder / "empty"), "");
  EXPECT_EQ(folder.count(), 2U);  // no temporary file is left
}

TEST(AppendFile, GrowsAndReplacesNothing) {
  const TemporaryFolder folder;
  {
    AppendFile file(folder / "lines");
    file.append("one\n");
    EXPECT_EQ(content(folder / "lines"), "one\n");
    file.append("two\n");
    file.sync();
  }
  EXPECT_EQ(content(folder / "lines"), "one\ntwo\n");
  EXPECT_NE(error_of(ErrorKind::usage, [&] { AppendFile(folder / "lines"); }).find("exists"),
            std::string::npos);
  EXPECT_EQ(content(folder / "lines"), "one\ntwo\n");
  error_of(ErrorKind::usage, [&] { AppendFile(folder / "no" / "such"); });
}

TEST(AtomicFile, VanishesWithoutCommit) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write(std::as_bytes(std::span("new", 3)));
    EXPECT_EQ(folder.count(), 2U);
    EXPECT_EQ(content(folder / "a"), "old");
  }
  EXPECT_EQ(content(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1U);
}

// A real write error half-way: the size limit of the process. (Its signal is off, so that the
// write fails instead.)
TEST(AtomicFile, KeepsTheOldFileWhenTheDiskRefuses) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  auto* const before_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string large(5000, 'x');
  const std::string message =
      error_of(ErrorKind::resource, [&] { write_file(folder / "a", large); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, before_handler);
  EXPECT_NE(message.find((folder / "a").string()), std::string::npos);
  EXPECT_EQ(content(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, IsNotStoppedByWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  for (int count = 0; count < 100; ++count) {
    std::ofstream(folder /
                  (".vlearn-tmp-" + std::to_string(getpid()) + "-" + std::to_string(count)));
  }
  write_file(folder / "a", "new");
  EXPECT_EQ(content(folder / "a"), "new");
}

TEST(AtomicFile, KeepsTheModeOfTheFileItReplaces) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  ASSERT_EQ(chmod((folder / "a").c_str(), 0640), 0);
  write_file(folder / "a", "new");
  struct stat status {};
  ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(content(folder / "a"), "new");
}

TEST(AtomicFile, ReplacesTheTargetOfALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  write_file(folder / "sub/a", "old");
  std::filesystem::create_symlink("sub/a", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "sub/a"), "new");
  EXPECT_EQ(folder.count(), 2U);
}

TEST(AtomicFile, TakesTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file(folder / name, "x");
  EXPECT_EQ(content(folder / name), "x");
}

TEST(AtomicFile, LeavesDevicesAlone) {
  EXPECT_NE(error_of(ErrorKind::usage, [] { write_file("/dev/null", "x"); }).find("regular file"),
            std::string::npos);
}

TEST(AtomicFile, SaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { write_file(folder / "missing/a", "x"); }),
            (folder / "missing/a").string() +
                ": cannot be written and is as it was before: No such file or directory; "
                "make its folder first");
  error_of(ErrorKind::usage, [&] { write_file(folder / std::string(300, 'n'), "x"); });
  error_of(ErrorKind::usage, [&] { write_file(folder.path().string() + "/", "x"); });
  std::filesystem::create_directory(folder / "sub");
  error_of(ErrorKind::usage, [&] { write_file(folder / "sub", "x"); });
  EXPECT_EQ(folder.count(), 1U);
}

TEST(MakeFolders, MakesAllThatAreMissing) {
  const TemporaryFolder folder;
  for (const char* name : {"a/b/c", "a/b/c", "a/d/", "e/../f"}) {
    make_folders(folder / name);
    EXPECT_TRUE(std::filesystem::is_directory(folder / name)) << name;
  }
  write_file(folder / "g", "x");
  for (const char* name : {"g", "g/h"}) {
    EXPECT_NE(error_of(ErrorKind::usage, [&] { make_folders(folder / name); })
                  .find((folder / "g").string() + ": cannot be made: "),
              std::string::npos);
  }
}

TEST(SystemError, IsOfTheFileUnlessTheSystemIsInTrouble) {
  const auto kind_of = [](int code) {
    return system_error(ErrorKind::input, "a", "cannot be opened", code, "fix").kind();
  };
  for (const int code : {ENOENT, EACCES, EISDIR, ELOOP}) EXPECT_EQ(kind_of(code), ErrorKind::input);
  for (const int code : {EMFILE, ENFILE, EIO, ENOMEM, ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_EQ(kind_of(code), ErrorKind::resource);
  }
  EXPECT_STREQ(system_error(ErrorKind::input, "a", "cannot be opened", ENOENT, "fix").what(),
               "a: cannot be opened: No such file or directory; fix");
  EXPECT_STREQ(system_error(ErrorKind::input, "a", "cannot be opened", ENOMEM, "fix").what(),
               "a: cannot be opened: Cannot allocate memory; free memory, or allow more of it "
               "(ulimit -v)");
}

// Open descriptors of this process.
std::size_t num_open_files() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (entry.is_symlink()) ++count;
  }
  return count;
}

TEST(FileBytes, ManyMapsNeedFewDescriptorsAndKeepTheirLocks) {
  const TemporaryFolder folder;
  const std::size_t before = num_open_files();
  std::vector<FileBytes> maps;
  for (int i = 0; i < 100; ++i) {
    write_file(folder / std::to_string(i), "longer");
    maps.push_back(FileBytes::map(folder / std::to_string(i), kLimit));
  }
  EXPECT_LE(num_open_files(), before + 20);
  for (const char* name : {"0", "99"}) {
    EXPECT_NE(error_of(ErrorKind::usage, [&] { const AppendFile cut(folder / name, 4); })
                  .find("is being read by another process"),
              std::string::npos);
  }
  maps.clear();
  EXPECT_EQ(num_open_files(), before);
  { const AppendFile cut(folder / "99", 4); }
  EXPECT_EQ(content(folder / "99"), "long");
}

TEST(FileBytes, ReadAndMapAgree) {
  const TemporaryFolder folder;
  const std::string text("some bytes\n\0and more", 20);
  write_file(folder / "a", text);
  EXPECT_EQ(FileBytes::read(folder / "a", kLimit).text(), text);
  EXPECT_EQ(FileBytes::map(folder / "a", kLimit).text(), text);
  write_file(folder / "empty", "");
  EXPECT_TRUE(FileBytes::map(folder / "empty", kLimit).bytes().empty());
}

TEST(FileBytes, ReadsTheRestOnlyIfTheHeadIsGood) {
  const TemporaryFolder folder;
  write_file(folder / "a", "head and rest");
  for (const std::size_t head_bytes : {0U, 4U, 13U, 100U}) {
    std::size_t seen = 1000;
    const FileBytes file = FileBytes::read_checked(
        folder / "a", kLimit, head_bytes, [&](std::span<const std::byte> head, std::uint64_t size) {
          seen = head.size();
          EXPECT_EQ(size, 13U);
        });
    EXPECT_EQ(seen, std::min<std::size_t>(head_bytes, 13));
    EXPECT_EQ(file.text(), "head and rest");
  }
  const auto refuse = [](std::span<const std::byte>, std::uint64_t) {
    throw Error(ErrorKind::usage, "head", "is not good");
  };
  error_of(ErrorKind::usage,
           [&] { static_cast<void>(FileBytes::read_checked(folder / "a", kLimit, 4, refuse)); });
}

// The kernel says 0 bytes, and has more.
TEST(FileBytes, NoticesAFileThatChangesItsSize) {
  EXPECT_NE(error_of(ErrorKind::input,
                     [] { static_cast<void>(FileBytes::read("/proc/self/stat", kLimit)); })
                .find("changed its size"),
            std::string::npos);
}

TEST(InputFile, NoticesAFileThatShrinksOrGrows) {
  const TemporaryFolder folder;
  const std::string text(10'000, 'x');
  std::vector<std::byte> half(text.size() / 2);
  for (const std::size_t size : {0U, 5'000U, 7'000U, 9'999U, 10'001U}) {
    write_file(folder / "a", text);
    InputFile file(folder / "a", kLimit);
    ASSERT_EQ(file.size(), text.size());
    file.read(half);
    std::filesystem::resize_file(folder / "a", size);
    const std::string message = error_of(ErrorKind::input, [&] {
      file.read(half);
      file.finish();
    });
    EXPECT_NE(message.find("a: changed its size while it was read"), std::string::npos) << message;
  }
}

TEST(FileBytes, RefusesWhatIsNotAPlainFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const auto& read : {&FileBytes::read, &FileBytes::map}) {
    const auto message = [&](const std::filesystem::path& path) {
      return error_of(ErrorKind::input, [&] { static_cast<void>(read(path, kLimit)); });
    };
    EXPECT_NE(message(folder / "missing").find("missing"), std::string::npos);
    EXPECT_NE(message(folder / "fifo").find("regular file"),
              std::string::npos);  // and does not hang
    EXPECT_NE(message(folder.path()).find("regular file"), std::string::npos);
    EXPECT_NE(message("/dev/zero").find("regular file"), std::string::npos);
  }
}

TEST(FileBytes, RefusesWhatIsTooLarge) {
  const TemporaryFolder folder;
  write_file(folder / "a", std::string(100, 'x'));
  EXPECT_EQ(FileBytes::read(folder / "a", 100).bytes().size(), 100U);
  for (const auto& read : {&FileBytes::read, &FileBytes::map}) {
    const std::string message =
        error_of(ErrorKind::resource, [&] { static_cast<void>(read(folder / "a", 99)); });
    EXPECT_NE(message.find("100 bytes"), std::string::npos);
  }
  // A sparse file of a terabyte is refused without being read.
  std::ofstream(folder / "sparse") << "x";
  std::filesystem::resize_file(folder / "sparse", std::uintmax_t{1} << 40U);
  error_of(ErrorKind::resource,
           [&] { static_cast<void>(FileBytes::read(folder / "sparse", kLimit)); });
}

}  // namespace
}  // namespace vlearn
