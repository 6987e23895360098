// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace vlearn::app {
namespace {

namespace fs = std::filesystem;

/// A root of our own.
class MachineTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] Machine read() const { return read_machine(root_.path()); }

  test::TemporaryFolder root_;
};

TEST_F(MachineTest, NothingIsThere) {
  const Machine machine = read();
  EXPECT_EQ(machine.cpu_model, "");
  EXPECT_EQ(machine.cores, 0U);
  EXPECT_FALSE(machine.memory || machine.available || machine.cpu_quota || machine.memory_limit);
}

TEST_F(MachineTest, ProcessorsAndMemory) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Abacus 3000\nflags\t\t: fpu sse4_2 avx2 fma vmx\n\n"
      "processor\t: 1\nmodel name\t: Abacus 3000\nflags\t\t: fpu sse4_2 avx2 fma vmx\n");
  put("proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\nMemAvailable:    1024 kB\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cpu_model, "Abacus 3000");
  EXPECT_EQ(machine.cpu_features, (std::vector<std::string>{"sse4_2", "avx2", "fma"}));
  EXPECT_EQ(machine.cores, 2U);
  EXPECT_EQ(machine.memory, std::uint64_t{2048 * 1024});
  EXPECT_EQ(machine.available, std::uint64_t{1024 * 1024});
}

TEST_F(MachineTest, TheTightestGroupOfVersion2Counts) {
  put("proc/self/cgroup", "0::/batch/job\n");
  put("sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/batch/memory.max", "5000000\n");
  put("sys/fs/cgroup/batch/memory.current", "1000\n");
  put("sys/fs/cgroup/batch/job/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/batch/job/memory.max", "7000000\n");
  put("sys/fs/cgroup/batch/job/memory.current", "2000\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cpu_quota, 1.5);
  EXPECT_EQ(machine.memory_limit, 5000000U);
  EXPECT_EQ(machine.memory_used, 1000U);
}

TEST_F(MachineTest, AContainerSeesItsGroupAtTheTop) {
  put("proc/self/cgroup", "0::/../../elsewhere\n");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  put("sys/fs/cgroup/memory.max", "max\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cpu_quota, 0.5);
  EXPECT_FALSE(machine.memory_limit);
}

TEST_F(MachineTest, Version1) {
  put("proc/self/cgroup", "9:memory:/docker/a\n4:cpu,cpuacct:/docker/a\nnonsense\n1:name=x:/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "4096\n");
  put("sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", "96\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cpu_quota, 2.0);
  EXPECT_EQ(machine.memory_limit, 4096U);
  EXPECT_EQ(machine.memory_used, 96U);
}

TEST_F(MachineTest, PagesThatCanGoAreNotUsed) {
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/memory.max", "9000\n");
  put("sys/fs/cgroup/job/memory.current", "5000\n");
  put("sys/fs/cgroup/job/memory.stat", "anon 1000\ninactive_file 3000\nactive_file 7\n");
  EXPECT_EQ(read().memory_used, 2000U);
  put("sys/fs/cgroup/job/memory.stat", "inactive_file 6000\n");  // read a moment later
  EXPECT_EQ(read().memory_used, 0U);
  put("sys/fs/cgroup/job/memory.stat", "inactive_file many\n");
  EXPECT_EQ(read().memory_used, 5000U);
}

TEST_F(MachineTest, Version1WithoutLinks) {
  put("proc/self/cgroup", "9:memory:/a\n4:cpu,cpuacct:/a\n");
  put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096\n");
  put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "96\n");
  put("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 90\n");
  put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
  put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  const Machine machine = read();
  EXPECT_EQ(machine.memory_used, 6U);
  EXPECT_EQ(machine.cpu_quota, 3.0);
}

TEST(MachineText, LimitsThatMakeNoSenseAreNone) {
  EXPECT_EQ(parse_cpu_max("100000 50000"), 2.0);
  for (const char* text :
       {"", "max 100000", "100000", "-1 100000", "0 100000", "100000 0", "x y"}) {
    EXPECT_FALSE(parse_cpu_max(text)) << text;
  }
  EXPECT_EQ(parse_memory_limit("0"), 0U);
  for (const char* text : {"", "max", "-1", "9223372036854771712", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_memory_limit(text)) << text;
  }
}

TEST(MachineText, ThisMachineHasProcessorsAndMemory) {
  const Machine machine = read_machine();
  EXPECT_GE(machine.cores, 1U);
  ASSERT_TRUE(machine.memory && machine.available);
  EXPECT_LE(*machine.available, *machine.memory);
}

}  // namespace
}  // namespace vlearn::app
