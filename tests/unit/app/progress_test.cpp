// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "terminal.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kThreads = 4;

/// stderr is a pipe meanwhile.
class ProgressTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_), 0);
    before_ = dup(STDERR_FILENO);
    ASSERT_GE(before_, 0);
    ASSERT_GE(dup2(ends_[1], STDERR_FILENO), 0);
    use_terminal({.progress = "always"});
  }
  void TearDown() override {
    use_terminal({});
    dup2(before_, STDERR_FILENO);
    for (const int file : {before_, ends_[0], ends_[1]}) close(file);
  }
  /// What stands in the pipe now; not more than it holds.
  [[nodiscard]] std::string shown() const {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string text;
    std::vector<char> piece(4096);
    for (ssize_t size = 0; (size = read(ends_[0], piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(size));
    }
    return text;
  }
  /// Until a write would have to wait.
  void fill() const {
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string text(4096, '.');
    while (write(ends_[1], text.data(), text.size()) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }

  int ends_[2] = {-1, -1};
  int before_ = -1;
};

/// Every thread its own run; reports for longer than a bar takes to come.
void report_all(Progress& progress, bool speak) {
  std::vector<std::thread> threads;
  for (std::size_t run = 0; run < kThreads; ++run) {
    threads.emplace_back([&progress, run, speak] {
      for (std::uint64_t units = 1; units <= 400; ++units) {
        progress.report(run, units);
        progress.report_gap(run, units, 1.0 / static_cast<double>(units));
        if (speak && units % 100 == 0) say("between");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      progress.phase(run, "certifying");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ProgressTest, ThreadsReportAndSpeakWhileTheBarIsDrawn) {
  Progress progress({.num_runs = kThreads, .per_run = 400, .wanted_gap = 1e-3});
  report_all(progress, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  progress.end();
  progress.end();  // once more does no harm
  const std::string text = shown();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find("between\n", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, kThreads * 4);
  EXPECT_NE(text.find(" episodes"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\033[Kcertifying, 0 s"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
  EXPECT_FALSE(bar_is_shown());
}

TEST_F(ProgressTest, NobodyWaitsForStderr) {
  fill();
  EXPECT_FALSE(stderr_takes_text());
  Progress progress({.num_runs = kThreads, .per_run = 400});
  auto work = std::async(std::launch::async, [&] {
    report_all(progress, false);
    say_if_it_can("a line of a run without a terminal");
  });
  const bool in_time = work.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  const std::string text = shown();  // who waited goes on
  EXPECT_TRUE(in_time);
  work.get();
  progress.end();
  EXPECT_EQ(text.find_first_not_of('.'), std::string::npos);
  EXPECT_TRUE(stderr_takes_text());
}

}  // namespace
}  // namespace vlearn::app
