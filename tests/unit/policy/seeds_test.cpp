// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Seeds and their files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "vlearn/policy/execute.h"

namespace vlearn::test {
namespace {

TEST(Seeds, AreHashesOfWhatTheyAreFor) {
  // Python: hashlib.sha256(b"vlearn.seed/1 run=1 purpose=index player=0").hexdigest()
  EXPECT_EQ(to_hex(derive_seed(1, "index", 0)),
            "08314801899dcde13835edd9c41f7ba7ad107eeaa108725bb1ab93b0b1815d0b");
  EXPECT_EQ(to_hex(derive_seed(1, "private", 1)),
            "49d79ab7f266c221fbf695fab19c9f8fe7352d0a69d20d6a08e1d0fd18107996");
  EXPECT_EQ(to_hex(derive_seed(UINT64_MAX, "private", 16)),
            "8a21c9102900d63adf3dac794a83c916e85c10e9f973f534b7479d3fac7c3780");
  std::set<std::string> seeds;
  for (const std::uint64_t run : {0U, 1U, 10U, 11U}) {
    for (const char* const purpose : {"index", "private"}) {
      for (const std::uint64_t player : {0U, 1U, 2U, 11U}) {
        seeds.insert(to_hex(derive_seed(run, purpose, player)));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 32U);
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

TEST(Seeds, SecretsAreForTheirOwnerAlone) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0022);
  const PolicySeed seed = derive_seed(1, "private", 1);
  write_seed(folder / "secret", seed, true);
  write_seed(folder / "open", seed, false);
  EXPECT_EQ(mode_of(folder / "secret"), 0600U);
  EXPECT_EQ(mode_of(folder / "open"), 0644U);
  // In place of a file that all could read.
  write_seed(folder / "open", derive_seed(1, "private", 2), true);
  EXPECT_EQ(mode_of(folder / "open"), 0600U);
  EXPECT_EQ(::umask(before), 0022U);  // left as it was
  EXPECT_EQ(read_seed(folder / "secret"), seed);
  EXPECT_EQ(read_start(folder / "secret"), "");
  write_seed(folder / "started", seed, false, "478");
  EXPECT_EQ(read_seed(folder / "started"), seed);
  EXPECT_EQ(read_start(folder / "started"), "478");
  EXPECT_EQ(read_seed(folder / "open"), derive_seed(1, "private", 2));
  EXPECT_THROW(write_seed(folder / "nowhere/secret", seed, true), Error);
  EXPECT_EQ(folder.count(), 3U);
}

TEST(Seeds, FilesAreChecked) {
  const TemporaryFolder folder;
  const PolicySeed seed = derive_seed(2, "index", 0);
  const std::string digits = to_hex(seed);
  for (const char* const end : {"", "\n", "\r\n"}) {
    write_file(folder / "seed", digits + end);
    EXPECT_EQ(read_seed(folder / "seed"), seed);
  }
  std::string wrong_digit = digits;
  wrong_digit[17] = 'g';
  std::string upper_case(64, 'A');
  const std::vector<std::string> malformed = {"",
                                              "\n",
                                              digits.substr(1),
                                              digits + "0",
                                              " " + digits,
                                              wrong_digit,
                                              upper_case,
                                              digits + "\n" + digits,
                                              digits.substr(0, 32) + "\n",
                                              digits + " ",
                                              std::string(64, '\0'),
                                              "0x" + digits.substr(2)};
  for (const std::string& text : malformed) {
    write_file(folder / "seed", text);
    EXPECT_NE(error_of(ErrorKind::input, [&] { static_cast<void>(read_seed(folder / "seed")); })
                  .find("64 hexadecimal digits"),
              std::string::npos)
        << text;
  }
  // A start is one that executions know.
  for (const char* const start :
       {"478", "uniform", "anew", "anew 478", "table", "18446744073709551615"}) {
    for (const char* const end : {"", "\n", "\r\n"}) {
      write_file(folder / "seed", digits + "\nstart " + start + end);
      EXPECT_EQ(read_seed(folder / "seed"), seed);
      EXPECT_EQ(read_start(folder / "seed"), start);
    }
  }
  for (const char* const start : {"0", "-1", "1e3", "4 78", "best", "last", "Uniform",
                                  "18446744073709551616", "478\nstart 479", "\x1b[31m", "anew 0",
                                  "anew ", "anew478", "anew 4 78", "anew 1e3", "anew uniform"}) {
    write_file(folder / "seed", digits + "\nstart " + start + "\n");
    const std::string message =
        error_of(ErrorKind::input, [&] { static_cast<void>(read_start(folder / "seed")); });
    EXPECT_EQ(message.find((folder / "seed").string()), 0U) << message;
    EXPECT_NE(message.find("uniform, anew (with or without a number) or table"), std::string::npos)
        << message;
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
    EXPECT_THROW(static_cast<void>(read_seed(folder / "seed")), Error);
  }
  write_file(folder / "seed", std::string(2000, '0'));
  EXPECT_THROW(static_cast<void>(read_seed(folder / "seed")), Error);
  EXPECT_THROW(static_cast<void>(read_seed(folder / "missing")), Error);
}

}  // namespace
}  // namespace vlearn::test
